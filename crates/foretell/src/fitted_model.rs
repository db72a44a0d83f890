//! One trained model.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use foretell_estimator::{EstimatorNeeds, Outcome, Trained};
use foretell_neural::{TrainedNetwork, WeightPrecision};
use foretell_pretrained::TrainedPretrained;

use crate::model_spec::ModelSpec;
use crate::registry::HAS_NETWORKS;

/// One trained model. Cloning shares the learned numbers.
#[derive(Clone)]
pub struct FittedModel {
    spec: ModelSpec,
    needs: EstimatorNeeds,
    trained: Arc<dyn Trained>,
}

impl FittedModel {
    pub(crate) fn new(trained: Arc<dyn Trained>) -> Self {
        let estimator = trained.estimator();
        Self { spec: estimator.boxed().into(), needs: estimator.needs(), trained }
    }

    /// What the model needs and is, asked once.
    pub(crate) fn needs(&self) -> &EstimatorNeeds {
        &self.needs
    }

    /// The model's name and hyper-parameters.
    pub fn spec(&self) -> &ModelSpec {
        &self.spec
    }

    /// How its training ended; nothing for a model that was loaded, or that needs no training.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.trained.outcome()
    }

    pub(crate) fn shared(&self) -> Arc<dyn Trained> {
        self.trained.clone()
    }

    /// The model behind the trait that all models have: a downcast, as from [`Any`](std::any::Any), leads to its own kind.
    pub fn trained(&self) -> &dyn Trained {
        &*self.trained
    }

    /// The model, to be shared with an estimator that is made of others.
    pub fn into_shared(self) -> Arc<dyn Trained> {
        self.trained
    }

    /// The trained network that it is, if it is one: this is where all comes from that only networks have.
    pub fn network(&self) -> Option<&TrainedNetwork> {
        let any: &dyn Any = self.trained();
        if HAS_NETWORKS { any.downcast_ref() } else { None }
    }

    /// The model with quantiles from this many forecasts with dropout, if it takes them so.
    pub(crate) fn with_dropout_samples(&self, samples: usize) -> Self {
        match self.trained.with_dropout_samples(samples) {
            Some(trained) => Self::new(Arc::from(trained)),
            None => self.clone(),
        }
    }

    /// Whether its inputs have contributions to its forecasts, which [`Fitted::explain`](crate::Fitted::explain) computes.
    pub fn is_explained(&self) -> bool {
        self.trained.attributed_inputs("", self.spec.h()).is_some()
    }

    /// The number of a network's parameters, of a pretrained one too; 0 for other models.
    pub fn parameters(&self) -> usize {
        let any: &dyn Any = self.trained();
        let of_pretrained = || any.downcast_ref().map_or(0, TrainedPretrained::parameters);
        self.network().map_or_else(of_pretrained, TrainedNetwork::parameters)
    }

    /// The values of a network's parameter of this name, row-major, if there is one.
    pub fn parameter(&self, name: &str) -> Option<&[f32]> {
        self.network()?.parameter(name)
    }

    /// The values of all parameters of a network, in the order of their registration; none of other models.
    pub fn parameters_in_order(&self) -> impl Iterator<Item = &f32> {
        self.network().into_iter().flat_map(TrainedNetwork::parameters_in_order)
    }

    /// The format in which the weights of a network are held.
    pub fn weight_precision(&self) -> WeightPrecision {
        self.network().map_or(WeightPrecision::F32, TrainedNetwork::weight_precision)
    }

    /// Bytes of all parameters of a network, as its forecasts so far have held them: see
    /// [`Params::held_bytes`](crate::own_model::Params::held_bytes).
    pub fn weight_bytes(&self) -> usize {
        self.network().map_or(0, TrainedNetwork::weight_bytes)
    }

    /// Bytes of what any model has learned, and of the copies that forecasts make of it.
    pub fn held_bytes(&self) -> u64 {
        self.trained().held_bytes().iter().fold(0, |sum: u64, bytes| sum.saturating_add(*bytes))
    }
}

impl fmt::Debug for FittedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FittedModel({:?})", self.trained)
    }
}
