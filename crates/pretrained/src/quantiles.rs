//! Any quantile of those that a network forecasts.

use statrs::distribution::{ContinuousCDF as _, Normal};

/// How quantiles at other probabilities follow from those at `levels`: between two of them linearly, beyond the outermost as a normal
/// distribution's would go on from the median through the outermost one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Quantiles {
    /// For each probability two places among the levels, and the weight of the second.
    mixes: Vec<[(usize, f64); 2]>,
}

impl Quantiles {
    /// Those at `asked`; `levels` ascend and have 0.5 among them.
    pub(crate) fn new(levels: &[f64], asked: impl IntoIterator<Item = f64>) -> Self {
        let last = levels.len() - 1;
        let median = (0..=last).min_by(|&a, &b| (levels[a] - 0.5).abs().total_cmp(&(levels[b] - 0.5).abs()));
        let median = median.unwrap_or(0);
        let mix = |q: f64| {
            let above = levels.partition_point(|level| *level < q);
            // The same quantile, up to the rounding of its name.
            let is_near = |place: &usize| levels.get(*place).is_some_and(|level| (level - q).abs() < 1e-6);
            if let Some(place) = [above, above.saturating_sub(1)].into_iter().find(is_near) {
                return [(place, 1.0), (place, 0.0)];
            }
            let between =
                |first: usize, second: usize, weight: f64| [(first, 1.0 - weight), (second, weight)];
            match above {
                0 => between(median, 0, normal(q) / normal(levels[0])),
                above if above > last => between(median, last, normal(q) / normal(levels[last])),
                above => {
                    let [low, high] = [levels[above - 1], levels[above]];
                    between(above - 1, above, (q - low) / (high - low))
                }
            }
        };
        Self { mixes: asked.into_iter().map(mix).collect() }
    }

    /// Those of one step, whose forecast quantiles ascend.
    pub(crate) fn of<'a>(&'a self, step: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        self.mixes.iter().map(|mix| mix.iter().map(|&(place, weight)| weight * step[place]).sum())
    }
}

/// The quantile of the standard normal distribution.
fn normal(q: f64) -> f64 {
    Normal::standard().inverse_cdf(q)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_forecast_or_between_or_in_normal_tails() {
        let levels = [0.1, 0.2, 0.5, 0.8, 0.9];
        // A normal distribution of mean 10 and deviation 2.
        let step = levels.map(|q| 10.0 + 2.0 * normal(q));
        let of = |q: f64| Quantiles::new(&levels, [q]).of(&step).next().expect("one");
        assert_eq!(of(0.5), 10.0);
        assert_eq!(of(f64::from(0.1_f32)), step[0]);
        assert!((of(0.35) - (step[1] + step[2]) / 2.0).abs() < 1e-12);
        for q in [0.001, 0.025, 0.95, 0.999] {
            assert!((of(q) - (10.0 + 2.0 * normal(q))).abs() < 1e-9, "{q}: {}", of(q));
        }
    }
}
