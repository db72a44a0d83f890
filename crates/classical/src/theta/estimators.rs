//! The Theta models by name.

use foretell_calendar::{Freq, usual_season};
use foretell_estimator::{Fallback, NamedNumbers};
use serde_json::Value;

use super::fit::{Adjusted, forecast, learn, parts};
use super::model::{FORMS, Form, Parameters};
use crate::hyper::{self, HyperParameter, MOST_STEPS, Seasonal};
use crate::local::{LocalMethod, SeriesForecast};
use crate::method::HistoryFacts;
use crate::numeric::decompose::Composition;

/// How the season is taken out of a series.
fn decomposition_type(value: &Value) -> Option<Composition> {
    match value.as_str()? {
        "additive" => Some(Composition::Additive),
        "multiplicative" => Some(Composition::Multiplicative),
        _ => None,
    }
}

fn learned(y: &[f64], season: usize, wanted: Composition, form: Option<usize>) -> Vec<f64> {
    let fit = learn(&Adjusted::new(y, season, wanted).y, form);
    fit.map_or(Vec::new(), |(form, fit)| vec![form as f64, fit.level, fit.alpha, fit.theta])
}

fn forecast_with(
    y: &[f64],
    season: usize,
    wanted: Composition,
    learned: &[f64],
    h: usize,
) -> Option<SeriesForecast> {
    let (form, parameters) = model_of(y, learned)?;
    Some(forecast(&Adjusted::new(y, season, wanted), form, parameters, h))
}

/// The model that was learned of a series; `None` of one that was too short, for which a model of zeros stands.
fn model_of(y: &[f64], learned: &[f64]) -> Option<(Form, Parameters)> {
    let &[form, level, alpha, theta, ..] = learned else { return None };
    (alpha > 0.0 && !y.is_empty()).then(|| (FORMS[form as usize], Parameters { level, alpha, theta }))
}

/// The form by the letters of its paper, and its numbers.
fn describe(learned: &[f64]) -> Option<(String, NamedNumbers)> {
    let &[form, level, alpha, theta, ..] = learned else { return None };
    (alpha > 0.0).then(|| {
        let numbers = [("alpha", alpha), ("theta", theta), ("first level", level)];
        let form = ["STM", "OTM", "DSTM", "DOTM"][form as usize];
        (form.to_owned(), numbers.map(|(name, value)| (name.into(), value)).to_vec())
    })
}

fn fallback(history: &HistoryFacts, period: usize) -> Option<Fallback> {
    match history.rows {
        ..4 => Some(Fallback::too_few(4)),
        rows if period >= 4 && rows < 2 * period => {
            Some(Fallback::without_season("fewer than two seasons", period))
        }
        _ => None,
    }
}

macro_rules! theta {
    ($(#[$doc:meta])* $method:ident, $form:expr, $paper:literal) => {
        $(#[$doc])*
        ///
        /// If the series has a season, it is taken out first, as a factor of each step or, if `decomposition_type` says so or a value
        /// is not positive, as a summand, and put back in the forecast. The quantiles are normal.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $method {
            /// Steps of a season; `None` for the usual one of the data's frequency ([`usual_season`]).
            pub season_length: Option<usize>,
            /// Whether the season is a summand of the values, not a factor.
            pub is_additive: bool,
        }

        impl $method {
            fn composition(self) -> Composition {
                if self.is_additive { Composition::Additive } else { Composition::Multiplicative }
            }
        }

        impl Seasonal for $method {
            fn season_length(&mut self) -> &mut Option<usize> {
                &mut self.season_length
            }
        }

        impl LocalMethod for $method {
            const NAME: &'static str = stringify!($method);
            const PAPER: &'static str = $paper;
            const HYPER_PARAMETERS: &'static [HyperParameter<Self>] = &[
                hyper::season_length(),
                HyperParameter {
                    name: "decomposition_type",
                    meaning: "How the season is part of the values: multiplicative, or additive.",
                    expected: "multiplicative or additive",
                    get: |method| if method.is_additive { "additive" } else { "multiplicative" }.into(),
                    set: |method, value| {
                        let composition = decomposition_type(value);
                        let is_additive = composition.map(|composition| composition == Composition::Additive);
                        hyper::store(&mut method.is_additive, is_additive)
                    },
                },
            ];
            const LEARNS: bool = true;

            fn settled(&self, freq: Freq) -> Self {
                Self { season_length: Some(self.season_length.unwrap_or_else(|| usual_season(freq))), ..*self }
            }

            fn fallback(&self, history: &HistoryFacts) -> Option<Fallback> {
                fallback(history, self.season_length.unwrap_or(1))
            }

            fn caveat(&self) -> Option<String> {
                let period = self.season_length.unwrap_or(1);
                (period > MOST_STEPS).then(|| {
                    format!(
                        "a season of {period} steps is taken out only where the correlation of values a season apart stands out from \
                         those of all shorter lags, which long seasons seldom do, and forecasts may go without it; MSTL and Prophet have \
                         such seasons, or set another season_length"
                    )
                })
            }

            fn learn(&self, y: &[f64]) -> Vec<f64> {
                learned(y, self.season_length.unwrap_or(1), self.composition(), $form)
            }

            fn forecast(&self, y: &[f64], learned: &[f64], h: usize) -> Option<SeriesForecast> {
                forecast_with(y, self.season_length.unwrap_or(1), self.composition(), learned, h)
            }

            fn describe(&self, learned: &[f64]) -> Option<(String, NamedNumbers)> {
                describe(learned)
            }

            fn part_names(&self) -> Vec<String> {
                ["level", "trend", "season"].map(str::to_owned).to_vec()
            }

            fn parts(&self, y: &[f64], learned: &[f64], h: usize) -> Option<Vec<Vec<f64>>> {
                let model = model_of(y, learned)?;
                Some(parts(&Adjusted::new(y, self.season_length.unwrap_or(1), self.composition()), model, h))
            }
        }
    };
}

theta!(
    /// The best of the four Theta models: [`Theta`], [`OptimizedTheta`], [`DynamicTheta`] and [`DynamicOptimizedTheta`].
    AutoTheta, None, "Fiorucci et al. 2016, Models for optimising the theta method"
);
theta!(
    /// Simple exponential smoothing with half the slope of the line through the series.
    Theta, Some(0), "Assimakopoulos and Nikolopoulos 2000, The theta model"
);
theta!(
    /// [`Theta`] with the share of the slope that suits the series best.
    OptimizedTheta, Some(1), "Fiorucci et al. 2016, Models for optimising the theta method"
);
theta!(
    /// [`Theta`] with the line through the values so far.
    DynamicTheta, Some(2), "Fiorucci et al. 2016, Models for optimising the theta method"
);
theta!(
    /// [`OptimizedTheta`] with the line through the values so far.
    DynamicOptimizedTheta, Some(3), "Fiorucci et al. 2016, Models for optimising the theta method"
);
