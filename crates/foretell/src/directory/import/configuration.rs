//! `configuration.pkl` of neuralforecast 3.2 and older.

use std::collections::BTreeMap;

use foretell_checkpoint::{Configuration, FittedScaler, Frequency, PickleValue, TensorValues};
use foretell_messages::Setting;
use foretell_neural::json_of;
use serde_json::Value;

/// The configuration; nothing if neither the file nor `freq` say how far apart times are.
pub(super) fn read(
    stored: &PickleValue,
    h: usize,
    freq: Option<Frequency>,
    left_out: &mut Vec<String>,
) -> Result<Option<Configuration>, String> {
    if stored.entries().is_none() {
        return Err(format!("it holds {}, not the entries of a configuration", stored.kind()));
    }
    let text = |name: &str| stored.entry(name).and_then(PickleValue::as_text).map(str::to_owned);
    let own = match stored.entry("freq") {
        Some(PickleValue::Text(word)) => Some(Frequency::Alias(word.clone())),
        Some(PickleValue::Int(step)) => Some(Frequency::Step(*step)),
        // An object of pandas'.
        _ => None,
    };
    let Some(freq) = freq.or(own) else { return Ok(None) };
    if stored.entry("_fitted") == Some(&PickleValue::Bool(false)) {
        return Err("it was saved before it was trained".to_owned());
    }
    let mut configuration = Configuration::new(h, freq);
    for (name, place) in [
        ("id_col", &mut configuration.id_col),
        ("time_col", &mut configuration.time_col),
        ("target_col", &mut configuration.target_col),
    ] {
        *place = text(name).unwrap_or_else(|| std::mem::take(place));
    }
    configuration.local_scaler_type = text("local_scaler_type");
    configuration.local_static_scaler_type = text("local_static_scaler_type");
    configuration.scalers = scalers(stored, "scalers_", configuration.local_scaler_type.as_deref());
    let kind = configuration.local_static_scaler_type.as_deref();
    configuration.static_scalers = scalers(stored, "static_scalers_", kind);
    configuration.categorical_vocab = vocabularies(stored.entry("categorical_vocab_"))?;
    if stored.entry("prediction_intervals").is_some_and(|intervals| *intervals != PickleValue::None) {
        left_out.push(format!(
            "the calibration of intervals, a table of pandas': calibrate them again ({})",
            Setting::Calibrate.to(10)
        ));
    }
    Ok(Some(configuration))
}

/// The scalers of one kind whose statistics can be read. Those that cannot are fitted anew to the data of a forecast.
fn scalers(stored: &PickleValue, name: &str, kind: Option<&str>) -> BTreeMap<String, FittedScaler> {
    let (Some(kind), Some(entries)) = (kind, stored.entry(name).and_then(PickleValue::entries)) else {
        return BTreeMap::new();
    };
    let scaler = |(column, scaler): &(PickleValue, PickleValue)| {
        let PickleValue::Object(scaler) = scaler else { return None };
        let Some(PickleValue::Array(stats)) = scaler.attribute("stats_") else { return None };
        let single = matches!(stats.values(), TensorValues::F32(_)) && stats.shape().len() == 2;
        let scaler = FittedScaler { kind: kind.to_owned(), stats: Some(stats.clone()) };
        single.then_some((column.as_text()?.to_owned(), scaler))
    };
    entries.iter().filter_map(scaler).collect()
}

/// By column, the categories and their numbers.
fn vocabularies(stored: Option<&PickleValue>) -> Result<BTreeMap<String, Vec<(Value, usize)>>, String> {
    let columns = stored.and_then(PickleValue::entries).unwrap_or_default();
    let column = |(column, categories): &(PickleValue, PickleValue)| {
        let category = |(value, number): &(PickleValue, PickleValue)| match number {
            PickleValue::Int(number) => Some((json_of(value)?, usize::try_from(*number).ok()?)),
            _ => None,
        };
        let categories = categories.entries()?.iter().map(category).collect::<Option<_>>()?;
        Some((column.as_text()?.to_owned(), categories))
    };
    let unreadable = || "categorical_vocab_ is not of columns, their values and whole numbers".to_owned();
    columns.iter().map(|entry| column(entry).ok_or_else(unreadable)).collect()
}
