//! A trained model in one piece of memory, for estimators that are made of others.

use std::sync::Arc;

use foretell_checkpoint::{Checkpoint, Configuration, Frequency};
use foretell_estimator::Trained;

use crate::directory::saving::{network, plain_model, restore};
use crate::error::Error;
use crate::fitted_model::FittedModel;

/// The model of any kind with all that it has learned, in one piece of memory, with a checksum: for an estimator that is made of
/// others and saves what they have learned as its own.
///
/// # Errors
/// If the model contradicts itself.
///
/// ```
/// # use foretell::{Forecaster, Freq, ModelSpec, Panel, pack_model, unpack_model};
/// # let panel = Panel::from_series(Freq::parse("D")?, [("a", 0, vec![1.0, 2.0, 3.0])])?;
/// let fitted = Forecaster::new([ModelSpec::new("Naive", 2, 1)?])?.fit(&panel)?;
/// let again = unpack_model(&pack_model(fitted.models()[0].trained())?).expect("what was packed");
/// assert_eq!(again.estimator().name(), "Naive");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn pack_model(trained: &dyn Trained) -> Result<Vec<u8>, Error> {
    let any: &dyn std::any::Any = trained;
    let (mut models, mut plain_models) = (Vec::new(), Vec::new());
    match any.downcast_ref() {
        Some(network) => models.push(foretell_neural::model_file(network)),
        None => plain_models.push(plain_model(0, trained)),
    }
    // Of a model alone the frequency is that of the estimator which holds it.
    let configuration = Configuration::new(trained.estimator().horizon(), Frequency::Step(1));
    Ok(Checkpoint { configuration, models, plain_models, dataset: None }.to_bytes()?)
}

/// The model that [`pack_model`] wrote.
///
/// # Errors
/// In words, if the bytes are something else, or of a model that this program has not.
pub fn unpack_model(bytes: &[u8]) -> Result<Arc<dyn Trained>, String> {
    let mut packed = Checkpoint::from_bytes(bytes).map_err(|error| error.to_string())?;
    let model = match (packed.models.pop(), packed.plain_models.pop()) {
        (Some(file), _) => network(&file)?,
        (None, Some(plain)) => restore(plain)?,
        (None, None) => return Err("it holds no model".to_owned()),
    };
    Ok(FittedModel::into_shared(model))
}
