//! The forecasts of all models for windows of a panel.

use foretell_data::{ColumnLevel, Panel, Span};
use foretell_estimator::{Asked, ForecastValues, Output, sort_quantiles};
use foretell_tables::ColumnPart;

use crate::error::{Error, check_wanted};
use crate::fitted_model::FittedModel;
use crate::inputs::local_scalers::LocallyScaled;
use crate::own_settings::OwnSettings;
use crate::stages::asked_quantiles::AskedQuantiles;
use crate::stages::bounds::{bound, bound_forecasts};
use crate::stages::ensembles::add_ensembles;
use crate::stages::intervals::recipe;
use crate::stages::window_forecasts::WindowForecasts;
use crate::trained_models::TrainedModels;

/// The columns of all models for the windows of `forecast`, which gets a model and the quantiles to forecast. They are on the
/// scale of the data, and bounded, but for those that are to add up: quantiles of a sum whose members are bounded before lie too high.
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
        if model.needs().is_never_negative {
            let settings = OwnSettings { non_negative: true, ..OwnSettings::default() };
            let values =
                recipe.outputs.iter().zip(&mut columns).filter(|(output, _)| output.part().is_value());
            values.for_each(|(_, values)| bound(settings, panel, &cutoffs, values));
        }
        let of_model = recipe.outputs.iter().map(|output| output.column(&name));
        forecasts.columns.extend(of_model.zip(columns));
        forecasts.models.push(recipe.outputs);
        forecasts.windows = cutoffs;
    }
    add_ensembles(trained, asked, &mut forecasts);
    if trained.coherence.is_none() {
        bound_forecasts(trained, panel, &mut forecasts);
    }
    Ok(forecasts)
}

/// How the columns of a table stand to the levels of its series: `others` values, then those of models.
pub(crate) fn column_levels(others: usize, outputs: &[Vec<Output>]) -> Vec<ColumnLevel> {
    // The location of a distribution is at the level, a deviation is not.
    let of_output = |output: &Output| match output.part().is_value() || output.part() == ColumnPart::Location
    {
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
