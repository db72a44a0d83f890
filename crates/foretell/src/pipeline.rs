//! What is around the models.

use std::sync::Arc;

use foretell_data::ReadOptions;
use foretell_features::Features;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::coherence::Coherence;
use crate::columns::ColumnNames;
use crate::inputs::local_scalers::LocalScalers;
use crate::kept_settings::{KeptSettings, is_default};

/// How data come to models, and what becomes of their forecasts: set before a training, kept with the models that come of it, and saved
/// with them by these names. What is as by default is not written, nor what neuralforecast's configuration has a place for.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Pipeline {
    #[serde(skip)]
    pub(crate) columns: ColumnNames,
    #[serde(skip)]
    pub(crate) local_scalers: LocalScalers,
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) settings: KeptSettings,
    /// How the data were read.
    #[serde(skip_serializing_if = "is_default", deserialize_with = "reading_of_any_version")]
    pub(crate) reading: ReadOptions,
    /// The columns that are computed.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) features: Features,
    /// By which forecasts add up.
    #[serde(rename = "hierarchy", skip_serializing_if = "is_default")]
    #[serde(serialize_with = "write_shared", deserialize_with = "read_shared")]
    pub(crate) coherence: Option<Arc<Coherence>>,
}

/// Versions before `keep_partial` kept periods that are not complete unless `drop_partial` was true, and so do their models.
fn reading_of_any_version<'de, D: Deserializer<'de>>(from: D) -> Result<ReadOptions, D::Error> {
    const KEPT: &str = "keep_partial";
    let mut reading = Map::<String, Value>::deserialize(from)?;
    if !reading.contains_key(KEPT) {
        let is_dropped = reading.remove("drop_partial").is_some_and(|dropped| dropped == true);
        reading.insert(KEPT.to_owned(), (!is_dropped).into());
    }
    serde_json::from_value(reading.into()).map_err(D::Error::custom)
}

fn write_shared<S: Serializer>(coherence: &Option<Arc<Coherence>>, to: S) -> Result<S::Ok, S::Error> {
    coherence.as_deref().serialize(to)
}

fn read_shared<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Arc<Coherence>>, D::Error> {
    Ok(Option::deserialize(from)?.map(Arc::new))
}
