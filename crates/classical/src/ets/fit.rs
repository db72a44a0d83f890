//! Models fitted to a series, and the best of several.

use foretell_estimator::Fallback;

use super::model::{Form, Season, Smoothing, State, TINY};
use super::start::{LOWER, UPPER, Upper, smoothing, state};
use super::variance::variances;
use crate::local::SeriesForecast;
use crate::method::HistoryFacts;
use crate::numeric::nelder_mead::minimise;
use crate::numeric::size::to_usual_size;

/// A model with all that was estimated.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fit {
    pub form: Form,
    pub smoothing: Smoothing,
    /// The state before the first value.
    pub start: State,
    /// Numbers that were estimated, the variance among them.
    pub parameters: usize,
}

/// Which models are tried; what is left open is chosen by the series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidates {
    pub relative_error: Option<bool>,
    pub trend: Option<bool>,
    pub damped: Option<bool>,
    pub season: Option<Season>,
}

impl Candidates {
    /// The models for a series, in the order in which they are tried.
    fn forms(self, period: usize, positive: bool) -> impl Iterator<Item = Form> {
        let either = |chosen: Option<bool>| chosen.map_or(vec![false, true], |chosen| vec![chosen]);
        let seasons = match self.season {
            // A period of one step is none.
            _ if period <= 1 => vec![Season::Absent],
            None => vec![Season::Absent, Season::Additive, Season::Multiplicative],
            Some(season) => vec![season],
        };
        let (errors, trends) = (either(self.relative_error), either(self.trend));
        let mut forms = Vec::new();
        for &relative_error in &errors {
            for &trend in &trends {
                for &season in &seasons {
                    for damped in [true, false] {
                        forms.push(Form { relative_error, trend, damped, season });
                    }
                }
            }
        }
        let is_open = move |form: &Form| {
            let relative = form.relative_error || form.season == Season::Multiplicative;
            let explosive = !form.relative_error && form.season == Season::Multiplicative;
            self.damped.is_none_or(|damped| damped == form.damped || !form.trend)
                && (form.trend || !form.damped)
                && (positive || !relative)
                && !explosive
        };
        forms.into_iter().filter(is_open)
    }

    /// How a series is forecast that no model of these forecasts with all that they name.
    pub(super) fn fallback(self, history: &HistoryFacts, period: usize) -> Option<Fallback> {
        if history.is_constant {
            return None;
        }
        let named = matches!(self.season, Some(Season::Additive | Season::Multiplicative)) && period > 1;
        let (rows, needed) = (history.rows, self.least_parameters() + 5);
        if rows < needed {
            return Some(Fallback::too_few(needed));
        }
        let factors =
            self.relative_error == Some(true) || named && self.season == Some(Season::Multiplicative);
        if factors && history.least <= TINY {
            return Some(Fallback {
                reason: "values that are not above 0, which a model with factors needs".to_owned(),
                instead: "its last value",
                remedy: "choose a model with added parts (AutoETS finds one, or A for the letter M in model)",
            });
        }
        if rows <= period && self.season != Some(Season::Absent) {
            return Some(Fallback::without_season("no more than one season", period));
        }
        // With the smoothing of the season and its steps but one, and the variance.
        let seasonal = 2 + 2 * usize::from(self.trend == Some(true)) + period + 2;
        (named && rows < seasonal).then(|| Fallback::too_few(seasonal))
    }

    /// The numbers that are estimated whatever is chosen.
    fn least_parameters(self) -> usize {
        let season = matches!(self.season, Some(Season::Additive | Season::Multiplicative));
        2 + 2 * usize::from(self.trend == Some(true))
            + 2 * usize::from(season)
            + usize::from(self.damped == Some(true))
    }
}

/// The model with the least corrected information criterion of Akaike, and whether a better one was passed over since its spread explodes;
/// `None` if the series is too short for any.
pub(super) fn best(
    y: &[f64],
    period: usize,
    candidates: Candidates,
    phi: Option<f64>,
) -> Option<(Fit, bool)> {
    if y.is_empty() {
        return None;
    }
    if y.iter().all(|value| *value == y[0]) {
        return Some((constant(y[0]), false));
    }
    if y.len() <= candidates.least_parameters() + 4 {
        return None;
    }
    let candidates = if y.len() <= period {
        Candidates { season: Some(Season::Absent), ..candidates }
    } else {
        candidates
    };
    // A start at 0 is searched around in steps of an absolute size.
    let factor = to_usual_size(y);
    let y = &y.iter().map(|y| y * factor).collect::<Vec<_>>()[..];
    // Nothing can be relative to values that count as zero where one is divided by them.
    let positive = y.iter().all(|&y| y > TINY);
    let mut upper = UPPER;
    let fits = candidates.forms(period, positive).filter_map(|form| fit(y, form, period, phi, &mut upper));
    let mut fits: Vec<(Fit, f64)> = fits.filter(|(_, criterion)| !criterion.is_nan()).collect();
    fits.sort_by(|a, b| a.1.total_cmp(&b.1));
    // Of a form that is named there is no other.
    let tame = fits.iter().position(|(fit, _)| !explodes(y, fit, period)).unwrap_or(0);
    if tame == fits.len() {
        return None;
    }
    let (mut fit, _) = fits.swap_remove(tame);
    let State { level, slope, season } = &mut fit.start;
    // A season that is a factor has no unit.
    let season = season.iter_mut().filter(|_| fit.form.season == Season::Additive);
    [level, slope].into_iter().chain(season).for_each(|value| *value /= factor);
    Some((fit, tame > 0))
}

/// Steps of a forecast that must stay within what a history can justify: two seasons, but no fewer than these and no more.
const STEPS: [usize; 2] = [24, 100];

/// Steps of a forecast as long as its history that are looked at, at most.
const LONGEST: usize = 400;

/// How many times as far a model whose errors are shares may spread in as many steps as its history has as the same one with added errors.
const FASTER: f64 = 10.0;

/// How many times as wide as the range of its history a deviation of a forecast may become.
const WIDEST: f64 = 20.0;

/// Whether the spread of a model whose errors are shares grows beyond anything that the history shows: each step multiplies it by more
/// than one, which a value near 0 makes large. In as many steps as a long history has, a trend spreads far, too; what explodes spreads much
/// further than with added errors.
fn explodes(y: &[f64], fit: &Fit, period: usize) -> bool {
    if !fit.form.relative_error {
        return false;
    }
    let (low, high) =
        y.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &y| (low.min(y), high.max(y)));
    let steps = (2 * period).clamp(STEPS[0], STEPS[1]);
    let long = y.len().clamp(steps, LONGEST);
    let shares = forecast(y, fit.clone(), period, long).deviation;
    // What is not a number is not within, either.
    let is_within = |deviation: &f64| *deviation <= WIDEST * (high - low);
    if !shares[..steps].iter().all(is_within) {
        return true;
    }
    let added = Fit { form: Form { relative_error: false, ..fit.form }, ..fit.clone() };
    let added = forecast(y, added, period, long).deviation;
    let last = long - 1;
    let is_slower = shares[last] <= FASTER * added[last];
    !is_within(&shares[last]) && !is_slower
}

/// The forecast of a series by a model that was fitted to it or to its beginning.
pub(super) fn forecast(y: &[f64], fit: Fit, period: usize, h: usize) -> SeriesForecast {
    let Fit { form, smoothing, start: mut state, parameters } = fit;
    let errors = form.filter(y, smoothing, &mut state);
    let spare = y.len().saturating_sub(parameters + 1).max(1);
    let mean = form.forecast(&state, smoothing.phi, y.len(), h);
    let steps: Vec<f64> = match form.season {
        Season::Absent => Vec::new(),
        _ => (0..h).map(|step| state.season[(y.len() + step) % period]).collect(),
    };
    // The beginning of a history that is longer: so few errors, after a start that was fitted to them, tell nothing.
    let sigma2 = if y.len() <= parameters { f64::NAN } else { errors.squares / spare as f64 };
    let variances = variances(form, smoothing, period, sigma2, &mean, &steps);
    SeriesForecast {
        deviation: variances.into_iter().map(f64::sqrt).collect(),
        mean,
        ..SeriesForecast::default()
    }
}

/// The parts of a forecast: the level, what the trend adds to it, and what the season adds to both.
pub(super) fn parts(y: &[f64], fit: Fit, h: usize) -> Vec<Vec<f64>> {
    let Fit { form, smoothing, start: mut state, .. } = fit;
    form.filter(y, smoothing, &mut state);
    let of = |form: Form| form.forecast(&state, smoothing.phi, y.len(), h);
    let difference = |all: &[f64], less: &[f64]| -> Vec<f64> {
        all.iter().zip(less).map(|(all, less)| all - less).collect()
    };
    let base = of(Form { season: Season::Absent, ..form });
    let level = vec![state.level; h];
    let (trend, season) = (difference(&base, &level), difference(&of(form), &base));
    vec![level, trend, season]
}

/// The fit of a series that never changes.
fn constant(level: f64) -> Fit {
    let form = Form { relative_error: false, trend: false, damped: false, season: Season::Absent };
    let smoothing = Smoothing { alpha: 0.9999, beta: 0.0, gamma: 0.0, phi: 1.0 };
    Fit { form, smoothing, start: State { level, slope: 0.0, season: Vec::new() }, parameters: 3 }
}

/// A model fitted to a series, and its criterion; `None` if the series is too short for it.
fn fit(y: &[f64], form: Form, period: usize, phi: Option<f64>, upper: &mut Upper) -> Option<(Fit, f64)> {
    let period = if form.season == Season::Absent { 1 } else { period };
    let mut smoothing = smoothing(form, period, upper);
    let phi = phi.filter(|_| form.damped);
    smoothing.phi = phi.unwrap_or(smoothing.phi);
    let start = state(y, form, period);
    let mut scratch = start.clone();
    let layout = Layout { form, period, phi, smoothing, start };
    let (values, bounds) = layout.variables(upper);
    let count = values.len() + usize::from(phi.is_some());
    if count + 1 >= y.len() {
        return None;
    }
    let found = minimise(&values, &bounds, |x| {
        let smoothing = layout.read(x, &mut scratch);
        if form.season == Season::Multiplicative && scratch.season.iter().any(|&step| step < 0.0) {
            return f64::INFINITY;
        }
        let deviance = form.filter(y, smoothing, &mut scratch).deviance.max(-1e10);
        if deviance.is_nan() { f64::INFINITY } else { deviance }
    });
    let smoothing = layout.read(&found, &mut scratch);
    let fit = Fit { form, smoothing, start: scratch.clone(), parameters: count + 1 };
    let deviance = form.filter(y, smoothing, &mut scratch).deviance;
    let (n, k) = (y.len() as f64, fit.parameters as f64);
    let spare = n - k - 1.0;
    let criterion =
        if spare == 0.0 { f64::INFINITY } else { deviance + 2.0 * k + 2.0 * k * (k + 1.0) / spare };
    Some((fit, criterion))
}

/// Where the estimated numbers stand in the point that is searched.
struct Layout {
    form: Form,
    period: usize,
    /// The fixed parameter of a trend that fades.
    phi: Option<f64>,
    smoothing: Smoothing,
    start: State,
}

impl Layout {
    /// The smoothing parameters that are estimated, level, slope, and the season but for its first step: its last step comes first.
    fn variables(&self, upper: &Upper) -> (Vec<f64>, Vec<(f64, f64)>) {
        let Self { smoothing, start, .. } = self;
        let seasonal = self.form.season != Season::Absent;
        let parameters = [
            (true, smoothing.alpha),
            (self.form.trend, smoothing.beta),
            (seasonal, smoothing.gamma),
            (self.form.damped && self.phi.is_none(), smoothing.phi),
        ];
        let bounds = LOWER.into_iter().zip(*upper);
        let open = parameters.into_iter().zip(bounds).filter(|((is_open, _), _)| *is_open);
        let (mut values, mut ends): (Vec<f64>, Vec<(f64, f64)>) =
            open.map(|((_, value), bounds)| (value, bounds)).unzip();
        values.push(start.level);
        values.extend(self.form.trend.then_some(start.slope));
        values.extend(start.season.iter().skip(1).rev());
        ends.resize(values.len(), (f64::NEG_INFINITY, f64::INFINITY));
        (values, ends)
    }

    /// The parameters at a point; `state` becomes the one before the first value.
    fn read(&self, x: &[f64], state: &mut State) -> Smoothing {
        let mut x = x.iter().copied();
        let mut next =
            |is_open: bool, otherwise: f64| if is_open { x.next().unwrap_or(otherwise) } else { otherwise };
        let seasonal = self.form.season != Season::Absent;
        let smoothing = Smoothing {
            alpha: next(true, 0.0),
            beta: next(self.form.trend, 0.0),
            gamma: next(seasonal, 0.0),
            phi: next(self.form.damped && self.phi.is_none(), self.smoothing.phi),
        };
        state.level = next(true, 0.0);
        state.slope = next(self.form.trend, 0.0);
        if seasonal {
            let mut sum = 0.0;
            for step in (1..self.period).rev() {
                state.season[step] = next(true, 0.0);
                sum += state.season[step];
            }
            let whole = if self.form.season == Season::Multiplicative { self.period as f64 } else { 0.0 };
            state.season[0] = whole - sum;
        }
        smoothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_whose_spread_explodes_is_no_choice() {
        let open = Candidates { relative_error: None, trend: None, damped: None, season: None };
        // Page views that nearly vanish now and then.
        let views = |t: u32| if t % 9 == 4 { 0.1 } else { 68_000.0 + 900.0 * f64::from(t * 7 % 11) };
        let y: Vec<f64> = (0..60).map(views).collect();
        let (chosen, _) = best(&y, 1, open, None).expect("a model");
        assert!(forecast(&y, chosen, 1, 24).deviation[23] < WIDEST * 80_000.0);
        let form = Form { relative_error: true, trend: false, damped: false, season: Season::Absent };
        let smoothing = |alpha| Smoothing { alpha, beta: 0.0, gamma: 0.0, phi: 1.0 };
        let start = State { level: 70_000.0, slope: 0.0, season: Vec::new() };
        let fit =
            |form, alpha| Fit { form, smoothing: smoothing(alpha), start: start.clone(), parameters: 3 };
        // After a value next to 0 the next one is a share of it, 680,000 times as large.
        assert!(explodes(&y, &fit(form, 0.99), 1));
        assert!(!explodes(&y, &fit(form, 0.01), 1));
        assert!(!explodes(&y, &fit(Form { relative_error: false, ..form }, 0.99), 1));
        // Within 24 steps it stays within bounds; in as many as a year has it does not.
        let wild: Vec<f64> =
            (0..365).map(|t| 68_000.0 * (f64::from(t * 7919 % 101) / 25.0 - 2.0).exp()).collect();
        let slow = fit(form, 0.3);
        assert!(forecast(&wild, slow.clone(), 1, 24).deviation[23] < WIDEST * 500_000.0);
        assert!(explodes(&wild, &slow, 1));
    }

    #[test]
    fn values_that_are_almost_zero_are_forecast_as_larger_ones_are() {
        let open = Candidates { relative_error: None, trend: None, damped: None, season: None };
        let y: Vec<f64> = (0..60).map(|t| 1e-12 * (2.0 + f64::from(t).sin())).collect();
        let (fit, _) = best(&y, 1, open, None).expect("a model");
        let mut state = fit.start.clone();
        fit.form.filter(&y, fit.smoothing, &mut state);
        let mean = fit.form.forecast(&state, fit.smoothing.phi, y.len(), 1)[0];
        assert!((1e-12..3e-12).contains(&mean), "{mean:e} by {fit:?}");
    }
}
