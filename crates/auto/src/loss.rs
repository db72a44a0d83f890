//! What a forecast of one series is worth.

use std::str::FromStr;

use foretell::own_estimator::hyper::RefusedHyperParameter;

use crate::board::AUTO;
use crate::error::AutoError;
use crate::grid::{MEDIAN, WIDTH, pinball};
use crate::history::History;

/// A window of a series: what came, and what was known before.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// The place of the series among those that are scored.
    pub(crate) series: usize,
    /// What came, NaN where unknown.
    pub(crate) y: Vec<f32>,
    pub(crate) history: History,
}

/// The largest loss of a case, in units of its series' scale: no series decides alone.
const MOST: f64 = 30.0;

/// What weights are chosen by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Criterion {
    /// Errors of the median and losses of all quantiles alike, each divided by the mean change of its series over a season.
    #[default]
    Balanced,
    /// Errors of the median, divided by the mean change of their series over a season.
    Mase,
    /// Losses of all quantiles, divided so.
    ScaledCrps,
    /// Errors of the median, in the units of the data.
    Mae,
}

impl Criterion {
    const ALL: [Self; 4] = [Self::Balanced, Self::Mase, Self::ScaledCrps, Self::Mae];
    /// Their names in words.
    pub(crate) const EXPECTED: &str = "balanced, mase, scaled_crps or mae";

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Balanced => "balanced",
            Self::Mase => "mase",
            Self::ScaledCrps => "scaled_crps",
            Self::Mae => "mae",
        }
    }

    /// The loss of quantiles `[h, WIDTH]`, 0 where nothing came.
    pub(crate) fn loss(self, case: &Case, values: &[f32]) -> f64 {
        let scale = if self == Self::Mae { 1.0 } else { case.history.scale };
        let of_step = |(step, &y): (&[f32], &f32)| {
            let y = f64::from(y);
            let error = || (y - f64::from(step[MEDIAN])).abs();
            match self {
                Self::Mase | Self::Mae => error(),
                Self::ScaledCrps => pinball(step, y),
                Self::Balanced => 0.5 * (error() + pinball(step, y)),
            }
        };
        let known = values.chunks_exact(WIDTH).zip(&case.y).filter(|(_, y)| !y.is_nan());
        let (sum, steps) = known.map(of_step).fold((0.0, 0_usize), |(sum, n), loss| (sum + loss, n + 1));
        let loss = sum / steps.max(1) as f64 / scale;
        if self == Self::Mae { loss } else { loss.min(MOST) }
    }
}

impl FromStr for Criterion {
    type Err = AutoError;

    fn from_str(text: &str) -> Result<Self, AutoError> {
        Self::ALL
            .into_iter()
            .find(|criterion| criterion.name() == text)
            .ok_or_else(|| RefusedHyperParameter::value(AUTO, "metric", Self::EXPECTED, &text.into()).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_divided_by_the_changes_of_their_series() {
        let history = History::of(&[0.0, 4.0, 0.0, 4.0], 1, 0.0);
        let case = Case { series: 0, y: vec![10.0, f32::NAN], history };
        let values = [2.0; 2 * WIDTH];
        for criterion in Criterion::ALL {
            assert_eq!(criterion.name().parse::<Criterion>().unwrap(), criterion);
            let expected = if criterion == Criterion::Mae { 8.0 } else { 2.0 };
            assert!((criterion.loss(&case, &values) - expected).abs() < 1e-9, "{criterion:?}");
        }
        let far = [1e30; 2 * WIDTH];
        assert_eq!(Criterion::Mase.loss(&case, &far), MOST);
        assert!("rmsle".parse::<Criterion>().is_err());
    }
}
