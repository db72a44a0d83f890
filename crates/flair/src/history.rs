//! A history in units of its own, without unknown values, above zero.

use foretell_estimator::interpolate;

/// What the mean magnitude of values that are no counts is, in units. The ridge regression and what is added to bring values above
/// zero depend on units; in this one both matter little.
const MEAN_IN_UNITS: f64 = 1000.0;

/// The deviation of what follows values that tell none, by their size.
const SHARE_UNKNOWN: f64 = 0.125;

/// Values from which counts are told: fewer may be multiples of something by chance.
const LEAST_COUNTS: usize = 8;

/// Larger counts are forecast as well without rounding.
const LARGEST_COUNT: f64 = (1 << 24) as f64;

/// Steps of the history, at least, whose range bounds forecasts.
const RECENT: usize = 50;

/// Widths below this, in units, are none.
pub(crate) const LEAST_WIDTH: f64 = 1e-6;

/// A history in units, above zero.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct History {
    /// Values in units, with `shift` added; unknown ones lie on the line between their known neighbours.
    pub(crate) y: Vec<f64>,
    shift: f64,
    unit: f64,
    /// Whether all known values are whole units.
    whole: bool,
}

impl History {
    /// The history of these values, NaN where they are unknown; nothing if none is known.
    ///
    /// The unit of counts is the largest power of two that divides all of them, which is 1 as soon as one of them is odd. So a
    /// multiple of a series by a power of two is the same in units.
    pub(crate) fn new(values: &[f64]) -> Option<Self> {
        let known: Vec<f64> = values.iter().copied().filter(|y| y.is_finite()).collect();
        if known.is_empty() {
            return None;
        }
        let largest = known.iter().fold(0.0, |most: f64, y| most.max(y.abs()));
        let grid = known.iter().filter(|y| **y != 0.0).map(|y| lowest_bit(*y)).min().unwrap_or(0);
        let grid = 2.0_f64.powi(grid);
        let whole = known.len() >= LEAST_COUNTS && largest <= LARGEST_COUNT * grid;
        let mean = known.iter().map(|y| y.abs()).sum::<f64>() / known.len() as f64;
        let unit = match (whole, mean / MEAN_IN_UNITS) {
            (true, _) => grid,
            (false, unit) if unit > 0.0 => unit,
            _ => 1.0,
        };
        let mut y: Vec<f64> = values.iter().map(|&y| if y.is_finite() { y } else { f64::NAN }).collect();
        interpolate(&mut y);
        y.iter_mut().for_each(|y| *y /= unit);
        let least = y.iter().fold(f64::INFINITY, |least, y| least.min(*y));
        let shift = (1.0 - least).max(1.0);
        y.iter_mut().for_each(|y| *y += shift);
        Some(Self { y, shift, unit, whole })
    }

    /// The value of a number of units above zero, within bounds; a whole one, if those of the history are.
    pub(crate) fn value(&self, units: f64, bounds: [f64; 2]) -> f64 {
        let units = (units - self.shift).clamp(bounds[0], bounds[1]);
        (if self.whole { units.round_ties_even() } else { units }) * self.unit
    }

    /// The value of a number of units above zero, whole or not.
    pub(crate) fn exact(&self, units: f64) -> f64 {
        (units - self.shift) * self.unit
    }

    /// The deviation, in units, of what follows values that tell none: an eighth of their size.
    pub(crate) fn deviation_unknown(&self) -> f64 {
        let is_zero = self.unit == 1.0 && self.y.iter().all(|y| *y == self.shift);
        if is_zero { 10.0 * SHARE_UNKNOWN } else { SHARE_UNKNOWN * MEAN_IN_UNITS }
    }

    /// The values, in units, that forecasts of `h` steps stay within: the least one of the history, and the largest of its last
    /// part with the range of that part above it.
    pub(crate) fn bounds(&self, h: usize) -> [f64; 2] {
        let recent = RECENT.max(h.saturating_mul(2)).min(self.y.len());
        let [least, _] = extremes(&self.y);
        let [low, high] = extremes(&self.y[self.y.len() - recent..]);
        [least - self.shift, high - self.shift + (high - low).max(LEAST_WIDTH)]
    }
}

fn extremes(y: &[f64]) -> [f64; 2] {
    y.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], y| [low.min(*y), high.max(*y)])
}

/// The exponent of the lowest bit of a number other than 0.
fn lowest_bit(y: f64) -> i32 {
    let bits = y.to_bits();
    let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
    match exponent {
        0 => fraction.trailing_zeros() as i32 - 1074,
        _ => (fraction | 1 << 52).trailing_zeros() as i32 + exponent - 1075,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_without_known_values_is_none() {
        assert_eq!(History::new(&[f64::NAN; 2]), None);
    }

    #[test]
    fn counts_are_told_by_the_power_of_two_that_divides_them() {
        assert_eq!([1.0, 12.0, -40.0, 0.375, 5e-324].map(lowest_bit), [0, 2, 3, -3, -1074]);
        let counts = [0.0, 3.0, 0.0, 2.0, 8.0, 0.0, 1.0, 5.0];
        let history = History::new(&counts).expect("values");
        assert_eq!((history.unit, history.whole, history.shift), (1.0, true, 1.0));
        assert_eq!(history.value(3.4, [-9.0, 9.0]), 2.0);
        let packs = History::new(&counts.map(|y| 16.0 * y)).expect("values");
        assert_eq!((packs.unit, &packs.y), (16.0, &history.y));
        assert!(!History::new(&counts[..7]).expect("values").whole);
        assert!(!History::new(&counts.map(|y| y + 0.1)).expect("values").whole);
    }

    #[test]
    fn values_are_above_zero_in_any_unit() {
        let y = [-3.25e-20, 1.1e-19, 2.5e-20];
        let history = History::new(&y).expect("values");
        assert!(history.y.iter().all(|y| *y >= 1.0), "{history:?}");
        for (units, y) in history.y.iter().zip(y) {
            assert!((history.value(*units, [-1e9, 1e9]) / y - 1.0).abs() < 1e-12);
        }
        let zeros = History::new(&[0.0; 9]).expect("values");
        assert_eq!((zeros.unit, &zeros.y[..]), (1.0, &[1.0; 9][..]));
        assert_eq!(zeros.bounds(3), [0.0, LEAST_WIDTH]);
    }
}
