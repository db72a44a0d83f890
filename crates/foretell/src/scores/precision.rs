//! The accuracy and the speed of forecasts with weights in fewer bits.

use foretell_data::Panel;
use foretell_estimator::Workers;
use foretell_neural::{TrainedNetwork, WeightPrecision};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::fitted::Fitted;
use crate::scores::metrics::Metrics;
use crate::trained_models::TrainedModels;
use crate::usage_error::UsageError;

/// One model with its weights held in one format, on rolling forecasts of the end of each series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrecisionScore {
    /// The format of the weights.
    pub precision: WeightPrecision,
    /// The errors of its forecasts.
    #[serde(flatten)]
    pub metrics: Metrics,
    /// How much larger its MAE is than with weights in `f32`, in percent of that; negative if it is smaller, NaN (null in
    /// JSON) if that is 0.
    #[serde(with = "foretell_estimator::nan_as_null")]
    pub mae_change: f64,
    /// The same of its RMSE.
    #[serde(with = "foretell_estimator::nan_as_null")]
    pub rmse_change: f64,
    /// Bytes of all parameters as the forecasts that are timed hold them: see
    /// [`Params::held_bytes`](crate::own_model::Params::held_bytes).
    pub weight_bytes: usize,
    /// The median time of the forecast of one window, in microseconds.
    pub forecast_us: f64,
    /// The median time of the forecasts of [`PrecisionScore::BATCH`] windows at once, in milliseconds.
    pub batch_ms: f64,
}

impl PrecisionScore {
    /// Windows of a batch whose forecasts are timed.
    pub const BATCH: usize = 128;
}

/// How much larger a figure is than before, in percent of that; NaN if it was 0.
pub(crate) fn change(now: f64, before: f64) -> f64 {
    if before == 0.0 { f64::NAN } else { 100.0 * (now / before - 1.0) }
}

/// The median time of one forecast in microseconds, and of [`PrecisionScore::BATCH`] at once in milliseconds.
pub(crate) fn forecast_times(network: &TrainedNetwork, workers: &Workers) -> [f64; 2] {
    let seconds = |windows: usize| network.forecast_seconds(workers, windows);
    [1e6 * seconds(1), 1e3 * seconds(PrecisionScore::BATCH)]
}

impl Fitted {
    /// The errors of each network on rolling forecasts of the end of each series ([`Fitted::validate`]) with its weights in
    /// `f32` and then in each of `precisions` once, their bytes, and the time of forecasts. `season` is in steps, for
    /// [`Metrics::mase`].
    ///
    /// # Errors
    /// If no model is a network; the errors of [`Fitted::validate`] and [`Fitted::weight_precision`].
    ///
    /// # Panics
    /// If `season` is 0.
    pub fn compare_precisions(
        &self,
        panel: &Panel,
        [n_windows, step_size]: [usize; 2],
        season: usize,
        precisions: &[WeightPrecision],
    ) -> Result<Vec<PrecisionScore>, Error> {
        if self.models().iter().all(|model| model.network().is_none()) {
            return Err(UsageError::NoWeights { models: self.column_names().join(", ") }.into());
        }
        let mut scores: Vec<Vec<PrecisionScore>> = Vec::new();
        let mut each = vec![WeightPrecision::F32];
        for precision in precisions {
            if !each.contains(precision) {
                each.push(*precision);
            }
        }
        let warnings = self.trained.warnings.once();
        for precision in each {
            let trained = TrainedModels { warnings: warnings.clone(), ..self.trained.clone() };
            let held = Self::of(trained, None).weight_precision(precision)?;
            let validation = held.validate(panel, n_windows, step_size)?;
            let metrics = validation.metrics(panel, season);
            let wide = scores.first();
            let networks = held.models().iter().map(|model| model.network());
            let networks = networks.zip(metrics).filter_map(|(network, metrics)| Some((network?, metrics)));
            let of_networks = networks.enumerate().map(|(i, (network, metrics))| {
                let wide = wide.map_or(&metrics, |wide| &wide[i].metrics);
                // Copies for other forecasts do not count for these.
                let network = network.without_copies();
                let [forecast_us, batch_ms] = forecast_times(&network, &self.trained.workers);
                PrecisionScore {
                    precision,
                    mae_change: change(metrics.mae, wide.mae),
                    rmse_change: change(metrics.rmse, wide.rmse),
                    weight_bytes: network.weight_bytes(),
                    forecast_us,
                    batch_ms,
                    metrics,
                }
            });
            let of_networks = of_networks.collect();
            scores.push(of_networks);
        }
        // Model by model.
        let models = scores[0].len();
        Ok((0..models).flat_map(|model| scores.iter().map(move |scores| scores[model].clone())).collect())
    }
}
