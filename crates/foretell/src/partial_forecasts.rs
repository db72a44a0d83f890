//! Facts for those who forecast a panel part by part, on several machines.

use crate::error::Error;
use crate::fitted::Fitted;
use crate::predict_options::PredictOptions;
use crate::stages::asked_quantiles::AskedQuantiles;
use crate::stages::ensembles::outputs;
use crate::stages::sums::outputs_of_sums;

impl Fitted {
    /// The names of the columns of a forecast with the levels or quantiles of these options, behind those of ids and times.
    ///
    /// # Errors
    /// If a level or quantile is out of range, or a model has no such intervals.
    pub fn forecast_columns(&self, options: &PredictOptions<'_>) -> Result<Vec<String>, Error> {
        let trained = &self.trained;
        let asked = AskedQuantiles::new(options.level, options.quantiles)?;
        let outputs = outputs_of_sums(trained, outputs(trained, &asked)?);
        let ensembles = trained.ensembles.iter().map(|ensemble| ensemble.column().to_owned());
        let names = self.column_names().into_iter().chain(ensembles).zip(outputs);
        let columns =
            names.flat_map(|(name, outputs)| outputs.into_iter().map(move |output| output.name(&name)));
        Ok(columns.collect())
    }

    /// How many series a part may have: parts of a multiple of this many neighbouring series of a panel, in its order, but for the last
    /// part, have the forecasts of the whole panel to the last bit, since networks run as many windows at a time as then. 1 without
    /// networks. `None` if all series are needed at once: by a network that forecasts them together, by a hierarchy, or by the scaling
    /// of static columns.
    pub fn series_per_part(&self) -> Option<usize> {
        let trained = &self.trained;
        let is_whole = trained.is_joint()
            || trained.pipeline.coherence.is_some()
            || trained.pipeline.local_scalers.statics.is_some();
        let each = trained.models.iter().map(|model| model.needs().series_at_a_time).max().unwrap_or(1);
        (!is_whole).then_some(each)
    }
}
