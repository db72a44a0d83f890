//! Quantiles beyond those that members forecast, from how far values of the past lay outside.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF as _, Normal};

use crate::grid::{MEDIAN, QUANTILES, WIDTH, value_at};
use crate::history::History;
use crate::loss::Case;

/// The shares of values that distances are kept of; the first is in the interval between the outermost quantiles.
const LEVELS: [f64; 12] = [0.8, 0.85, 0.9, 0.925, 0.95, 0.96, 0.97, 0.98, 0.985, 0.99, 0.995, 0.999];

/// This many times as far as a normal distribution reaches values of the past may carry an interval: a slip among them is not to hide
/// the next one.
const MOST: f64 = 2.0;

/// How far values of the past were from the medians of their forecasts, in half-widths of the interval of 80 % on their side.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tails {
    /// Values that were compared.
    pub(crate) count: usize,
    /// The distances that these shares of values are within, as many as are known.
    distances: Vec<f64>,
}

impl Tails {
    /// From the combined forecasts `[h, WIDTH]` of these cases.
    pub(crate) fn of<'a>(forecasts: impl Iterator<Item = (&'a Case, Vec<f32>)>) -> Self {
        let mut all = Vec::new();
        for (case, values) in forecasts {
            for (step, &y) in values.chunks_exact(WIDTH).zip(&case.y) {
                let [low, median, high] = [step[0], step[MEDIAN], step[WIDTH - 1]].map(f64::from);
                let y = f64::from(y);
                let half = if y > median { high - median } else { median - low };
                // Steps that are taken for certain tell nothing of widths.
                let distance = (y - median).abs() / half;
                all.extend((half > 0.0 && distance.is_finite()).then_some(distance));
            }
        }
        all.sort_by(f64::total_cmp);
        Self { count: all.len(), distances: LEVELS.iter().map_while(|&level| within(&all, level)).collect() }
    }

    /// A quantile of a step: within the outermost ones on the line between the two next to it; beyond them as far outside as values of the past
    /// were, and no less than those of a normal distribution with the same interval of 80 %.
    pub(crate) fn value_at(&self, history: &History, step: &[f32], q: f64) -> f32 {
        let outermost = [QUANTILES[0], QUANTILES[WIDTH - 1]];
        if (outermost[0] - 1e-9..=outermost[1] + 1e-9).contains(&q) {
            return value_at(step, q);
        }
        let end = if q < 0.5 { step[0] } else { step[WIDTH - 1] };
        let [median, end] = [step[MEDIAN], end].map(f64::from);
        let value = median + (end - median) * self.reach((2.0 * q - 1.0).abs());
        // What is never below zero is not there either.
        history.least.map_or(value, |least| value.max(least)) as f32
    }

    /// The widest level that values of the past have measured; nothing where they tell of none.
    pub(crate) fn widest(&self) -> Option<f64> {
        (self.count > 0).then(|| LEVELS[self.distances.len().saturating_sub(1)])
    }

    /// How far the interval of this level reaches, in half-widths of that of 80 %.
    fn reach(&self, level: f64) -> f64 {
        let (normal, above) = (reach_of_normal(level), LEVELS.partition_point(|known| *known < level));
        // That of 80 % is what it is, so that wider ones begin there.
        let distance = |place: usize| if place == 0 { 1.0 } else { self.distances[place] };
        let known = match self.distances.len() {
            // Between two levels on the line over those of the normal distribution.
            known if above < known && above > 0 => {
                let [from, to] = [LEVELS[above - 1], LEVELS[above]].map(reach_of_normal);
                let [low, high] = [above - 1, above].map(distance);
                low + (high - low) * (normal - from) / (to - from)
            }
            // Beyond the widest level with a known distance, in proportion to a normal distribution.
            known if known > 1 && above >= known => {
                distance(known - 1) * normal / reach_of_normal(LEVELS[known - 1])
            }
            _ => normal,
        };
        known.clamp(normal, MOST * normal)
    }
}

/// The distance that the next value is within with at least this probability, of the sorted ones of the past (Vovk, Gammerman and Shafer 2005);
/// nothing where these are too few to tell.
fn within(sorted: &[f64], level: f64) -> Option<f64> {
    let place = (level * (sorted.len() + 1) as f64 - 1e-9).ceil() as usize;
    sorted.get(place.checked_sub(1)?).copied()
}

/// How far a central interval of a normal distribution reaches, in half-widths of that of 80 %.
fn reach_of_normal(level: f64) -> f64 {
    let normal = Normal::standard();
    let end = |level: f64| normal.inverse_cdf((0.5 + level / 2.0).min(1.0 - 1e-9));
    end(level) / end(LEVELS[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Forecasts of 5 with an interval of 80 % from 4 to 7, of values this far from it.
    fn tails(errors: impl Iterator<Item = f32>) -> Tails {
        let history = History::of(&[1.0, 3.0].repeat(10), 1, -9.0);
        let cases: Vec<Case> =
            errors.map(|error| Case { series: 0, y: vec![5.0 + error], history }).collect();
        Tails::of(cases.iter().map(|case| (case, STEP.to_vec())))
    }

    const STEP: [f32; WIDTH] = [4.0, 4.2, 4.5, 4.8, 5.0, 5.2, 5.5, 6.0, 7.0];

    #[test]
    fn intervals_reach_as_far_as_values_of_the_past() {
        let free = History::of(&[-1.0, 3.0].repeat(10), 1, 0.0);
        // 200 values as far as 4 half-widths: 95 % are within 3.8 of them, a normal distribution within 1.53.
        let tails = tails((1..=200).map(|i| -(i as f32) / 50.0));
        assert_eq!(tails.count, 200);
        let low = tails.value_at(&free, &STEP, 0.025);
        assert!((low - (5.0 - 2.0 * 1.529_4)).abs() < 1e-3, "no farther than twice a normal one: {low}");
        assert_eq!([0.1, 0.5, 0.9].map(|q| tails.value_at(&free, &STEP, q)), [4.0, 5.0, 7.0]);
        // None is below zero where no value was.
        assert_eq!(tails.value_at(&History::of(&[0.0, 3.0].repeat(10), 1, 0.0), &STEP, 1e-5), 0.0);
    }

    #[test]
    fn few_values_tell_what_they_can() {
        let of = |count: u32| tails((0..count).map(|i| i as f32 / count as f32 * 4.0));
        // With n values no interval of theirs holds more than n / (n + 1).
        let known = |count: u32| of(count).distances.len();
        assert_eq!([known(3), known(4), known(19), known(98), known(99)], [0, 1, 5, 9, 10]);
        let few = tails([0.1, 0.2, 0.3].into_iter());
        assert!((few.reach(0.99) - 2.009_9).abs() < 1e-3, "{}", few.reach(0.99));
    }

    #[test]
    fn higher_levels_reach_farther() {
        for count in [0_u32, 5, 30, 400] {
            let tails = tails((0..count).map(|i| (i as f32 / count as f32).powi(3) * 6.0));
            let above: Vec<f64> = (800..1000).map(|level| tails.reach(f64::from(level) / 1000.0)).collect();
            assert!(above.is_sorted() && above[199].is_finite(), "{count}: {above:?}");
            assert!((tails.reach(0.8 + 1e-6) - 1.0).abs() < 1e-3, "they begin at that of 80 %");
        }
    }
}
