//! Model directories in neuralforecast's format: what it wrote is predicted from here, and the other way
//! round.

use std::path::Path;

use foretell_checkpoint::{
    Checkpoint, Configuration, Frequency, LossSpec, ModelFile, TensorData, check_names,
};
use foretell_data::Freq;
use foretell_nn::{Loss, Table};
use foretell_train::Workers;
use serde_json::{Map, Value};

use crate::error::Error;
use crate::forecaster::{ColumnNames, Fitted, FittedModel};
use crate::spec::{ModelSpec, SpecError, UNSUPPORTED};

impl Fitted {
    /// Writes the models to a directory that [`Fitted::load`] and `NeuralForecast.load` read. It appears
    /// whole or not at all; an existing model directory is replaced only with `overwrite`.
    ///
    /// # Errors
    /// If the directory exists and may not be replaced, or cannot be written.
    pub fn save(&self, dir: impl AsRef<Path>, overwrite: bool) -> Result<(), Error> {
        let freq = match self.freq.to_string() {
            step if step.parse::<i64>().is_ok() => Frequency::Step(step.parse().expect("just tried")),
            word => Frequency::Alias(word),
        };
        let mut configuration = Configuration::new(self.h(), freq);
        let ColumnNames { id, time, target } = self.columns.clone();
        (configuration.id_col, configuration.time_col, configuration.target_col) = (id, time, target);
        let models = self.models.iter().map(model_file).collect();
        Ok(Checkpoint { configuration, models, dataset: None }.save(dir, overwrite)?)
    }

    /// Reads a directory that [`Fitted::save`] or `NeuralForecast.save` wrote.
    ///
    /// # Errors
    /// If it cannot be read, or holds a model or a setting that foretell does not have.
    pub fn load(dir: impl AsRef<Path>) -> Result<Self, Error> {
        let dir = dir.as_ref();
        let Checkpoint { configuration, models, .. } = Checkpoint::load(dir)?;
        let fault = |alias: &str, reason: String| Error::Model {
            path: dir.to_owned(),
            alias: alias.to_owned(),
            reason,
        };
        if let Some(scaler) = &configuration.local_scaler_type {
            let reason = format!(
                "it was trained with local_scaler_type {scaler:?}; foretell scales windows, not series"
            );
            return Err(fault(&models[0].alias, reason));
        }
        let freq = match &configuration.freq {
            Frequency::Alias(word) => Freq::parse(word)?,
            Frequency::Step(step) => Freq::parse(&step.to_string())?,
        };
        let models = models.iter().map(|file| read_model(file).map_err(|reason| fault(&file.alias, reason)));
        Ok(Self {
            models: models.collect::<Result<_, _>>()?,
            freq,
            columns: ColumnNames {
                id: configuration.id_col,
                time: configuration.time_col,
                target: configuration.target_col,
            },
            workers: Workers::new(0),
        })
    }
}

fn model_file(model: &FittedModel) -> ModelFile {
    let mut file = ModelFile::new(model.spec.alias(), model.spec.name());
    file.hyper_parameters = model.spec.hyper_parameters();
    let table = model.params.table();
    for entry in table.entries() {
        let values = TensorData::f32(entry.shape.to_vec(), model.params.values(entry).to_vec());
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

fn loss_spec(loss: &Loss) -> LossSpec {
    LossSpec {
        class: loss.name().to_owned(),
        args: loss.arguments(),
        horizon_weight: loss.horizon_weight().map(<[f32]>::to_vec),
        output_names: loss.suffixes(),
        quantiles: loss.quantiles(),
    }
}

/// A loss in the form in which [`ModelSpec::set`] takes it.
fn loss_value(spec: LossSpec) -> Value {
    let mut arguments = spec.args;
    if let Some(weights) = spec.horizon_weight {
        arguments.insert("horizon_weight".to_owned(), weights.into());
    }
    Value::Object(Map::from_iter([(spec.class, Value::Object(arguments))]))
}

/// The model of a file, or why there is none.
fn read_model(file: &ModelFile) -> Result<FittedModel, String> {
    let spec = read_spec(file).map_err(|error| error.to_string())?;
    let mut table = Table::default();
    let network = spec.build(&mut table).map_err(|error| error.to_string())?;

    let mut expected: Vec<(&str, Vec<usize>)> =
        table.entries().iter().map(|entry| (entry.name.as_str(), entry.shape.to_vec())).collect();
    let aliases = table.aliases().iter();
    expected.extend(aliases.map(|alias| (alias.name.as_str(), table.entry(alias.of).shape.to_vec())));
    let found = file.weights();
    let shapes = found.iter().map(|(name, tensor)| (*name, tensor.shape()));
    check_names("its state dictionary", expected.iter().map(|(name, shape)| (*name, &shape[..])), shapes)
        .map_err(|error| error.to_string())?;

    let mut params = table.initialise(0);
    for index in 0..params.table().entries().len() {
        let name = params.table().entries()[index].name.clone();
        let values = found.get(name.as_str()).and_then(|tensor| tensor.as_f32());
        let values = values.ok_or_else(|| format!("tensor {name} must hold 32-bit floats"))?;
        params.set(index, values);
    }
    Ok(FittedModel { spec, network, params, outcome: None })
}

fn read_spec(file: &ModelFile) -> Result<ModelSpec, Box<dyn std::error::Error>> {
    let mut arguments = file.arguments()?;
    arguments.insert("loss".to_owned(), loss_value(file.loss()?));
    let valid = file.valid_loss()?.map_or(Value::Null, loss_value);
    arguments.insert("valid_loss".to_owned(), valid);
    let mut size = |name: &str| -> Result<i64, String> {
        let value = arguments.remove(name).unwrap_or_default();
        value.as_i64().ok_or_else(|| format!("hyper-parameter {name} must be a whole number, found {value}"))
    };
    let (h, input_size) = (usize::try_from(size("h")?)?, size("input_size")?);
    let mut spec = ModelSpec::new(&file.class, h, 3 * h)?.set("input_size", input_size)?;
    spec = spec.set("alias", file.alias.as_str())?;
    arguments.remove("alias");
    for (name, value) in arguments {
        // How the weights came about does not matter to those who use them.
        if UNSUPPORTED.iter().any(|(known, _)| *known == name) && !affects_forecasts(&name, &value) {
            continue;
        }
        spec = match spec.clone().set(&name, value) {
            // Options of PyTorch Lightning's trainer.
            Err(SpecError::UnknownName { .. }) => spec,
            set => set?,
        };
    }
    spec.check()?;
    Ok(spec)
}

/// Whether a hyper-parameter that is not read here changes what the trained model computes.
fn affects_forecasts(name: &str, value: &Value) -> bool {
    name == "cat_exog_list" && value.as_array().is_some_and(|list| !list.is_empty())
}
