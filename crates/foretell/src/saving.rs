//! Model directories in neuralforecast's format: foretell predicts from those that neuralforecast wrote, and neuralforecast
//! from those of foretell.

use std::collections::BTreeMap;
use std::path::Path;

use foretell_checkpoint::{
    Checkpoint, Configuration, Frequency, LossSpec, ModelDirectory, ModelFile, TensorData, TensorValues,
    check_names,
};
use foretell_data::{Categories, Freq, LocalScaler};
use foretell_infer::Workers;
use foretell_models::SAMPLING;
use foretell_nn::{Loss, ParamEntry, Table};
use serde_json::{Map, Value};

use crate::categories::{self, categorical, check_categorical};
use crate::columns::ColumnNames;
use crate::conformal::Conformal;
use crate::error::Error;
use crate::fitted_model::FittedModel;
use crate::forecaster::Fitted;
use crate::interruption::Interruption;
use crate::local_scalers::LocalScalers;
use crate::memory::check_load;
use crate::memory_limit::MemoryLimit;
use crate::optimizer_settings;
use crate::spec::{ModelSpec, UNSUPPORTED};
use crate::spec_error::SpecError;
use crate::unknown_name::is_trainer_argument;
use crate::warning::WarningListener;

impl Fitted {
    /// Writes the models to a directory that [`Fitted::load`] and `NeuralForecast.load` read. It appears
    /// whole or not at all; an existing model directory, with nothing else in it, is replaced only with `overwrite`.
    ///
    /// # Errors
    /// If the directory exists and may not be replaced, cannot be written, or is being written by another process.
    pub fn save(&self, dir: impl AsRef<Path>, overwrite: bool) -> Result<(), Error> {
        self.save_at(&ModelDirectory::at(dir, overwrite)?)
    }

    /// Writes the models as [`Fitted::save`] does, to a place that was taken before: worth doing before a long
    /// training, since what is wrong with the place is known then.
    ///
    /// # Errors
    /// If the directory cannot be written.
    pub fn save_at(&self, directory: &ModelDirectory) -> Result<(), Error> {
        let freq = match self.freq.to_string() {
            step if step.parse::<i64>().is_ok() => Frequency::Step(step.parse().expect("just tried")),
            word => Frequency::Alias(word),
        };
        let mut configuration = Configuration::new(self.h(), freq);
        let ColumnNames { id, time, target } = self.columns.clone();
        (configuration.id_col, configuration.time_col, configuration.target_col) = (id, time, target);
        let name = |scaler: Option<LocalScaler>| scaler.map(|scaler| scaler.name().to_owned());
        configuration.local_scaler_type = name(self.local_scalers.series);
        configuration.local_static_scaler_type = name(self.local_scalers.statics);
        [configuration.scalers, configuration.static_scalers] = self.scalers.clone();
        configuration.categorical_vocab = categories::stored(&self.vocabulary);
        if let Some((intervals, scores)) = self.conformal.as_ref().map(Conformal::stored) {
            configuration.prediction_intervals = Some(intervals);
            configuration.conformity_scores = Some(scores);
        }
        if let Some(interruption) = &self.interruption {
            interruption.store(&mut configuration);
        }
        let models = self.models.iter().map(model_file).collect();
        Ok(Checkpoint { configuration, models, dataset: None }.save_at(directory)?)
    }

    /// Reads a directory that [`Fitted::save`] or `NeuralForecast.save` wrote, within [`MemoryLimit::of_machine`].
    ///
    /// # Errors
    /// If it cannot be read, is larger than the limit, or holds a setting or a model that foretell does not have; models from
    /// outside must be [registered](crate::own_model::register) first.
    pub fn load(dir: impl AsRef<Path>) -> Result<Self, Error> {
        Self::load_within(dir, MemoryLimit::default())
    }

    /// Reads a directory that [`Fitted::save`] or `NeuralForecast.save` wrote. Neither this nor a forecast takes more memory
    /// than `limit`.
    ///
    /// # Errors
    /// If it cannot be read, is larger than the limit, or holds a setting or a model that foretell does not have; models from
    /// outside must be [registered](crate::own_model::register) first.
    pub fn load_within(dir: impl AsRef<Path>, limit: MemoryLimit) -> Result<Self, Error> {
        let dir = dir.as_ref();
        check_load(dir, &limit)?;
        let Checkpoint { configuration, models, .. } = Checkpoint::load(dir)?;
        let fault = |alias: &str, reason: String| Error::Model {
            path: dir.to_owned(),
            alias: alias.to_owned(),
            reason,
        };
        if !configuration.fitted {
            return Err(fault(&models[0].alias, "it was saved before it was trained".to_owned()));
        }
        let models = models.iter().map(|file| read_model(file).map_err(|reason| fault(&file.alias, reason)));
        let models: Vec<FittedModel> = models.collect::<Result<_, _>>()?;
        Self::assemble(dir, configuration, models, limit)
    }

    /// Models, and what the configuration of the directory at `dir` says of them.
    pub(crate) fn assemble(
        dir: &Path,
        configuration: Configuration,
        models: Vec<FittedModel>,
        limit: MemoryLimit,
    ) -> Result<Self, Error> {
        let fault = |alias: &str, reason: String| Error::Model {
            path: dir.to_owned(),
            alias: alias.to_owned(),
            reason,
        };
        let first = models[0].spec.alias().to_owned();
        let freq = match &configuration.freq {
            Frequency::Alias(word) => Freq::parse(word),
            Frequency::Step(step) => Freq::parse(&step.to_string()),
        };
        let freq = freq.map_err(|error| fault(&first, format!("freq: {error}")))?;
        let vocabulary =
            categories::read(&configuration.categorical_vocab).map_err(|reason| fault(&first, reason))?;
        let specs: Vec<ModelSpec> = models.iter().map(|model| model.spec.clone()).collect();
        check_categorical(&specs)?;
        if let Some(column) = categorical(&specs).iter().find(|column| !vocabulary.contains_key(*column)) {
            return Err(fault(&first, format!("categorical_vocab_ has no categories of column {column}")));
        }
        for spec in &specs {
            let room = |(column, categories): &(&String, &Categories)| {
                spec.cat_exog_list().contains(column) && spec.cardinality(column) < Some(categories.len())
            };
            if let Some((column, _)) = vocabulary.iter().find(room) {
                let reason =
                    format!("categorical_vocab_ has more categories of column {column} than it embeds");
                return Err(fault(spec.alias(), reason));
            }
        }
        let interruption = Interruption::read(&configuration);
        let scaler = |setting: &str, name: &Option<String>| {
            let scaler = name.as_deref().map(str::parse::<LocalScaler>).transpose();
            scaler.map_err(|error| fault(&first, format!("{setting}: {error}")))
        };
        let local_scalers = LocalScalers {
            series: scaler("local_scaler_type", &configuration.local_scaler_type)?,
            statics: scaler("local_static_scaler_type", &configuration.local_static_scaler_type)?,
        };
        let conformal = match (&configuration.prediction_intervals, configuration.conformity_scores) {
            (Some(intervals), Some(scores)) => {
                let conformal = Conformal::new(intervals, models[0].spec.h(), &configuration.id_col, scores);
                Some(conformal.map_err(|reason| fault(&first, reason))?)
            }
            _ => None,
        };
        Ok(Self {
            models,
            freq,
            columns: ColumnNames {
                id: configuration.id_col,
                time: configuration.time_col,
                target: configuration.target_col,
            },
            local_scalers,
            vocabulary,
            scalers: [configuration.scalers, configuration.static_scalers],
            workers: Workers::new(0)?,
            raw_quantiles: false,
            interruption,
            conformal,
            memory: limit,
            warnings: WarningListener::default(),
        })
    }
}

fn model_file(model: &FittedModel) -> ModelFile {
    let mut file = ModelFile::new(model.spec.alias(), model.spec.name());
    file.hyper_parameters = model.spec.hyper_parameters();
    optimizer_settings::to_file(&mut file.hyper_parameters);
    // neuralforecast warns of names that it does not know.
    let defaults = model.spec.entry.own_defaults();
    let is_default = |name: &str, value: &Value| defaults.get(name) == Some(value);
    file.hyper_parameters
        .retain(|name, value| !(SAMPLING.contains(&name.as_str()) && is_default(name, value)));
    // Some models of neuralforecast take the input_size as it is written, so -1 is written out.
    file.hyper_parameters.insert("input_size".to_owned(), model.spec.input_size().into());
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
    let valid = valid_given.then(|| loss_spec(&model.spec.valid_loss()));
    file.set_losses(&loss_spec(&model.spec.loss()), valid.as_ref());
    file
}

/// The shape that a file has for a parameter: of complex numbers without the dimension of their two parts.
fn stored_shape(entry: &ParamEntry) -> Vec<usize> {
    let shape = entry.shape.to_vec();
    if entry.is_complex { shape[..shape.len() - 1].to_vec() } else { shape }
}

fn loss_spec(loss: &Loss) -> LossSpec {
    LossSpec {
        class: loss.name().to_owned(),
        args: loss.arguments(),
        horizon_weight: loss.horizon_weight().map(<[f32]>::to_vec),
        output_names: loss.suffixes(),
        quantiles: loss.quantiles().map(<[f32]>::to_vec),
    }
}

/// A loss in the form in which [`ModelSpec::set`] takes it.
pub(crate) fn loss_value(spec: LossSpec) -> Value {
    let mut arguments = spec.args;
    if let Some(weights) = spec.horizon_weight {
        arguments.insert("horizon_weight".to_owned(), weights.into());
    }
    Value::Object(Map::from_iter([(spec.class, Value::Object(arguments))]))
}

/// The model of a file, or why there is none.
pub(crate) fn read_model(file: &ModelFile) -> Result<FittedModel, String> {
    let spec = read_spec(file).map_err(|error| error.to_string())?;
    with_weights(spec, &file.weights())
}

/// The model with the weights of a state dictionary, or why it cannot have them.
pub(crate) fn with_weights(
    spec: ModelSpec,
    found: &BTreeMap<&str, &TensorData>,
) -> Result<FittedModel, String> {
    let mut table = Table::default();
    let network = spec.build(&mut table).map_err(|error| error.to_string())?;

    let mut expected: Vec<(&str, Vec<usize>)> =
        table.entries().iter().map(|entry| (entry.name.as_str(), stored_shape(entry))).collect();
    let aliases = table.aliases().iter();
    expected.extend(aliases.map(|alias| (alias.name.as_str(), stored_shape(table.entry(alias.of)))));
    let shapes = found.iter().map(|(name, tensor)| (*name, tensor.shape()));
    check_names("its state dictionary", expected.iter().map(|(name, shape)| (*name, &shape[..])), shapes)
        .map_err(|error| error.to_string())?;

    let mut params = table.initialise(0);
    for index in 0..params.table().entries().len() {
        let (name, is_complex) = {
            let entry = &params.table().entries()[index];
            (entry.name.clone(), entry.is_complex)
        };
        let values = found.get(name.as_str()).map(|tensor| tensor.values());
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
    Ok(FittedModel { spec, network, params, outcome: None })
}

/// The model with the hyper-parameters that its forecasts depend on. Forecasts do not depend on how the
/// weights were trained: settings of training that foretell does not have are left at defaults.
fn read_spec(file: &ModelFile) -> Result<ModelSpec, Box<dyn std::error::Error>> {
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
) -> Result<ModelSpec, Box<dyn std::error::Error>> {
    // neuralforecast passes over the numbers of columns that the model does not read.
    let read = arguments.get("cat_exog_list").cloned().unwrap_or_default();
    if let Some(Value::Object(numbers)) = arguments.get_mut("categorical_cardinalities") {
        let columns = read.as_array().map(Vec::as_slice).unwrap_or_default();
        numbers.retain(|name, _| columns.iter().any(|column| column == name));
    }
    let h = arguments.remove("h").unwrap_or_default();
    let steps = h.as_u64().filter(|&h| h <= 1_000_000);
    let steps =
        steps.ok_or_else(|| format!("hyper-parameter h must be between 1 and 1000000, found {h}"))? as usize;
    let spec = ModelSpec::new(class, steps, 1).map_err(|error| match error {
        SpecError::UnknownModel { .. } => {
            format!("{error}; a program's own model is registered by own_model::register before it is loaded")
        }
        error => error.to_string(),
    });
    let mut spec = spec?.set("input_size", -1)?;
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
    let common = ModelSpec::common_defaults().contains_key(name) && !OF_FORECASTS.contains(&name);
    common || ["n_samples", "h_train", "inference_input_size"].contains(&name)
}

/// The hyper-parameters of all models that forecasts depend on.
const OF_FORECASTS: [&str; 12] = [
    "h",
    "input_size",
    "futr_exog_list",
    "hist_exog_list",
    "stat_exog_list",
    "cat_exog_list",
    "categorical_cardinalities",
    "cat_emb_dim",
    "exclude_insample_y",
    "loss",
    "scaler_type",
    "alias",
];
