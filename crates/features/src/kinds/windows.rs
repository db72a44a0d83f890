//! Mean, standard deviation, minimum and maximum of the last rows of the target.

use foretell_simd::{rolling_max, rolling_mean, rolling_min, rolling_std};

use crate::arguments::{Arguments, row_counts};
use crate::feature::Feature;
use crate::past::{Until, of_the_past};
use crate::rows::FeatureRows;

/// A statistic of the `window` rows before each row.
struct Windows {
    name: &'static str,
    windows: Vec<usize>,
    until: Until,
    kernel: fn(&[f32], usize, &mut [f32]),
}

/// `roll_mean:W[,W]`.
pub(crate) fn roll_mean(arguments: &Arguments<'_>) -> Result<Box<dyn Feature>, String> {
    windows(arguments, "roll_mean", (1, Until::Level), rolling_mean)
}

/// `roll_std:W[,W]`, of samples: the squares are divided by W - 1.
pub(crate) fn roll_std(arguments: &Arguments<'_>) -> Result<Box<dyn Feature>, String> {
    windows(arguments, "roll_std", (2, Until::Zero), |y, window, out| rolling_std(y, window, 1, out))
}

/// `roll_min:W[,W]`.
pub(crate) fn roll_min(arguments: &Arguments<'_>) -> Result<Box<dyn Feature>, String> {
    windows(arguments, "roll_min", (1, Until::Level), rolling_min)
}

/// `roll_max:W[,W]`.
pub(crate) fn roll_max(arguments: &Arguments<'_>) -> Result<Box<dyn Feature>, String> {
    windows(arguments, "roll_max", (1, Until::Level), rolling_max)
}

fn windows(
    arguments: &Arguments<'_>,
    name: &'static str,
    (least, until): (usize, Until),
    kernel: fn(&[f32], usize, &mut [f32]),
) -> Result<Box<dyn Feature>, String> {
    let [windows] = arguments.parts()?;
    Ok(Box::new(Windows { name, windows: row_counts(windows, least)?, until, kernel }))
}

impl Feature for Windows {
    fn columns(&self) -> Vec<String> {
        self.windows.iter().map(|window| format!("{}_{window}", self.name)).collect()
    }

    fn compute(&self, rows: &FeatureRows<'_>, out: &mut [&mut [f32]]) {
        for (&window, out) in self.windows.iter().zip(out) {
            of_the_past(rows, window, self.until, out, |y, out| (self.kernel)(y, window, out));
        }
    }
}

impl std::fmt::Debug for Windows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {:?}", self.name, self.windows)
    }
}
