//! The forecasts of all models for windows of a panel.

use foretell_data::{ColumnLevel, Panel, Span};
use foretell_estimator::{Asked, Cutoff, ForecastValues, Output, point_column, sort_quantiles};

use crate::error::{Error, check_wanted};
use crate::fitted_model::FittedModel;
use crate::forecasts::asked_quantiles::AskedQuantiles;
use crate::forecasts::levels::recipe;
use crate::forecasts::spread::spread_quantile;
use crate::inputs::local_scalers::LocallyScaled;
use crate::trained_models::TrainedModels;

/// The forecasts of all models for windows of a panel.
#[derive(Default)]
pub(crate) struct WindowForecasts {
    /// The windows, by series, then time.
    pub(crate) windows: Vec<Cutoff>,
    /// Columns with their names, `[windows, steps]`.
    pub(crate) columns: Vec<(String, Vec<f32>)>,
    /// The columns of each model, then those of each ensemble.
    pub(crate) models: Vec<Vec<Output>>,
}

impl WindowForecasts {
    /// Adds the columns of the ensembles of the models, whose columns are there.
    fn add_ensembles(&mut self, trained: &TrainedModels, panel: &Panel, asked: &AskedQuantiles) {
        let members = std::mem::take(&mut self.models);
        let starts: Vec<usize> = members
            .iter()
            .scan(0, |start, outputs| Some(std::mem::replace(start, *start + outputs.len())))
            .collect();
        for ensemble in &trained.ensembles {
            let members_of = |output: &Output| -> Vec<usize> {
                let places = members.iter().zip(&starts).take(trained.n_members());
                places.map(|(outputs, start)| start + place_of(output, outputs)).collect()
            };
            let spread = spread_ends(trained, asked);
            let outputs =
                if spread.is_empty() { ensemble_outputs(trained, &members) } else { vec![Output::point()] };
            for output in outputs {
                let places = members_of(&output);
                let columns: Vec<&[f32]> = places.iter().map(|&place| &self.columns[place].1[..]).collect();
                let combined = ensemble.combine(&columns);
                self.columns.push((format!("{}{}", ensemble.column(), output.suffix), combined));
            }
            let (center, places) = (self.columns.len() - 1, members_of(&Output::point()));
            for (output, q) in spread {
                let at = |(row, &center): (usize, &f32)| {
                    let members = places.iter().map(|&place| self.columns[place].1[row]);
                    spread_quantile(q, center, members)
                };
                let mut values: Vec<f32> = self.columns[center].1.iter().enumerate().map(at).collect();
                bound(trained, panel, &self.windows, &mut values);
                self.columns.push((format!("{}{}", ensemble.column(), output.suffix), values));
            }
        }
        self.models = with_ensembles(trained, members, asked);
    }
}

/// The columns of each model, followed by those of each ensemble of them.
pub(crate) fn with_ensembles(
    trained: &TrainedModels,
    mut members: Vec<Vec<Output>>,
    asked: &AskedQuantiles,
) -> Vec<Vec<Output>> {
    let spread = spread_ends(trained, asked).into_iter().map(|(output, _)| output);
    let outputs = match spread.len() {
        0 => ensemble_outputs(trained, &members),
        _ => std::iter::once(Output::point()).chain(spread).collect(),
    };
    members.extend(trained.ensembles.iter().map(|_| outputs.clone()));
    members
}

/// The quantiles that ensembles have of the spread of their members, and their columns.
fn spread_ends(trained: &TrainedModels, asked: &AskedQuantiles) -> Vec<(Output, f64)> {
    if trained.settings.spread { asked.columns(false) } else { Vec::new() }
}

/// The columns of an ensemble of models with these columns: the forecast of a single number, and the quantiles that all members
/// have, but for medians that are such a forecast.
fn ensemble_outputs(trained: &TrainedModels, models: &[Vec<Output>]) -> Vec<Output> {
    let members = &models[..trained.n_members()];
    let is_asked = |output: &&Output| output.quantile.is_some() && output.suffix != "-median";
    let in_all = |output: &&Output| {
        members.iter().all(|outputs| outputs.iter().any(|own| own.quantile == output.quantile))
    };
    let quantiles = members.first().into_iter().flatten().filter(is_asked).filter(in_all).cloned();
    [Output::point()].into_iter().chain(quantiles).collect()
}

/// Which of a model's columns an ensemble combines for this column of its own.
fn place_of(output: &Output, outputs: &[Output]) -> usize {
    let quantile = outputs.iter().position(|own| own.quantile.is_some() && own.quantile == output.quantile);
    quantile.unwrap_or_else(|| point_column(outputs))
}

/// The columns of all models for the windows of `forecast`, which gets a model and the quantiles to forecast. They are on the
/// scale of the data.
pub(crate) fn forecast_windows(
    trained: &TrainedModels,
    panel: &Panel,
    scaled: &LocallyScaled<'_>,
    asked: &AskedQuantiles,
    forecast: impl Fn(&FittedModel, Option<&[f64]>) -> Result<ForecastValues, Error>,
) -> Result<WindowForecasts, Error> {
    let recipes = trained.named().map(|(model, name)| recipe(trained, model, &name, asked));
    // A mistake in the second model is found before the first one is run.
    let recipes = recipes.collect::<Result<Vec<_>, _>>()?;
    let mut forecasts = WindowForecasts::default();
    for ((model, name), recipe) in trained.named().zip(recipes) {
        let ForecastValues { cutoffs, mut values } = forecast(model, recipe.quantiles())?;
        check_wanted()?;
        let each = values.len() / cutoffs.len().max(1);
        scaled.inverse(cutoffs.iter().map(|(series, _)| *series), &mut values, each);
        if !trained.raw_quantiles {
            sort_quantiles(&recipe.of_model, &mut values);
        }
        let ids: Vec<&str> = cutoffs.iter().map(|(series, _)| &**panel.id(*series)).collect();
        let mut columns = recipe.columns(&name, &ids, &values)?;
        for (output, values) in recipe.outputs.iter().zip(&mut columns) {
            // A parameter of a distribution is no forecast.
            if is_value(output) {
                bound(trained, panel, &cutoffs, values);
            }
        }
        let names = recipe.outputs.iter().map(|output| format!("{name}{}", output.suffix));
        forecasts.columns.extend(names.zip(columns));
        forecasts.models.push(recipe.outputs);
        forecasts.windows = cutoffs;
    }
    forecasts.add_ensembles(trained, panel, asked);
    Ok(forecasts)
}

/// Rounds and bounds a column of these windows, as the settings say.
fn bound(trained: &TrainedModels, panel: &Panel, windows: &[Cutoff], values: &mut [f32]) {
    let each = values.len() / windows.len().max(1);
    for ((series, _), values) in windows.iter().zip(values.chunks_mut(each.max(1))) {
        trained.settings.bound(panel.level(*series), values);
    }
}

/// Whether a column holds values, not a parameter of a distribution.
fn is_value(output: &Output) -> bool {
    output.suffix.is_empty() || output.quantile.is_some()
}

/// How the columns of a table stand to the levels of its series: `others` values, then those of models.
pub(crate) fn column_levels(others: usize, outputs: &[Vec<Output>]) -> Vec<ColumnLevel> {
    // The location of a distribution is at the level, a deviation is not.
    let of_output = |output: &Output| match is_value(output) || output.suffix == "-loc" {
        true => ColumnLevel::Value,
        false => ColumnLevel::Difference,
    };
    std::iter::repeat_n(ColumnLevel::Value, others).chain(outputs.iter().flatten().map(of_output)).collect()
}

/// The forecasts of all windows of a span, as [`forecast_windows`] asks for them.
pub(crate) fn forecast_span<'a>(
    trained: &'a TrainedModels,
    panel: &'a Panel,
    span: Span<'a>,
) -> impl Fn(&FittedModel, Option<&[f64]>) -> Result<ForecastValues, Error> + 'a {
    move |model, quantiles| {
        let asked = Asked { span, h: trained.h(), quantiles };
        Ok(model.trained().forecast(panel, &asked, &trained.workers)?)
    }
}
