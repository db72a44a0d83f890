//! Forecasts further ahead than the models' horizon.

use std::ops::Range;

use foretell_data::{DataError, Future, FutureError, Panel, Span};
use foretell_estimator::{Asked, Estimator, ForecastValues, Output, Trained};

use crate::error::{Error, check_wanted};
use crate::fitted_model::FittedModel;
use crate::interval_error::IntervalError;
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
            return Err(IntervalError::IntervalsAhead { model: name, h: own, found: h }.into());
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
    let model = model.trained();
    if h == trained.h() || model.reaches_any_horizon() {
        let asked = Asked { span: Span::Predict { future }, h, quantiles };
        return Ok(model.forecast(panel, &asked, &trained.workers)?);
    }
    let width = match quantiles {
        Some(quantiles) => model.estimator().outputs_at(quantiles).unwrap_or_default().len(),
        None => model.estimator().outputs().len(),
    };
    let (own, series) = (trained.h(), panel.n_series());
    let mut values = vec![0.0; series * h * width];
    each_horizon(trained, model, panel, future, h, |horizon| {
        let Horizon { panel, future, had, ref new } = *horizon;
        let asked = Asked { span: Span::Predict { future }, h: own, quantiles };
        let block = model.forecast(panel, &asked, &trained.workers)?.values;
        check_wanted()?;
        let rows = values.chunks_exact_mut(h * width).zip(block.chunks_exact(own * width));
        rows.for_each(|(row, block)| {
            row[new.start * width..new.end * width].copy_from_slice(&block[had * width..]);
        });
        Ok(quantiles.is_none().then_some(block))
    })?;
    let cutoffs = (0..series).map(|series| (series, panel.len(series))).collect();
    Ok(ForecastValues { cutoffs, values })
}

/// One of the horizons that a forecast further ahead is made of.
pub(crate) struct Horizon<'a> {
    /// The series up to its first step, continued by the forecasts before it.
    pub(crate) panel: &'a Panel,
    /// The future values of its steps.
    pub(crate) future: Option<&'a Future>,
    /// Its first steps that an earlier one has.
    pub(crate) had: usize,
    /// Its other steps, counted from the end of the series.
    pub(crate) new: Range<usize>,
}

/// Forecasts the model's horizon, takes the forecasts for known values, and forecasts the next one, until there are `h`
/// steps. The last horizon ends with step `h`; of its steps only those are taken that were not forecast yet. `visit` sees each, and
/// may give its forecast in the model's own columns, if it has made it.
pub(crate) fn each_horizon(
    trained: &TrainedModels,
    model: &dyn Trained,
    panel: &Panel,
    future: Option<&Future>,
    h: usize,
    mut visit: impl FnMut(&Horizon<'_>) -> Result<Option<Vec<f32>>, Error>,
) -> Result<(), Error> {
    let (estimator, own, series) = (model.estimator(), trained.h(), panel.n_series());
    if let Some(future) = future.filter(|future| future.h() != h) {
        let (expected, found) = (series * h, series * future.h());
        return Err(DataError::from(FutureError::Shape { expected, found }).into());
    }
    // The median is that of the columns that the model was trained for: other quantiles may be asked for.
    let outputs = estimator.outputs();
    let feed = fed_back_column(&outputs)
        .ok_or_else(|| UsageError::NoMedian { model: estimator.alias().into(), h: own })?;
    let seen = estimator.needs().rows_read.saturating_add(own);
    let mut known = panel.last(seen);
    let mut done = 0;
    while done < h {
        let start = done.min(h - own);
        let part = future.map(|future| future.part(start..start + own));
        let from = known.without_last(done - start);
        let (future, new) = (part.as_ref(), done..start + own);
        let forecast = visit(&Horizon { panel: &from, future, had: done - start, new })?;
        check_wanted()?;
        done = start + own;
        if done < h {
            let forecast = match forecast {
                Some(forecast) => forecast,
                None => {
                    let asked = Asked { span: Span::Predict { future }, h: own, quantiles: None };
                    model.forecast(&from, &asked, &trained.workers)?.values
                }
            };
            check_wanted()?;
            let median: Vec<f32> = forecast.iter().skip(feed).step_by(outputs.len()).copied().collect();
            known = known.continued(&median, future).last(seen);
        }
    }
    Ok(())
}

/// The column that is fed back to a model as known values: the only one, or the median of quantiles.
pub(crate) fn fed_back_column(outputs: &[Output]) -> Option<usize> {
    match outputs.len() == 1 || outputs.iter().all(|output| output.quantile.is_none()) {
        true => Some(0),
        false => outputs.iter().position(|output| output.quantile == Some(0.5)),
    }
}
