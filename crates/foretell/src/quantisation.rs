//! What forecasts lose and gain by weights in fewer bits.

use foretell_data::Panel;
use foretell_nn::{WeightPrecision, check_amp};
use serde::{Deserialize, Serialize};

use crate::bench::seconds_of_forecasts;
use crate::error::Error;
use crate::fitted_model::FittedModel;
use crate::forecaster::Fitted;
use crate::metrics::Metrics;

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
    #[serde(with = "foretell_data::nan_as_null")]
    pub mae_change: f64,
    /// The same of its RMSE.
    #[serde(with = "foretell_data::nan_as_null")]
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

impl FittedModel {
    /// The format in which its weights are held.
    pub fn weight_precision(&self) -> WeightPrecision {
        self.params.precision()
    }

    /// Bytes of all parameters, as its forecasts so far have held them: see
    /// [`Params::held_bytes`](crate::own_model::Params::held_bytes).
    pub fn weight_bytes(&self) -> usize {
        self.params.held_bytes()
    }
}

impl Fitted {
    /// Holds the weights of products in this format for forecasts from now on; `f32` by default.
    ///
    /// Fewer bits are read in less time: a single forecast, which reads each weight once, gains most. What it costs in
    /// accuracy [`Fitted::compare_precisions`] tells. [`Params::hold`](crate::own_model::Params::hold) says which layers it
    /// concerns. Saving writes the weights in `f32`, which stay in memory.
    ///
    /// ```no_run
    /// use foretell::{Fitted, WeightPrecision};
    ///
    /// let fitted = Fitted::load("model")?.weight_precision(WeightPrecision::Bf16)?;
    /// # Ok::<(), foretell::Error>(())
    /// ```
    ///
    /// # Errors
    /// If it is not `f32` and the program was built without the feature `amp`.
    pub fn weight_precision(mut self, precision: WeightPrecision) -> Result<Self, Error> {
        check_amp(precision.name())?;
        self.models.iter_mut().for_each(|model| model.params.hold(precision));
        Ok(self)
    }

    /// The errors of each model on rolling forecasts of the end of each series ([`Fitted::validate`]) with its weights in
    /// `f32` and then in each of `precisions` once, their bytes, and the time of forecasts. `season` is in steps, for
    /// [`Metrics::mase`].
    ///
    /// # Errors
    /// Those of [`Fitted::validate`] and [`Fitted::weight_precision`].
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
        let mut scores: Vec<Vec<PrecisionScore>> = Vec::new();
        let mut each = vec![WeightPrecision::F32];
        for precision in precisions {
            if !each.contains(precision) {
                each.push(*precision);
            }
        }
        let warnings = self.warnings.once();
        for precision in each {
            let held = Self { warnings: warnings.clone(), ..self.clone() }.weight_precision(precision)?;
            let validation = held.validate(panel, n_windows, step_size)?;
            let metrics = validation.metrics(panel, season);
            let wide = scores.first();
            let of_models =
                validation.fitted.models.iter().zip(metrics).enumerate().map(|(i, (model, metrics))| {
                    let wide = wide.map_or(&metrics, |wide| &wide[i].metrics);
                    let change = |held: f64, wide: f64| {
                        if wide == 0.0 { f64::NAN } else { 100.0 * (held / wide - 1.0) }
                    };
                    // Copies that other forecasts have made are not those of these.
                    let params = model.params.without_copies();
                    let seconds = |windows: usize| {
                        seconds_of_forecasts(&model.spec, &model.network, &params, &self.workers, windows)
                    };
                    let (forecast_us, batch_ms) = (1e6 * seconds(1), 1e3 * seconds(PrecisionScore::BATCH));
                    PrecisionScore {
                        precision,
                        mae_change: change(metrics.mae, wide.mae),
                        rmse_change: change(metrics.rmse, wide.rmse),
                        weight_bytes: params.held_bytes(),
                        forecast_us,
                        batch_ms,
                        metrics,
                    }
                });
            let of_models = of_models.collect();
            scores.push(of_models);
        }
        // Model by model.
        let models = scores[0].len();
        Ok((0..models).flat_map(|model| scores.iter().map(move |scores| scores[model].clone())).collect())
    }
}
