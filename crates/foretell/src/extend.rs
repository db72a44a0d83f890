//! Forecasts further ahead than the models' horizon.

use foretell_data::{DataError, Future, Panel, Span};
use foretell_nn::Loss;

use crate::columns::outputs;
use crate::error::Error;
use crate::fitted_model::{Cutoff, FittedModel};
use crate::forecaster::Fitted;
use crate::usage_error::UsageError;

impl Fitted {
    /// Whether `h` steps can be forecast.
    pub(crate) fn check_ahead(&self, h: usize, intervals: bool) -> Result<(), Error> {
        let own = self.h();
        if h < own {
            return Err(UsageError::Ahead { h: own, found: h }.into());
        }
        if h == own {
            return Ok(());
        }
        for (model, name) in self.models.iter().zip(self.column_names()) {
            let columns = model.spec.hist_exog_list();
            if !columns.is_empty() {
                return Err(
                    UsageError::HistoryAhead { model: name, h: own, columns: columns.join(", ") }.into()
                );
            }
            if intervals && self.conformal.as_ref().is_some_and(|conformal| conformal.has(&name)) {
                return Err(UsageError::IntervalsAhead { model: name, h: own, found: h }.into());
            }
            if !model.network.needs.decoding.is_step_by_step()
                && fed_back_column(&model.spec.loss()).is_none()
            {
                return Err(UsageError::NoMedian { model: name, h: own }.into());
            }
        }
        Ok(())
    }

    /// The forecasts of the `h` steps after each series, `[series, h, columns of the loss]`.
    pub(crate) fn ahead(
        &self,
        model: &FittedModel,
        loss: &Loss,
        panel: &Panel,
        future: Option<&Future>,
        h: usize,
    ) -> Result<(Vec<Cutoff>, Vec<f32>), Error> {
        match h == self.h() || model.network.needs.decoding.is_step_by_step() {
            true => model.forecasts(panel, Span::Predict { future }, loss, h, &self.workers),
            false => self.forecast_repeatedly(model, loss, panel, future, h),
        }
    }

    /// Forecasts the model's horizon, takes the forecasts for known values, and forecasts the next one, until there are `h`
    /// steps. The last horizon ends with step `h`; of its steps only those are taken that were not forecast yet.
    fn forecast_repeatedly(
        &self,
        model: &FittedModel,
        loss: &Loss,
        panel: &Panel,
        future: Option<&Future>,
        h: usize,
    ) -> Result<(Vec<Cutoff>, Vec<f32>), Error> {
        let (own, series, width) = (self.h(), panel.n_series(), outputs(loss).len());
        if let Some(future) = future.filter(|future| future.h() != h) {
            let (expected, found) = (series * h, series * future.h());
            return Err(DataError::FutureShape { expected, found }.into());
        }
        // The median is that of the loss that the model was trained with: other quantiles may be asked for.
        let own_loss = model.spec.loss().without_horizon_weight();
        let feed = fed_back_column(&own_loss)
            .ok_or_else(|| UsageError::NoMedian { model: model.spec.alias().into(), h: own })?;
        let seen = model.spec.input_size() + own;
        let mut known = panel.last(seen);
        let mut values = vec![0.0; series * h * width];
        let mut done = 0;
        while done < h {
            let start = done.min(h - own);
            let had = done - start;
            let part = future.map(|future| future.part(start..start + own));
            let from = known.without_last(had);
            let forecast = |loss: &Loss| {
                let span = Span::Predict { future: part.as_ref() };
                model.forecasts(&from, span, loss, own, &self.workers).map(|(_, block)| block)
            };
            let block = forecast(loss)?;
            let rows = values.chunks_exact_mut(h * width).zip(block.chunks_exact(own * width));
            rows.for_each(|(row, block)| {
                row[done * width..(start + own) * width].copy_from_slice(&block[had * width..]);
            });
            done = start + own;
            if done < h {
                let block = if *loss == own_loss { block } else { forecast(&own_loss)? };
                let width = outputs(&own_loss).len();
                let median: Vec<f32> = block.iter().skip(feed).step_by(width).copied().collect();
                known = known.continued(&median, part.as_ref()).last(seen);
            }
        }
        let windows = (0..series).map(|series| (series, panel.len(series))).collect();
        Ok((windows, values))
    }
}

/// The column that is fed back to a model as known values: the only one, or the median of quantiles.
fn fed_back_column(loss: &Loss) -> Option<usize> {
    match loss.quantiles() {
        None => Some(0),
        Some(_) => loss.column_quantiles().iter().position(|quantile| *quantile == Some(0.5)),
    }
}
