//! The rounds of the boosting, and the forecast.
//!
//! Blume 2023, the package MFLES: in each round the parts of a decomposition are fitted in turn to what is left, shrunk, and kept where they
//! make the squared error smaller.

use foretell_estimator::{mean, median, variance};

use super::fourier::{Waves, usual_order};
use super::settings::Mfles;
use super::trend::{broken_line, line, robust_line};

/// Rounds without a change of the error before their parts, after which no more follow.
const PATIENCE: usize = 6;

/// The first round in which residuals are smoothed.
const FIRST_SMOOTHED: usize = 6;

/// Bends of a broken line at most, whose basis takes memory and time by their number times the length; statsforecast has no limit.
const MOST_BENDS: usize = 500;

/// A smoothing must make the error smaller by this share.
const ROUND_PENALTY: f64 = 1e-4;

/// Steps between the parameters of the exponential smoothings whose mean is taken.
const ALPHA_STEP: f64 = 0.05;

/// Values of a series that the boosting needs.
pub(super) const MIN_VALUES: usize = 4;

/// What is left of a series when it is brought to a usual size, and how it goes back.
enum Scale {
    Log,
    Standard { mean: f64, deviation: f64 },
}

impl Scale {
    fn back(&self, value: f64) -> f64 {
        match self {
            Self::Log => value.exp(),
            Self::Standard { mean, deviation } => mean + value * deviation,
        }
    }
}

/// The mean squared difference.
fn mse(y: &[f64], fitted: &[f64], part: Option<&[f64]>) -> f64 {
    let squares: f64 = match part {
        Some(part) => y.iter().zip(fitted).zip(part).map(|((y, f), p)| (y - (f + p)).powi(2)).sum(),
        None => y.iter().zip(fitted).map(|(y, f)| (y - f).powi(2)).sum(),
    };
    squares / y.len() as f64
}

/// What has been fitted so far.
struct Boost<'a> {
    y: &'a [f64],
    fitted: Vec<f64>,
    mse: f64,
    /// The last two values of the trend.
    trend: [f64; 2],
}

impl Boost<'_> {
    fn rest(&self) -> Vec<f64> {
        self.y.iter().zip(&self.fitted).map(|(y, fitted)| y - fitted).collect()
    }

    /// Keeps a part if it makes the error smaller by more than a share.
    fn keep(&mut self, part: &[f64], penalty: f64) -> bool {
        let with = mse(self.y, &self.fitted, Some(part));
        let is_better = self.mse > with + penalty * self.mse;
        if is_better {
            self.mse = with;
            self.fitted.iter_mut().zip(part).for_each(|(fitted, part)| *fitted += part);
        }
        is_better
    }
}

/// The forecast of `h` steps; nothing of a series that is too short or constant.
pub(super) fn forecast(method: &Mfles, y: &[f64], h: usize) -> Option<Vec<f64>> {
    let n = y.len();
    if n < MIN_VALUES || y.iter().all(|value| *value == y[0]) {
        return None;
    }
    let periods = method.periods(n);
    let (scale, y) = scaled(y, method.multiplicative.unwrap_or(!periods.is_empty()));
    let is_log = matches!(scale, Scale::Log);
    let fitted = match periods.iter().max().filter(|_| method.moving_medians) {
        Some(&period) => moving_medians(&y, period),
        None => vec![median(&mut y.clone()); n],
    };
    let mut boost = Boost { mse: mse(&y, &fitted, None), trend: [fitted[n - 1]; 2], y: &y, fitted };
    let waves: Vec<Waves> = periods
        .iter()
        .map(|&period| Waves::new(n, period, method.fourier_order.unwrap_or_else(|| usual_order(period))))
        .collect();
    let mut season = vec![0.0; periods.iter().copied().max().unwrap_or(0)];
    let (mut penalty, mut equal, mut robust) = (None, 0, method.robust);
    for round in 0..method.max_rounds {
        if round > 0 {
            if equal == PATIENCE {
                break;
            }
            equal += 1;
        }
        if !periods.is_empty() {
            let place = round % periods.len();
            let mut part = waves[place].fitted(&boost.rest());
            part.iter_mut().for_each(|value| *value *= method.seasonal_lr);
            if boost.keep(&part, 0.0) {
                let last = &part[n - periods[place]..];
                season.iter_mut().zip(last.iter().cycle()).for_each(|(season, value)| *season += value);
            }
        }
        let rest = boost.rest();
        if round % 2 == 1 {
            let part = match robust {
                Some(true) => robust_line(&rest),
                _ if round == 1 || !method.changepoints => line(&rest),
                _ => bent_trend(method, &rest),
            };
            if boost.keep(&part, 0.0) {
                boost.trend[0] += part[n - 2];
                boost.trend[1] += part[n - 1];
                if round == 1 {
                    let squares: f64 = rest.iter().zip(&part).map(|(y, fitted)| (y - fitted).powi(2)).sum();
                    penalty = Some(1.0 - squares / (variance(&rest) * n as f64));
                }
            }
        } else if round >= FIRST_SMOOTHED {
            let mut part =
                if method.smoother { method.smoothed(&rest) } else { moving_means(&rest, method.ma) };
            part.iter_mut().for_each(|value| *value *= method.residuals_lr);
            if boost.keep(&part, ROUND_PENALTY) {
                boost.trend.iter_mut().for_each(|value| *value += part[n - 1]);
            }
        }
        if round == 0 && robust.is_none() {
            let rest = boost.rest();
            robust = Some(variation(&rest, is_log) > method.threshold());
        }
    }
    let [before, last] = boost.trend;
    let slope = match penalty.filter(|_| method.trend_penalty) {
        Some(share) => (last - before) * share.max(0.0),
        None => last - before,
    };
    let value = |step: usize| {
        let season = if season.is_empty() { 0.0 } else { season[step % season.len()] };
        scale.back(slope * (step + 1) as f64 + last + season)
    };
    Some((0..h).map(value).collect())
}

/// The scale that values are fitted on, and the values there: logarithms, if parts multiply and all values are above 0, else standard
/// deviations from the mean.
fn scaled(y: &[f64], is_multiplicative: bool) -> (Scale, Vec<f64>) {
    if is_multiplicative && y.iter().all(|value| *value > 0.0) {
        return (Scale::Log, y.iter().map(|value| value.ln()).collect());
    }
    let (mean, deviation) = (mean(y), variance(y).sqrt());
    let values = y.iter().map(|value| (value - mean) / deviation).collect();
    (Scale::Standard { mean, deviation }, values)
}

/// The part of a trend with bends that a round takes.
fn bent_trend(method: &Mfles, rest: &[f64]) -> Vec<f64> {
    let count = method.bends(rest.len()).min(rest.len() / 10).min(MOST_BENDS);
    let decay = (method.decay != -1.0).then_some(method.decay);
    let mut part = broken_line(rest, count, method.alpha, decay);
    part.iter_mut().for_each(|value| *value *= method.trend_lr);
    part
}

/// How much values vary: of logarithms a function of their variance, else the deviation by the mean.
fn variation(y: &[f64], is_log: bool) -> f64 {
    let (mean, variance) = (mean(y), variance(y));
    match is_log {
        true => (10.0_f64.ln() * variance - 1.0).exp().sqrt(),
        false if mean != 0.0 => variance.sqrt() / mean,
        false => variance.sqrt(),
    }
}

/// The median of each season; of the steps behind the last whole one that of as many steps before the end.
fn moving_medians(y: &[f64], period: usize) -> Vec<f64> {
    let whole = y.len() - y.len() % period;
    let of = |values: &[f64]| median(&mut values.to_vec());
    let seasons = y[..whole].chunks_exact(period).flat_map(|season| vec![of(season); period]);
    let mut medians: Vec<f64> = seasons.collect();
    medians.resize(y.len(), of(&y[y.len() - period.min(y.len())..]));
    medians
}

/// Means of each value and the `order` before it; the first `order + 1` values unchanged.
fn moving_means(y: &[f64], order: usize) -> Vec<f64> {
    let first = y.iter().take(order + 1).copied();
    first.chain(y.windows(order + 1).skip(1).map(mean)).collect()
}

impl Mfles {
    /// The mean of exponential smoothings with parameters from the least to the largest.
    fn smoothed(&self, y: &[f64]) -> Vec<f64> {
        let count = ((self.max_alpha - self.min_alpha) / ALPHA_STEP).ceil().max(1.0) as usize;
        let mut sum = vec![0.0; y.len()];
        for step in 0..count {
            let alpha = self.min_alpha + step as f64 * ALPHA_STEP;
            let mut level = y[0];
            for (sum, value) in sum.iter_mut().zip(y) {
                level += alpha * (value - level);
                *sum += level / count as f64;
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_means_move() {
        let y = [1.0, 2.0, 9.0, 4.0, 5.0, 6.0, 7.0];
        assert_eq!(moving_medians(&y, 3), [2.0, 2.0, 2.0, 5.0, 5.0, 5.0, 6.0]);
        assert_eq!(moving_means(&y, 1), [1.0, 2.0, 5.5, 6.5, 4.5, 5.5, 6.5]);
        assert_eq!(moving_means(&y[..2], 4), [1.0, 2.0]);
    }

    #[test]
    fn a_line_with_a_season_goes_on() {
        let value = |t: usize| 10.0 + 0.2 * t as f64 + [2.0, -2.0, 0.0, 0.0][t % 4];
        let y: Vec<f64> = (0..60).map(value).collect();
        let method = Mfles { season_length: vec![4], multiplicative: Some(false), ..Mfles::default() };
        let found = forecast(&method, &y, 5).expect("a forecast");
        let far = found.iter().enumerate().map(|(step, mean)| (mean - value(60 + step)).abs());
        assert!(far.fold(0.0, f64::max) < 0.3, "{found:?}");
        assert!(forecast(&method, &[2.0; 30], 3).is_none() && forecast(&method, &y[..3], 3).is_none());
    }
}
