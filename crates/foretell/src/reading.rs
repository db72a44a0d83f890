//! How the data of models were read: an entry of their directory's configuration that neuralforecast passes over.

use foretell_checkpoint::Configuration;
use foretell_data::ReadOptions;
use serde_json::{Value, json};

/// Where it is among the entries of a configuration.
const ENTRY: &str = "foretell";
const NAME: &str = "reading";

/// Writes it, where it is not what is read by default.
pub(crate) fn store(reading: &ReadOptions, configuration: &mut Configuration) {
    if *reading == ReadOptions::default() {
        return;
    }
    let entry = configuration.other.entry(ENTRY).or_insert_with(|| json!({}));
    if let Value::Object(entry) = entry {
        entry.insert(NAME.to_owned(), json!(reading));
    }
}

/// Reads it.
///
/// # Errors
/// The fault of the entry, in words.
pub(crate) fn restore(configuration: &Configuration) -> Result<ReadOptions, String> {
    match configuration.other.get(ENTRY).and_then(|entry| entry.get(NAME)) {
        None => Ok(ReadOptions::default()),
        Some(entry) => serde_json::from_value(entry.clone()).map_err(|error| {
            format!("how its data were read ({ENTRY}, {NAME}): {error}; was a newer foretell here?")
        }),
    }
}
