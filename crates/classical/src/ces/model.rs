//! The recursion of complex exponential smoothing.
//!
//! Svetunkov, Kourentzes and Ord 2022, Complex exponential smoothing: beside a level `l` stands a second part `c`, the imaginary one of a
//! complex number, which holds what the level has not yet followed. With the error `e` of a step and the smoothing parameter `a + bi`
//!
//! ```text
//! l' = l - (1 - b) c + (a - b) e
//! c' = l + (1 - a) c + (a + b) e
//! ```
//!
//! so that one pair of numbers follows a level or a trend, as its parameter says. A season is either the same recursion from the state a
//! season before (simple), a number of its own for each step (partial), or a pair of numbers for each step (full).

/// How the season is part of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// No season.
    None,
    /// Level and second part of each step of the season.
    Simple,
    /// A number added for each step of the season.
    Partial,
    /// A pair of numbers for each step of the season, of which the first is added.
    Full,
}

/// All forms, by the numbers under which they are learned.
pub(super) const FORMS: [Form; 4] = [Form::None, Form::Simple, Form::Partial, Form::Full];

impl Form {
    /// The letter in statsforecast.
    pub(super) fn letter(self) -> &'static str {
        match self {
            Self::None => "N",
            Self::Simple => "S",
            Self::Partial => "P",
            Self::Full => "F",
        }
    }

    /// Numbers of a state that are used.
    pub(super) fn components(self) -> usize {
        match self {
            Self::None | Self::Simple => 2,
            Self::Partial => 3,
            Self::Full => 4,
        }
    }
}

/// Level, its second part, season, its second part.
pub(super) type State = [f64; 4];

/// The smoothing parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Parameters {
    /// Of the level: real and imaginary part.
    pub(super) alpha: [f64; 2],
    /// Of the season: real and imaginary part.
    pub(super) beta: [f64; 2],
}

impl Parameters {
    /// The pair of numbers after an error.
    fn pair(smoothing: [f64; 2], own: f64, second: f64, error: f64) -> [f64; 2] {
        let [real, imaginary] = smoothing;
        [
            own - (1.0 - imaginary) * second + (real - imaginary) * error,
            own + (1.0 - real) * second + (real + imaginary) * error,
        ]
    }
}

/// The states of the last season, from which the next steps follow.
#[derive(Clone, Debug)]
pub(super) struct States {
    form: Form,
    /// `[period]`, the oldest at `next`.
    ring: Vec<State>,
    next: usize,
}

impl States {
    /// From the states of a season, the oldest first.
    pub(super) fn new(form: Form, season: Vec<State>) -> Self {
        Self { form, ring: season, next: 0 }
    }

    /// The forecast of the next step.
    fn forecast(&self) -> f64 {
        let lagged = self.ring[self.next];
        match self.form {
            Form::None => self.last()[0],
            Form::Simple => lagged[0],
            Form::Partial | Form::Full => self.last()[0] + lagged[2],
        }
    }

    fn last(&self) -> State {
        self.ring[(self.next + self.ring.len() - 1) % self.ring.len()]
    }

    /// Goes a step on after an error of its forecast.
    fn update(&mut self, parameters: Parameters, error: f64) {
        let lagged = self.ring[self.next];
        let [level, second, ..] = if self.form == Form::Simple { lagged } else { self.last() };
        let [level, second] = Parameters::pair(parameters.alpha, level, second, error);
        let [season, season_second] = match self.form {
            Form::None | Form::Simple => [0.0; 2],
            Form::Partial => [lagged[2] + parameters.beta[0] * error, 0.0],
            Form::Full => Parameters::pair(parameters.beta, lagged[2], lagged[3], error),
        };
        self.ring[self.next] = [level, second, season, season_second];
        self.next = (self.next + 1) % self.ring.len();
    }

    /// Goes through values, and gives the error of each forecast to `tell`.
    fn follow(&mut self, parameters: Parameters, y: impl Iterator<Item = f64>, mut tell: impl FnMut(f64)) {
        for y in y {
            let error = y - self.forecast();
            tell(error);
            self.update(parameters, error);
        }
    }

    /// The next `h` values, each as forecast.
    pub(super) fn ahead(&mut self, parameters: Parameters, h: usize) -> Vec<f64> {
        let step = |_| {
            let value = self.forecast();
            self.update(parameters, 0.0);
            value
        };
        (0..h).map(step).collect()
    }

    /// What an error of 1 adds to the forecasts of the `h` steps behind it.
    pub(super) fn response(form: Form, period: usize, parameters: Parameters, h: usize) -> Vec<f64> {
        let mut states = Self::new(form, vec![State::default(); period]);
        states.update(parameters, 1.0);
        states.ahead(parameters, h)
    }

    /// The states before the first value of a series that is read from its end: one season further, in reverse.
    fn turned(mut self, parameters: Parameters) -> Self {
        self.ahead(parameters, self.ring.len());
        // After a whole season the oldest stands at `next` again.
        let next = self.next;
        self.ring.rotate_left(next);
        self.ring.reverse();
        Self::new(self.form, self.ring)
    }

    /// The states after a series, and its errors: forward, back to states before the first value, and forward from these.
    pub(super) fn through(self, parameters: Parameters, y: &[f64], tell: impl FnMut(f64)) -> Self {
        let mut states = self;
        states.follow(parameters, y.iter().copied(), |_| ());
        let mut states = states.turned(parameters);
        states.follow(parameters, y.iter().rev().copied(), |_| ());
        let mut states = states.turned(parameters);
        states.follow(parameters, y.iter().copied(), tell);
        states
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_that_is_followed_at_once_is_the_last_value() {
        // With 1 + 1i the level after an error is the level before, and the second part takes the error twice.
        let parameters = Parameters { alpha: [1.0, 1.0], beta: [0.0; 2] };
        let mut states = States::new(Form::None, vec![[5.0, 5.0, 0.0, 0.0]]);
        states.follow(parameters, [7.0].into_iter(), |error| assert_eq!(error, 2.0));
        assert_eq!(states.last(), [5.0, 9.0, 0.0, 0.0]);
        assert_eq!(states.ahead(parameters, 2), [5.0, 5.0]);
    }

    #[test]
    fn errors_add_up_as_the_responses_say() {
        let parameters = Parameters { alpha: [1.2, 1.1], beta: [0.5, 0.9] };
        // Normal errors, from sums of twelve draws of a small generator.
        let mut seed = 7_u64;
        let mut normal = || {
            let draws = (0..12).map(|_| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (seed >> 11) as f64 / (1_u64 << 53) as f64
            });
            draws.sum::<f64>() - 6.0
        };
        for form in [Form::None, Form::Partial, Form::Full] {
            let period = if form == Form::None { 1 } else { 3 };
            let (h, paths) = (7, 4000);
            let start = States::new(form, vec![State::default(); period]);
            let mut squares = 0.0;
            for _ in 0..paths {
                let mut states = start.clone();
                let mut value = 0.0;
                for _ in 0..h {
                    let error = normal();
                    value = states.forecast() + error;
                    states.update(parameters, error);
                }
                squares += value * value;
            }
            let response = States::response(form, period, parameters, h - 1);
            let variance = 1.0 + response.iter().map(|r| r * r).sum::<f64>();
            let ratio = squares / f64::from(paths) / variance;
            assert!((ratio - 1.0).abs() < 0.08, "{form:?}: {ratio}");
        }
    }

    #[test]
    fn responses_are_differences_of_forecasts() {
        let parameters = Parameters { alpha: [1.3, 0.9], beta: [0.4, 0.8] };
        for form in FORMS {
            let period = if form == Form::None { 1 } else { 4 };
            let season = (0..period).map(|i| [10.0, 8.0, i as f64 - 1.5, 0.5]).collect();
            let states = States::new(form, season);
            let [plain, hit] = [0.0, 1.0].map(|error| {
                let mut states = states.clone();
                states.update(parameters, error);
                states.ahead(parameters, 9)
            });
            let response = States::response(form, period, parameters, 9);
            for (step, response) in response.iter().enumerate() {
                let change = hit[step] - plain[step];
                assert!((change - response).abs() < 1e-9, "{form:?} {step}: {change} and {response}");
            }
        }
    }
}
