//! The list of models.

use foretell::{LocalScaler, ModelSpec, SpecError};
use foretell_tuning::SearchSpace;
use pyo3::prelude::*;

use crate::error::of_spec;
use crate::spec;

/// The names of all models.
#[pyfunction]
pub(crate) fn model_names() -> Vec<&'static str> {
    // Those that are made of others have no class among these.
    let made = [foretell_auto::Auto::ENTRY.name, foretell_auto::Temporal::ENTRY.name];
    let is_other = |name: &&str| !made.contains(name);
    foretell::model_names().into_iter().filter(is_other).collect()
}

/// The names of the scalers of whole series and of static columns.
#[pyfunction]
pub(crate) fn local_scalers() -> Vec<&'static str> {
    LocalScaler::ALL.map(LocalScaler::name).to_vec()
}

/// The hyper-parameters of a model with their defaults, as JSON; `h` steps ahead, from `input_size` steps.
#[pyfunction]
#[pyo3(signature = (model, h = 1, input_size = 1))]
pub(crate) fn hyper_parameters(model: &str, h: usize, input_size: usize) -> PyResult<String> {
    let spec = ModelSpec::new(model, h, input_size).map_err(of_spec)?;
    Ok(serde_json::Value::Object(spec.hyper_parameters()).to_string())
}

/// Checks the hyper-parameters of the models of a JSON text, as `Forecaster` takes them, by themselves and with each other.
#[pyfunction]
pub(crate) fn check_model(models: &str) -> PyResult<()> {
    let check = |spec: &ModelSpec| match spec.check() {
        // It may be saved, and read by a program that has it.
        Err(SpecError::WithoutFeature { .. }) => Ok(()),
        checked => checked.map_err(of_spec),
    };
    spec::read(models)?.iter().try_for_each(check)
}

/// The hyper-parameters that a search of a model varies where nothing else is said, with the words of their values.
#[pyfunction]
pub(crate) fn search_space(model: &str) -> PyResult<Vec<(String, String)>> {
    let space = SearchSpace::new(ModelSpec::new(model, 1, 1).map_err(of_spec)?);
    Ok(space.ranges().iter().map(|(name, range)| (name.clone(), range.to_string())).collect())
}
