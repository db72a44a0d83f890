//! What the first forecast makes, made before it is asked for.

use foretell_data::Vocabulary;
use foretell_estimator::{made_up_future, made_up_panel};

use crate::error::Error;
use crate::fitted::Fitted;
use crate::fitted_model::FittedModel;
use crate::forecasts::blocks::blocks_ahead;
use crate::pipeline::Pipeline;
use crate::predict_options::PredictOptions;
use crate::stages::asked_quantiles::AskedQuantiles;
use crate::trained_models::TrainedModels;
use crate::warning_listener::WarningListener;

/// Before the first forecast.
impl Fitted {
    /// Makes what the first forecast of `n_series` series would make, for a program that answers requests: threads start, weights are
    /// packed or copied in the format of [`Fitted::weight_precision`], memory is taken. To this end each model forecasts series of made-up
    /// values, as long as it reads, and the result is thrown away. Later forecasts are the same to the last bit, and no warning is told.
    ///
    /// Copies of weights depend on how many windows are multiplied with them, and are shared by clones: a server warms up for one series, which is most
    /// requests, and for some together. A model of all series takes its own number of them. Models forecast one after the other, so
    /// that those after one that cannot are warm as well.
    ///
    /// ```
    /// # use foretell::{Forecaster, Freq, ModelSpec, Panel};
    /// # let panel = Panel::from_series(Freq::parse("D")?, [("a", 0, vec![1.0; 40])])?;
    /// # let spec = ModelSpec::new("NHITS", 7, 14)?.set("max_steps", 1)?;
    /// # let fitted = Forecaster::new([spec])?.fit(&panel)?;
    /// fitted.warm_up(1)?;
    /// let held = fitted.models()[0].weight_bytes();
    /// fitted.predict(&panel, None)?;
    /// assert_eq!(fitted.models()[0].weight_bytes(), held);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The first of a model that cannot forecast such values, or would take more memory than the limit. It may forecast others all the same.
    pub fn warm_up(&self, n_series: usize) -> Result<(), Error> {
        let warmed = self.trained.models.iter().map(|model| warm_up(&self.trained, model, n_series));
        warmed.fold(Ok(()), Result::and)
    }
}

fn warm_up(trained: &TrainedModels, model: &FittedModel, n_series: usize) -> Result<(), Error> {
    let alone = TrainedModels {
        models: vec![model.clone()],
        // The columns of a made-up panel are numbers already, and what is done to forecasts keeps nothing.
        pipeline: Pipeline { columns: trained.pipeline.columns.clone(), ..Pipeline::default() },
        vocabulary: Vocabulary::new(),
        conformal: None,
        ensembles: Vec::new(),
        warnings: WarningListener::default(),
        ..trained.clone()
    };
    let (estimator, needs) = (model.trained().estimator(), model.needs());
    // Series that are forecast one by one make nothing that one does not.
    let n_series = needs.n_series.unwrap_or(n_series.clamp(1, needs.series_at_a_time.max(1)));
    let panel = made_up_panel(estimator, alone.freq, n_series, needs.rows_of_a_forecast())?;
    let future = made_up_future(estimator, &panel)?;
    let options = PredictOptions::new().future(future.as_ref());
    blocks_ahead(&alone, &panel, &options, AskedQuantiles::default())?.whole()?;
    Ok(())
}
