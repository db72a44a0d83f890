//! A model of complex exponential smoothing fitted to a series, and its forecast.

use foretell_estimator::mean;

use super::model::{FORMS, Form, Parameters, State, States};
use crate::local::SeriesForecast;
use crate::numeric::decompose::{Composition, season};
use crate::numeric::nelder_mead::minimise;

/// Values that a first level is the mean of, where there is no season.
const FIRST_VALUES: usize = 10;

/// How far the first level stands above its second part.
const FIRST_RATIO: f64 = 1.1;

/// A series, and the season that forms with one have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Series<'a> {
    pub(super) y: &'a [f64],
    pub(super) period: usize,
}

/// What was learned of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fit {
    pub(super) form: Form,
    pub(super) parameters: Parameters,
    /// Akaike's criterion, corrected for short series.
    pub(super) criterion: f64,
}

impl Series<'_> {
    /// Steps of the season of a form.
    fn period_of(self, form: Form) -> usize {
        if form == Form::None { 1 } else { self.period }
    }

    /// The states before the first value.
    fn first(self, form: Form) -> States {
        let Self { y, period } = self;
        let at = |level: f64| [level, level / FIRST_RATIO, 0.0, 0.0];
        let states = match form {
            Form::None => vec![at(mean(&y[..y.len().min(FIRST_VALUES)]))],
            Form::Simple => y[..period].iter().map(|&y| at(y)).collect(),
            Form::Partial | Form::Full => {
                let [level, second, ..] = at(mean(&y[..period]));
                let state = |season: f64| -> State {
                    [level, second, season, if form == Form::Full { season / FIRST_RATIO } else { 0.0 }]
                };
                season(y, period, Composition::Additive).into_iter().map(state).collect()
            }
        };
        States::new(form, states)
    }

    /// The parameters of a form, from the start and within the bounds of the package smooth.
    fn fitted(self, form: Form) -> Fit {
        let of = |x: &[f64]| Parameters {
            alpha: [x[0], x[1]],
            beta: [x.get(2).copied().unwrap_or_default(), x.get(3).copied().unwrap_or_default()],
        };
        let start: &[f64] = match form {
            Form::None | Form::Simple => &[1.3, 1.0],
            Form::Partial => &[1.3, 1.0, 0.1],
            Form::Full => &[1.3, 1.0, 1.3, 1.0],
        };
        let bounds = [(0.01, 1.8), (0.01, 1.9), (0.01, 1.5), (0.01, 1.5)];
        let first = self.first(form);
        let best = minimise(start, &bounds[..start.len()], |x| {
            let value = self.likelihood(&first, of(x));
            if value.is_nan() { f64::INFINITY } else { value.max(-1e10) }
        });
        let parameters = of(&best);
        let (n, estimated) = (self.y.len() as f64, (form.components() + 1) as f64);
        let correction = match n - estimated - 1.0 {
            left if left > 0.0 => 2.0 * estimated * (estimated + 1.0) / left,
            _ => f64::INFINITY,
        };
        let criterion = self.likelihood(&first, parameters) + 2.0 * estimated + correction;
        Fit { form, parameters, criterion }
    }

    /// The logarithm of the squared errors, times their number.
    fn likelihood(self, first: &States, parameters: Parameters) -> f64 {
        let mut squares = 0.0;
        first.clone().through(parameters, self.y, |error| squares += error * error);
        self.y.len() as f64 * squares.ln()
    }

    /// The fit of the form with the least criterion, or of a named one; nothing of a series that is too short or constant.
    pub(super) fn learn(self, form: Option<Form>) -> Option<Fit> {
        let Self { y, period } = self;
        if y.len() < MIN_VALUES || y.iter().all(|value| *value == y[0]) {
            return None;
        }
        let has_season = period > 1 && y.len() >= 2 * period;
        let forms = match (has_season, form) {
            (false, _) => vec![Form::None],
            (true, Some(form)) => vec![form],
            (true, None) => FORMS.to_vec(),
        };
        let fits =
            forms.into_iter().map(|form| self.fitted(form)).filter(|fit| fit.criterion < f64::INFINITY);
        fits.min_by(|a, b| a.criterion.total_cmp(&b.criterion))
    }

    /// The forecast of `h` steps with parameters that were learned of the series or of its beginning.
    ///
    /// The deviation is that of the model: the errors of all steps before, each with what it adds to the step.
    pub(super) fn forecast(self, form: Form, parameters: Parameters, h: usize) -> SeriesForecast {
        let mut squares = 0.0;
        let mut states = self.first(form).through(parameters, self.y, |error| squares += error * error);
        let free = self.y.len() as f64 - form.components() as f64 - 2.0;
        let mut variance = 1.0;
        let scale = squares / free.max(1.0);
        let response = States::response(form, self.period_of(form), parameters, h);
        let deviation = response.iter().map(|response| {
            let own = (scale * variance).sqrt();
            variance += response * response;
            own
        });
        SeriesForecast {
            deviation: deviation.collect(),
            mean: states.ahead(parameters, h),
            ..SeriesForecast::default()
        }
    }
}

/// Values that a fit needs: with fewer, Akaike's criterion has no correction.
pub(super) const MIN_VALUES: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_short_or_constant_has_no_fit() {
        let of = |y: &[f64]| Series { y, period: 1 }.learn(None);
        assert!(of(&[1.0, 2.0, 1.0, 2.0]).is_none());
        assert!(of(&[3.0; 20]).is_none());
        assert!(of(&[1.0, 2.0, 1.0, 2.0, 3.0, 1.0]).is_some());
    }
}
