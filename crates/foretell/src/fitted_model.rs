//! One trained model, and its forecasts of windows.

use foretell_data::{Cutter, Future, Panel, Span, WindowRef};
use foretell_infer::{Cut, ExplanationSum, Forecasts, Workers};
use foretell_nn::{Dims, Loss, Network, Params};
use foretell_train::Outcome;

use crate::error::Error;
use crate::spec::ModelSpec;
use crate::windows::{Purpose, window_dims, window_spec};

/// One trained model.
#[derive(Clone)]
pub struct FittedModel {
    pub(crate) spec: ModelSpec,
    pub(crate) network: Network,
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
        self.on_windows(panel, span, loss, h, workers, |forecasts, cutter| {
            let windows = cutter.rows();
            let values = forecasts.of(cutter, &windows);
            let (windows, values) = by_series(cutter, windows, values);
            let before = |start: i64| (start + forecasts.cut.dims.input_size as i64) as usize;
            (windows.iter().map(|window| (window.series as usize, before(window.start))).collect(), values)
        })
    }

    /// Adds the weights behind the forecasts of the steps after each series to `sum`.
    pub(crate) fn explain(
        &self,
        panel: &Panel,
        future: Option<&Future>,
        workers: &Workers,
        sum: &mut ExplanationSum,
    ) -> Result<(), Error> {
        let (loss, span) = (self.spec.loss(), Span::Predict { future });
        self.on_windows(panel, span, &loss, self.spec.h(), workers, |forecasts, cutter| {
            forecasts.explain(cutter, &cutter.rows(), sum);
        })
    }

    /// What `work` makes of the windows of `span`, from which `h` steps are forecast.
    fn on_windows<R>(
        &self,
        panel: &Panel,
        span: Span<'_>,
        loss: &Loss,
        h: usize,
        workers: &Workers,
        work: impl FnOnce(&Forecasts<'_>, &Cutter<'_>) -> R,
    ) -> Result<R, Error> {
        self.spec.check_n_series(panel.n_series())?;
        let dims = window_dims(&self.spec, self.network.needs, Purpose::Forecast);
        let dims = Dims { horizon: h, ..dims };
        let cutter = Cutter::new(panel, &window_spec(&self.spec, &dims)?, span)?;
        let cut = Cut {
            dims,
            loss,
            exclude_insample_y: self.spec.common().exclude_insample_y,
            step_by_step: self.network.needs.decoding.is_step_by_step(),
        };
        let random_seed = self.spec.common().random_seed;
        let forecasts = Forecasts { network: &self.network, params: &self.params, cut, random_seed, workers };
        Ok(work(&forecasts, &cutter))
    }
}

/// Rows of a batch in order of series, then time, with their values. Rows that only complete a window of all series
/// are left out.
fn by_series(cutter: &Cutter<'_>, windows: Vec<WindowRef>, values: Vec<f32>) -> (Vec<WindowRef>, Vec<f32>) {
    if cutter.rows_per_window() == 1 {
        return (windows, values);
    }
    let each = values.len() / windows.len().max(1);
    let mut order: Vec<usize> = (0..windows.len()).filter(|&row| cutter.is_of_series(windows[row])).collect();
    order.sort_by_key(|&row| windows[row]);
    let values = order.iter().flat_map(|&row| &values[row * each..(row + 1) * each]).copied().collect();
    (order.into_iter().map(|row| windows[row]).collect(), values)
}
