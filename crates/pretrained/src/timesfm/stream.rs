//! A series, or its mirror image, as tokens whose scale is that of all values up to each.

/// Count, mean and deviation of the values so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Running {
    count: f64,
    pub(super) mean: f64,
    pub(super) deviation: f64,
}

/// A smaller deviation is none.
const LEAST_DEVIATION: f64 = 1e-6;

impl Running {
    /// With these values, too.
    pub(super) fn with(self, values: &[f64]) -> Self {
        if values.is_empty() {
            return self;
        }
        let more = values.len() as f64;
        let own_mean = values.iter().sum::<f64>() / more;
        let own_variance = values.iter().map(|y| (y - own_mean).powi(2)).sum::<f64>() / more;
        let count = self.count + more;
        let mean = (self.count * self.mean + more * own_mean) / count;
        let around = |mean_of: f64, variance: f64| variance + (mean_of - mean).powi(2);
        let variance = (self.count * around(self.mean, self.deviation.powi(2))
            + more * around(own_mean, own_variance))
            / count;
        Self { count, mean, deviation: variance.sqrt() }
    }

    pub(super) fn scaled(self, value: f64) -> f64 {
        let deviation = if self.deviation < LEAST_DEVIATION { 1.0 } else { self.deviation };
        (value - self.mean) / deviation
    }

    pub(super) fn unscaled(self, value: f64) -> f64 {
        value * self.deviation + self.mean
    }

    /// Appends the token of a patch, of which the first `size - values.len()` steps lie before the series: its values, then marks of those
    /// steps. The scale is the one behind it.
    pub(super) fn push(self, values: &[f64], size: usize, tokens: &mut Vec<f32>) -> Self {
        let after = self.with(values);
        let before = size - values.len();
        tokens.extend((0..before).map(|_| 0.0));
        tokens.extend(values.iter().map(|y| after.scaled(*y) as f32));
        tokens.extend((0..size).map(|i| f32::from(u8::from(i < before))));
        after
    }
}

/// The known values with gaps filled linearly, those at the end by the last known one; without what is unknown at the start.
pub(super) fn filled(values: &[f64]) -> Vec<f64> {
    let mut out: Vec<f64> = Vec::with_capacity(values.len());
    let mut gap = 0;
    for &y in values {
        if y.is_nan() {
            gap += 1;
            continue;
        }
        if let Some(&last) = out.last() {
            out.extend((1..=gap).map(|i| last + (y - last) * i as f64 / (gap + 1) as f64));
        }
        out.push(y);
        gap = 0;
    }
    if let Some(&last) = out.last() {
        out.extend((0..gap).map(|_| last));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_filled_between_known_values() {
        let nan = f64::NAN;
        assert_eq!(filled(&[nan, nan, 1.0, nan, nan, 4.0, nan]), [1.0, 2.0, 3.0, 4.0, 4.0]);
        assert!(filled(&[nan, nan]).is_empty());
    }

    #[test]
    fn scales_are_those_of_all_values_so_far() {
        let values = [3.0, 8.0, -1.0, 4.5, 2.0];
        let whole = Running::default().with(&values);
        let parts = Running::default().with(&values[..2]).with(&[]).with(&values[2..]);
        assert!((whole.mean - 3.3).abs() < 1e-12 && (whole.mean - parts.mean).abs() < 1e-12);
        assert!((whole.deviation - parts.deviation).abs() < 1e-12);
        let mut tokens = Vec::new();
        let after = Running::default().push(&[2.0, 4.0], 3, &mut tokens);
        assert_eq!((after.mean, after.deviation), (3.0, 1.0));
        assert_eq!(tokens, [0.0, -1.0, 1.0, 1.0, 0.0, 0.0]);
        // Equal values have no deviation: they are 0, and what is forecast of them is their mean.
        let mut tokens = Vec::new();
        let after = Running::default().push(&[7.0; 2], 2, &mut tokens);
        assert_eq!((after.unscaled(55.0), &tokens[..]), (7.0, &[0.0; 4][..]));
    }
}
