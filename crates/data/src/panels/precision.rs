//! The precision of floating point numbers.

/// Steps of so few units in the last place are lost in rounding, to a sixteenth or more.
const UNITS: f64 = 16.0;

/// The precision of a kind of floating point numbers.
pub(super) struct Precision {
    /// How far a number of this size is from the one below it.
    unit: fn(f64) -> f64,
    /// From here on not every whole number is one of them, so that a constant may be none.
    whole: f64,
    /// The squares of values below this are none of them.
    pub(super) small: f64,
}

pub(super) const SINGLE: Precision = Precision { unit: unit_f32, whole: (1_u64 << 24) as f64, small: 1e-19 };
pub(super) const DOUBLE: Precision =
    Precision { unit: |value| value - value.next_down(), whole: (1_u64 << 53) as f64, small: 0.0 };

/// How far a number of this size is from the one below it in single precision.
pub(super) fn unit_f32(value: f64) -> f64 {
    let value = value as f32;
    f64::from(value - value.next_down())
}

/// Whether steps between such values, NaN left out, are so small beside them that rounding to these numbers loses them in part.
pub(super) fn loses_steps(values: impl Iterator<Item = f64>, to: &Precision) -> bool {
    let (mut largest, mut widest, mut before) = (0.0_f64, 0.0_f64, None);
    for value in values.filter(|value| !value.is_nan()) {
        largest = largest.max(value.abs());
        widest = widest.max((value - before.replace(value).unwrap_or(value)).abs());
    }
    match widest {
        _ if largest == 0.0 => false,
        _ if largest < to.small => true,
        0.0 => largest >= to.whole,
        _ => widest <= UNITS * (to.unit)(largest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coarse(value: impl Fn(f64) -> f64) -> bool {
        loses_steps((0..100).map(|t| f64::from(value(f64::from(t)) as f32)), &SINGLE)
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
        assert!(!loses_steps(std::iter::empty(), &SINGLE));
    }
}
