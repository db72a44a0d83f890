//! The columns of a forecast when levels or quantiles are asked for, and the rules that compute them.

use foretell_data::Panel;
use foretell_estimator::{Estimator, Output};
use foretell_tables::ColumnPart;

use crate::conformal::{Conformal, exact};
use crate::error::Error;
use crate::fitted_model::FittedModel;
use crate::interval_error::IntervalError;
use crate::stages::asked_quantiles::AskedQuantiles;
use crate::trained_models::TrainedModels;
use crate::usage_error::UsageError;
use crate::warning::Warning;
use crate::warning_listener::windows_needed;

/// The rule that computes the columns of a model's forecast.
pub(crate) struct Recipe<'a> {
    /// The columns that the model forecasts.
    pub(crate) of_model: Vec<Output>,
    /// The columns of the forecast.
    pub(crate) outputs: Vec<Output>,
    source: Source<'a>,
}

enum Source<'a> {
    /// These of the model's own columns.
    Own(Vec<usize>),
    /// All columns of the model at these quantiles.
    At(Vec<f64>),
    /// The only column, and quantiles around it.
    Conformal(&'a Conformal),
}

/// Whether an estimator forecasts a single number that intervals can be calibrated around, in place of its own if it has some.
pub(crate) fn has_one_number(estimator: &dyn Estimator) -> bool {
    matches!(&estimator.outputs()[..], [Output { quantile: None, .. }])
}

/// Whether an estimator forecasts a single number, and has no interval of its own.
fn is_point(estimator: &dyn Estimator) -> bool {
    has_one_number(estimator) && estimator.outputs_at(&[]).is_none()
}

/// The columns that a model forecasts without calibration: its own if nothing is asked for, else the point forecast and the
/// quantiles. `None` if it forecasts none. The median stands among the quantiles where the point forecast `is_mean` of something lopsided.
fn by_itself<'a>(
    estimator: &dyn Estimator,
    name: &str,
    asked: &AskedQuantiles,
    is_mean: bool,
) -> Result<Option<Recipe<'a>>, Error> {
    let own = estimator.outputs();
    if asked.is_empty() {
        let places = (0..own.len()).collect();
        return Ok(Some(Recipe { of_model: own.clone(), outputs: own, source: Source::Own(places) }));
    }
    let (mut ends, mut quantiles): (Vec<Output>, Vec<f64>) = asked.columns(false).into_iter().unzip();
    if is_mean && quantiles.iter().all(|&q| !near(0.5, q)) {
        let place = quantiles.partition_point(|&q| q < 0.5);
        quantiles.insert(place, 0.5);
        let are_quantiles = ends.iter().all(|end| matches!(end.part(), ColumnPart::Quantile(_)));
        let middle = if are_quantiles { ColumnPart::Quantile(0.5) } else { ColumnPart::Median };
        ends.insert(place, Output::of(middle));
    }
    if let Some(of_model) = estimator.outputs_at(&quantiles) {
        return Ok(Some(at(estimator, &own, of_model, ends, quantiles)));
    }
    if is_point(estimator) {
        return Ok(None);
    }
    let column_of = |q: f64| own.iter().position(|own| own.quantile.is_some_and(|own| near(own, q)));
    let places: Option<Vec<usize>> = quantiles.iter().map(|&q| column_of(q)).collect();
    let places = places.ok_or_else(|| IntervalError::OtherLevels {
        model: name.to_owned(),
        known: known_levels(&own),
        quantiles: known_quantiles(&own),
    })?;
    // The forecast of a single number, if it is not asked for anyway.
    let median = column_of(0.5).filter(|median| !places.contains(median));
    let outputs = median.map(|median| own[median].clone()).into_iter().chain(ends).collect();
    let places = median.into_iter().chain(places).collect();
    Ok(Some(Recipe { of_model: own, outputs, source: Source::Own(places) }))
}

/// The recipe of a model that has any quantile, of these with the columns `ends`, for which it forecasts `of_model`: the mean
/// before them, or without one the median among them.
fn at<'a>(
    estimator: &dyn Estimator,
    own: &[Output],
    of_model: Vec<Output>,
    mut ends: Vec<Output>,
    mut quantiles: Vec<f64>,
) -> Recipe<'a> {
    if of_model.len() > quantiles.len() {
        let mut outputs = of_model.clone();
        outputs.splice(1..=quantiles.len(), ends);
        return Recipe { of_model, outputs, source: Source::At(quantiles) };
    }
    if quantiles.iter().all(|&q| !near(0.5, q)) {
        let place = quantiles.partition_point(|&q| q < 0.5);
        quantiles.insert(place, 0.5);
        ends.insert(place, own[0].clone());
    }
    let of_model = estimator.outputs_at(&quantiles).unwrap_or(of_model);
    Recipe { of_model, outputs: ends, source: Source::At(quantiles) }
}

/// The error of a model that has no intervals.
fn no_intervals(estimator: &dyn Estimator, name: &str) -> Error {
    IntervalError::NoIntervals { model: name.to_owned(), has_loss: has_loss(estimator) }.into()
}

/// Whether a model is trained by a loss.
pub(crate) fn has_loss(estimator: &dyn Estimator) -> bool {
    estimator.needs().max_steps.is_some()
}

/// Whether an error says that a model lacks intervals that others may have.
fn lacks_intervals(error: &Error) -> bool {
    matches!(
        error,
        Error::Usage(UsageError::Interval(
            IntervalError::NoIntervals { .. } | IntervalError::OtherLevels { .. }
        ))
    )
}

/// The models among these, of which `check` says whether each has the intervals, that lack them.
///
/// # Errors
/// Why the first one lacks them, if none has them; any other error.
pub(crate) fn without_intervals(
    models: impl Iterator<Item = (String, Result<(), Error>)>,
) -> Result<Vec<String>, Error> {
    let (mut lacking, mut first, mut any) = (Vec::new(), None, false);
    for (name, found) in models {
        match found {
            Ok(()) => any = true,
            Err(error) if lacks_intervals(&error) => {
                lacking.push(name);
                first.get_or_insert(error);
            }
            Err(error) => return Err(error),
        }
    }
    match first.filter(|_| !any) {
        Some(error) => Err(error),
        None => Ok(lacking),
    }
}

/// Whether a model has the intervals; `calibrated` if there will be those of conformal prediction.
pub(crate) fn check(
    estimator: &dyn Estimator,
    name: &str,
    asked: &AskedQuantiles,
    calibrated: bool,
) -> Result<(), Error> {
    match by_itself(estimator, name, asked, false)? {
        None if !calibrated => Err(no_intervals(estimator, name)),
        _ => Ok(()),
    }
}

/// The recipe of a model's forecast: where it lacks intervals that others have, its own columns.
pub(crate) fn recipe<'a>(
    trained: &'a TrainedModels,
    model: &FittedModel,
    name: &str,
    asked: &AskedQuantiles,
) -> Result<Recipe<'a>, Error> {
    match with_intervals(trained, model, name, asked) {
        Err(error) if lacks_intervals(&error) && has_any_intervals(trained, asked) => {
            with_intervals(trained, model, name, &AskedQuantiles::default())
        }
        recipe => recipe,
    }
}

/// Whether a model has these quantiles.
pub(crate) fn has_any_intervals(trained: &TrainedModels, asked: &AskedQuantiles) -> bool {
    let of_ensembles = trained.pipeline.settings.spread && !trained.ensembles.is_empty();
    of_ensembles || trained.named().any(|(model, name)| with_intervals(trained, model, &name, asked).is_ok())
}

/// Warns of models that lack intervals which others have.
pub(crate) fn warn_of_no_intervals(trained: &TrainedModels, asked: &AskedQuantiles) -> Result<(), Error> {
    let has = |(model, name): (&FittedModel, String)| {
        let intervals = with_intervals(trained, model, &name, asked).map(drop);
        (name, intervals)
    };
    let models = match trained.pipeline.settings.spread {
        // Theirs are those of the ensemble.
        true => Vec::new(),
        false => without_intervals(trained.named().map(has))?,
    };
    if !models.is_empty() {
        let has_loss = trained.have_loss(&models);
        trained.warnings.warn(&Warning::NoIntervals { models, has_loss });
    }
    Ok(())
}

/// The recipe of the forecast of a model with these intervals.
fn with_intervals<'a>(
    trained: &'a TrainedModels,
    model: &FittedModel,
    name: &str,
    asked: &AskedQuantiles,
) -> Result<Recipe<'a>, Error> {
    let estimator = model.trained().estimator();
    let calibrated = trained.conformal.as_ref().filter(|conformal| conformal.has(name) && !asked.is_empty());
    if calibrated.is_none()
        && let Some(recipe) = by_itself(estimator, name, asked, model.trained().is_mean_far_from_median())?
    {
        return Ok(recipe);
    }
    match calibrated {
        Some(conformal) => {
            let ends = asked.columns(true).into_iter().map(|(end, _)| end);
            let of_model = estimator.outputs();
            let outputs = of_model.iter().cloned().chain(ends).collect();
            Ok(Recipe { of_model, outputs, source: Source::Conformal(conformal) })
        }
        None => Err(no_intervals(estimator, name)),
    }
}

/// Warns of series that have no intervals, as they were not calibrated on; where forecasts are to add up they are refused.
pub(crate) fn warn_of_uncalibrated(
    trained: &TrainedModels,
    panel: &Panel,
    asked: &AskedQuantiles,
) -> Result<(), Error> {
    let Some(conformal) = trained.conformal.as_ref().filter(|_| !asked.is_empty()) else { return Ok(()) };
    if !trained.column_names().iter().any(|name| conformal.has(name)) {
        return Ok(());
    }
    let series: Vec<String> =
        panel.ids().filter(|id| !conformal.knows(id)).map(|id| id.to_string()).collect();
    match series.first() {
        None => Ok(()),
        Some(id) if trained.pipeline.coherence.is_some() || series.len() == panel.n_series() => {
            Err(Error::NotCalibrated { id: id.clone() })
        }
        Some(_) => {
            trained.warnings.warn(&Warning::NotCalibrated { series });
            Ok(())
        }
    }
}

/// Whether there are calibrated intervals, of too few errors for this level.
pub(crate) fn are_of_few_windows(trained: &TrainedModels, level: f64) -> bool {
    trained.conformal.as_ref().is_some_and(|conformal| conformal.intervals.n_windows < windows_needed(level))
}

/// Warns if such quantiles are calibrated on too few errors.
pub(crate) fn warn_of_few_windows(trained: &TrainedModels, asked: &AskedQuantiles) {
    let calibrated = |name: &String| trained.conformal.as_ref().filter(|conformal| conformal.has(name));
    if let Some(conformal) = trained.column_names().iter().find_map(calibrated) {
        trained.warnings.warn_of_few_windows(conformal.intervals.n_windows, &asked.levels());
    }
}

impl Recipe<'_> {
    /// The quantiles that the model is asked for; `None` for its own columns.
    pub(crate) fn quantiles(&self) -> Option<&[f64]> {
        match &self.source {
            Source::At(quantiles) => Some(quantiles),
            Source::Own(_) | Source::Conformal(_) => None,
        }
    }

    /// The columns, from `values [windows, steps, columns of the model]` of a model for windows of the series
    /// of these ids.
    pub(crate) fn columns(&self, model: &str, ids: &[&str], values: &[f32]) -> Result<Vec<Vec<f32>>, Error> {
        let all = self.of_model.len();
        let column = |place: usize| values.iter().skip(place).step_by(all).copied().collect();
        match &self.source {
            Source::Own(places) => Ok(places.iter().copied().map(column).collect()),
            Source::At(_) => Ok((0..all).map(column).collect()),
            Source::Conformal(conformal) => {
                let quantiles = self.outputs[1..].iter().filter_map(|output| output.quantile);
                let mut columns = vec![values.to_vec()];
                columns.extend(conformal.quantiles(model, ids, values, quantiles));
                Ok(columns)
            }
        }
    }
}

/// Whether they are the same but for the precision.
fn near(a: f32, b: f64) -> bool {
    (f64::from(a) - b).abs() < 1e-6
}

/// The quantiles that the columns hold, in words.
fn known_quantiles(own: &[Output]) -> String {
    let mut quantiles: Vec<f64> = own.iter().filter_map(|output| output.quantile).map(exact).collect();
    quantiles.sort_by(f64::total_cmp);
    quantiles.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
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
