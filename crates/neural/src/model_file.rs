//! Networks as neuralforecast's files have them.

use std::collections::BTreeMap;
use std::sync::Arc;

use foretell_checkpoint::{LossSpec, ModelFile, TensorData, TensorValues, check_names};
use foretell_models::SAMPLING;
use foretell_nn::{Loss, ParamEntry, Table};
use serde_json::{Map, Value};

use crate::optimizer_settings;
use crate::spec::{NetworkSpec, UNSUPPORTED};
use crate::spec_error::SpecError;
use crate::trained_network::TrainedNetwork;
use crate::unknown_name::is_trainer_argument;

/// What only files are concerned with.
impl NetworkSpec {
    /// Arguments that neuralforecast hands to its trainer. They change nothing here; files have them, so that neuralforecast trains the
    /// model where and as it was told.
    pub fn trainer_arguments(&self) -> &Map<String, Value> {
        &self.trainer
    }

    /// With these arguments of neuralforecast's trainer in place of others; those that it does not have are left out.
    pub fn with_trainer_arguments(mut self, mut arguments: Map<String, Value>) -> Self {
        arguments.retain(|name, _| is_trainer_argument(name));
        self.trainer = arguments;
        self
    }
}

/// The file of a trained network.
pub fn model_file(model: &TrainedNetwork) -> ModelFile {
    let mut file = ModelFile::new(model.spec.alias(), model.spec.name());
    file.hyper_parameters = model.spec.hyper_parameters();
    let pinned = model.spec.entry.pinned(&model.spec.own).expect("hyper-parameters of a trained network");
    file.hyper_parameters.extend(pinned);
    optimizer_settings::to_file(&mut file.hyper_parameters);
    // neuralforecast warns of names that it does not know.
    let defaults = model.spec.entry.own_defaults();
    let is_default = |name: &str, value: &Value| defaults.get(name) == Some(value);
    file.hyper_parameters
        .retain(|name, value| !(SAMPLING.contains(&name.as_str()) && is_default(name, value)));
    // Some models of neuralforecast take the input_size as it is written, so -1 is written out.
    file.hyper_parameters.insert("input_size".to_owned(), model.spec.input_size().into());
    // neuralforecast's TimeMixer takes a list without columns for one that has some.
    for (_, list) in file.hyper_parameters.iter_mut().filter(|(name, _)| name.ends_with("_exog_list")) {
        if list.as_array().is_some_and(Vec::is_empty) {
            *list = Value::Null;
        }
    }
    file.hyper_parameters.extend(model.spec.trainer_arguments().clone());
    let table = model.params.table();
    for entry in table.entries() {
        let values = match model.params.counter(entry) {
            Some(count) => TensorData::new(entry.shape.to_vec(), TensorValues::I64(vec![count])),
            None if entry.is_complex => {
                let pairs = model.params.values(entry).as_chunks::<2>().0;
                TensorData::new(stored_shape(entry), TensorValues::C64(pairs.to_vec()))
            }
            None => TensorData::f32(entry.shape.to_vec(), model.params.values(entry).to_vec()),
        };
        file.tensors.insert(entry.name.clone(), values);
    }
    for alias in table.aliases() {
        let name = table.entry(alias.of).name.clone();
        file.shared.entry(name).or_default().push(alias.name.clone());
    }
    let valid_given = !file.hyper_parameters["valid_loss"].is_null();
    let valid = valid_given.then(|| loss_spec(model.spec.valid_loss()));
    file.set_losses(&loss_spec(model.spec.loss()), valid.as_ref());
    file.optimizer = model.optimizer().cloned();
    file
}

/// The shape that a file has for a parameter: of complex numbers without the dimension of their two parts.
fn stored_shape(entry: &ParamEntry) -> Vec<usize> {
    let shape = entry.shape.to_vec();
    if entry.is_complex { shape[..shape.len() - 1].to_vec() } else { shape }
}

fn loss_spec(loss: &Loss) -> LossSpec {
    let quantiles = loss.quantiles().map(<[f32]>::to_vec);
    // neuralforecast's losses that only validate name no outputs; that of quantiles holds an MQLoss.
    let (output_names, quantiles, inner_quantiles) = match loss.trains() {
        true => (loss.suffixes(), quantiles, None),
        false => (Vec::new(), None, quantiles),
    };
    let mut args = loss.arguments();
    // neuralforecast knows no other Tweedie distribution, and no argument that says so.
    args.retain(|name, value| !(name == SOFTPLUS && *value == true));
    LossSpec {
        class: loss.name().to_owned(),
        args,
        horizon_weight: loss.horizon_weight().map(<[f32]>::to_vec),
        output_names,
        quantiles,
        inner_quantiles,
        cosines: loss.implicit().map(|layer| layer.cos_embedding_dim),
    }
}

/// The argument that tells a Tweedie distribution of neuralforecast's models, whose mean is at least 1, from others.
const SOFTPLUS: &str = "softplus";

/// Says that the Tweedie distribution of a loss is neuralforecast's, unless the file that it comes from says otherwise.
fn mark_tweedie(loss: &mut Value) {
    if let Some(arguments) = loss.get_mut("DistributionLoss").and_then(Value::as_object_mut)
        && arguments.get("distribution").is_some_and(|name| name == "Tweedie")
    {
        arguments.entry(SOFTPLUS).or_insert(true.into());
    }
}

/// A loss in the form in which [`NetworkSpec::set`] takes it.
pub fn loss_value(spec: LossSpec) -> Value {
    let mut arguments = spec.args;
    if let Some(weights) = spec.horizon_weight {
        arguments.insert("horizon_weight".to_owned(), weights.into());
    }
    Value::Object(Map::from_iter([(spec.class, Value::Object(arguments))]))
}

/// The network of a file.
///
/// # Errors
/// In words, if foretell has no such network.
pub fn read_model(file: &ModelFile) -> Result<TrainedNetwork, String> {
    let spec = read_spec(file).map_err(|error| error.to_string())?;
    let mut model = with_weights(spec, &file.weights())?;
    model.optimizer = file.optimizer.clone().map(Arc::new);
    Ok(model)
}

/// The model with the weights of a state dictionary, or why it cannot have them.
pub(crate) fn with_weights(
    spec: NetworkSpec,
    weights: &BTreeMap<&str, &TensorData>,
) -> Result<TrainedNetwork, String> {
    let mut table = Table::default();
    let network = spec.build(&mut table).map_err(|error| error.to_string())?;

    let mut expected: Vec<(&str, Vec<usize>)> =
        table.entries().iter().map(|entry| (entry.name.as_str(), stored_shape(entry))).collect();
    let aliases = table.aliases().iter();
    expected.extend(aliases.map(|alias| (alias.name.as_str(), stored_shape(table.entry(alias.of)))));
    let shapes = weights.iter().map(|(name, tensor)| (*name, tensor.shape()));
    check_names("its state dictionary", expected.iter().map(|(name, shape)| (*name, &shape[..])), shapes)
        .map_err(|error| error.to_string())?;

    let mut params = table.initialise(0);
    for index in 0..params.table().entries().len() {
        let (name, is_complex) = {
            let entry = &params.table().entries()[index];
            (entry.name.clone(), entry.is_complex)
        };
        let values = weights.get(name.as_str()).map(|tensor| tensor.values());
        match (values, params.table().entries()[index].is_counter()) {
            (Some(TensorValues::F32(values)), false) if !is_complex => params.set(index, values),
            (Some(TensorValues::C64(values)), false) if is_complex => {
                params.set(index, values.as_flattened())
            }
            (Some(TensorValues::I64(values)), true) => params.set_counter(index, values[0]),
            (_, false) if is_complex => {
                return Err(format!("tensor {name} must hold complex numbers of 32-bit floats"));
            }
            (_, false) => return Err(format!("tensor {name} must hold 32-bit floats")),
            (_, true) => return Err(format!("tensor {name} must hold a 64-bit integer")),
        }
    }
    Ok(TrainedNetwork::new(spec, network, params, None))
}

/// The model with the hyper-parameters that its forecasts depend on. Forecasts do not depend on how the
/// weights were trained: settings of training that foretell does not have are left at defaults.
fn read_spec(file: &ModelFile) -> Result<NetworkSpec, Box<dyn std::error::Error>> {
    let mut arguments = file.arguments()?;
    arguments.insert("loss".to_owned(), loss_value(file.loss()?));
    arguments.insert("valid_loss".to_owned(), file.valid_loss()?.map_or(Value::Null, loss_value));
    arguments.insert("alias".to_owned(), file.alias.as_str().into());
    optimizer_settings::from_file(&mut arguments);
    spec_of(&file.class, arguments)
}

/// The model of a class with the hyper-parameters that its forecasts depend on; settings of training that foretell does not
/// have are left at defaults.
pub(crate) fn spec_of(
    class: &str,
    mut arguments: Map<String, Value>,
) -> Result<NetworkSpec, Box<dyn std::error::Error>> {
    // neuralforecast passes over the numbers of columns that the model does not read.
    let read = arguments.get("cat_exog_list").cloned().unwrap_or_default();
    if let Some(Value::Object(numbers)) = arguments.get_mut("categorical_cardinalities") {
        let columns = read.as_array().map(Vec::as_slice).unwrap_or_default();
        numbers.retain(|name, _| columns.iter().any(|column| column == name));
    }
    for name in ["loss", "valid_loss"] {
        arguments.get_mut(name).into_iter().for_each(mark_tweedie);
    }
    let h = arguments.remove("h").unwrap_or_default();
    let steps = h.as_u64().filter(|&h| h <= 1_000_000);
    let steps =
        steps.ok_or_else(|| format!("hyper-parameter h must be between 1 and 1000000, found {h}"))? as usize;
    let spec = NetworkSpec::new(class, steps, 1).map_err(|error| match error {
        SpecError::UnknownModel { .. } => {
            format!("{error}; a program's own model is registered by own_model::register before it is loaded")
        }
        error => error.to_string(),
    });
    let mut spec = spec?.set("input_size", -1)?.with_trainer_arguments(arguments.clone());
    for (name, value) in spec.entry.upstream {
        arguments.entry(*name).or_insert((*value).into());
    }
    for (name, value) in arguments {
        spec = match spec.clone().set(&name, value) {
            Err(_) if is_tolerated(&name) => spec,
            set => set?,
        };
    }
    if !spec.losses_fit() {
        spec = spec.set("valid_loss", Value::Null)?;
    }
    if spec.optimizer_settings().is_err() {
        for name in optimizer_settings::HYPER_PARAMETERS {
            spec = spec.set(name, Value::Null)?;
        }
    }
    spec.check()?;
    Ok(spec)
}

/// Whether forecasts do not depend on a hyper-parameter, so that values of it that foretell cannot have are passed over.
pub(crate) fn is_tolerated(name: &str) -> bool {
    is_of_training(name) || is_trainer_argument(name) || UNSUPPORTED.iter().any(|(known, _)| *known == name)
}

/// Whether a hyper-parameter says how a model is trained, or has no meaning for the models here.
fn is_of_training(name: &str) -> bool {
    let common = NetworkSpec::common_defaults().contains_key(name) && !OF_FORECASTS.contains(&name);
    common || ["n_samples", "h_train", "inference_input_size"].contains(&name)
}

/// The hyper-parameters of all models that forecasts depend on.
const OF_FORECASTS: [&str; 12] = [
    "h", "input_size", "futr_exog_list", "hist_exog_list", "stat_exog_list", "cat_exog_list",
    "categorical_cardinalities", "cat_emb_dim", "exclude_insample_y", "loss", "scaler_type", "alias",
];
