//! The scale of a context, as the Chronos networks have it.

/// The deviation of a context without any.
const LEAST_DEVIATION: f64 = 1e-5;

/// Where values lie, and how far they spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    pub(crate) mean: f64,
    pub(crate) deviation: f64,
}

impl Scale {
    /// Mean and deviation of the known values; 0 and 1 where there are none.
    pub(crate) fn of(context: &[f64]) -> Self {
        Self::or(context, |_| LEAST_DEVIATION)
    }

    /// The same with the deviation that `constant` gives equal values.
    pub(crate) fn or(context: &[f64], constant: impl Fn(f64) -> f64) -> Self {
        let known = || context.iter().filter(|y| !y.is_nan());
        let Some(&first) = known().next() else { return Self { mean: 0.0, deviation: 1.0 } };
        // The mean of equal values may be off by a rounding.
        if known().all(|y| *y == first) {
            return Self { mean: first, deviation: constant(first) };
        }
        let count = known().count() as f64;
        let mean = known().sum::<f64>() / count;
        let deviation = (known().map(|y| (y - mean).powi(2)).sum::<f64>() / count).sqrt();
        Self { mean, deviation }
    }

    /// A value in units of the scale.
    pub(crate) fn scaled(self, value: f64) -> f64 {
        (value - self.mean) / self.deviation
    }

    /// A value from units of the scale.
    pub(crate) fn unscaled(self, value: f64) -> f64 {
        value * self.deviation + self.mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_values_have_no_part_in_a_scale() {
        let scale = Scale::of(&[f64::NAN, 1.0, 5.0, f64::NAN, 3.0]);
        assert_eq!(scale.mean, 3.0);
        assert!((scale.deviation - (8.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert!((scale.unscaled(scale.scaled(7.5)) - 7.5).abs() < 1e-12);
        assert_eq!(Scale::of(&[0.1; 7]), Scale { mean: 0.1, deviation: 1e-5 });
        assert_eq!(Scale::of(&[f64::NAN; 3]), Scale { mean: 0.0, deviation: 1.0 });
    }
}
