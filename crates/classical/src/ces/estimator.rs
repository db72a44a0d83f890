//! Complex exponential smoothing by name.

use foretell_calendar::{Freq, usual_season};
use foretell_estimator::{Fallback, NamedNumbers};
use serde_json::Value;

use super::fit::{MIN_VALUES, Series};
use super::model::{FORMS, Form, Parameters};
use crate::hyper::{self, HyperParameter, Seasonal};
use crate::local::{LocalMethod, SeriesForecast};
use crate::method::HistoryFacts;

/// Complex exponential smoothing: of four forms the one with the least criterion of Akaike, without a season, or with one that is simple,
/// partial or full.
///
/// It follows level and trend by one pair of numbers, whatever their shares, and needs no number for each step of a long season to
/// be estimated. The quantiles are normal, with the deviation that the model's errors add up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AutoCes {
    /// Steps of a season; `None` for the usual one of the data's frequency ([`usual_season`]).
    pub season_length: Option<usize>,
    /// The place of the only form among N, S, P and F; `None` for the best one.
    form: Option<u8>,
}

impl AutoCes {
    fn series<'a>(&self, y: &'a [f64]) -> Series<'a> {
        Series { y, period: self.season_length.unwrap_or(1) }
    }

    fn form(&self) -> Option<Form> {
        self.form.map(|form| FORMS[usize::from(form)])
    }
}

impl Seasonal for AutoCes {
    fn season_length(&mut self) -> &mut Option<usize> {
        &mut self.season_length
    }
}

/// The model that was learned; nothing of a series that was too short, for which a model of zeros stands, or constant.
fn model_of(learned: &[f64]) -> Option<(Form, Parameters)> {
    let &[form, real, imaginary, season_real, season_imaginary, ..] = learned else { return None };
    let parameters = Parameters { alpha: [real, imaginary], beta: [season_real, season_imaginary] };
    let form = *FORMS.get(form as usize).filter(|_| real > 0.0)?;
    Some((form, parameters))
}

impl LocalMethod for AutoCes {
    const NAME: &'static str = "AutoCES";
    const PAPER: &'static str = "Svetunkov, Kourentzes and Ord 2022, Complex exponential smoothing";
    const HYPER_PARAMETERS: &'static [HyperParameter<Self>] = &[
        hyper::season_length(),
        HyperParameter {
            name: "model",
            meaning: "The form: N without a season, S, P or F with a simple, partial or full one, Z for the best of these.",
            expected: "N, S, P, F or Z",
            get: |method| method.form().map_or("Z", Form::letter).into(),
            set: |method, value: &Value| {
                let known = FORMS.iter().position(|form| value.as_str() == Some(form.letter()));
                let form = match known {
                    Some(form) => Some(Some(form as u8)),
                    None => (value == "Z").then_some(None),
                };
                hyper::store(&mut method.form, form)
            },
        },
    ];
    const LEARNS: bool = true;

    fn settled(&self, freq: Freq) -> Self {
        Self { season_length: Some(self.season_length.unwrap_or_else(|| usual_season(freq))), ..*self }
    }

    fn fallback(&self, history: &HistoryFacts) -> Option<Fallback> {
        let period = self.season_length.unwrap_or(1);
        match history.rows {
            _ if history.is_constant => None,
            ..MIN_VALUES => Some(Fallback::too_few(MIN_VALUES)),
            rows if period > 1 && rows < 2 * period && self.form() != Some(Form::None) => {
                Some(Fallback::without_season("fewer than two seasons", period))
            }
            _ => None,
        }
    }

    fn learn(&self, y: &[f64]) -> Vec<f64> {
        let Some(fit) = self.series(y).learn(self.form()) else { return Vec::new() };
        let form = FORMS.iter().position(|form| *form == fit.form).unwrap_or_default();
        let Parameters { alpha: [real, imaginary], beta: [season_real, season_imaginary] } = fit.parameters;
        vec![form as f64, real, imaginary, season_real, season_imaginary, fit.criterion]
    }

    fn forecast(&self, y: &[f64], learned: &[f64], h: usize) -> Option<SeriesForecast> {
        let (form, parameters) = model_of(learned)?;
        // What was learned of a longer history may not fit the beginning of it.
        let period = if form == Form::None { 1 } else { self.season_length.unwrap_or(1) };
        (y.len() >= (2 * period).max(1)).then(|| self.series(y).forecast(form, parameters, h))
    }

    fn describe(&self, learned: &[f64]) -> Option<(String, NamedNumbers)> {
        let (form, Parameters { alpha, beta }) = model_of(learned)?;
        let mut numbers: NamedNumbers = vec![("alpha_0".into(), alpha[0]), ("alpha_1".into(), alpha[1])];
        if form.components() > 2 {
            numbers.push(("beta_0".into(), beta[0]));
        }
        if form == Form::Full {
            numbers.push(("beta_1".into(), beta[1]));
        }
        Some((format!("CES({})", form.letter()), numbers))
    }
}
