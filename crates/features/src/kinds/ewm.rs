//! Exponential averages of the target.

use foretell_simd::ema;

use crate::arguments::{Arguments, numbers};
use crate::feature::Feature;
use crate::past::{Until, of_the_past};
use crate::rows::FeatureRows;

/// `a[t] = alpha * y[t - 1] + (1 - alpha) * a[t - 1]` for each alpha, from the first value on.
#[derive(Debug)]
struct Ewm(Vec<f32>);

/// `ewm:ALPHA[,ALPHA]`.
pub(crate) fn ewm(arguments: &Arguments<'_>) -> Result<Box<dyn Feature>, String> {
    let [weights] = arguments.parts()?;
    let is_weight = |alpha: &f32| *alpha > 0.0 && *alpha <= 1.0;
    Ok(Box::new(Ewm(numbers(weights, "a weight above 0 and at most 1", is_weight)?)))
}

impl Feature for Ewm {
    fn columns(&self) -> Vec<String> {
        self.0.iter().map(|alpha| format!("ewm_{alpha}")).collect()
    }

    fn compute(&self, rows: &FeatureRows<'_>, out: &mut [&mut [f32]]) {
        for (&alpha, out) in self.0.iter().zip(out) {
            of_the_past(rows, 1, Until::Level, out, |y, out| ema(y, alpha, out));
        }
    }
}
