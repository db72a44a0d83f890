//! The weights of columns and steps behind forecasts of networks that have such.

use foretell_data::{Future, Panel};
use foretell_neural::{ExplanationSum, FeatureImportances, MODELS, TrainedNetwork};

use crate::error::Error;
use crate::forecasts::blocks::blocks_ahead;
use crate::predict_options::PredictOptions;
use crate::stages::asked_quantiles::AskedQuantiles;
use crate::trained_models::TrainedModels;
use crate::usage_error::UsageError;

pub(crate) fn feature_importances(
    trained: &TrainedModels,
    panel: &Panel,
    future: Option<&Future>,
) -> Result<Vec<FeatureImportances>, Error> {
    let networks = trained.named().filter_map(|(model, name)| Some((model.network()?, name)));
    let networks: Vec<(&TrainedNetwork, String)> =
        networks.filter(|(network, _)| network.explains()).collect();
    if networks.is_empty() {
        let asked: Vec<&str> = trained.estimators().map(|model| model.name()).collect();
        let known: Vec<&str> = MODELS.iter().filter(|entry| entry.explains).map(|entry| entry.name).collect();
        return Err(UsageError::NoImportances { found: asked.join(", "), known: known.join(", ") }.into());
    }
    let mut sums: Vec<ExplanationSum> = networks.iter().map(|_| ExplanationSum::default()).collect();
    let options = PredictOptions::new().future(future);
    blocks_ahead(trained, panel, &options, AskedQuantiles::default())?.each_ahead(|_, scaled, future| {
        for ((network, _), sum) in networks.iter().zip(&mut sums) {
            network.explain(&scaled.panel, future, &trained.workers, sum)?;
        }
        Ok(())
    })?;
    let importances =
        networks.into_iter().zip(sums).filter_map(|((network, name), sum)| network.importances(name, sum));
    Ok(importances.collect())
}
