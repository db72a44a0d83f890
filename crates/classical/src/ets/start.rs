//! States and parameters that a search starts from: those of statsforecast, so that it finds the same.

use foretell_estimator::mean;

use super::model::{Form, Season, Smoothing, State};
use crate::numeric::decompose::{Composition, season};
use crate::numeric::least_squares::least_squares;

/// Upper ends of the parameters alpha, beta, gamma and phi; the lower ones are [`LOWER`].
pub(super) type Upper = [f64; 4];
pub(super) const LOWER: [f64; 4] = [1e-4, 1e-4, 1e-4, 0.8];
pub(super) const UPPER: Upper = [0.9999, 0.9999, 0.9999, 0.98];

/// The parameters that a model of this many steps a season starts from. The ends of beta and gamma follow from them, and hold for all
/// models that are tried later.
pub(super) fn smoothing(form: Form, period: usize, upper: &mut Upper) -> Smoothing {
    let between = |i: usize, upper: &Upper, share: f64| LOWER[i] + share * (upper[i] - LOWER[i]);
    let alpha = between(0, upper, 0.2 / period as f64);
    let mut start = Smoothing { alpha, beta: 0.0, gamma: 0.0, phi: 1.0 };
    if form.trend {
        upper[1] = upper[1].min(alpha);
        start.beta = between(1, upper, 0.1);
    }
    if form.season != Season::Absent {
        upper[2] = upper[2].min(1.0 - alpha);
        start.gamma = between(2, upper, 0.05);
    }
    if form.damped {
        start.phi = between(3, upper, 0.99);
    }
    start
}

/// The state that a model starts from, before the first value.
pub(super) fn state(y: &[f64], form: Form, period: usize) -> State {
    let composition = match form.season {
        Season::Absent => return without_season(y, form.trend, 10, Vec::new()),
        Season::Additive => Composition::Additive,
        Season::Multiplicative => Composition::Multiplicative,
    };
    let mut season = if y.len() < 3 * period {
        around_line(y, period, composition)
    } else {
        season(y, period, composition).repeat(y.len() / period + 1)
    };
    let mut first = season[..period].to_vec();
    if composition == Composition::Multiplicative {
        season.iter_mut().for_each(|step| *step = step.max(0.01));
        first[1..].iter_mut().for_each(|step| *step = step.max(0.01));
        let sum: f64 = first[1..].iter().sum();
        if sum > period as f64 {
            let whole = sum + 0.01 * (period - 1) as f64;
            first[1..].iter_mut().for_each(|step| *step /= whole);
        }
    }
    // The first step is what the others leave.
    let whole = if composition == Composition::Multiplicative { period as f64 } else { 0.0 };
    first[0] = whole - first[1..].iter().sum::<f64>();
    let adjusted: Vec<f64> = y.iter().zip(&season).map(|(&y, &step)| composition.without(y, step)).collect();
    without_season(&adjusted, form.trend, (2 * period).max(10), first)
}

/// The rest of a short series without its line, with which a wave of one period is fitted.
fn around_line(y: &[f64], period: usize, composition: Composition) -> Vec<f64> {
    let angle = |t: usize| std::f64::consts::TAU * t as f64 / period as f64;
    let row = |t: usize| [1.0, t as f64, angle(t).cos(), angle(t).sin()];
    let rows: Vec<[f64; 4]> = (1..=y.len()).map(row).collect();
    let [level, slope, ..] = least_squares(&rows, y);
    y.iter().zip(1..).map(|(&y, t)| composition.without(y, level + slope * f64::from(t))).collect()
}

/// The level, and the slope if there is a trend, of the first steps of a series without season.
fn without_season(y: &[f64], trend: bool, steps: usize, season: Vec<f64>) -> State {
    let y = &y[..steps.min(y.len())];
    if !trend {
        return State { level: mean(y), slope: 0.0, season };
    }
    let rows: Vec<[f64; 2]> = (1..=y.len()).map(|t| [1.0, t as f64]).collect();
    let [mut level, mut slope] = least_squares(&rows, y);
    // The first forecast is not 0, by which relative errors would be divided.
    if (level + slope).abs() < 1e-8 {
        level *= 1.0 + 1e-3;
        slope *= 1.0 - 1e-3;
    }
    State { level, slope, season }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_series_has_a_season_too() {
        let form = Form { relative_error: false, trend: true, damped: false, season: Season::Additive };
        let wave = |t: usize| [3.0, 0.0, -3.0, 0.0][t % 4];
        let y: Vec<f64> = (0..8).map(|t| 1.0 + 2.0 * t as f64 + wave(t)).collect();
        let start = state(&y, form, 4);
        assert!(start.season.iter().enumerate().all(|(t, step)| (step - wave(t)).abs() < 1e-9), "{start:?}");
        assert!((start.level + 1.0).abs() < 1e-9 && (start.slope - 2.0).abs() < 1e-9, "{start:?}");
    }
}
