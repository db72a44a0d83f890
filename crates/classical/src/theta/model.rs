//! The Theta model: a smoothed level, and a line whose slope is divided by theta.
//!
//! Fiorucci, Pellegrini, Louzada, Petropoulos and Koehler 2016, Models for optimising the theta method and their relationship to
//! state space models.

use foretell_estimator::mean;

/// Which numbers of the model are estimated, and how its line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    /// Whether the line is that of the values so far, not that of the whole series.
    pub dynamic: bool,
    /// Whether theta is estimated; otherwise it is 2.
    pub optimised: bool,
}

/// All forms, in the order in which they are tried.
pub(super) const FORMS: [Form; 4] = [
    Form { dynamic: false, optimised: false },
    Form { dynamic: false, optimised: true },
    Form { dynamic: true, optimised: false },
    Form { dynamic: true, optimised: true },
];

/// The numbers of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Parameters {
    /// The level before the first value.
    pub level: f64,
    /// The parameter that the level is smoothed by.
    pub alpha: f64,
    /// The divisor of the line's slope.
    pub theta: f64,
}

/// The model after some values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct State {
    level: f64,
    /// The mean of the values so far.
    mean: f64,
    /// The line: its value before the first step, and its slope.
    intercept: f64,
    slope: f64,
    /// Values so far.
    steps: f64,
    /// `1 - alpha` to the power of the steps.
    decay: f64,
    dynamic: bool,
}

impl State {
    /// The state after the first value of a series.
    pub(super) fn after_first(y: &[f64], form: Form, parameters: Parameters) -> Self {
        let (intercept, slope) = if form.dynamic { (y[0], 0.0) } else { line(y) };
        Self {
            level: parameters.alpha * y[0] + (1.0 - parameters.alpha) * parameters.level,
            mean: y[0],
            intercept,
            slope,
            steps: 1.0,
            decay: 1.0 - parameters.alpha,
            dynamic: form.dynamic,
        }
    }

    /// The smoothed level.
    pub(super) fn level(&self) -> f64 {
        self.level
    }

    /// The forecast of the next value.
    pub(super) fn forecast(&self, Parameters { alpha, theta, .. }: Parameters) -> f64 {
        let line = self.intercept * self.decay + self.slope * (1.0 - self.decay * (1.0 - alpha)) / alpha;
        self.level + (1.0 - 1.0 / theta) * line
    }

    /// Takes the next value in.
    pub(super) fn update(&mut self, y: f64, Parameters { alpha, .. }: Parameters) {
        let n = self.steps;
        let before = self.mean;
        self.level = alpha * y + (1.0 - alpha) * self.level;
        self.mean = (n * before + y) / (n + 1.0);
        if self.dynamic {
            self.slope = ((n - 1.0) * self.slope + 6.0 * (y - before) / (n + 1.0)) / (n + 2.0);
            self.intercept = self.mean - self.slope * (n + 2.0) / 2.0;
        }
        self.steps += 1.0;
        self.decay *= 1.0 - alpha;
    }
}

/// The line of least squares through a series over 1, 2, ..: its value at 0, and its slope.
fn line(y: &[f64]) -> (f64, f64) {
    let n = y.len() as f64;
    let mean = mean(y);
    let weighted = y.iter().zip(1..).map(|(y, t)| y * f64::from(t)).sum::<f64>() / n;
    let slope = 6.0 * (2.0 * weighted - (n + 1.0) * mean) / (n * n - 1.0);
    (mean - (n + 1.0) * slope / 2.0, slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_that_of_least_squares() {
        let (intercept, slope) = line(&[5.0, 7.0, 9.0, 11.0]);
        assert!((intercept - 3.0).abs() < 1e-12 && (slope - 2.0).abs() < 1e-12);
    }

    #[test]
    fn the_dynamic_line_is_that_of_the_values_so_far() {
        let y = [5.0, 1.0, 9.0, 2.0, 4.0];
        let parameters = Parameters { level: 2.0, alpha: 0.4, theta: 2.0 };
        let mut state = State::after_first(&y, FORMS[3], parameters);
        for n in 2..=y.len() {
            state.update(y[n - 1], parameters);
            let (intercept, slope) = line(&y[..n]);
            assert!((state.intercept - intercept).abs() < 1e-12 && (state.slope - slope).abs() < 1e-12);
        }
    }
}
