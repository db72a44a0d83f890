//! Exponential smoothing by name.

use foretell_calendar::{Freq, usual_season};
use foretell_estimator::{Fallback, NamedNumbers};
use serde_json::Value;

use super::fit::{Candidates, Fit, best, forecast, parts};
use super::model::{Form, Season, Smoothing, State};
use crate::hyper::{self, HyperParameter, MOST_STEPS, Seasonal};
use crate::local::{LocalMethod, SeriesForecast};
use crate::method::HistoryFacts;

const PAPER: &str = "Hyndman, Koehler, Ord and Snyder 2008, Forecasting with Exponential Smoothing";

const MODELS: &str = "three letters: the error A, M or Z, the trend N, A or Z, and the season N, A, M or Z; added errors \
                      have no season that is a factor (A.M)";

/// Three letters as models: added (A), multiplied (M), none (N), or chosen by the series (Z).
fn candidates(model: &str, damped: Option<bool>) -> Option<Candidates> {
    let &[error, trend, season] = model.as_bytes() else { return None };
    let relative_error = match error {
        b'A' => Some(false),
        b'M' => Some(true),
        b'Z' => None,
        _ => return None,
    };
    let trend = match trend {
        b'N' => Some(false),
        b'A' => Some(true),
        b'Z' => None,
        _ => return None,
    };
    let season = match season {
        b'N' => Some(Season::Absent),
        b'A' => Some(Season::Additive),
        b'M' => Some(Season::Multiplicative),
        b'Z' => None,
        _ => return None,
    };
    let explosive = relative_error == Some(false) && season == Some(Season::Multiplicative);
    (!explosive).then_some(Candidates { relative_error, trend, damped, season })
}

/// Numbers in front of the season in what is learned.
const HEAD: usize = 8;

/// In the number of the form: that a better one was passed over.
const PASSED_OVER: u8 = 32;

/// A fit as numbers: the form and whether a better one was passed over, how many were estimated, the parameters, and the first state.
fn to_numbers((fit, passed_over): (Fit, bool)) -> Vec<f64> {
    let Fit { form, smoothing, start, parameters } = fit;
    let flags = [form.relative_error, form.trend, form.damped];
    let season = match form.season {
        Season::Absent => 0,
        Season::Additive => 8,
        Season::Multiplicative => 16,
    };
    let code = flags.iter().rev().fold(0, |code, &flag| 2 * code + u8::from(flag)) + season;
    let code = if passed_over { code + PASSED_OVER } else { code };
    let Smoothing { alpha, beta, gamma, phi } = smoothing;
    let mut numbers =
        vec![f64::from(code), parameters as f64, alpha, beta, gamma, phi, start.level, start.slope];
    numbers.extend(start.season);
    numbers
}

/// The fit behind the numbers of [`to_numbers`], of a model with this many steps a season; `None` of a series that was too short.
fn from_numbers(numbers: &[f64], period: usize) -> Option<Fit> {
    let (&[code, parameters, alpha, beta, gamma, phi, level, slope], rest) =
        numbers.split_first_chunk::<HEAD>()?;
    let code = code as u8 % PASSED_OVER;
    let season = [Season::Absent, Season::Additive, Season::Multiplicative][usize::from(code / 8).min(2)];
    let form = Form { relative_error: code & 1 != 0, trend: code & 2 != 0, damped: code & 4 != 0, season };
    let steps = if season == Season::Absent { 0 } else { period };
    let start = State { level, slope, season: rest.get(..steps)?.to_vec() };
    let smoothing = Smoothing { alpha, beta, gamma, phi };
    (parameters > 0.0).then_some(Fit { form, smoothing, start, parameters: parameters as usize })
}

/// What is known of the form that was passed over in what was learned.
fn passed_over(learned: &[f64]) -> Option<Fallback> {
    let &[code, parameters, ..] = learned else { return None };
    (parameters > 0.0 && code as u8 >= PASSED_OVER).then(|| Fallback {
        reason: "a history that a form with errors as shares suits best, but whose spread then explodes".to_owned(),
        instead: "the next best form",
        remedy: "look for values next to 0 or far beyond the others, or name a form (ETS, with its letters in model)",
    })
}

/// A form in its usual notation, and its numbers.
pub(crate) fn describe(learned: &[f64]) -> Option<(String, NamedNumbers)> {
    // The season's steps are not described.
    let Fit { form, smoothing, start, .. } = from_numbers(&learned[..HEAD.min(learned.len())], 0)?;
    let error = if form.relative_error { "M" } else { "A" };
    let trend = match (form.trend, form.damped) {
        (false, _) => "N",
        (true, false) => "A",
        (true, true) => "Ad",
    };
    let season = match form.season {
        Season::Absent => "N",
        Season::Additive => "A",
        Season::Multiplicative => "M",
    };
    let numbers = [
        (true, "alpha", smoothing.alpha),
        (form.trend, "beta", smoothing.beta),
        (form.season != Season::Absent, "gamma", smoothing.gamma),
        (form.damped, "phi", smoothing.phi),
        (true, "first level", start.level),
        (form.trend, "first slope", start.slope),
    ];
    let numbers = numbers.into_iter().filter(|(has, ..)| *has).map(|(_, name, value)| (name.into(), value));
    Some((format!("ETS({error},{trend},{season})"), numbers.collect()))
}

macro_rules! ets {
    ($(#[$doc:meta])* $method:ident, $name:literal, $model:literal) => {
        $(#[$doc])*
        ///
        /// The quantiles are normal; their variance is that of the model. A season that is a factor, and relative errors, need positive
        /// values: a series with others is not forecast by such a model, and if there is no other, by its last value.
        #[derive(Clone, Debug, PartialEq)]
        pub struct $method {
            /// Steps of a season; `None` for the usual one of the data's frequency ([`usual_season`]).
            pub season_length: Option<usize>,
            /// Error, trend and season, a letter each: added (A), multiplied (M), none (N), or chosen by the series (Z).
            pub model: String,
            /// Whether the trend fades; `None` to choose by the series.
            pub damped: Option<bool>,
            /// The factor by which a damped trend fades at each step, from 0.8 to 0.98; `None` to estimate it.
            pub phi: Option<f64>,
        }

        impl Default for $method {
            fn default() -> Self {
                Self { season_length: None, model: $model.to_owned(), damped: None, phi: None }
            }
        }

        impl Seasonal for $method {
            fn season_length(&mut self) -> &mut Option<usize> {
                &mut self.season_length
            }
        }

        impl LocalMethod for $method {
            const NAME: &'static str = $name;
            const PAPER: &'static str = PAPER;
            const HYPER_PARAMETERS: &'static [HyperParameter<Self>] = &[
                hyper::season_length(),
                hyper::field!(
                    "model",
                    "Error, trend and season, a letter each: added (A), multiplied (M), none (N), or chosen by the series (Z).",
                    MODELS,
                    model,
                    model
                ),
                hyper::field!(
                    "damped",
                    "Whether the trend fades; null to choose by the series.",
                    "true, false or null",
                    |value| hyper::or_null(value, Value::as_bool),
                    damped
                ),
                hyper::field!(
                    "phi",
                    "Factor by which a damped trend fades at each step; null to estimate it.",
                    "a number between 0.8 and 0.98, or null",
                    phi,
                    phi
                ),
            ];
            const LEARNS: bool = true;

            fn settled(&self, freq: Freq) -> Self {
                let season_length = Some(self.season_length.unwrap_or_else(|| usual_season(freq)));
                Self { season_length, ..self.clone() }
            }

            fn fallback(&self, history: &HistoryFacts) -> Option<Fallback> {
                candidates(&self.model, self.damped)?.fallback(history, self.season_length.unwrap_or(1))
            }

            fn caveat(&self) -> Option<String> {
                let season = candidates(&self.model, self.damped)?.season;
                let period = self.season_length.unwrap_or(1);
                (season != Some(Season::Absent) && period > MOST_STEPS).then(|| {
                    format!(
                        "a season of {period} steps is more than exponential smoothing can estimate well ({MOST_STEPS}), and forecasts \
                         may go without it; MSTL and Prophet have such seasons, or set another season_length"
                    )
                })
            }

            fn learn(&self, y: &[f64]) -> Vec<f64> {
                let candidates = candidates(&self.model, self.damped);
                let fit = candidates.and_then(|open| best(y, self.season_length.unwrap_or(1), open, self.phi));
                fit.map_or(Vec::new(), to_numbers)
            }

            fn forecast(&self, y: &[f64], learned: &[f64], h: usize) -> Option<SeriesForecast> {
                let period = self.season_length.unwrap_or(1);
                let fit = from_numbers(learned, period).filter(|_| !y.is_empty())?;
                Some(forecast(y, fit, period, h))
            }

            fn describe(&self, learned: &[f64]) -> Option<(String, NamedNumbers)> {
                describe(learned)
            }

            fn passed_over(&self, learned: &[f64]) -> Option<Fallback> {
                passed_over(learned)
            }

            fn part_names(&self) -> Vec<String> {
                ["level", "trend", "season"].map(str::to_owned).to_vec()
            }

            fn parts(&self, y: &[f64], learned: &[f64], h: usize) -> Option<Vec<Vec<f64>>> {
                let period = self.season_length.unwrap_or(1);
                let fit = from_numbers(learned, period).filter(|_| !y.is_empty())?;
                Some(parts(y, fit, h))
            }
        }
    };
}

fn model(value: &Value) -> Option<String> {
    value.as_str().filter(|model| candidates(model, None).is_some()).map(str::to_owned)
}

fn phi(value: &Value) -> Option<Option<f64>> {
    hyper::or_null(value, |value| value.as_f64().filter(|phi| (0.8..=0.98).contains(phi)))
}

ets!(
    /// Exponential smoothing with the errors, the trend and the season that suit a series best, by the corrected information
    /// criterion of Akaike.
    AutoEts, "AutoETS", "ZZZ"
);
ets!(
    /// Exponential smoothing by name; a level alone if no model is named.
    Ets, "ETS", "ANN"
);
ets!(
    /// Exponential smoothing with a trend.
    Holt, "Holt", "AAN"
);
ets!(
    /// Exponential smoothing with a trend and a season.
    HoltWinters, "HoltWinters", "AAA"
);

/// Exponential smoothing of a series without season.
pub(crate) fn trend_ets() -> AutoEts {
    AutoEts { season_length: Some(1), model: "ZZN".to_owned(), ..AutoEts::default() }
}
