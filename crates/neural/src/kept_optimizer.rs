//! The optimiser of a training, as a network keeps it and as a training continues with it.

use foretell_checkpoint::OptimizerState;
use foretell_estimator::Start;
use foretell_nn::Params;
use foretell_train::{KeptOptimizer, Rule};

use crate::error::NetworkError;
use crate::spec::NetworkSpec;
use crate::trained_network::TrainedNetwork;

/// PyTorch's default.
const ADAM: &str = "Adam";

fn class(spec: &NetworkSpec) -> &str {
    spec.common().optimizer.as_deref().unwrap_or(ADAM)
}

/// The state of the optimiser that is kept with the network.
pub(crate) fn kept(spec: &NetworkSpec, optimizer: KeptOptimizer) -> OptimizerState {
    let KeptOptimizer { steps, updates, states, scaler } = optimizer;
    let scaler = serde_json::to_value(scaler).expect("a scaler is numbers");
    OptimizerState {
        optimizer: class(spec).to_owned(),
        steps,
        updates,
        scaler,
        arrays: states.into_iter().collect(),
    }
}

/// The optimiser to continue with, if the network that the training starts from has one.
///
/// # Errors
/// If it is of another class, or of other parameters.
pub(crate) fn before(
    spec: &NetworkSpec,
    params: &Params,
    rule: Rule,
    start: &Start<'_>,
) -> Result<Option<KeptOptimizer>, NetworkError> {
    let from = start.from.and_then(|from| from.downcast_ref::<TrainedNetwork>());
    let Some(kept) = from.and_then(TrainedNetwork::optimizer) else { return Ok(None) };
    let refuse = |reason: String| Err(NetworkError::Start { model: spec.alias().to_owned(), reason });
    if kept.optimizer != class(spec) {
        return refuse(format!(
            "its optimiser was kept, which is {}, and this training has {}; set optimizer as it was, or continue from a model \
             that was saved without its optimiser",
            kept.optimizer,
            class(spec)
        ));
    }
    let len = params.arena().len();
    let mut states = Vec::new();
    for &name in rule.state_names() {
        match kept.arrays.get(name).filter(|values| values.len() == len) {
            Some(values) => states.push((name.to_owned(), values.clone())),
            None => {
                let found = kept.arrays.get(name).map_or(0, Vec::len);
                return refuse(format!(
                    "its kept optimiser has {found} numbers in {name}, expected {len}; set optimizer_kwargs as they were, or \
                     save the model again from its source"
                ));
            }
        }
    }
    let Ok(scaler) = serde_json::from_value(kept.scaler.clone()) else {
        return refuse("its kept optimiser has a scale of the loss that foretell did not write".to_owned());
    };
    Ok(Some(KeptOptimizer { steps: kept.steps, updates: kept.updates, states, scaler }))
}
