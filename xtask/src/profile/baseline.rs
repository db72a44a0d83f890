//! Ratios of a profile that can be compared between machines and days: benches/baseline.json.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use serde_json::{Map, Value, json};

use super::bench::Bench;
use super::memory::Counted;
use super::stacks::Stacks;
use crate::figures::table;
use crate::system::{machine, write};

/// Which way a ratio is worse, and by what share it may be without being told.
struct Bound {
    name: &'static str,
    meaning: &'static str,
    more_is_worse: bool,
    tolerance: f64,
}

/// The ratios of which program are meant.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// All, of a program that is built for speed.
    All,
    /// Those that are counted, of the program of the tests.
    Counted,
}

impl Kind {
    /// Their place among those of a model.
    fn key(self) -> &'static str {
        match self {
            Self::All => "release",
            Self::Counted => "tests",
        }
    }
}

/// The first are counted and repeatable: the same on any machine.
const COUNTED: usize = 4;

/// The bounds of repeatable counts, and the wider ones of times.
const BOUNDS: [Bound; 7] = [
    bound(
        "instructions_per_flop",
        "instructions for each operation of products, at the AVX2 level",
        true,
        0.05,
    ),
    bound("peak_bytes_per_held", "bytes at the peak for each byte kept for the backward pass", true, 0.1),
    bound("pool_misses_per_step", "buffers asked of the system in a step", true, 0.0),
    bound("allocations_per_step", "allocations of any kind in a step of a whole training", true, 0.1),
    bound(
        "share_of_gemm_rate",
        "the rate of a step's products by that of a large one, one thread",
        false,
        0.15,
    ),
    bound("speed_up_of_threads", "the time of a step on one thread by that on all", false, 0.15),
    bound("backward_by_forward", "the time of the backward pass by that of the forward pass", true, 0.25),
];

const fn bound(name: &'static str, meaning: &'static str, more_is_worse: bool, tolerance: f64) -> Bound {
    Bound { name, meaning, more_is_worse, tolerance }
}

/// The ratios that could be measured, in the order of the bounds.
pub(super) fn ratios(
    benches: &[Bench],
    stacks: Option<&Stacks>,
    counted: Option<&Counted>,
    slow_batch: usize,
) -> Vec<(&'static str, f64)> {
    let (alone, all) = (&benches[0], &benches[benches.len() - 1]);
    let windows = alone.number("batch") / slow_batch as f64;
    let value = |name: &str| match name {
        "instructions_per_flop" => {
            counted.map(|counted| counted.step.get("Ir") * windows / (1e9 * alone.number("gflop_per_step")))
        }
        "peak_bytes_per_held" => {
            counted.map(|counted| counted.sites.peak_bytes() * windows / alone.number("held_bytes"))
        }
        "allocations_per_step" => counted.map(|counted| counted.allocations),
        "speed_up_of_threads" => Some(alone.number("step_ms") / all.number("step_ms")),
        "backward_by_forward" => stacks.map(|stacks| {
            let [_, forward, backward, ..] = stacks.parts();
            backward / forward
        }),
        key => Some(alone.number(key)),
    };
    BOUNDS.iter().filter_map(|bound| Some((bound.name, value(bound.name)?))).collect()
}

/// Those that are counted.
pub(super) fn counted(mut ratios: Vec<(&'static str, f64)>) -> Vec<(&'static str, f64)> {
    ratios.retain(|(name, _)| BOUNDS[..COUNTED].iter().any(|bound| bound.name == *name));
    ratios
}

/// The ratios as a table.
pub(super) fn report(ratios: &[(&str, f64)]) -> String {
    let meaning =
        |name: &str| BOUNDS.iter().find(|bound| bound.name == name).map_or("", |bound| bound.meaning);
    let row = |(name, value): &(&str, f64)| vec![meaning(name).to_owned(), format!("{value:.4}")];
    let rows: Vec<Vec<String>> = ratios.iter().map(row).collect();
    format!("\n## Ratios\n\n{}", table(&["ratio", "value"], &rows))
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../benches/baseline.json")
}

fn read() -> anyhow::Result<Map<String, Value>> {
    let path = path();
    if !path.exists() {
        return Ok(Map::new());
    }
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is no object of JSON", path.display()))
}

/// Writes the ratios of a model beside those of the others, with the machine and the commit.
pub(super) fn save(model: &str, kind: Kind, ratios: &[(&str, f64)]) -> anyhow::Result<()> {
    let mut all = read()?;
    let mut saved: Map<String, Value> =
        ratios.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
    saved.insert("measured".to_owned(), json!(machine()));
    all.entry(model).or_insert_with(|| json!({}))[kind.key()] = Value::Object(saved);
    all.sort_keys();
    write(&path(), serde_json::to_string_pretty(&all)? + "\n")
}

/// # Errors
/// If a ratio is worse than the saved one beyond its bound, or there is none of the model.
pub(super) fn check(model: &str, kind: Kind, ratios: &[(&str, f64)]) -> anyhow::Result<()> {
    let all = read()?;
    let before = all.get(model).and_then(|of_model| of_model.get(kind.key()));
    let before = before.with_context(|| format!("benches/baseline.json has no {model}; --save adds it"))?;
    let worse = worse(ratios, before);
    ensure!(worse.is_empty(), "{model} is worse than in benches/baseline.json:\n{}", worse.join("\n"));
    println!("No ratio of {model} is worse than in benches/baseline.json.");
    Ok(())
}

/// The ratios that are worse than before, in words.
fn worse(ratios: &[(&str, f64)], before: &Value) -> Vec<String> {
    let mut worse = Vec::new();
    for bound in &BOUNDS {
        let now = ratios.iter().find(|(name, _)| *name == bound.name).map(|(_, value)| *value);
        let (Some(now), Some(then)) = (now, before[bound.name].as_f64()) else { continue };
        let is_worse = match bound.more_is_worse {
            true => now > then * (1.0 + bound.tolerance) + 1e-9,
            false => now < then * (1.0 - bound.tolerance),
        };
        if is_worse || now.is_nan() {
            worse.push(format!("{}: {now:.4}, before {then:.4} ({})", bound.name, bound.meaning));
        }
    }
    worse
}

#[cfg(test)]
mod tests {
    use super::super::memory::{Counts, Sites};
    use super::*;

    #[test]
    fn what_is_worse_beyond_its_bound_is_told() {
        let before =
            json!({ "instructions_per_flop": 0.2, "share_of_gemm_rate": 0.8, "pool_misses_per_step": 0.0 });
        let complaints = |name, value| worse(&[(name, value)], &before);
        assert!(complaints("instructions_per_flop", 0.209).is_empty());
        assert_eq!(
            complaints("instructions_per_flop", 0.22),
            [
                "instructions_per_flop: 0.2200, before 0.2000 (instructions for each operation of products, at the AVX2 level)"
            ]
        );
        assert!(complaints("instructions_per_flop", 0.1).is_empty());
        assert!(complaints("share_of_gemm_rate", 0.7).is_empty());
        assert_eq!(complaints("share_of_gemm_rate", 0.6).len(), 1);
        assert_eq!(complaints("share_of_gemm_rate", f64::NAN).len(), 1);
        assert_eq!(complaints("pool_misses_per_step", 0.5).len(), 1);
        // Ratios that were not measured before are not compared.
        assert!(complaints("speed_up_of_threads", 0.1).is_empty());
    }

    #[test]
    fn ratios_do_not_depend_on_the_batch_under_valgrind() {
        let bench = |step: f64| {
            Bench(json!({
                "step_ms": step, "gflop_per_step": 1.0, "held_bytes": 4e6, "batch": 128, "share_of_gemm_rate": 0.5,
                "pool_misses_per_step": 0.0,
            }))
        };
        let step = Counts::parse("events: Ir\nsummary: 50000000\n").unwrap();
        let sites =
            Sites::parse(r#"{"ftbl": ["[root]"], "pps": [{"tb": 1, "tbk": 1, "gb": 2000000, "fs": []}]}"#)
                .unwrap();
        let counted = Counted { step, allocations: 3.0, sites };
        let measured = ratios(&[bench(10.0), bench(5.0)], None, Some(&counted), 32);
        let expected = [
            ("instructions_per_flop", 0.2),
            ("peak_bytes_per_held", 2.0),
            ("pool_misses_per_step", 0.0),
            ("allocations_per_step", 3.0),
            ("share_of_gemm_rate", 0.5),
            ("speed_up_of_threads", 2.0),
        ];
        assert_eq!(measured, expected);
        assert!(report(&measured).contains("| 0.2000 |"));
        assert_eq!(super::counted(measured), expected[..4]);
    }
}
