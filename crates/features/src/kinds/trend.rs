//! The time itself.

use crate::arguments::Arguments;
use crate::clock::DAY;
use crate::feature::Feature;
use crate::rows::FeatureRows;

/// Years since 2000-01-01, or the integer that a time is: the same in a row wherever the series begins.
#[derive(Debug)]
struct Trend;

/// `trend`.
pub(crate) fn trend(arguments: &Arguments<'_>) -> Result<Box<dyn Feature>, String> {
    let [] = arguments.parts()?;
    Ok(Box::new(Trend))
}

/// Days from 1970-01-01 to 2000-01-01.
const ORIGIN: i64 = 10_957;

impl Feature for Trend {
    fn columns(&self) -> Vec<String> {
        vec!["trend".to_owned()]
    }

    fn compute(&self, rows: &FeatureRows<'_>, out: &mut [&mut [f32]]) {
        let [out] = out else { unreachable!("one column") };
        let (origin, unit) = if rows.are_dated() { (ORIGIN * DAY, 365.25 * DAY as f64) } else { (0, 1.0) };
        for (out, &time) in out.iter_mut().zip(rows.times) {
            *out = ((time - origin) as f64 / unit) as f32;
        }
    }
}
