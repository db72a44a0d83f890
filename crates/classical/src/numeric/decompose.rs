//! A series in trend, season and rest by moving averages, as `seasonal_decompose` of statsmodels does it.

/// How a season is part of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Composition {
    /// Values are a sum of season and the rest.
    Additive,
    /// They are a product.
    Multiplicative,
}

impl Composition {
    /// A value without its season.
    pub(crate) fn without(self, value: f64, season: f64) -> f64 {
        match self {
            Self::Additive => value - season,
            Self::Multiplicative => value / season,
        }
    }

    /// A value with its season.
    pub(crate) fn with(self, value: f64, season: f64) -> f64 {
        match self {
            Self::Additive => value + season,
            Self::Multiplicative => value * season,
        }
    }
}

/// One season `[period]` of a series of at least two, from its first value on: the mean of each step around a moving average over
/// a period. Additive seasons have the sum 0, multiplicative ones the mean 1.
pub(crate) fn season(y: &[f64], period: usize, composition: Composition) -> Vec<f64> {
    let half = period / 2;
    let mut sums = vec![(0.0, 0.0); period];
    for t in half..y.len() - half {
        // Of an even period the ends count half.
        let inner: f64 = y[t - half..=t + half].iter().sum();
        let ends = if period.is_multiple_of(2) { 0.5 * (y[t - half] + y[t + half]) } else { 0.0 };
        let (sum, count) = &mut sums[t % period];
        *sum += composition.without(y[t], (inner - ends) / period as f64);
        *count += 1.0;
    }
    let means: Vec<f64> = sums.iter().map(|(sum, count)| sum / count).collect();
    let mean = means.iter().sum::<f64>() / period as f64;
    means.into_iter().map(|step| composition.without(step, mean)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_season_around_a_line_is_found() {
        for (period, shape) in [(4, &[1.0, -2.0, 3.0, -2.0][..]), (3, &[1.0, -3.0, 2.0][..])] {
            let y: Vec<f64> = (0..5 * period).map(|t| 0.5 * t as f64 + shape[t % period]).collect();
            let found = season(&y, period, Composition::Additive);
            assert!(found.iter().zip(shape).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
        }
        let y: Vec<f64> = (0..20).map(|t| 8.0 * [0.5, 1.5][t % 2]).collect();
        assert_eq!(season(&y, 2, Composition::Multiplicative), [0.5, 1.5]);
    }
}
