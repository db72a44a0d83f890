//! The weights of columns and steps behind forecasts of models that have such.

use foretell_data::{Future, Panel};
use foretell_estimator::FeatureImportances;

use crate::error::Error;
use crate::explanation_error::ExplanationError;
use crate::forecasts::blocks::blocks_ahead;
use crate::predict_options::PredictOptions;
use crate::registry::MODELS;
use crate::stages::asked_quantiles::AskedQuantiles;
use crate::trained_models::TrainedModels;

pub(crate) fn feature_importances(
    trained: &TrainedModels,
    panel: &Panel,
    future: Option<&Future>,
) -> Result<Vec<FeatureImportances>, Error> {
    let sums = trained.named().filter_map(|(model, name)| Some((model.trained().importances()?, name)));
    let mut sums: Vec<_> = sums.collect();
    if sums.is_empty() {
        let asked: Vec<&str> = trained.estimators().map(|model| model.name()).collect();
        let known: Vec<&str> = MODELS.iter().filter(|entry| entry.explains).map(|entry| entry.name).collect();
        return Err(
            ExplanationError::NoImportances { found: asked.join(", "), known: known.join(", ") }.into()
        );
    }
    let options = PredictOptions::new().future(future);
    blocks_ahead(trained, panel, &options, AskedQuantiles::default())?.each_ahead(|_, scaled, future| {
        let mut all = sums.iter_mut();
        Ok(all.try_for_each(|(sum, _)| sum.add(&scaled.panel, future, &trained.workers))?)
    })?;
    Ok(sums.into_iter().filter_map(|(sum, name)| sum.mean(name)).collect())
}
