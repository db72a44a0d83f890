//! `configuration.json` and its tensors.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::column::{Column, Container};
use crate::tagged::{Misfit, Sidecar, TAG, count, list, object, tag, text};
use crate::tensor::TensorData;

/// The settings and the state of a forecaster beside its models.
#[derive(Debug, Clone, PartialEq)]
pub struct Configuration {
    /// The horizon of every model.
    pub h: usize,
    /// The step from one time to the next.
    pub freq: Frequency,
    /// Whether the models are trained.
    pub fitted: bool,
    /// The scaler of each series and column: "standard", "robust", "robust-iqr", "minmax", "boxcox".
    pub local_scaler_type: Option<String>,
    /// The scaler of each static column, of the same names.
    pub local_static_scaler_type: Option<String>,
    /// Fitted local scalers by column.
    pub scalers: BTreeMap<String, FittedScaler>,
    /// Fitted scalers of the static columns.
    pub static_scalers: BTreeMap<String, FittedScaler>,
    /// By categorical column: value (a text, number or boolean) to index, from 1.
    pub categorical_vocab: BTreeMap<String, Vec<(Value, usize)>>,
    /// The name of the column of series names.
    pub id_col: String,
    /// The name of the time column.
    pub time_col: String,
    /// The name of the target column.
    pub target_col: String,
    /// How conformal intervals were calibrated.
    pub prediction_intervals: Option<ConformalSettings>,
    /// Forecasts of the calibration windows (`_cs_df`): the names and values of its columns.
    pub conformity_scores: Option<Vec<(String, Column)>>,
    /// With a dataset: the name of each series.
    pub uids: Option<Column>,
    /// With a dataset: the last time of each series.
    pub last_dates: Option<Column>,
    /// With a dataset: the time of each row.
    pub ds: Option<Column>,
    /// Model names to class names in small letters, in the order of the models. Saving completes it.
    pub alias_to_model: Vec<(String, String)>,
    /// Entries this crate does not know, as stored.
    pub other: Map<String, Value>,
    /// Tensors that `other` points at, by full name.
    pub other_tensors: BTreeMap<String, TensorData>,
}

/// The frequency of a panel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frequency {
    /// An offset in pandas' (or polars') spelling: "D", "h", "MS".
    Alias(String),
    /// The step of integer times.
    Step(i64),
}

/// A fitted scaler of one column.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedScaler {
    /// "standard", "robust", "robust-iqr", "minmax" or "boxcox".
    pub kind: String,
    /// Statistics `[series, 2]`: offset and scale, F32; for static columns `[1, 2]`.
    pub stats: Option<TensorData>,
}

/// The settings of conformal prediction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConformalSettings {
    /// Number of calibration windows.
    pub n_windows: usize,
    /// "conformal_distribution" or "conformal_error".
    pub method: String,
    /// Steps between two windows.
    pub step_size: usize,
}

impl Configuration {
    /// The configuration of fitted models without scalers and dataset, with default column names.
    pub fn new(h: usize, freq: Frequency) -> Self {
        Self {
            h,
            freq,
            fitted: true,
            local_scaler_type: None,
            local_static_scaler_type: None,
            scalers: BTreeMap::new(),
            static_scalers: BTreeMap::new(),
            categorical_vocab: BTreeMap::new(),
            id_col: "unique_id".into(),
            time_col: "ds".into(),
            target_col: "y".into(),
            prediction_intervals: None,
            conformity_scores: None,
            uids: None,
            last_dates: None,
            ds: None,
            alias_to_model: Vec::new(),
            other: Map::new(),
            other_tensors: BTreeMap::new(),
        }
    }

    pub(crate) fn decode(mut entries: Map<String, Value>, mut sidecar: Sidecar) -> Result<Self, Misfit> {
        let sidecar = &mut sidecar;
        let mut entry = |key: &str| entries.shift_remove(key).unwrap_or(Value::Null);
        let mut column = |key: &str, value: &Value| optional(value, |v| Column::decode(key, v, sidecar));
        let uids = column("uids", &entry("uids"))?;
        let last_dates = column("last_dates", &entry("last_dates"))?;
        let ds = column("ds", &entry("ds"))?;
        let name = |key: &str, value: Value, default: &str| match value {
            Value::Null => Ok(default.to_owned()),
            value => text(key, &value),
        };
        Ok(Self {
            h: count("h", &entry("h"))?,
            freq: Frequency::decode(&entry("freq"))?,
            fitted: match entry("_fitted") {
                Value::Bool(fitted) => fitted,
                other => return Err(Misfit::value("_fitted", "true or false", &other)),
            },
            local_scaler_type: optional(&entry("local_scaler_type"), |v| text("local_scaler_type", v))?,
            local_static_scaler_type: optional(&entry("local_static_scaler_type"), |v| {
                text("local_static_scaler_type", v)
            })?,
            scalers: scalers("scalers_", &entry("scalers_"), sidecar)?,
            static_scalers: scalers("static_scalers_", &entry("static_scalers_"), sidecar)?,
            categorical_vocab: vocabularies(&entry("categorical_vocab_"))?,
            id_col: name("id_col", entry("id_col"), "unique_id")?,
            time_col: name("time_col", entry("time_col"), "ds")?,
            target_col: name("target_col", entry("target_col"), "y")?,
            prediction_intervals: optional(&entry("prediction_intervals"), ConformalSettings::decode)?,
            conformity_scores: optional(&entry("_cs_df"), |v| frame("_cs_df", v, sidecar))?,
            uids,
            last_dates,
            ds,
            alias_to_model: aliases(&entry("alias_to_model"))?,
            other: entries,
            other_tensors: std::mem::take(&mut sidecar.0),
        })
    }

    /// The entries in neuralforecast's order, those of the dataset only if they are known.
    /// `aliases` takes the place of `alias_to_model`.
    pub(crate) fn encode(&self, aliases: &[(String, String)], sidecar: &mut Sidecar) -> Map<String, Value> {
        let mut entries = Map::new();
        let mut set = |key: &str, value: Value| entries.insert(key.into(), value);
        set("h", self.h.into());
        set("freq", self.freq.encode());
        set("_fitted", self.fitted.into());
        set("local_scaler_type", json!(self.local_scaler_type));
        set("local_static_scaler_type", json!(self.local_static_scaler_type));
        for (key, scalers) in [("scalers_", &self.scalers), ("static_scalers_", &self.static_scalers)] {
            let scalers = scalers.iter().map(|(column, scaler)| {
                let path = format!("{key}.{column}.stats_");
                (column.clone(), scaler.encode(&path, sidecar))
            });
            set(key, Value::Object(scalers.collect()));
        }
        let vocabularies = self.categorical_vocab.iter();
        let vocabularies = vocabularies.map(|(column, values)| (column.clone(), encode_vocabulary(values)));
        set("categorical_vocab_", Value::Object(vocabularies.collect()));
        set("id_col", json!(self.id_col));
        set("time_col", json!(self.time_col));
        set("target_col", json!(self.target_col));
        set(
            "prediction_intervals",
            self.prediction_intervals.as_ref().map_or(Value::Null, ConformalSettings::encode),
        );
        let scores = self.conformity_scores.as_ref();
        set("_cs_df", scores.map_or(Value::Null, |columns| encode_frame(columns, "_cs_df", sidecar)));
        let panel = [
            ("uids", &self.uids, Container::Series, &self.id_col),
            ("last_dates", &self.last_dates, Container::Index, &self.time_col),
            ("ds", &self.ds, Container::Array, &self.time_col),
        ];
        for (key, column, container, name) in panel {
            if let Some(column) = column {
                set(key, column.encode(container, name, key, sidecar));
            }
        }
        let aliases = aliases.iter().map(|(alias, class)| (alias.clone(), json!(class)));
        set("alias_to_model", Value::Object(aliases.collect()));
        entries.extend(self.other.iter().map(|(key, value)| (key.clone(), value.clone())));
        let others = self.other_tensors.iter();
        sidecar.0.extend(others.map(|(key, tensor)| (key.clone(), tensor.clone())));
        entries
    }
}

impl Frequency {
    fn decode(value: &Value) -> Result<Self, Misfit> {
        match (value.as_str(), value.as_i64()) {
            (Some(alias), _) => Ok(Self::Alias(alias.to_owned())),
            (_, Some(step)) => Ok(Self::Step(step)),
            _ => Err(Misfit::value("freq", "an offset alias or an integer", value)),
        }
    }

    fn encode(&self) -> Value {
        match self {
            Self::Alias(alias) => json!(alias),
            Self::Step(step) => json!(step),
        }
    }
}

impl FittedScaler {
    fn decode(field: &str, value: &Value, sidecar: &mut Sidecar) -> Result<Self, Misfit> {
        if tag(value) != Some("scaler") {
            return Err(Misfit::value(field, "a tagged scaler", value));
        }
        Ok(Self {
            kind: text(field, &value["type"])?,
            stats: optional(&value["stats_"], |v| sidecar.take(field, v))?,
        })
    }

    fn encode(&self, path: &str, sidecar: &mut Sidecar) -> Value {
        let stats = self.stats.clone();
        let stats = stats.map_or(Value::Null, |stats| sidecar.put(path, "numpy", stats));
        json!({TAG: "scaler", "type": self.kind, "stats_": stats})
    }
}

impl ConformalSettings {
    fn decode(value: &Value) -> Result<Self, Misfit> {
        if tag(value) != Some("prediction_intervals") {
            return Err(Misfit::value("prediction_intervals", "tagged prediction_intervals", value));
        }
        Ok(Self {
            n_windows: count("prediction_intervals.n_windows", &value["n_windows"])?,
            method: text("prediction_intervals.method", &value["method"])?,
            step_size: count("prediction_intervals.step_size", &value["step_size"])?,
        })
    }

    fn encode(&self) -> Value {
        json!({
            TAG: "prediction_intervals",
            "n_windows": self.n_windows,
            "method": self.method,
            "step_size": self.step_size,
        })
    }
}

fn optional<T>(value: &Value, decode: impl FnOnce(&Value) -> Result<T, Misfit>) -> Result<Option<T>, Misfit> {
    match value {
        Value::Null => Ok(None),
        value => decode(value).map(Some),
    }
}

/// The entries of an object, none for null.
fn entries_of<'v>(field: &str, value: &'v Value) -> Result<Vec<(&'v String, &'v Value)>, Misfit> {
    match value {
        Value::Null => Ok(Vec::new()),
        value => Ok(object(field, value)?.iter().collect()),
    }
}

fn scalers(
    field: &str,
    value: &Value,
    sidecar: &mut Sidecar,
) -> Result<BTreeMap<String, FittedScaler>, Misfit> {
    let scalers = entries_of(field, value)?.into_iter();
    let decode = |(column, value): (&String, &Value)| {
        let scaler = FittedScaler::decode(&format!("{field}.{column}"), value, sidecar)?;
        Ok((column.clone(), scaler))
    };
    scalers.map(decode).collect()
}

/// Texts are keys of a plain object; other values come as a tagged list of pairs.
fn vocabularies(value: &Value) -> Result<BTreeMap<String, Vec<(Value, usize)>>, Misfit> {
    let decode = |(column, value): (&String, &Value)| {
        let field = format!("categorical_vocab_.{column}");
        let pairs: Vec<(Value, &Value)> = match tag(value) {
            Some("mapping") => list(&field, &value["items"])?
                .iter()
                .map(|pair| match pair.as_array().map(Vec::as_slice) {
                    Some([key, index]) => Ok((key.clone(), index)),
                    _ => Err(Misfit::value(&field, "pairs of value and index", pair)),
                })
                .collect::<Result<_, _>>()?,
            _ => {
                let pairs = object(&field, value)?.iter();
                pairs.map(|(key, index)| (json!(key), index)).collect()
            }
        };
        let pairs = pairs.into_iter().map(|(key, index)| Ok((key, count(&field, index)?)));
        Ok((column.clone(), pairs.collect::<Result<_, Misfit>>()?))
    };
    entries_of("categorical_vocab_", value)?.into_iter().map(decode).collect()
}

fn encode_vocabulary(pairs: &[(Value, usize)]) -> Value {
    let texts: Option<Map<_, _>> =
        pairs.iter().map(|(key, index)| Some((key.as_str()?.to_owned(), json!(index)))).collect();
    match texts {
        Some(texts) => Value::Object(texts),
        None => json!({TAG: "mapping", "items": pairs}),
    }
}

fn frame(field: &str, value: &Value, sidecar: &mut Sidecar) -> Result<Vec<(String, Column)>, Misfit> {
    if tag(value) != Some("dataframe") {
        return Err(Misfit::value(field, "a tagged dataframe", value));
    }
    let decode = |pair: &Value| match pair.as_array().map(Vec::as_slice) {
        Some([name, column]) => {
            let name = text(field, name)?;
            let column = Column::decode(&format!("{field}.{name}"), column, sidecar)?;
            Ok((name, column))
        }
        _ => Err(Misfit::value(field, "pairs of name and column", pair)),
    };
    list(field, &value["columns"])?.iter().map(decode).collect()
}

fn encode_frame(columns: &[(String, Column)], path: &str, sidecar: &mut Sidecar) -> Value {
    let columns = columns.iter().map(|(name, column)| {
        let path = format!("{path}.{name}");
        json!([name, column.encode(Container::Series, name, &path, sidecar)])
    });
    let columns: Vec<_> = columns.collect();
    json!({TAG: "dataframe", "kind": "pandas", "columns": columns})
}

fn aliases(value: &Value) -> Result<Vec<(String, String)>, Misfit> {
    let aliases = entries_of("alias_to_model", value)?.into_iter();
    let decode = |(alias, class): (&String, &Value)| {
        Ok((alias.clone(), text(&format!("alias_to_model.{alias}"), class)?))
    };
    aliases.map(decode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn back(configuration: &Configuration) -> Result<Configuration, Misfit> {
        let mut sidecar = Sidecar::default();
        let entries = configuration.encode(&configuration.alias_to_model, &mut sidecar);
        Configuration::decode(entries, sidecar)
    }

    #[test]
    fn every_entry_comes_back() {
        let mut full = Configuration::new(3, Frequency::Step(2));
        assert_eq!(back(&full).unwrap(), full);
        full.fitted = false;
        full.freq = Frequency::Alias("MS".into());
        full.local_scaler_type = Some("standard".into());
        full.local_static_scaler_type = Some("minmax".into());
        let stats = Some(TensorData::f32([1, 2], vec![1.0, 2.0]));
        let scaler = FittedScaler { kind: "standard".into(), stats };
        full.scalers.insert("y".into(), scaler.clone());
        full.static_scalers.insert("s".into(), FittedScaler { stats: None, ..scaler });
        full.categorical_vocab.insert("shop".into(), vec![(json!("b"), 1), (json!("a"), 2)]);
        full.categorical_vocab.insert("day".into(), vec![(json!(7), 1), (json!(true), 2)]);
        full.id_col = "series".into();
        full.prediction_intervals =
            Some(ConformalSettings { n_windows: 2, method: "conformal_error".into(), step_size: 1 });
        full.conformity_scores = Some(vec![
            ("series".into(), Column::Text(vec!["a".into()])),
            ("ds".into(), Column::microseconds(vec![5])),
            ("MLP".into(), Column::Floats(vec![0.25])),
        ]);
        full.uids = Some(Column::Text(vec!["a".into()]));
        full.last_dates = Some(Column::Integers(vec![9]));
        full.ds = Some(Column::Integers(vec![8, 9]));
        full.alias_to_model = vec![("b".into(), "mlp".into()), ("a".into(), "nhits".into())];
        let mut sidecar = Sidecar::default();
        let pointer = sidecar.put("later", "numpy", TensorData::f32([1], vec![4.0]));
        full.other.insert("added_in_3_4".into(), json!({"a": [pointer]}));
        full.other_tensors = sidecar.0;
        assert_eq!(back(&full).unwrap(), full);
    }

    #[test]
    fn ill_typed_entries_are_named() {
        let good = || Configuration::new(3, Frequency::Step(1)).encode(&[], &mut Sidecar::default());
        let cases = [
            ("h", json!(-1)),
            ("h", json!("3")),
            ("freq", json!(null)),
            ("freq", json!(1.5)),
            ("_fitted", json!(null)),
            ("scalers_", json!({"y": {}})),
            (
                "scalers_",
                json!({"y": {TAG: "scaler", "type": "standard", "stats_": {TAG: "tensor", "key": "absent"}}}),
            ),
            ("categorical_vocab_", json!({"day": {TAG: "mapping", "items": [[1]]}})),
            ("id_col", json!(4)),
            ("prediction_intervals", json!({"n_windows": 2})),
            ("_cs_df", json!({TAG: "dataframe", "columns": [["a"]]})),
            ("uids", json!({TAG: "index", "values": [null]})),
            ("ds", json!({TAG: "datetime64", "unit": "fortnight", "values": []})),
            ("alias_to_model", json!({"a": 1})),
        ];
        for (key, value) in cases {
            let mut entries = good();
            entries.insert(key.into(), value);
            let error = Configuration::decode(entries, Sidecar::default()).unwrap_err().at("file");
            assert!(error.to_string().starts_with(&format!("file: `{key}")), "{error}");
        }
    }
}
