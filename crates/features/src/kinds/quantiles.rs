//! Quantiles of the last rows of the target.

use crate::arguments::{Arguments, numbers, row_counts};
use crate::feature::Feature;
use crate::past::{Until, of_the_past};
use crate::rows::FeatureRows;

/// Quantiles of the `window` rows before each row, on the line between the two values around them.
#[derive(Debug)]
struct Quantiles {
    window: usize,
    levels: Vec<f64>,
}

/// `roll_quantile:W:Q[,Q]`.
pub(crate) fn roll_quantile(arguments: &Arguments<'_>) -> Result<Box<dyn Feature>, String> {
    let [windows, levels] = arguments.parts()?;
    let &[window] = row_counts(windows, 1)?.as_slice() else {
        return Err("it takes one window".to_owned());
    };
    let levels = numbers(levels, "a level from 0 to 1", |level| (0.0..=1.0).contains(level))?;
    Ok(Box::new(Quantiles { window, levels }))
}

impl Feature for Quantiles {
    fn columns(&self) -> Vec<String> {
        self.levels.iter().map(|level| format!("roll_quantile_{}_{level}", self.window)).collect()
    }

    fn compute(&self, rows: &FeatureRows<'_>, out: &mut [&mut [f32]]) {
        let mut sorted = SortedWindow::new(self.window);
        for (&level, out) in self.levels.iter().zip(out) {
            of_the_past(rows, self.window, Until::Level, out, |y, out| sorted.quantiles(y, level, out));
        }
    }
}

/// The values of a moving window in order of size.
struct SortedWindow {
    size: usize,
    values: Vec<f32>,
}

/// The longest window whose values are counted one by one: vectors count faster than a search takes its branches.
const COUNTED: usize = 128;

impl SortedWindow {
    fn new(size: usize) -> Self {
        Self { size, values: Vec::with_capacity(size.min(1 << 16)) }
    }

    /// `out[t]` is the quantile of the window that ends with `y[t]`, where there are enough rows for it.
    fn quantiles(&mut self, y: &[f32], level: f64, out: &mut [f32]) {
        self.values.clear();
        let place = level * (self.size - 1) as f64;
        let (low, high, share) = (place.floor() as usize, place.ceil() as usize, place.fract());
        for (t, (&value, out)) in y.iter().zip(out).enumerate() {
            match t.checked_sub(self.size) {
                None => self.values.insert(self.smaller(value), value),
                Some(oldest) => self.exchange(y[oldest], value),
            }
            if t + 1 >= self.size {
                let (low, high) = (f64::from(self.values[low]), f64::from(self.values[high]));
                *out = (low + (high - low) * share) as f32;
            }
        }
    }

    /// How many of the values are smaller.
    fn smaller(&self, than: f32) -> usize {
        match self.size <= COUNTED {
            true => self.values.iter().map(|&value| u32::from(value < than)).sum::<u32>() as usize,
            false => self.values.partition_point(|&value| value < than),
        }
    }

    /// Puts `new` in the place of a value that is there.
    fn exchange(&mut self, old: f32, new: f32) {
        let (from, to) = (self.smaller(old), self.smaller(new));
        match to > from {
            // The values between move down by one.
            true => {
                self.values.copy_within(from + 1..to, from);
                self.values[to - 1] = new;
            }
            false => {
                self.values.copy_within(to..from, to + 1);
                self.values[to] = new;
            }
        }
    }
}
