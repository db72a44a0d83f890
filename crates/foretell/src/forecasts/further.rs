//! Forecasts further ahead than the models' horizon.

use foretell_data::{DataError, Future, Panel, Span};
use foretell_estimator::{Asked, Estimator, ForecastValues, Output};

use crate::error::Error;
use crate::fitted_model::FittedModel;
use crate::trained_models::TrainedModels;
use crate::usage_error::UsageError;

/// Whether `h` steps, the models' horizon or more, can be forecast.
pub(crate) fn check_ahead(trained: &TrainedModels, h: usize, intervals: bool) -> Result<(), Error> {
    let own = trained.h();
    if h == own {
        return Ok(());
    }
    for (model, name) in trained.named() {
        let estimator = model.trained().estimator();
        check_history_ahead(estimator, &name)?;
        if intervals && trained.conformal.as_ref().is_some_and(|conformal| conformal.has(&name)) {
            return Err(UsageError::IntervalsAhead { model: name, h: own, found: h }.into());
        }
        if !model.trained().reaches_any_horizon() && fed_back_column(&estimator.outputs()).is_none() {
            return Err(UsageError::NoMedian { model: name, h: own }.into());
        }
    }
    Ok(())
}

/// Whether a model reads nothing that is not known beyond its horizon.
pub(crate) fn check_history_ahead(estimator: &dyn Estimator, name: &str) -> Result<(), Error> {
    let (columns, model) = (estimator.columns_read().hist, name.to_owned());
    match columns.is_empty() {
        true => Ok(()),
        false => {
            let (h, columns) = (estimator.horizon(), columns.join(", "));
            Err(UsageError::HistoryAhead { model, h, columns }.into())
        }
    }
}

/// The forecasts of the `h` steps after each series.
pub(crate) fn forecast_ahead(
    trained: &TrainedModels,
    model: &FittedModel,
    quantiles: Option<&[f64]>,
    panel: &Panel,
    future: Option<&Future>,
    h: usize,
) -> Result<ForecastValues, Error> {
    if h == trained.h() || model.trained().reaches_any_horizon() {
        let asked = Asked { span: Span::Predict { future }, h, quantiles };
        return Ok(model.trained().forecast(panel, &asked, &trained.workers)?);
    }
    forecast_repeatedly(trained, model, quantiles, panel, future, h)
}

/// Forecasts the model's horizon, takes the forecasts for known values, and forecasts the next one, until there are `h`
/// steps. The last horizon ends with step `h`; of its steps only those are taken that were not forecast yet.
fn forecast_repeatedly(
    trained: &TrainedModels,
    model: &FittedModel,
    quantiles: Option<&[f64]>,
    panel: &Panel,
    future: Option<&Future>,
    h: usize,
) -> Result<ForecastValues, Error> {
    let estimator = model.trained().estimator();
    // The median is that of the columns that the model was trained for: other quantiles may be asked for.
    let own_outputs = estimator.outputs();
    let outputs = match quantiles {
        Some(quantiles) => estimator.outputs_at(quantiles).unwrap_or_default(),
        None => own_outputs.clone(),
    };
    let (own, series, width) = (trained.h(), panel.n_series(), outputs.len());
    if let Some(future) = future.filter(|future| future.h() != h) {
        let (expected, found) = (series * h, series * future.h());
        return Err(DataError::FutureShape { expected, found }.into());
    }
    let feed = fed_back_column(&own_outputs)
        .ok_or_else(|| UsageError::NoMedian { model: estimator.alias().into(), h: own })?;
    let seen = estimator.rows_read().saturating_add(own);
    let mut known = panel.last(seen);
    let mut values = vec![0.0; series * h * width];
    let mut done = 0;
    while done < h {
        let start = done.min(h - own);
        let had = done - start;
        let part = future.map(|future| future.part(start..start + own));
        let from = known.without_last(had);
        let forecast = |quantiles: Option<&[f64]>| {
            let asked = Asked { span: Span::Predict { future: part.as_ref() }, h: own, quantiles };
            model.trained().forecast(&from, &asked, &trained.workers).map(|forecast| forecast.values)
        };
        let block = forecast(quantiles)?;
        let rows = values.chunks_exact_mut(h * width).zip(block.chunks_exact(own * width));
        rows.for_each(|(row, block)| {
            row[done * width..(start + own) * width].copy_from_slice(&block[had * width..]);
        });
        done = start + own;
        if done < h {
            let block = if quantiles.is_none() { block } else { forecast(None)? };
            let median: Vec<f32> = block.iter().skip(feed).step_by(own_outputs.len()).copied().collect();
            known = known.continued(&median, part.as_ref()).last(seen);
        }
    }
    let cutoffs = (0..series).map(|series| (series, panel.len(series))).collect();
    Ok(ForecastValues { cutoffs, values })
}

/// The column that is fed back to a model as known values: the only one, or the median of quantiles.
pub(crate) fn fed_back_column(outputs: &[Output]) -> Option<usize> {
    match outputs.len() == 1 || outputs.iter().all(|output| output.quantile.is_none()) {
        true => Some(0),
        false => outputs.iter().position(|output| output.quantile == Some(0.5)),
    }
}
