//! The forecasts of all models for windows of a panel.

use foretell_data::{Panel, Span};
use foretell_estimator::{Asked, Cutoff, ForecastValues, Output, sort_quantiles};

use crate::error::Error;
use crate::fitted_model::FittedModel;
use crate::forecasts::levels::recipe;
use crate::inputs::local_scalers::LocallyScaled;
use crate::trained_models::TrainedModels;

/// The forecasts of all models for windows of a panel.
#[derive(Default)]
pub(crate) struct WindowForecasts {
    /// The windows, by series, then time.
    pub(crate) windows: Vec<Cutoff>,
    /// Columns with their names, `[windows, steps]`.
    pub(crate) columns: Vec<(String, Vec<f32>)>,
    /// The columns of each model.
    pub(crate) models: Vec<Vec<Output>>,
}

/// The columns of all models for the windows of `forecast`, which gets a model and the quantiles to forecast. They are on the
/// scale of the data.
pub(crate) fn forecast_windows(
    trained: &TrainedModels,
    panel: &Panel,
    scaled: &LocallyScaled<'_>,
    level: &[f64],
    forecast: impl Fn(&FittedModel, Option<&[f64]>) -> Result<ForecastValues, Error>,
) -> Result<WindowForecasts, Error> {
    let recipes = trained.named().map(|(model, name)| recipe(trained, model, &name, level));
    // A mistake in the second model is found before the first one is run.
    let recipes = recipes.collect::<Result<Vec<_>, _>>()?;
    let mut forecasts = WindowForecasts::default();
    for ((model, name), recipe) in trained.named().zip(recipes) {
        let ForecastValues { cutoffs, mut values } = forecast(model, recipe.quantiles())?;
        let each = values.len() / cutoffs.len().max(1);
        scaled.inverse(cutoffs.iter().map(|(series, _)| *series), &mut values, each);
        if !trained.raw_quantiles {
            sort_quantiles(&recipe.of_model, &mut values);
        }
        let ids: Vec<&str> = cutoffs.iter().map(|(series, _)| &**panel.id(*series)).collect();
        let mut columns = recipe.columns(&name, &ids, &values)?;
        for (output, values) in recipe.outputs.iter().zip(&mut columns) {
            // A parameter of a distribution is no forecast.
            if output.suffix.is_empty() || output.quantile.is_some() {
                trained.settings.bound(values);
            }
        }
        let names = recipe.outputs.iter().map(|output| format!("{name}{}", output.suffix));
        forecasts.columns.extend(names.zip(columns));
        forecasts.models.push(recipe.outputs);
        forecasts.windows = cutoffs;
    }
    Ok(forecasts)
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
