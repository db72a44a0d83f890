//! The weights of networks in fewer bits.

use std::sync::Arc;

use foretell_neural::{WeightPrecision, WithoutAmp, check_amp};

use crate::fitted_model::FittedModel;

/// Holds the weights of all networks among the models in this format.
pub(crate) fn hold_weights(models: &mut [FittedModel], precision: WeightPrecision) -> Result<(), WithoutAmp> {
    check_amp(precision.name())?;
    for model in models {
        if let Some(network) = model.network() {
            *model = FittedModel::new(Arc::new(network.with_weight_precision(precision)?));
        }
    }
    Ok(())
}
