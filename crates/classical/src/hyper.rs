//! Hyper-parameters by name, as tables.

use foretell_estimator::EstimatorError;
pub use foretell_estimator::hyper::HyperParameter;
pub(crate) use foretell_estimator::hyper::{
    ALIAS, COLUMNS, RefusedHyperParameter, SEASONS, STEPS, alias, columns, or_null, seasons, seasons_value,
    steps, store,
};
pub(crate) use foretell_estimator::hyper_field as field;
use serde_json::Value;

use crate::error::ClassicalError;

/// A method that has a season.
pub(crate) trait Seasonal: Clone {
    /// Its steps; `None` for those that are usual for the data's frequency.
    fn season_length(&mut self) -> &mut Option<usize>;
}

/// The steps of a season.
pub(crate) const fn season_length<M: Seasonal>() -> HyperParameter<M> {
    HyperParameter {
        name: "season_length",
        meaning: "Steps of a season; null for the usual one of the data's frequency.",
        expected: "a whole number between 1 and 1000000, or null",
        get: |method| (*method.clone().season_length()).into(),
        set: |method, value| store(method.season_length(), or_null(value, steps)),
    }
}

/// A hyper-parameter that is true or false: the field of the method.
macro_rules! flag {
    ($name:literal, $meaning:literal, $($field:tt)+) => {
        $crate::hyper::field!($name, $meaning, "true or false", ::serde_json::Value::as_bool, $($field)+)
    };
}
pub(crate) use flag;

/// Steps of a season that models estimate a number each of, or test for, with success; those of the package forecast for R have no more.
pub(crate) const MOST_STEPS: usize = 24;

/// A share: a smoothing parameter, for example.
pub(crate) fn share(value: &Value) -> Option<f64> {
    value.as_f64().filter(|share| (0.0..=1.0).contains(share))
}

pub(crate) const SHARE: &str = "a number between 0 and 1";

/// Hyper-parameters of columns that other models read, their kind, and models that do.
const COLUMN_LISTS: [(&str, &str, &str); 4] = [
    (
        "futr_exog_list",
        "known in advance",
        "AutoARIMA, ARIMA, FLAIR, Prophet, and networks such as NHITS and LSTM",
    ),
    ("hist_exog_list", "known for the past only", "networks such as NHITS and LSTM"),
    ("stat_exog_list", "of one value a series", "networks such as NHITS and LSTM"),
    ("cat_exog_list", "of categories", "networks such as NHITS and LSTM"),
];

/// Sets the hyper-parameter of this name.
pub(crate) fn set<M>(
    method: &mut M,
    model: &'static str,
    table: &[HyperParameter<M>],
    name: &str,
    value: &Value,
) -> Result<(), EstimatorError> {
    let Some(known) = HyperParameter::find(table, name) else {
        if let Some(&(_, kind, others)) = COLUMN_LISTS.iter().find(|(list, ..)| *list == name) {
            return Err(ClassicalError::ReadsNoColumns { model, found: name.to_owned(), kind, others }.into());
        }
        let names = ["h", "alias"].into_iter().chain(table.iter().map(|known| known.name));
        return Err(RefusedHyperParameter::unknown(model, name, names).into());
    };
    Ok(known.put(model, method, value)?)
}
