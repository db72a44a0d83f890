//! The agreement of processes that train together: that they would train the same, and when they stop.

use foretell_estimator::{Difference, Reduction, Verdict, differences};
use foretell_neural::Acceleration;
use serde_json::Value;

use crate::error::Error;

/// The entry of a training's identity that holds what the program computes with.
const PROGRAM: &str = "SIMD level and features";

/// Compares this training, as it is identified, with that of all other processes: versions, SIMD levels, settings and data. Only
/// together with the same are their weights the same.
pub(crate) fn check_agreement(reduction: &dyn Reduction, training: &Value) -> Result<(), Error> {
    if reduction.processes() == 1 {
        return Ok(());
    }
    let mut own = training.clone();
    own[PROGRAM] = Acceleration::current().to_string().into();
    let of_all = gather_texts(reduction, &own.to_string());
    let read = |text: &String| serde_json::from_str(text).unwrap_or(Value::Null);
    let of_all: Vec<Value> = of_all.iter().map(read).collect();
    let Some(rank) = of_all.iter().position(|training| *training != of_all[0]) else { return Ok(()) };
    let worded = |Difference { path, one, other }: Difference<'_>| {
        let value = |value: Option<&Value>| value.map_or_else(|| "not there".to_owned(), Value::to_string);
        format!("{path} is {}, not {}", value(other), value(one))
    };
    let differences: Vec<String> = differences(&of_all[0], &of_all[rank]).into_iter().map(worded).collect();
    Err(Error::Disagreement {
        process: reduction.name(rank),
        first: reduction.name(0),
        differences: differences.join(", "),
    })
}

/// The texts of all processes. A byte goes as a number: it is done once, with some kilobytes.
fn gather_texts(reduction: &dyn Reduction, own: &str) -> Vec<String> {
    let all = reduction.gather(own.bytes().chain([0]).map(f64::from).collect());
    let bytes: Vec<u8> = all.into_iter().map(|byte| byte as u8).collect();
    let texts = bytes.split(|&byte| byte == 0);
    texts.take(reduction.processes()).map(|text| String::from_utf8_lossy(text).into_owned()).collect()
}

/// The verdict of all processes after a step, by those of their listeners: they end the training after the same one.
pub(crate) fn agree(reduction: &dyn Reduction, verdict: Verdict) -> Verdict {
    if reduction.processes() == 1 {
        return verdict;
    }
    const BY_WEIGHT: [Verdict; 3] = [Verdict::Continue, Verdict::Stop, Verdict::Interrupt];
    let own = BY_WEIGHT.iter().position(|known| *known == verdict).expect("all verdicts are listed");
    let heaviest = reduction.gather(vec![own as f64]).into_iter().fold(0.0, f64::max);
    BY_WEIGHT[heaviest as usize]
}
