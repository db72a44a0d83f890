//! A model by name with its hyper-parameters, whatever kind of estimator it is.

use foretell_estimator::{ColumnKind, Estimator, EstimatorError};
#[cfg(feature = "networks")]
use foretell_neural::own_model::Architecture;
use foretell_neural::{Exogenous, NetworkError, NetworkSpec, SpecError};
use foretell_pretrained::of_folder;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::registry::{HAS_NETWORKS, find_estimator, find_network, model_names, without_networks};

/// A model and its hyper-parameters, checked as they are set.
///
/// ```
/// use foretell::ModelSpec;
///
/// let spec = ModelSpec::new("NHITS", 24, 96)?
///     .set("max_steps", 300)?
///     .set("scaler_type", "standard")?
///     .set("mlp_units", serde_json::json!([[64, 64], [64, 64]]))?;
/// assert_eq!(spec.name(), "NHITS");
///
/// let slip = ModelSpec::new("NHITS", 24, 96)?.set("max_step", 300).unwrap_err();
/// assert_eq!(slip.to_string(), "NHITS has no hyper-parameter max_step; did you mean max_steps?");
/// # Ok::<(), foretell::SpecError>(())
/// ```
///
/// Serialised with all hyper-parameters; what is left out takes the default when it is read, but for `h`:
///
/// ```
/// use foretell::ModelSpec;
///
/// let text = r#"{"model": "NHITS", "hyper_parameters": {"h": 24, "max_steps": 300}}"#;
/// let spec: ModelSpec = serde_json::from_str(text)?;
/// assert_eq!((spec.h(), spec.input_size()), (24, Some(72)));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Plain", into = "Plain")]
pub struct ModelSpec(Box<dyn Estimator>);

/// Two are equal if they are the same model with the same hyper-parameters.
impl PartialEq for ModelSpec {
    fn eq(&self, other: &Self) -> bool {
        *self.0 == *other.0
    }
}

/// A model as formats have it.
#[derive(Serialize, Deserialize)]
#[serde(rename = "ModelSpec", deny_unknown_fields)]
struct Plain {
    model: String,
    hyper_parameters: Map<String, Value>,
}

impl From<ModelSpec> for Plain {
    fn from(spec: ModelSpec) -> Self {
        Self { model: spec.name().to_owned(), hyper_parameters: spec.hyper_parameters() }
    }
}

impl TryFrom<Plain> for ModelSpec {
    type Error = SpecError;

    fn try_from(Plain { model, hyper_parameters }: Plain) -> Result<Self, SpecError> {
        let mut spec = Self::new(&model, 1, 1)?;
        if spec.input_size().is_some() {
            spec = spec.set("input_size", -1)?;
        }
        if !hyper_parameters.contains_key("h") {
            // The error of a horizon that is refused.
            return spec.set("h", Value::Null);
        }
        for (name, value) in hyper_parameters {
            spec = spec.set(&name, value)?;
        }
        Ok(spec)
    }
}

impl ModelSpec {
    /// The model of this name, in any case of letters, with its default hyper-parameters, to forecast `h` steps; a network
    /// from `input_size` steps of history. Other models read as much history as they need. The path of a folder of a pretrained network
    /// ([`foretell_pretrained`](crate::pretrained)) is the name of a model, too.
    ///
    /// # Errors
    /// If there is no such model, or a size is 0.
    pub fn new(model: &str, h: usize, input_size: usize) -> Result<Self, SpecError> {
        match find_estimator(model) {
            Some(entry) => Self((entry.new)(1)).set("h", h),
            None if find_network(model).is_some() => Ok(NetworkSpec::new(model, h, input_size)?.into()),
            None => match of_folder(model.as_ref(), 1) {
                Some(estimator) => Self(estimator).set("h", h),
                None => Err(without_networks(model)
                    .unwrap_or_else(|| SpecError::unknown_model(model, &model_names()))),
            },
        }
    }

    /// A network of your own with its default hyper-parameters. It is [registered](crate::own_model::register), so that
    /// this process loads the models that it saved.
    ///
    /// # Errors
    /// If a size is 0.
    ///
    /// # Panics
    /// If another model has that name.
    #[cfg(feature = "networks")]
    pub fn of<A: Architecture>(h: usize, input_size: usize) -> Result<Self, SpecError> {
        Ok(NetworkSpec::of::<A>(h, input_size)?.into())
    }

    /// Sets a hyper-parameter.
    ///
    /// # Errors
    /// If the model has none of that name, or it cannot have that value. The error names the nearest
    /// valid name, or what the value may be.
    pub fn set(mut self, name: &str, value: impl Into<Value>) -> Result<Self, SpecError> {
        self.0.set(name, value.into()).map_err(spec_error)?;
        Ok(self)
    }

    /// Checks what [`ModelSpec::set`] cannot, as one value is set after the other: that they fit together.
    ///
    /// # Errors
    /// If hyper-parameters contradict each other.
    pub fn check(&self) -> Result<(), SpecError> {
        self.0.check().map_err(spec_error)
    }

    /// The model's name.
    pub fn name(&self) -> &'static str {
        self.0.name()
    }

    /// The name of the model's column in a forecast: its alias, or its name.
    pub fn alias(&self) -> &str {
        self.0.alias()
    }

    /// Which kinds of columns it can read beside the target.
    pub fn exogenous(&self) -> Exogenous {
        let can_read = self.0.needs().can_read;
        let [hist, futr, stat, cat] = [ColumnKind::Hist, ColumnKind::Futr, ColumnKind::Stat, ColumnKind::Cat]
            .map(|kind| can_read.contains(&kind));
        Exogenous { futr, hist, stat, cat }
    }

    /// Steps that it forecasts.
    pub fn h(&self) -> usize {
        self.0.horizon()
    }

    /// Steps of history that its hyper-parameters let it see; nothing for models that see as much as they need.
    pub fn input_size(&self) -> Option<usize> {
        self.0.needs().input_size
    }

    /// The meaning of the hyper-parameter of this name, if the model has it.
    pub fn meaning(&self, name: &str) -> Option<&'static str> {
        self.0.meaning(name)
    }

    /// All hyper-parameters with their values.
    pub fn hyper_parameters(&self) -> Map<String, Value> {
        self.0.hyper_parameters()
    }

    /// The hyper-parameters that every network has, with the defaults that most have.
    pub fn common_defaults() -> Map<String, Value> {
        NetworkSpec::common_defaults()
    }

    /// Whether it forecasts all series of a panel together.
    pub fn is_multivariate(&self) -> bool {
        self.0.needs().is_joint
    }

    /// The network that it is, if it is one.
    pub fn network(&self) -> Option<&NetworkSpec> {
        network_of(&*self.0)
    }

    /// With arguments that neuralforecast hands to its trainer, for the model's file: [`NetworkSpec::with_trainer_arguments`]. Models of
    /// other kinds have none.
    pub fn with_trainer_arguments(self, arguments: Map<String, Value>) -> Self {
        match self.network() {
            Some(network) => network.clone().with_trainer_arguments(arguments).into(),
            None => self,
        }
    }
}

/// The network that a model is, if it is one.
pub(crate) fn network_of(model: &dyn Estimator) -> Option<&NetworkSpec> {
    let any: &dyn std::any::Any = model;
    if HAS_NETWORKS { any.downcast_ref() } else { None }
}

impl AsRef<dyn Estimator> for ModelSpec {
    fn as_ref(&self) -> &dyn Estimator {
        &*self.0
    }
}

/// Without the feature `networks` it is a model like any other: what is of networks alone does not know it.
impl From<NetworkSpec> for ModelSpec {
    fn from(spec: NetworkSpec) -> Self {
        Self(Box::new(spec))
    }
}

/// An estimator of any kind, also one of your own.
impl From<Box<dyn Estimator>> for ModelSpec {
    fn from(estimator: Box<dyn Estimator>) -> Self {
        Self(estimator)
    }
}

impl From<ModelSpec> for Box<dyn Estimator> {
    fn from(spec: ModelSpec) -> Self {
        spec.0
    }
}

/// The error of an estimator's hyper-parameters as that of a specification.
fn spec_error(error: EstimatorError) -> SpecError {
    match error {
        EstimatorError::Usage(source) => match source.downcast() {
            Ok(error) => match *error {
                NetworkError::Spec(error) => error,
                other => SpecError::Other(Box::new(other)),
            },
            Err(source) => SpecError::Other(source),
        },
        other => SpecError::Other(Box::new(other)),
    }
}
