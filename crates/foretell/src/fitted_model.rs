//! One trained model, and its forecasts of windows.

use std::sync::Arc;

use foretell_data::{Cutter, Panel, Span};
use foretell_nn::{Dims, Loss, Model, Params};
use foretell_train::{Cut, Forecasts, Outcome, Workers};

use crate::error::Error;
use crate::spec::ModelSpec;
use crate::windows::{Purpose, window_dims, window_spec};

/// One trained model.
#[derive(Clone)]
pub struct FittedModel {
    pub(crate) spec: ModelSpec,
    pub(crate) network: Arc<dyn Model>,
    pub(crate) params: Params,
    pub(crate) outcome: Option<Outcome>,
}

/// Where a window forecasts from: its series, and how many of the series' rows come before.
pub(crate) type Cutoff = (usize, usize);

impl FittedModel {
    /// The model's name and hyper-parameters.
    pub fn spec(&self) -> &ModelSpec {
        &self.spec
    }

    /// The number of its parameters.
    pub fn parameters(&self) -> usize {
        self.params.table().numel()
    }

    /// The values of the parameter of this name, row-major, if there is one.
    pub fn parameter(&self, name: &str) -> Option<&[f32]> {
        let table = self.params.table();
        Some(self.params.values(table.entry(table.find(name)?)))
    }

    /// The values of all parameters, in the order of their registration.
    pub fn parameters_in_order(&self) -> impl Iterator<Item = &f32> {
        self.params.table().entries().iter().flat_map(|entry| self.params.values(entry))
    }

    /// How its training ended; nothing for a model that was loaded.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    /// The forecasts of all windows of `span`, `[windows, h, columns of the loss]`, and where they forecast from.
    /// Only a model that forecasts step by step can do with another horizon than its own.
    pub(crate) fn forecasts(
        &self,
        panel: &Panel,
        span: Span<'_>,
        loss: &Loss,
        h: usize,
        workers: &Workers,
    ) -> Result<(Vec<Cutoff>, Vec<f32>), Error> {
        let dims = window_dims(&self.spec, self.network.as_ref(), Purpose::Forecast);
        let dims = Dims { horizon: h, ..dims };
        let cutter = Cutter::new(panel, &window_spec(&self.spec, &dims)?, span)?;
        let windows: Vec<_> = (0..panel.n_series()).flat_map(|series| cutter.all(series)).collect();
        let cut = Cut {
            dims,
            loss,
            exclude_insample_y: self.spec.common().exclude_insample_y,
            stepwise: self.network.stepwise().is_some(),
        };
        let forecasts = Forecasts { model: self.network.as_ref(), params: &self.params, cut, workers };
        let values = forecasts.of(&cutter, &windows);
        let before = |start: i64| (start + dims.input_size as i64) as usize;
        Ok((windows.iter().map(|window| (window.series as usize, before(window.start))).collect(), values))
    }
}
