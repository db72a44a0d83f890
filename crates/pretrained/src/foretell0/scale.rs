//! The scale of a window: the median and the spread between its quartiles, and an inverse hyperbolic sine, which is the identity for usual
//! values and a logarithm for spikes.

/// The standard deviations between the quartiles of normal numbers.
const NORMAL_QUARTILES: f32 = 1.349;

/// The least share of the standard deviation that the width is: half of all values may be the same.
const LEAST_SHARE: f32 = 0.05;

/// How a window's values become the network's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowScale {
    centre: f32,
    width: f32,
}

impl WindowScale {
    /// The scale of these values, which are known; `None` if all are the same, or there is none.
    pub fn of(known: &[f32]) -> Option<Self> {
        let mut sorted = known.to_vec();
        sorted.sort_by(f32::total_cmp);
        let (first, last) = (*sorted.first()?, *sorted.last()?);
        let at = |share: f32| {
            let place = share * (sorted.len() - 1) as f32;
            let before = place as usize;
            let after = (before + 1).min(sorted.len() - 1);
            sorted[before] + (place - before as f32) * (sorted[after] - sorted[before])
        };
        let n = known.len() as f64;
        let mean = known.iter().map(|value| f64::from(*value)).sum::<f64>() / n;
        let variance = known.iter().map(|value| (f64::from(*value) - mean).powi(2)).sum::<f64>() / n;
        let deviation = variance.sqrt() as f32;
        let width = ((at(0.75) - at(0.25)) / NORMAL_QUARTILES).max(LEAST_SHARE * deviation);
        let varies = first < last && width > 0.0 && width.is_finite();
        varies.then(|| Self { centre: at(0.5), width })
    }

    /// The value that is 0, and the width by which others are divided.
    pub(super) fn parts(self) -> [f32; 2] {
        [self.centre, self.width]
    }

    /// A value on the network's scale.
    pub fn apply(self, value: f32) -> f32 {
        foretell_data::asinh((value - self.centre) / self.width)
    }

    /// The value that is this on the network's scale.
    pub fn invert(self, scaled: f32) -> f32 {
        self.centre + self.width * scaled.sinh()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back() {
        let values = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 1e6];
        let scale = WindowScale::of(&values).unwrap();
        for value in values {
            assert!((scale.invert(scale.apply(value)) - value).abs() <= 1e-4 * value.abs(), "{value}");
        }
        assert!(scale.apply(1e6) < 6.0 && scale.apply(4.0).abs() < 1.0);
    }

    #[test]
    fn half_of_all_values_may_be_0() {
        let scale = WindowScale::of(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 7.0]).unwrap();
        assert!(scale.apply(7.0).is_finite() && scale.apply(0.0) == 0.0);
    }

    #[test]
    fn what_does_not_vary_has_no_scale() {
        assert_eq!(WindowScale::of(&[]), None);
        assert_eq!(WindowScale::of(&[5.0; 9]), None);
    }
}
