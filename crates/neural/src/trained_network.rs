//! A trained network, and its forecasts of windows.

use std::fmt;
use std::sync::{Arc, OnceLock};

use foretell_checkpoint::OptimizerState;
use foretell_data::{Cutter, Future, Panel, Span, WindowRef};
use foretell_estimator::{
    Asked, Attribution, Contributions, Cutoff, Estimator, EstimatorError, FeatureImportances, ForecastPart,
    ForecastValues, ImportanceSum, MemoryEstimate, Outcome, Trained, Workers,
};
use foretell_infer::{Cut, ExplanationSum, Forecasts, StepForecaster, StepParts, graph_numbers};
use foretell_nn::{Dims, Loss, Network, Params, WeightPrecision, WithoutAmp, check_amp};

use crate::error::NetworkError;
use crate::importances;
use crate::kept_numbers::KeptNumbers;
use crate::memory::forecasting;
use crate::spec::NetworkSpec;
use crate::synthetic::seconds_of_forecasts;
use crate::windows::{Purpose, window_dims, window_spec};

/// A trained network.
#[derive(Clone)]
pub struct TrainedNetwork {
    pub(crate) spec: NetworkSpec,
    pub(crate) network: Network,
    pub(crate) params: Params,
    pub(crate) outcome: Option<Outcome>,
    /// The optimiser of its training, if it was kept.
    pub(crate) optimizer: Option<Arc<OptimizerState>>,
    /// See [`TrainedNetwork::kept`].
    kept: OnceLock<usize>,
}

impl TrainedNetwork {
    pub(crate) fn new(spec: NetworkSpec, network: Network, params: Params, outcome: Option<Outcome>) -> Self {
        Self { spec, network, params, outcome, optimizer: None, kept: OnceLock::new() }
    }

    /// The optimiser of its training, if it was kept.
    pub fn optimizer(&self) -> Option<&OptimizerState> {
        self.optimizer.as_deref()
    }

    /// About how many numbers it would keep of a window that it forecasts from for a backward pass, measured once. A network that
    /// forecasts step by step keeps none of its horizon.
    fn kept(&self) -> usize {
        *self.kept.get_or_init(|| {
            let dims = window_dims(&self.spec, self.network.needs, Purpose::Forecast);
            let horizon = if self.reaches_any_horizon() { 1 } else { dims.horizon };
            KeptNumbers::measure(&self.spec, &self.network, &self.params, false).of(&Dims { horizon, ..dims })
        })
    }

    /// The memory that forecasts of this many windows of `h` steps take on this many threads, beside what it has learned.
    pub(crate) fn forecast_memory(&self, windows: usize, h: usize, threads: usize) -> MemoryEstimate {
        let dims = self.dims_ahead(h);
        let windows = windows.div_ceil(dims.n_series);
        forecasting(&self.network, self.kept(), &dims, windows, threads)
    }

    /// The sizes of the windows that forecasts of `h` steps read.
    fn dims_ahead(&self, h: usize) -> Dims {
        let dims = window_dims(&self.spec, self.network.needs, Purpose::Forecast);
        Dims { horizon: if self.reaches_any_horizon() { h } else { dims.horizon }, ..dims }
    }

    /// The model's name and hyper-parameters.
    pub fn spec(&self) -> &NetworkSpec {
        &self.spec
    }

    /// The number of its parameters.
    pub fn parameters(&self) -> usize {
        self.params.table().numel()
    }

    /// How many of its parameters are not zero.
    pub fn nonzero_parameters(&self) -> usize {
        let values = self.params.table().trained().flat_map(|entry| self.params.values(entry));
        values.filter(|value| **value != 0.0).count()
    }

    /// Its weights that pruning by magnitude sets to zero, in matrices; biases, norms and tables whose rows are looked up are none. A
    /// name with the values of each, row-major.
    pub fn weights(&self) -> impl Iterator<Item = (&str, &[f32])> {
        let weights = self.params.table().entries().iter().filter(|entry| entry.is_weight());
        weights.map(|entry| (entry.name.as_str(), self.params.values(entry)))
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

    /// The format in which its weights are held.
    pub fn weight_precision(&self) -> WeightPrecision {
        self.params.precision()
    }

    /// Bytes of all parameters, as its forecasts so far have held them: see [`Params::held_bytes`].
    pub fn weight_bytes(&self) -> usize {
        self.params.held_bytes()
    }

    /// The same with the weights of products held in this format: see [`Params::hold`].
    ///
    /// # Errors
    /// If it is not `f32` and the program was built without the feature `amp`.
    pub fn with_weight_precision(&self, precision: WeightPrecision) -> Result<Self, WithoutAmp> {
        check_amp(precision.name())?;
        let mut held = self.clone();
        held.params.hold(precision);
        Ok(held)
    }

    /// The same without the copies of weights that forecasts so far have computed.
    pub fn without_copies(&self) -> Self {
        Self { params: self.params.without_copies(), ..self.clone() }
    }

    /// The median time of the forecasts of this many synthetic windows, in seconds, made for about a tenth of a second: a table of networks
    /// before and after waits for each. Each thread has as many of them, and a single one is shared.
    pub fn forecast_seconds(&self, workers: &Workers, windows: usize) -> f64 {
        seconds_of_forecasts(&self.spec, &self.network, &self.params, workers, windows, 0.1)
    }

    /// A forecaster of one series that reads each new step once and keeps the network's state, started from a `history` of the
    /// series: RNN, LSTM and GRU. Its docs say how it scales. The history has at least the steps that a forecast reads (`input_size`, or
    /// `inference_input_size` and one more step of a `recurrent` network); with as many, its forecast is that of [`Trained::forecast`]. The values
    /// are those that the network was trained on, so series that are scaled as wholes (`local_scaler_type`) are to be scaled before.
    ///
    /// # Errors
    /// If the network keeps no state, reads other columns than the target or draws sample paths, or the history is too short or
    /// holds something that is no number.
    pub fn step_forecaster(&self, history: &[f32]) -> Result<StepForecaster, NetworkError> {
        let (common, needs) = (self.spec.common(), self.network.needs);
        let refuse =
            |reason: &str| Err(NetworkError::Steps { model: self.spec.name(), reason: reason.to_owned() });
        if !self.network.model.keeps_state() {
            return refuse(
                "it sees its window at once; choose LSTM, GRU or RNN, or forecast from whole windows",
            );
        }
        let columns = [self.spec.hist_exog_list(), self.spec.futr_exog_list(), self.spec.stat_exog_list()];
        if !columns.concat().is_empty() || common.exclude_insample_y {
            return refuse("it reads other columns than the target; forecast from whole windows");
        }
        if needs.decoding.paths().is_some() {
            return refuse("it draws sample paths; forecast from whole windows");
        }
        let dims = window_dims(&self.spec, needs, Purpose::Forecast);
        if history.len() < dims.input_size {
            let (found, needed) = (history.len(), dims.input_size);
            return refuse(&format!(
                "it starts from {needed} steps or more, found {found}; give it a longer history"
            ));
        }
        let scaler = self.spec.scaler();
        let parts = StepParts {
            network: self.network.clone(),
            params: self.params.clone(),
            loss: self.spec.loss().clone().without_horizon_weight(),
            horizon: dims.horizon,
            scaler,
            scaling: scaler.stats(history, &mut Vec::new()),
            random_seed: common.random_seed,
        };
        StepForecaster::new(parts, history).or_else(|error| refuse(&error.to_string()))
    }

    /// The result of `work` on the windows of `span`, from which `h` steps are forecast.
    pub(crate) fn on_windows<R>(
        &self,
        panel: &Panel,
        span: Span<'_>,
        loss: &Loss,
        h: usize,
        workers: &Workers,
        work: impl FnOnce(&Forecasts<'_>, &Cutter<'_>) -> R,
    ) -> Result<R, EstimatorError> {
        self.spec.fits_n_series(panel.n_series())?;
        let dims = window_dims(&self.spec, self.network.needs, Purpose::Forecast);
        let dims = Dims { horizon: h, ..dims };
        let cutter = Cutter::new(panel, &window_spec(&self.spec, &dims), span)?;
        let cut = Cut {
            dims,
            loss,
            exclude_insample_y: self.spec.common().exclude_insample_y,
            step_by_step: self.network.needs.decoding.is_step_by_step(),
            preparation: None,
        };
        let random_seed = self.spec.common().random_seed;
        let (network, params, kept) = (&self.network, &self.params, self.kept());
        let forecasts = Forecasts { network, params, cut, random_seed, workers, kept };
        Ok(work(&forecasts, &cutter))
    }
}

/// The weights behind the forecasts of a network, summed.
struct NetworkImportances<'a> {
    network: &'a TrainedNetwork,
    sum: ExplanationSum,
}

impl<'a> NetworkImportances<'a> {
    /// None yet; nothing of a network that weighs neither columns nor steps.
    fn new(network: &'a TrainedNetwork) -> Option<Self> {
        network.spec.entry.explains.then(|| Self { network, sum: ExplanationSum::default() })
    }
}

impl ImportanceSum for NetworkImportances<'_> {
    fn add(
        &mut self,
        panel: &Panel,
        future: Option<&Future>,
        workers: &Workers,
    ) -> Result<(), EstimatorError> {
        let Self { network, sum } = self;
        let (loss, span) = (network.spec.loss(), Span::Predict { future });
        network.on_windows(panel, span, loss, network.spec.h(), workers, |forecasts, cutter| {
            forecasts.explain(cutter, &cutter.rows(), sum);
        })
    }

    fn mean(self: Box<Self>, model: String) -> Option<FeatureImportances> {
        let series = self.sum.rows();
        Some(importances::named(&self.network.spec, model, series, self.sum.mean()?))
    }
}

impl Trained for TrainedNetwork {
    fn estimator(&self) -> &dyn Estimator {
        &self.spec
    }

    fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    fn reaches_any_horizon(&self) -> bool {
        self.network.needs.decoding.is_step_by_step()
    }

    fn forecast(
        &self,
        panel: &Panel,
        &Asked { span, h, quantiles }: &Asked<'_>,
        workers: &Workers,
    ) -> Result<ForecastValues, EstimatorError> {
        // Weights are for the losses of whole windows only.
        let own = self.spec.loss().clone().without_horizon_weight();
        let with_quantiles = quantiles.and_then(|quantiles| own.with_quantiles(quantiles));
        let by_dropout = quantiles.filter(|_| with_quantiles.is_none()).map(|quantiles| {
            let samples = self.spec.samples_by_dropout();
            let samples = samples.expect("only a network that has any quantile is asked for some");
            (samples, quantiles.iter().map(|&q| q as f32).collect::<Vec<_>>())
        });
        let loss = with_quantiles.unwrap_or(own);
        self.on_windows(panel, span, &loss, h, workers, |forecasts, cutter| {
            let windows = cutter.rows();
            let values = match &by_dropout {
                Some((samples, quantiles)) => forecasts.by_dropout(cutter, &windows, *samples, quantiles),
                None => forecasts.of(cutter, &windows),
            };
            let (windows, values) = by_series(cutter, windows, values);
            let before = |start: i64| (start + forecasts.cut.dims.input_size as i64) as usize;
            let cutoff = |window: &WindowRef| -> Cutoff { (window.series as usize, before(window.start)) };
            ForecastValues { cutoffs: windows.iter().map(cutoff).collect(), values }
        })
    }

    fn paths(
        &self,
        panel: &Panel,
        &Asked { span, h, .. }: &Asked<'_>,
        paths: usize,
        seed: u64,
        workers: &Workers,
    ) -> Option<Result<Vec<f32>, EstimatorError>> {
        let loss = self.spec.loss().clone().without_horizon_weight();
        if !self.reaches_any_horizon() || !loss.is_distribution() {
            return None;
        }
        Some(self.on_windows(panel, span, &loss, h, workers, |forecasts, cutter| {
            forecasts.paths(cutter, &cutter.rows(), paths, seed)
        }))
    }

    fn parts(
        &self,
        panel: &Panel,
        future: Option<&Future>,
        h: usize,
        workers: &Workers,
    ) -> Option<Result<Vec<ForecastPart>, EstimatorError>> {
        let parts = self.parts_of_forecasts(panel, future, h, workers).map(|parts| {
            let named = parts.names.into_iter().zip(parts.values);
            named.map(|(name, values)| ForecastPart { name, values }).collect()
        });
        Some(parts.map_err(EstimatorError::from))
    }

    fn attributed_inputs(&self, target: &str, h: usize) -> Option<Vec<String>> {
        Some(self.input_names(target, h))
    }

    fn contributions(
        &self,
        panel: &Panel,
        future: Option<&Future>,
        h: usize,
        (method, output): (Attribution, usize),
        workers: &Workers,
    ) -> Option<Result<Vec<Contributions>, EstimatorError>> {
        Some(self.attribute(panel, future, h, workers, method, output).map_err(EstimatorError::from))
    }

    fn importances(&self) -> Option<Box<dyn ImportanceSum + '_>> {
        Some(Box::new(NetworkImportances::new(self)?))
    }

    fn with_dropout_samples(&self, samples: usize) -> Option<Box<dyn Trained>> {
        let spec = self.spec.clone().dropout_samples(Some(samples));
        spec.takes_dropout_samples().then(|| -> Box<dyn Trained> { Box::new(Self { spec, ..self.clone() }) })
    }

    fn held_bytes(&self) -> [u64; 2] {
        let table = self.params.table();
        let parameters = (table.total_len() as u64).saturating_mul(4);
        [
            parameters.saturating_add(self.network.model.frozen_bytes()),
            table.held_copies_bytes(self.weight_precision()) as u64,
        ]
    }

    fn memory(&self, _: &Panel, windows: usize, h: usize, threads: usize) -> MemoryEstimate {
        self.forecast_memory(windows, h, threads)
    }

    fn contribution_memory(
        &self,
        windows: usize,
        h: usize,
        method: Attribution,
        threads: usize,
    ) -> MemoryEstimate {
        let points = match method {
            Attribution::IntegratedGradients { points } => points,
            Attribution::InputXGradient => 1,
            // Without gradients there is no graph.
            _ => return MemoryEstimate::default(),
        };
        let dims = self.dims_ahead(h);
        let threads = threads.min(windows.div_ceil(dims.n_series));
        let is_step_by_step = self.network.needs.decoding.is_step_by_step();
        let numbers = graph_numbers(&dims, self.kept(), points, is_step_by_step);
        MemoryEstimate::default()
            .and_numbers("the graphs of gradients, roughly,", numbers.saturating_mul(threads))
    }
}

impl fmt::Debug for TrainedNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TrainedNetwork({}, {:?})", self.spec.name(), self.params)
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
