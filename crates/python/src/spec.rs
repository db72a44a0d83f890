//! Models as the package describes them.

use foretell::hierarchy::Reconciliation;
use foretell::{Map, ModelSpec, SpecError, Value};
use foretell_auto::Temporal;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::{exception, of_spec, parsed};

/// The models of a JSON text: a list of `{"model", "alias", "h", "settings", "exog": {"futr", "hist", "stat"}, "trainer"}`,
/// with `"temporal": {"periods", "method"}` where forecasts of steps are reconciled with those of their sums.
pub(crate) fn read(text: &str) -> PyResult<Vec<ModelSpec>> {
    let wrong = |error: serde_json::Error| PyValueError::new_err(format!("models: {error}"));
    let models: Vec<Map<String, Value>> = serde_json::from_str(text).map_err(wrong)?;
    models.into_iter().map(model).collect()
}

fn model(mut entries: Map<String, Value>) -> PyResult<ModelSpec> {
    let mut take = |name: &str| entries.remove(name).unwrap_or(Value::Null);
    let (name, h, alias) = (take("model"), take("h"), take("alias"));
    let (settings, exog, trainer) = (take("settings"), take("exog"), take("trainer"));
    let temporal = take("temporal");
    let name = name.as_str().ok_or_else(|| PyValueError::new_err("a model needs a name"))?;
    let spec = ModelSpec::new(name, 1, 1).and_then(|spec| {
        let mut spec = spec.set("h", h)?;
        let known = spec.hyper_parameters();
        // Models that are no networks have no alias of their own to leave out.
        if !alias.is_null() {
            spec = spec.set("alias", alias)?;
        }
        for (name, value) in settings.as_object().into_iter().flatten() {
            spec = spec.set(name, value.clone())?;
        }
        let spec = with_columns(spec, &known, &exog)?;
        Ok(match trainer {
            Value::Object(arguments) => spec.with_trainer_arguments(arguments),
            _ => spec,
        })
    });
    let spec = spec.map_err(of_spec)?;
    if temporal.is_null() { Ok(spec) } else { over_time(spec, &temporal) }
}

/// The model, whose forecasts of steps are reconciled with those of their sums.
fn over_time(spec: ModelSpec, temporal: &Value) -> PyResult<ModelSpec> {
    let periods = temporal["periods"].as_array().into_iter().flatten();
    let periods: Vec<&str> = periods.filter_map(Value::as_str).collect();
    let method = parsed::<Reconciliation>(temporal["method"].as_str().unwrap_or_default())?;
    let over_time = Temporal::new(spec, &periods).and_then(|temporal| temporal.method(method));
    over_time.map(ModelSpec::from).map_err(exception)
}

/// The lists of columns that it reads; one that is empty is left unchanged.
fn with_columns(
    mut spec: ModelSpec,
    known: &Map<String, Value>,
    exog: &Value,
) -> Result<ModelSpec, SpecError> {
    for kind in ["futr", "hist", "stat"] {
        let columns = &exog[kind];
        let name = format!("{kind}_exog_list");
        if columns.as_array().is_some_and(|columns| !columns.is_empty() || known.contains_key(&name)) {
            spec = spec.set(&name, columns.clone())?;
        }
    }
    Ok(spec)
}
