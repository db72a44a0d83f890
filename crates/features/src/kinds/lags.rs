//! Earlier values of the target, and differences between them.

use foretell_simd::sub;

use crate::arguments::{Arguments, row_counts};
use crate::feature::Feature;
use crate::past::{Until, of_the_past};
use crate::rows::FeatureRows;

/// `y[t - k]` for each k.
#[derive(Debug)]
struct Lags(Vec<usize>);

/// `lag:K[,K]`.
pub(crate) fn lag(arguments: &Arguments<'_>) -> Result<Box<dyn Feature>, String> {
    let [lags] = arguments.parts()?;
    Ok(Box::new(Lags(row_counts(lags, 1)?)))
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
