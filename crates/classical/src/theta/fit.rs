//! A Theta model fitted to a series, and its forecast.

use foretell_estimator::mean;

use super::model::{FORMS, Form, Parameters, State};
use crate::local::SeriesForecast;
use crate::numeric::decompose::{Composition, season};
use crate::numeric::nelder_mead::minimise;
use crate::numeric::size::to_usual_size;

/// Values at the start whose errors do not count.
const BURN_IN: usize = 3;

/// A series and its season, if it has one.
pub(super) struct Adjusted {
    /// The series without it.
    pub y: Vec<f64>,
    season: Option<(Composition, Vec<f64>)>,
}

impl Adjusted {
    /// Takes the season out of a series, if there is one: if the correlation of values a season apart is significant (at 10 %, both
    /// sides).
    pub(super) fn new(y: &[f64], period: usize, wanted: Composition) -> Self {
        if period < 4 || y.len() < 2 * period || !is_seasonal(y, period) {
            return Self { y: y.to_vec(), season: None };
        }
        let positive = y.iter().all(|&y| y > 0.0);
        let mut found = (wanted, season(y, period, wanted));
        if wanted == Composition::Multiplicative && (!positive || found.1.iter().any(|&step| step < 0.01)) {
            found = (Composition::Additive, season(y, period, Composition::Additive));
        }
        let adjusted = y.iter().enumerate().map(|(t, &y)| found.0.without(y, found.1[t % period]));
        Self { y: adjusted.collect(), season: Some(found) }
    }

    /// Puts the season back in a forecast.
    fn restore(&self, forecast: &mut SeriesForecast) {
        let Some((composition, season)) = &self.season else { return };
        let steps = forecast.mean.iter_mut().zip(&mut forecast.deviation).zip(self.y.len()..);
        for ((mean, deviation), t) in steps {
            let step = season[t % season.len()];
            *mean = composition.with(*mean, step);
            if *composition == Composition::Multiplicative {
                *deviation *= step;
            }
        }
    }
}

/// Whether the correlation of values a period apart is further from 0 than those of shorter lags explain.
fn is_seasonal(y: &[f64], period: usize) -> bool {
    let n = y.len() as f64;
    let mean = mean(y);
    let product = |lag: usize| -> f64 {
        y[lag..].iter().zip(y).map(|(now, before)| (now - mean) * (before - mean)).sum()
    };
    let variance = product(0);
    let shorter: f64 = (1..period).map(|lag| (product(lag) / variance).powi(2)).sum();
    // The score of 95 % of a normal distribution.
    (product(period) / variance).abs() > 1.644_853_626_951_472_2 * ((1.0 + 2.0 * shorter) / n).sqrt()
}

/// Squared errors of one step ahead, in units of the mean size of a value.
fn loss(y: &[f64], form: Form, parameters: Parameters) -> f64 {
    let squares: f64 = errors(y, form, parameters).map(|error| error * error).sum();
    let size = y.iter().map(|y| y.abs()).sum::<f64>() / y.len() as f64;
    squares / size.max(1e-10)
}

/// The errors of one step ahead, those of the first steps left out.
fn errors(y: &[f64], form: Form, parameters: Parameters) -> impl Iterator<Item = f64> {
    let mut state = State::after_first(y, form, parameters);
    let errors = y[1..].iter().map(move |&y| {
        let error = y - state.forecast(parameters);
        state.update(y, parameters);
        error
    });
    errors.skip(BURN_IN - 1)
}

/// The best parameters of one form.
fn fit_form(y: &[f64], form: Form) -> Parameters {
    let of = |x: &[f64]| Parameters { level: x[0], alpha: x[1], theta: x.get(2).copied().unwrap_or(2.0) };
    let start = [y[0] / 2.0, 0.5, 2.0];
    let bounds = [(-1e10, 1e10), (0.1, 0.99), (1.0, 1e10)];
    let count = if form.optimised { 3 } else { 2 };
    let best = minimise(&start[..count], &bounds[..count], |x| {
        let loss = loss(y, form, of(x));
        if loss.is_nan() { f64::INFINITY } else { loss }
    });
    of(&best)
}

/// The form and its parameters, learned of a series without season. Of all forms, unless one is chosen, the one with the
/// least error. `None` of fewer than four values.
pub(super) fn learn(y: &[f64], form: Option<usize>) -> Option<(usize, Parameters)> {
    if y.len() <= BURN_IN {
        return None;
    }
    // The search ends at an absolute tolerance: in other units it finds the same.
    let factor = to_usual_size(y);
    let y = &y.iter().map(|y| y * factor).collect::<Vec<_>>()[..];
    let candidates = form.map_or(0..FORMS.len(), |form| form..form + 1);
    let fits = candidates.map(|form| (form, fit_form(y, FORMS[form])));
    let scored = fits.map(|fit| (loss(y, FORMS[fit.0], fit.1), fit));
    let (_, (form, best)) = scored.min_by(|a, b| a.0.total_cmp(&b.0))?;
    Some((form, Parameters { level: best.level / factor, ..best }))
}

/// The forecast of a series with parameters that were learned of it.
pub(super) fn forecast(adjusted: &Adjusted, form: Form, parameters: Parameters, h: usize) -> SeriesForecast {
    let y = &adjusted.y;
    let mut state = State::after_first(y, form, parameters);
    y[1..].iter().for_each(|&y| state.update(y, parameters));
    // Level, alpha and line are estimated, and theta where it is.
    let estimated = 4 + usize::from(form.optimised);
    let sigma = deviation(&errors(y, form, parameters).collect::<Vec<_>>(), estimated);
    let mean = path(state, parameters, 0.0, h);
    // What an error of 1 in the first step adds to each step. One that comes later adds as much, but for the line, which
    // changes the less the longer the history is.
    let moved = path(state, parameters, 1.0, h);
    let mut variance = 0.0;
    let deviation = mean.iter().zip(&moved).map(|(mean, moved)| {
        variance += (moved - mean).powi(2);
        sigma * variance.sqrt()
    });
    let mut forecast = SeriesForecast { deviation: deviation.collect(), mean, ..SeriesForecast::default() };
    adjusted.restore(&mut forecast);
    forecast
}

/// The parts of a forecast: the smoothed level, what the line adds to it, and what the season adds to both.
pub(super) fn parts(adjusted: &Adjusted, (form, parameters): (Form, Parameters), h: usize) -> Vec<Vec<f64>> {
    let y = &adjusted.y;
    let mut state = State::after_first(y, form, parameters);
    y[1..].iter().for_each(|&y| state.update(y, parameters));
    let mean = path(state, parameters, 0.0, h);
    let level = vec![state.level(); h];
    let mut whole =
        SeriesForecast { mean: mean.clone(), deviation: vec![0.0; h], ..SeriesForecast::default() };
    adjusted.restore(&mut whole);
    let difference = |all: &[f64], less: &[f64]| -> Vec<f64> {
        all.iter().zip(less).map(|(all, less)| all - less).collect()
    };
    let (trend, season) = (difference(&mean, &level), difference(&whole.mean, &mean));
    vec![level, trend, season]
}

/// The next `h` values if the first is off by `error`, and all others are as forecast.
fn path(mut state: State, parameters: Parameters, error: f64, h: usize) -> Vec<f64> {
    let step = |step: usize| {
        let value = state.forecast(parameters) + if step == 0 { error } else { 0.0 };
        state.update(value, parameters);
        value
    };
    (0..h).map(step).collect()
}

/// The standard deviation of errors around their mean, corrected for the degrees of freedom that `estimated` parameters take: fitted
/// errors of a short history are smaller than those of its forecasts.
fn deviation(errors: &[f64], estimated: usize) -> f64 {
    let count = errors.len() as f64;
    let mean = mean(errors);
    (errors.iter().map(|error| (error - mean).powi(2)).sum::<f64>() / (count - estimated as f64).max(1.0))
        .sqrt()
}
