//! Series whose values single precision can hardly tell apart.

use std::sync::Arc;

use super::panel::Panel;

/// Steps of so few units in the last place are lost in rounding, to a sixteenth or more.
const UNITS: f32 = 16.0;

/// From here on single precision does not hold every whole number, so that a constant may be none.
const WHOLE: f32 = (1 << 24) as f32;

/// The squares of values below this are below what single precision holds.
const SMALL: f32 = 1e-19;

impl Panel {
    /// The ids of series whose values single precision, which holds about 7 digits, can hardly tell apart: those that change
    /// little against their level (20000000, then 20000001), and those that are next to 0 (1e-30).
    pub fn coarse_series(&self) -> Vec<Arc<str>> {
        let is_coarse = |series: &usize| {
            let values = self.known_y(*series, 0..self.len(*series));
            is_coarse(values.iter().copied().filter(|y| !y.is_nan()))
        };
        (0..self.n_series()).filter(is_coarse).map(|series| self.id(series).clone()).collect()
    }
}

fn is_coarse(values: impl Iterator<Item = f32>) -> bool {
    let (mut largest, mut widest, mut before) = (0.0_f32, 0.0_f32, None);
    for value in values {
        largest = largest.max(value.abs());
        widest = widest.max((value - before.replace(value).unwrap_or(value)).abs());
    }
    match widest {
        _ if largest == 0.0 => false,
        _ if largest < SMALL => true,
        0.0 => largest >= WHOLE,
        _ => widest <= UNITS * (largest - largest.next_down()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coarse(value: impl Fn(f64) -> f64) -> bool {
        is_coarse((0..100).map(|t| value(f64::from(t)) as f32))
    }

    #[test]
    fn steps_that_single_precision_loses_are_found() {
        assert!(coarse(|t| 20_000_000.0 + t % 2.0));
        assert!(coarse(|t| 1e9 + 3.0 * t));
        assert!(coarse(|t| 1e-30 * t));
        assert!(coarse(|t| -1e5 + 0.01 * t));
    }

    #[test]
    fn ordinary_values_are_not() {
        assert!(!coarse(|t| 100.0 + t % 7.0));
        assert!(!coarse(|t| 1e9 + 1e5 * (t % 7.0)));
        assert!(!coarse(|t| 1e6 + 0.5 * t * t));
        assert!(!coarse(|_| 3.3) && !coarse(|_| 0.0));
        assert!(!coarse(|t| if t == 50.0 { 1.0 } else { 0.0 }));
        assert!(!coarse(|t| f64::from(f32::MAX) * (t % 2.0)));
        assert!(!is_coarse(std::iter::empty()));
    }
}
