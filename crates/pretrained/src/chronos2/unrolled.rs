//! Horizons beyond one pass: quantiles as paths, and quantiles of what is forecast behind them.

/// The quantiles that are paths.
pub(super) const PATHS: [f64; 9] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/// The probability that each quantile stands for: half of the way to the one before it, or to 0, and half of the way to the one behind
/// it, or to 1, as shares of their sum.
fn masses(levels: &[f64]) -> Vec<f64> {
    let at = |place: usize| match place {
        0 => 0.0,
        place => levels.get(place - 1).copied().unwrap_or(1.0),
    };
    let each: Vec<f64> = (0..levels.len()).map(|place| at(place + 2) - at(place)).collect();
    let sum: f64 = each.iter().sum();
    each.iter().map(|mass| mass / sum).collect()
}

/// Quantiles of what was forecast behind all paths.
#[derive(Debug)]
pub(super) struct Mixture {
    levels: Vec<f64>,
    /// The probability of each quantile behind each path, `[paths, levels]`.
    weights: Vec<f64>,
    /// Values with their probabilities, in their order.
    sorted: Vec<(f64, f64)>,
}

impl Mixture {
    pub(super) fn new(levels: &[f64]) -> Self {
        let own = masses(levels);
        let weights = masses(&PATHS).iter().flat_map(|path| own.iter().map(move |own| path * own)).collect();
        Self { levels: levels.to_vec(), weights, sorted: Vec::new() }
    }

    /// The quantiles of a step: `values [paths, levels]` are those that were forecast behind each path. Between two values they lie
    /// linearly by the probabilities up to and with each, before the first at the first.
    pub(super) fn quantiles(&mut self, values: impl Iterator<Item = f64>, mut put: impl FnMut(usize, f64)) {
        let Self { levels, weights, sorted } = self;
        sorted.clear();
        sorted.extend(values.zip(weights.iter().copied()));
        sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let (mut place, mut below, mut up_to) = (0, (sorted[0].0, 0.0), sorted[0].1);
        for (i, level) in levels.iter().enumerate() {
            while up_to <= *level && place + 1 < sorted.len() {
                below = (sorted[place].0, up_to);
                place += 1;
                up_to += sorted[place].1;
            }
            let part = ((level - below.1) / (up_to - below.1)).clamp(0.0, 1.0);
            put(i, below.0 + part * (sorted[place].0 - below.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_stands_for_what_lies_nearest() {
        let found = masses(&[0.1, 0.5, 0.9]);
        let expected = [0.5 / 1.8, 0.8 / 1.8, 0.5 / 1.8];
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
    }

    #[test]
    fn quantiles_lie_between_the_values_that_reach_them() {
        // Behind each path the quantiles are 30, 10 and 20, and stand for 0.46, 0.8 and 0.54 of 1.8: 0.4444 of the probability is at 10,
        // and the first of nine values at 20 has 0.0333 of it.
        let mut mixture = Mixture::new(&[0.1, 0.46, 0.9]);
        let mut found = [0.0; 3];
        mixture.quantiles((0..27).map(|i| [30.0, 10.0, 20.0][i % 3]), |i, value| found[i] = value);
        assert_eq!([found[0], found[2]], [10.0, 30.0]);
        let part = (0.46 - 0.8 / 1.8) / (0.54 / 1.8 / 9.0);
        assert!((found[1] - (10.0 + 10.0 * part)).abs() < 1e-9, "{found:?}");
    }
}
