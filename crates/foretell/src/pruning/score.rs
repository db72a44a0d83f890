//! The size, the accuracy and the speed of a network before and after it was pruned.

use foretell_data::Panel;
use foretell_neural::TrainedNetwork;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::fitted::Fitted;
use crate::scores::metrics::Metrics;
use crate::scores::precision::{change, forecast_times};

/// The bytes of a 32-bit number.
const NUMBER: usize = 4;

/// One network before it was pruned or after, on forecasts of the end of each series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PruneScore {
    /// Whether it is the network after.
    pub pruned: bool,
    /// The errors of its forecasts.
    #[serde(flatten)]
    pub metrics: Metrics,
    /// How much larger its MAE is than before, in percent of that; negative if it is smaller, NaN (null in JSON) if that is 0.
    #[serde(with = "foretell_estimator::nan_as_null")]
    pub mae_change: f64,
    /// The same of its RMSE.
    #[serde(with = "foretell_estimator::nan_as_null")]
    pub rmse_change: f64,
    /// The same of its MASE.
    #[serde(with = "foretell_estimator::nan_as_null")]
    pub mase_change: f64,
    /// Its parameters.
    pub parameters: usize,
    /// Those of them that are not zero.
    pub nonzero_parameters: usize,
    /// Bytes of all of them in `f32`, zeros included.
    pub weight_bytes: usize,
    /// The median time of the forecast of one window, in microseconds.
    pub forecast_us: f64,
    /// The median time of the forecasts of [`PrecisionScore::BATCH`](crate::PrecisionScore::BATCH) windows at once, in milliseconds.
    pub batch_ms: f64,
}

/// The scores of the networks among the models, in their order: on `n_windows` horizons at the end of each series, `before` having those
/// of the same networks as they were.
pub(super) fn scores(
    fitted: &Fitted,
    panel: &Panel,
    n_windows: usize,
    season: usize,
    before: Option<&[PruneScore]>,
) -> Result<Vec<PruneScore>, Error> {
    let all = fitted.validate(panel, n_windows, fitted.h())?.metrics(panel, season);
    let networks = fitted.models().iter().map(|model| model.network()).zip(all);
    let networks = networks.filter_map(|(network, metrics)| Some((network?, metrics)));
    let score = |(place, (network, metrics)): (usize, (&TrainedNetwork, Metrics))| {
        let was = before.map_or(&metrics, |before| &before[place].metrics);
        // Copies for other forecasts do not count for these.
        let [forecast_us, batch_ms] = forecast_times(&network.without_copies(), &fitted.trained.workers);
        PruneScore {
            pruned: before.is_some(),
            mae_change: change(metrics.mae, was.mae),
            rmse_change: change(metrics.rmse, was.rmse),
            mase_change: change(metrics.mase, was.mase),
            parameters: network.parameters(),
            nonzero_parameters: network.nonzero_parameters(),
            weight_bytes: NUMBER * network.parameters(),
            forecast_us,
            batch_ms,
            metrics,
        }
    };
    Ok(networks.enumerate().map(score).collect())
}
