//! The columns of a forecast when intervals of some levels are asked for, and how they are made.

use foretell_nn::Loss;

use crate::columns::{Output, outputs};
use crate::conformal::{Conformal, is_point};
use crate::error::Error;
use crate::fitted_model::FittedModel;
use crate::forecaster::Fitted;
use crate::usage_error::UsageError;

/// How the columns of a model's forecast are made.
pub(crate) struct Recipe<'a> {
    /// The loss whose columns the model forecasts.
    pub(crate) loss: Loss,
    /// The columns of the forecast.
    pub(crate) outputs: Vec<Output>,
    source: Source<'a>,
}

enum Source<'a> {
    /// These of the loss's columns.
    Picked(Vec<usize>),
    /// The only one, and quantiles around it.
    Conformal(&'a Conformal),
}

/// The levels upwards, each once.
pub(crate) fn checked(level: &[f64]) -> Result<Vec<f64>, Error> {
    if let Some(&found) = level.iter().find(|&&level| !(level > 0.0 && level < 100.0)) {
        return Err(UsageError::Level { found }.into());
    }
    let mut level = level.to_vec();
    level.sort_by(f64::total_cmp);
    level.dedup();
    Ok(level)
}

/// The ends of central intervals, from the lowest to the highest, with the quantile each.
fn ends(level: &[f64]) -> Vec<(Output, f64)> {
    let end = |sign: &str, level: f64, quantile: f64| {
        (Output { suffix: format!("-{sign}-{level}"), quantile: Some(quantile as f32) }, quantile)
    };
    let low = level.iter().rev().map(|&level| end("lo", level, 0.5 - level / 200.0));
    low.chain(level.iter().map(|&level| end("hi", level, 0.5 + level / 200.0))).collect()
}

/// The columns that a model of this loss forecasts without calibration: without levels those of the loss, else the point
/// forecast and the intervals. `None` if its loss forecasts no intervals.
fn by_itself<'a>(loss: &Loss, name: &str, level: &[f64]) -> Result<Option<Recipe<'a>>, Error> {
    let own = outputs(loss);
    let picked = |loss: Loss, outputs: Vec<Output>, places: Vec<usize>| {
        Ok(Some(Recipe { loss, outputs, source: Source::Picked(places) }))
    };
    if level.is_empty() {
        let places = (0..own.len()).collect();
        return picked(loss.clone(), own, places);
    }
    let (ends, quantiles): (Vec<Output>, Vec<f64>) = ends(level).into_iter().unzip();
    if let Some(loss) = loss.with_quantiles(&quantiles) {
        let mut all = outputs(&loss);
        all.splice(1..=quantiles.len(), ends);
        let places = (0..all.len()).collect();
        return picked(loss, all, places);
    }
    if is_point(loss) {
        return Ok(None);
    }
    let of = |q: f64| own.iter().position(|own| own.quantile.is_some_and(|own| near(own, q)));
    let places: Option<Vec<usize>> = quantiles.iter().map(|&q| of(q)).collect();
    let places = places
        .ok_or_else(|| UsageError::OtherLevels { model: name.to_owned(), known: known_levels(&own) })?;
    let median = of(0.5);
    let outputs = median.map(|median| own[median].clone()).into_iter().chain(ends).collect();
    picked(loss.clone(), outputs, median.into_iter().chain(places).collect())
}

/// Whether a model of this loss has the intervals; `calibrated` if there will be those of conformal prediction.
pub(crate) fn check(loss: &Loss, name: &str, level: &[f64], calibrated: bool) -> Result<(), Error> {
    match by_itself(loss, name, level)? {
        None if !calibrated => {
            Err(UsageError::NoIntervals { model: name.to_owned(), loss: loss.name() }.into())
        }
        _ => Ok(()),
    }
}

impl Fitted {
    /// Warns if intervals of these levels are calibrated on too few errors.
    pub(crate) fn warn_of_few_windows(&self, level: &[f64]) {
        let calibrated = |name: &String| self.conformal.as_ref().filter(|conformal| conformal.has(name));
        if let Some(conformal) = self.column_names().iter().find_map(calibrated) {
            self.warnings.warn_of_few_windows(conformal.intervals, level);
        }
    }

    /// What the forecast of a model consists of.
    pub(crate) fn recipe(&self, model: &FittedModel, name: &str, level: &[f64]) -> Result<Recipe<'_>, Error> {
        // Weights are for the losses of whole windows only.
        let loss = model.spec.loss().without_horizon_weight();
        if let Some(recipe) = by_itself(&loss, name, level)? {
            return Ok(recipe);
        }
        match self.conformal.as_ref().filter(|conformal| conformal.has(name)) {
            Some(conformal) => {
                let ends = ends(level).into_iter().map(|(end, _)| end);
                let outputs = outputs(&loss).into_iter().chain(ends).collect();
                Ok(Recipe { loss, outputs, source: Source::Conformal(conformal) })
            }
            None => Err(UsageError::NoIntervals { model: name.to_owned(), loss: loss.name() }.into()),
        }
    }
}

impl Recipe<'_> {
    /// The columns, from `values [windows, steps, columns of the loss]` of a model for windows of the series
    /// of these ids.
    pub(crate) fn columns(&self, model: &str, ids: &[&str], values: &[f32]) -> Result<Vec<Vec<f32>>, Error> {
        match &self.source {
            Source::Picked(places) => {
                let all = outputs(&self.loss).len();
                let column = |&place: &usize| values.iter().skip(place).step_by(all).copied().collect();
                Ok(places.iter().map(column).collect())
            }
            Source::Conformal(conformal) => {
                let quantiles = self.outputs[1..].iter().filter_map(|output| output.quantile);
                let mut columns = vec![values.to_vec()];
                columns.extend(conformal.quantiles(model, ids, values, quantiles)?);
                Ok(columns)
            }
        }
    }
}

/// Whether they are the same but for the precision.
fn near(a: f32, b: f64) -> bool {
    (f64::from(a) - b).abs() < 1e-6
}

/// The central intervals that the columns hold both ends of, in words.
fn known_levels(own: &[Output]) -> String {
    let quantiles = || own.iter().filter_map(|output| output.quantile);
    let low =
        quantiles().filter(|&low| low < 0.5 && quantiles().any(|high| near(high, 1.0 - f64::from(low))));
    // The quantile is single precision: 0.05 stands for 90 %, not for 89.99999985 %.
    let mut levels: Vec<f64> = low.map(|q| ((1.0 - 2.0 * f64::from(q)) * 1e6).round() / 1e4).collect();
    levels.sort_by(f64::total_cmp);
    let levels: Vec<String> = levels.iter().map(|level| format!("{level} %")).collect();
    if levels.is_empty() { "none".to_owned() } else { levels.join(" and ") }
}
