//! The forecasts of all models for windows of a panel.

use foretell_data::{ColumnLevel, Panel, Span};
use foretell_estimator::{Asked, Cutoff, ForecastValues, Output, is_hardly_known, sort_quantiles};
use foretell_tables::ColumnPart;

use crate::error::{Error, check_wanted};
use crate::fitted_model::FittedModel;
use crate::hierarchies::borrowed_widths::is_end;
use crate::inputs::local_scalers::LocallyScaled;
use crate::kept_settings::KeptSettings;
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
        forget_certainty(panel, &cutoffs, &recipe.outputs, &mut columns);
        if model.needs().is_never_negative {
            let settings = KeptSettings { non_negative: true, ..KeptSettings::default() };
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
    if trained.pipeline.coherence.is_none() {
        bound_forecasts(trained, panel, &mut forecasts);
    }
    Ok(forecasts)
}

/// Takes the ends of intervals without any width, NaN in their place, from the forecasts of windows before which few values are known: a
/// history of fewer than four known values that are all alike does not tell that the next is.
fn forget_certainty(panel: &Panel, cutoffs: &[Cutoff], outputs: &[Output], columns: &mut [Vec<f32>]) {
    let is_end = |output: &Output| output.quantile.is_some_and(|q| is_end(q.into()));
    let ends: Vec<usize> = (0..outputs.len()).filter(|&place| is_end(&outputs[place])).collect();
    let Some(&first) = ends.first() else { return };
    let steps = columns[first].len() / cutoffs.len().max(1);
    for (window, &(series, before)) in cutoffs.iter().enumerate() {
        let (y, mask) = (panel.y(series), panel.available_mask(series));
        let is_known = |row: &usize| !y[*row].is_nan() && mask.is_none_or(|mask| mask[*row] != 0.0);
        if !is_hardly_known((0..before).filter(is_known).map(|row| y[row])) {
            continue;
        }
        for row in window * steps..(window + 1) * steps {
            if ends.iter().all(|&end| columns[end][row] == columns[first][row]) && ends.len() > 1 {
                ends.iter().for_each(|&end| columns[end][row] = f32::NAN);
            }
        }
    }
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

/// Forecasts of the last `test_size` rows, `step_size` steps apart, with local scalers of all but the last `held_out`.
pub(crate) fn forecast_end(
    trained: &TrainedModels,
    panel: &Panel,
    held_out: usize,
    (test_size, step_size): (usize, usize),
    asked: &AskedQuantiles,
) -> Result<WindowForecasts, Error> {
    let scaled = trained.seen(panel, held_out)?;
    let span = Span::Test { test_size, step_size };
    forecast_windows(trained, panel, &scaled, asked, forecast_span(trained, &scaled.panel, span))
}

#[cfg(test)]
mod tests {
    use foretell_calendar::Freq;

    use super::*;

    #[test]
    fn what_has_hardly_begun_has_no_interval_without_width() {
        let series = [
            ("one", vec![7.0_f32]),
            ("two", vec![7.0; 2]),
            ("four", vec![7.0; 4]),
            ("changes", vec![7.0, 8.0]),
        ];
        let series = series.map(|(id, y)| (id, 0, y));
        let panel = Panel::from_series(Freq::parse("1").expect("integers"), series).expect("a panel");
        let of = |id: &str| panel.find(id).map(|series| (series, panel.len(series))).expect("a series");
        let cutoffs = ["one", "two", "four", "changes"].map(of);
        let outputs =
            [ColumnPart::Point, ColumnPart::Lower(80.0), ColumnPart::Median, ColumnPart::Upper(80.0)];
        let mut columns = vec![vec![7.0_f32; 4]; 4];
        forget_certainty(&panel, &cutoffs, &outputs.map(Output::of), &mut columns);
        assert_eq!([&columns[0], &columns[2]], [&vec![7.0; 4]; 2]);
        for end in [1, 3] {
            assert!(columns[end][..2].iter().all(|value| value.is_nan()) && columns[end][2..] == [7.0; 2]);
        }
        // One that has some width keeps it.
        let mut columns = vec![vec![7.0_f32], vec![6.0], vec![7.0], vec![8.0]];
        forget_certainty(&panel, &cutoffs[..1], &outputs.map(Output::of), &mut columns);
        assert_eq!(columns, [[7.0], [6.0], [7.0], [8.0]]);
    }
}
