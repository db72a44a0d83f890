//! What models keep in their directory that neuralforecast has no place for: one entry of its configuration, read and written whole.

use std::path::Path;

use foretell_checkpoint::Configuration;
use foretell_files::read_regular;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::ensemble::Combination;
use crate::inputs::series_levels::SeriesLevels;
use crate::kept_settings::is_default;
use crate::pipeline::Pipeline;
use crate::training::interruption::Interruption;
use crate::training_record::TrainingRecord;

/// Where it is among the entries of a configuration; neuralforecast passes over it.
const ENTRY: &str = "foretell";

/// What is kept, by the names that it has in the entry. What is as by default is not written.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Kept {
    #[serde(flatten)]
    pub(crate) pipeline: Pipeline,
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) levels: SeriesLevels,
    /// By what and on what the models were trained. It is told and decides nothing: one that cannot be read is none.
    #[serde(skip_serializing_if = "is_default", deserialize_with = "if_readable")]
    pub(crate) training: Option<TrainingRecord>,
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) ensembles: Vec<Combination>,
    /// How far training came, if it was interrupted.
    #[serde(skip_serializing_if = "is_default", deserialize_with = "if_readable")]
    pub(crate) interruption: Option<Interruption>,
}

fn if_readable<'de, D: Deserializer<'de>, T: DeserializeOwned>(from: D) -> Result<Option<T>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(from)?).ok())
}

impl Kept {
    /// Puts it into a configuration; nothing, if all is as by default.
    pub(crate) fn store(&self, configuration: &mut Configuration) {
        match serde_json::to_value(self).expect("names and plain values") {
            Value::Object(entry) if entry.is_empty() => {}
            entry => {
                configuration.other.insert(ENTRY.to_owned(), entry);
            }
        }
    }

    /// That of a configuration of this number of models.
    ///
    /// # Errors
    /// What cannot be read, and why, in words.
    pub(crate) fn read(configuration: &Configuration, models: usize) -> Result<Self, String> {
        let Some(entry) = configuration.other.get(ENTRY) else { return Ok(Self::default()) };
        let kept = serde_json::from_value::<Self>(entry.clone()).map_err(|error| named(entry, &error))?;
        kept.levels.check().map_err(|reason| format!("{ENTRY}.levels: {reason}"))?;
        let members = models.saturating_sub(kept.pipeline.settings.baselines);
        match kept.ensembles.iter().filter_map(Combination::weights).find(|weights| weights.len() != members)
        {
            Some(weights) => Err(format!("{ENTRY}.ensembles: {} weights of {members} models", weights.len())),
            None => Ok(kept),
        }
    }

    /// The same, with defaults in place of parts that cannot be read: these are errors when the models are loaded.
    pub(crate) fn as_far_as_readable(configuration: &Configuration, models: usize) -> Self {
        Self::read(configuration, models).unwrap_or_else(|_| {
            let parts = configuration.other.get(ENTRY).and_then(Value::as_object).into_iter().flatten();
            let parts = parts.filter(|(name, value)| alone(name, value).is_ok());
            let readable: Map<String, Value> =
                parts.map(|(name, value)| (name.clone(), value.clone())).collect();
            serde_json::from_value(readable.into()).unwrap_or_default()
        })
    }

    /// How far training came, of a whole file `configuration.json`, if it was interrupted.
    pub(crate) fn interruption_in(document: &Value) -> Option<Interruption> {
        serde_json::from_value::<Self>(document["configuration"][ENTRY].clone()).ok()?.interruption
    }
}

impl Interruption {
    /// The interruption of the training whose models are in a directory, if it was interrupted.
    pub fn in_directory(dir: impl AsRef<Path>) -> Option<Self> {
        let text = read_regular(&dir.as_ref().join("configuration.json")).ok()?;
        let document: Value = serde_json::from_slice(&text).ok()?;
        Kept::interruption_in(&document)
    }
}

/// An entry with this part alone.
fn alone(name: &str, value: &Value) -> serde_json::Result<Kept> {
    serde_json::from_value(Value::Object([(name.to_owned(), value.clone())].into_iter().collect()))
}

/// An error of an entry, with the part of it that cannot be read.
fn named(entry: &Value, error: &serde_json::Error) -> String {
    let parts = entry.as_object().into_iter().flatten();
    let fault = parts.filter_map(|(name, value)| Some((name, alone(name, value).err()?))).next();
    let (place, error) = match fault {
        Some((name, error)) => (format!("{ENTRY}.{name}"), error.to_string()),
        None => (ENTRY.to_owned(), error.to_string()),
    };
    format!("{place}: {error}; was a newer foretell here?")
}

#[cfg(test)]
mod tests {
    use foretell_checkpoint::Frequency;
    use foretell_data::ReadOptions;
    use serde_json::json;

    use super::*;
    use crate::kept_settings::KeptSettings;

    fn configuration(entry: Value) -> Configuration {
        let mut configuration = Configuration::new(4, Frequency::Step(1));
        configuration.other.insert(ENTRY.to_owned(), entry);
        configuration
    }

    #[test]
    fn what_is_as_by_default_is_not_written_and_the_rest_is_read_back() {
        let mut written = Configuration::new(4, Frequency::Step(1));
        Kept::default().store(&mut written);
        assert!(written.other.is_empty());
        let settings = KeptSettings { integer: true, ..KeptSettings::default() };
        let pipeline = Pipeline { settings, ..Pipeline::default() };
        let kept = Kept { pipeline, ensembles: vec![Combination::Mean], ..Kept::default() };
        kept.store(&mut written);
        assert_eq!(written.other[ENTRY].as_object().map(Map::len), Some(2));
        let read = Kept::read(&written, 1).expect("what was written");
        assert_eq!((read.pipeline.settings, read.ensembles), (settings, vec![Combination::Mean]));
    }

    #[test]
    fn readings_of_older_versions_keep_partial_periods_as_they_did() {
        let keeps = |reading: Value| {
            Kept::read(&configuration(json!({ "reading": reading })), 1)
                .unwrap()
                .pipeline
                .reading
                .keep_partial
        };
        for (reading, kept) in [
            (json!({ "resample": "MS", "aggregate": "sum" }), true),
            (json!({ "resample": "MS", "aggregate": "sum", "drop_partial": false }), true),
            (json!({ "resample": "MS", "aggregate": "sum", "drop_partial": true }), false),
            (json!({ "resample": "MS", "aggregate": "sum", "keep_partial": false }), false),
        ] {
            assert_eq!(keeps(reading.clone()), kept, "{reading}");
        }
        for keep_partial in [false, true] {
            let mut reading = ReadOptions::new().without_unknown();
            reading.keep_partial = keep_partial;
            let mut written = Configuration::new(4, Frequency::Step(1));
            let pipeline = Pipeline { reading: reading.clone(), ..Pipeline::default() };
            Kept { pipeline, ..Kept::default() }.store(&mut written);
            assert_eq!(Kept::read(&written, 1).unwrap().pipeline.reading, reading);
        }
        let unknown = json!({ "reading": { "of later versions": 1 } });
        assert!(
            Kept::read(&configuration(unknown), 1)
                .err()
                .unwrap()
                .starts_with("foretell.reading: unknown field")
        );
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let fault = |entry: Value| Kept::read(&configuration(entry), 3).err().unwrap_or_default();
        assert!(
            fault(json!({ "settings": { "integer": "yes" } })).starts_with("foretell.settings: invalid type")
        );
        let weights = json!({ "ensembles": [{ "combine": "weighted", "weights": [0.5, 0.5] }] });
        assert_eq!(fault(weights), "foretell.ensembles: 2 weights of 3 models");
        let level = json!({ "levels": { "all": true, "series": { "a": [0.0, 0.0] } } });
        assert!(fault(level).contains("is no level of series a"));
        assert_eq!(fault(json!({ "training": 5, "interruption": "yes", "of later versions": 1 })), "");
        let partly = json!({ "settings": { "integer": true }, "hierarchy": 5 });
        let partly = Kept::as_far_as_readable(&configuration(partly), 3).pipeline;
        assert!(partly.settings.integer && partly.coherence.is_none());
    }
}
