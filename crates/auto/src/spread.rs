//! Quantiles of models that forecast a single number, from their errors.

use foretell::own_estimator::quantile;
use serde::{Deserialize, Serialize};

use crate::grid::{QUANTILES, WIDTH};
use crate::history::{History, SeriesGroup};
use crate::loss::Case;

/// Errors below which nothing is told by their quantiles.
const FEW: usize = 20;

/// Parts of the horizon, whose errors grow.
const PARTS: usize = 3;

/// Quantiles of a model's errors, relative to the scale of each series: pooled over the windows of all series, as one product of 13
/// weeks has no errors to speak of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Spread {
    /// Those of intermittent series and of all others, each `[part, WIDTH]`.
    intermittent: Vec<[f64; WIDTH]>,
    others: Vec<[f64; WIDTH]>,
}

impl Spread {
    /// From the forecasts `[h, WIDTH]`, all columns alike, of these cases.
    pub(crate) fn of(cases: &[Case], forecasts: &[Option<Vec<f32>>]) -> Self {
        let errors = |which: &dyn Fn(SeriesGroup) -> bool| {
            let mut parts = vec![Vec::new(); PARTS];
            for (case, values) in cases.iter().zip(forecasts) {
                let Some(values) = values.as_ref().filter(|_| which(case.history.group)) else { continue };
                for (step, (value, y)) in values.iter().step_by(WIDTH).zip(&case.y).enumerate() {
                    let error = f64::from(y - value) / case.history.scale;
                    if error.is_finite() {
                        parts[part(step, case.y.len())].push(error);
                    }
                }
            }
            parts
        };
        let intermittent = errors(&|group| group == SeriesGroup::Intermittent);
        let others = errors(&|group| group != SeriesGroup::Intermittent);
        let count = |parts: &[Vec<f64>]| parts.iter().map(Vec::len).sum::<usize>();
        let all: Vec<Vec<f64>> =
            intermittent.iter().zip(&others).map(|(a, b)| [a.as_slice(), b].concat()).collect();
        let or_all = |own: Vec<Vec<f64>>| quantiles(if count(&own) >= FEW { own } else { all.clone() });
        Self { intermittent: or_all(intermittent), others: or_all(others) }
    }

    /// Puts the quantiles around the single numbers `[h, WIDTH]` of a series.
    pub(crate) fn add(&self, history: &History, values: &mut [f32]) {
        let own = match history.group {
            SeriesGroup::Intermittent => &self.intermittent,
            SeriesGroup::Short | SeriesGroup::Regular => &self.others,
        };
        let h = values.len() / WIDTH;
        for (step, values) in values.chunks_exact_mut(WIDTH).enumerate() {
            let offsets = own.get(part(step, h)).copied().unwrap_or_else(|| normal(step));
            for (value, offset) in values.iter_mut().zip(offsets) {
                *value = (f64::from(*value) + offset * history.scale) as f32;
            }
        }
    }
}

/// The part of the horizon that a step is in.
fn part(step: usize, h: usize) -> usize {
    (step * PARTS / h.max(1)).min(PARTS - 1)
}

/// Of a normal error that grows with the root of the steps, for those of which none are known.
pub(crate) fn normal(step: usize) -> [f64; WIDTH] {
    const SCORES: [f64; WIDTH] = [-1.2816, -0.8416, -0.5244, -0.2533, 0.0, 0.2533, 0.5244, 0.8416, 1.2816];
    SCORES.map(|score| 1.25 * score * ((step + 1) as f64).sqrt())
}

/// The quantiles of each part; of all parts where one has few errors, and nothing where all have.
fn quantiles(parts: Vec<Vec<f64>>) -> Vec<[f64; WIDTH]> {
    let all: Vec<f64> = parts.concat();
    if all.len() < FEW {
        return Vec::new();
    }
    let of = |mut errors: Vec<f64>| {
        errors.sort_by(f64::total_cmp);
        QUANTILES.map(|q| quantile(&errors, q))
    };
    let or_all = |errors: Vec<f64>| of(if errors.len() >= FEW { errors } else { all.clone() });
    parts.into_iter().map(or_all).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(series: usize, error: f32) -> (Case, Option<Vec<f32>>) {
        let history = History::of(&[1.0, 3.0].repeat(10), 1, 0.0);
        (Case { series, y: vec![5.0 + error; 3], history }, Some(vec![5.0; 3 * WIDTH]))
    }

    #[test]
    fn quantiles_are_those_of_the_errors_of_all_series() {
        let (cases, forecasts): (Vec<_>, Vec<_>) =
            (0..41).map(|series| case(series, series as f32 / 10.0 - 2.0)).unzip();
        let spread = Spread::of(&cases, &forecasts);
        let mut values = vec![7.0; 3 * WIDTH];
        // The scale of every case is 2.
        spread.add(&cases[0].history, &mut values);
        let expected = QUANTILES.map(|q| (7.0 + 4.0 * q - 2.0) as f32);
        for step in values.chunks_exact(WIDTH) {
            assert!(step.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5), "{step:?}");
        }
    }

    #[test]
    fn without_errors_they_widen_as_those_of_a_walk_at_random() {
        let (cases, forecasts): (Vec<_>, Vec<_>) = (0..2).map(|series| case(series, 1.0)).unzip();
        let spread = Spread::of(&cases, &forecasts);
        let mut values = vec![0.0; 4 * WIDTH];
        spread.add(&cases[0].history, &mut values);
        assert!((values[4 * WIDTH - 1] / values[WIDTH - 1] - 2.0).abs() < 1e-5 && values[4] == 0.0);
    }
}
