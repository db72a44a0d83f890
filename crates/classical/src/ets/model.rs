//! The models of exponential smoothing: what they consist of, and how they go through a series.
//!
//! Hyndman, Koehler, Ord and Snyder 2008, Forecasting with Exponential Smoothing.

/// How a season is part of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Season {
    /// There is none.
    Absent,
    /// It is added.
    Additive,
    /// It is a factor.
    Multiplicative,
}

/// The components of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    /// Whether errors are shares of the forecast, not added to it.
    pub relative_error: bool,
    /// Whether there is a trend, which is added.
    pub trend: bool,
    /// Whether the trend fades.
    pub damped: bool,
    /// The season.
    pub season: Season,
}

/// The parameters that states are smoothed by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Smoothing {
    pub alpha: f64,
    pub beta: f64,
    pub gamma: f64,
    /// The factor by which the trend fades at each step; 1 if it does not.
    pub phi: f64,
}

/// A state of a model.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct State {
    pub level: f64,
    pub slope: f64,
    /// The season, `[period]`: that of step t at `t % period`.
    pub season: Vec<f64>,
}

/// Errors of one step ahead over a series.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Errors {
    /// The sum of their squares.
    pub squares: f64,
    /// Minus twice the logarithm of the likelihood, but for a constant of the series.
    pub deviance: f64,
}

/// The bounds of divisions by almost nothing.
const HUGE: f64 = 1e10;
pub(super) const TINY: f64 = 1e-10;

fn ratio(a: f64, b: f64) -> f64 {
    if b.abs() < TINY { HUGE } else { a / b }
}

impl Form {
    /// Goes through a series: the state becomes the one after it.
    pub(crate) fn filter(self, y: &[f64], smoothing: Smoothing, state: &mut State) -> Errors {
        // A loop for each kind of model, so that none asks in each step what it is.
        match (self.season, self.trend) {
            (Season::Absent, false) => self.run::<ABSENT, false>(y, smoothing, state),
            (Season::Absent, true) => self.run::<ABSENT, true>(y, smoothing, state),
            (Season::Additive, false) => self.run::<ADDITIVE, false>(y, smoothing, state),
            (Season::Additive, true) => self.run::<ADDITIVE, true>(y, smoothing, state),
            (Season::Multiplicative, false) => self.run::<MULTIPLICATIVE, false>(y, smoothing, state),
            (Season::Multiplicative, true) => self.run::<MULTIPLICATIVE, true>(y, smoothing, state),
        }
    }

    fn run<const SEASON: u8, const TREND: bool>(
        self,
        y: &[f64],
        Smoothing { alpha, beta, gamma, phi }: Smoothing,
        state: &mut State,
    ) -> Errors {
        let (mut level, mut slope) = (state.level, state.slope);
        let (mut squares, mut logarithms, mut product) = (0.0, 0.0, 1.0_f64);
        let growth = beta / alpha;
        let mut step = 0;
        for &y in y {
            let faded = if TREND { phi * slope } else { 0.0 };
            let base = level + faded;
            let season = if SEASON == ABSENT { 0.0 } else { state.season[step] };
            let (forecast, without) = match SEASON {
                ADDITIVE => (base + season, y - season),
                MULTIPLICATIVE => (base * season, ratio(y, season)),
                _ => (base, y),
            };
            let mut error = y - forecast;
            if self.relative_error {
                error /= if forecast.abs() < TINY { forecast + TINY } else { forecast };
                let size = forecast.abs();
                product *= if size > 0.0 { size } else { 1e-8 };
                // One logarithm of a product of many, before it leaves the range of numbers.
                if !(1e-200..1e200).contains(&product) {
                    logarithms += product.ln();
                    product = 1.0;
                }
            }
            squares += error * error;
            let before = level;
            level = base + alpha * (without - base);
            if TREND {
                slope = faded + growth * (level - before - faded);
            }
            if SEASON != ABSENT {
                let own = if SEASON == ADDITIVE { y - base } else { ratio(y, base) };
                state.season[step] = season + gamma * (own - season);
                step = if step + 1 == state.season.len() { 0 } else { step + 1 };
            }
        }
        (state.level, state.slope) = (level, slope);
        let total = if squares > 0.0 { squares } else { 1e-8 };
        let deviance = y.len() as f64 * total.ln() + 2.0 * (logarithms + product.ln());
        Errors { squares, deviance }
    }

    /// The forecasts of `h` steps from the state after `n` steps.
    pub(crate) fn forecast(self, state: &State, phi: f64, n: usize, h: usize) -> Vec<f64> {
        let mut fading = 0.0;
        let mut factor = 1.0;
        let step = |step: usize| {
            factor *= phi;
            fading += factor;
            let base = state.level + if self.trend { fading * state.slope } else { 0.0 };
            let season = || state.season[(n + step) % state.season.len()];
            match self.season {
                Season::Absent => base,
                Season::Additive => base + season(),
                Season::Multiplicative => base * season(),
            }
        };
        (0..h).map(step).collect()
    }
}

const ABSENT: u8 = 0;
const ADDITIVE: u8 = 1;
const MULTIPLICATIVE: u8 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_with_a_season_has_no_errors_and_goes_on() {
        let form = Form { relative_error: false, trend: true, damped: false, season: Season::Additive };
        let season = vec![1.0, -3.0, 2.0];
        let value = |t: usize| 10.0 + 0.5 * (t + 1) as f64 + season[t % 3];
        let y: Vec<f64> = (0..10).map(value).collect();
        let mut state = State { level: 10.0, slope: 0.5, season: season.clone() };
        let smoothing = Smoothing { alpha: 0.3, beta: 0.1, gamma: 0.2, phi: 1.0 };
        let errors = form.filter(&y, smoothing, &mut state);
        assert!(errors.squares < 1e-20);
        let forecast = form.forecast(&state, 1.0, y.len(), 4);
        assert!(forecast.iter().enumerate().all(|(step, y)| (y - value(10 + step)).abs() < 1e-9));
    }

    #[test]
    fn long_products_of_forecasts_do_not_overflow() {
        let form = Form { relative_error: true, trend: false, damped: false, season: Season::Absent };
        let smoothing = Smoothing { alpha: 0.5, beta: 0.0, gamma: 0.0, phi: 1.0 };
        let mut state = State { level: 1e9, slope: 0.0, season: Vec::new() };
        let y: Vec<f64> = (0..500).map(|t| 1e9 * if t % 2 == 0 { 1.5 } else { 0.5 }).collect();
        let errors = form.filter(&y, smoothing, &mut state);
        let expected = 500.0 * errors.squares.ln() + 2.0 * 500.0 * 1e9_f64.ln();
        assert!((errors.deviance - expected).abs() < 200.0, "{errors:?}");
    }
}
