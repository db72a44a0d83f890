//! Earlier values of the target, and differences between them.

use std::collections::HashMap;

use foretell_simd::sub;

use crate::arguments::{Arguments, row_counts};
use crate::feature::Feature;
use crate::past::{Until, of_the_past};
use crate::rows::FeatureRows;

/// `y[t - k]` for each k.
#[derive(Debug)]
struct Lags(Vec<usize>);

/// The value that the clock showed so long before.
#[derive(Debug)]
struct ClockLag {
    word: String,
    micros: i64,
}

/// `lag:K[,K]`, or `lag:24h`.
pub(crate) fn lag(arguments: &Arguments<'_>) -> Result<Box<dyn Feature>, String> {
    let [lags] = arguments.parts()?;
    if let [word] = lags[..]
        && let Some(micros) = duration(word)
    {
        return Ok(Box::new(ClockLag { word: word.to_owned(), micros }));
    }
    Ok(Box::new(Lags(row_counts(lags, 1)?)))
}

/// Microseconds of a number of minutes, hours or days: `30min`, `24h`, `7d`.
fn duration(word: &str) -> Option<i64> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &word[digits.len()..] {
        "min" => 60_000_000,
        "h" => 3_600_000_000,
        "d" | "D" => 86_400_000_000,
        _ => return None,
    };
    digits.parse::<i64>().ok().filter(|count| *count > 0)?.checked_mul(unit)
}

/// Rows of which the hour that was looked for may be missing, as where clocks are put forward.
const NEARBY: i64 = 4;

impl Feature for ClockLag {
    fn columns(&self) -> Vec<String> {
        vec![format!("lag_{}", self.word)]
    }

    fn needs_dates(&self) -> bool {
        true
    }

    fn compute(&self, rows: &FeatureRows<'_>, out: &mut [&mut [f32]]) {
        let [out] = out else { unreachable!("one column") };
        let (y, times) = (rows.y, rows.times);
        let step = times.windows(2).map(|pair| pair[1] - pair[0]).filter(|step| *step > 0).min().unwrap_or(1);
        // Of an hour that clocks show twice, the later one.
        let mut last_at: HashMap<i64, usize> = HashMap::new();
        for (row, out) in out.iter_mut().enumerate() {
            let then = times[row].saturating_sub(self.micros);
            let known = |back: i64| last_at.get(&(then - back * step)).copied();
            // An hour that never was has the value before it.
            let nearby = if times.first().is_some_and(|first| then < *first) { 0 } else { NEARBY };
            let found = (0..=nearby).find_map(known).filter(|&at| at >= rows.first_known);
            *out = match found {
                Some(at) => y[at],
                None if rows.leaves_open => f32::NAN,
                None if row > rows.first_known => y[row - 1],
                None => 0.0,
            };
            last_at.insert(times[row], row);
        }
    }
}

impl Feature for Lags {
    fn columns(&self) -> Vec<String> {
        self.0.iter().map(|lag| format!("lag_{lag}")).collect()
    }

    fn compute(&self, rows: &FeatureRows<'_>, out: &mut [&mut [f32]]) {
        for (&lag, out) in self.0.iter().zip(out) {
            of_the_past(rows, lag, Until::Level, out, |y, out| {
                if let Some(out) = out.get_mut(lag - 1..) {
                    out.copy_from_slice(&y[..out.len()]);
                }
            });
        }
    }
}

/// `y[t - 1] - y[t - 1 - k]` for each k.
#[derive(Debug)]
struct Differences(Vec<usize>);

/// `diff:K[,K]`.
pub(crate) fn diff(arguments: &Arguments<'_>) -> Result<Box<dyn Feature>, String> {
    let [steps] = arguments.parts()?;
    Ok(Box::new(Differences(row_counts(steps, 1)?)))
}

impl Feature for Differences {
    fn columns(&self) -> Vec<String> {
        self.0.iter().map(|step| format!("diff_{step}")).collect()
    }

    fn compute(&self, rows: &FeatureRows<'_>, out: &mut [&mut [f32]]) {
        for (&step, out) in self.0.iter().zip(out) {
            of_the_past(rows, step + 1, Until::Zero, out, |y, out| {
                if let Some(out) = out.get_mut(step..) {
                    sub(&y[step..], &y[..out.len()], out);
                }
            });
        }
    }
}
