//! The fields of a request, from JSON or from texts beside tables in other forms.

use std::borrow::Cow;
use std::fmt;

use foretell::{Attribution, Map, MemoryTable, TableColumns, Value};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::error::EngineError;
use crate::media_type::MediaType;
use crate::request::{AheadOptions, ContributionOptions, ForecastKind, ForecastRequest};

/// The kind of a request, by its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asking {
    Forecast,
    CrossValidation,
    Explanation,
    Look,
}

const ALL: &[Asking] = &[Asking::Forecast, Asking::CrossValidation, Asking::Explanation, Asking::Look];
const AHEAD: &[Asking] = &[Asking::Forecast, Asking::Explanation];
const FORECAST: &[Asking] = &[Asking::Forecast];
const WINDOWS: &[Asking] = &[Asking::CrossValidation];
const EXPLANATION: &[Asking] = &[Asking::Explanation];

impl Asking {
    fn path(self) -> &'static str {
        match self {
            Self::Forecast => "/v1/forecast",
            Self::CrossValidation => "/v1/cross-validate",
            Self::Explanation => "/v1/explain",
            Self::Look => "/v1/look",
        }
    }
}

/// Points of integrated gradients, or orders of Shapley values, that a request may ask for: each takes as long as a forecast or two.
const MOST_RUNS: usize = 1000;

/// A request as it came: JSON, or tables and texts with their names.
#[derive(Debug)]
pub(crate) enum Incoming {
    Json(Vec<u8>),
    Tables { tables: Vec<(String, MediaType, Vec<u8>)>, texts: Vec<(String, String)> },
}

/// What the value of a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldKind {
    Table,
    Text,
    Whole,
    Flag,
    Numbers,
    Names,
    Object,
}

/// A field of a request.
pub(crate) struct FieldEntry {
    pub(crate) name: &'static str,
    pub(crate) kind: FieldKind,
    /// The addresses that take it.
    of: &'static [Asking],
    meaning: &'static str,
    is_given: fn(&Fields) -> bool,
}

/// A value that a request may leave out.
trait Given {
    fn is_given(&self) -> bool;
}

impl<T> Given for Option<T> {
    fn is_given(&self) -> bool {
        self.is_some()
    }
}

impl<T> Given for Vec<T> {
    fn is_given(&self) -> bool {
        !self.is_empty()
    }
}

impl Given for Map<String, Value> {
    fn is_given(&self) -> bool {
        !self.is_empty()
    }
}

impl Given for bool {
    fn is_given(&self) -> bool {
        *self
    }
}

/// The fields of requests: name, type, kind, the addresses that take it, and what it means.
macro_rules! fields {
    ($($name:literal $field:ident: $type:ty, $kind:ident, $of:expr, $meaning:literal;)*) => {
        /// The values of the fields of a request.
        #[derive(Debug, Default, serde::Deserialize)]
        #[serde(default, deny_unknown_fields, expecting = "an object of fields, as {\"data\": ..., \"h\": 14}")]
        pub(crate) struct Fields {
            $(#[serde(rename = $name)] $field: $type,)*
        }

        /// All of them.
        pub(crate) const FIELDS: &[FieldEntry] = &[$(FieldEntry {
            name: $name,
            kind: FieldKind::$kind,
            of: $of,
            meaning: $meaning,
            is_given: |fields| fields.$field.is_given(),
        }),*];
    };
}

fields! {
    "model" model: Option<String>, Text, ALL, "The model; not needed where there is only one. auto: models that suit the data are fitted for the request";
    "data" data: Option<TableColumns>, Table, ALL, "The series, a row per series and time, columns named as in training";
    "static" statics: Option<TableColumns>, Table, ALL, "A row per series, with the columns that do not change over time";
    "future" future: Option<TableColumns>, Table, AHEAD, "Future rows of the columns that are known in advance";
    "h" h: Option<usize>, Whole, AHEAD, "Steps to forecast or explain, the model's own by default";
    "level" level: Vec<f64>, Numbers, FORECAST, "Central intervals in percent, as 80";
    "quantiles" quantiles: Vec<f64>, Numbers, FORECAST, "Quantiles between 0 and 1, in place of level";
    "intervals" intervals: Option<String>, Text, FORECAST, "Calibrates intervals on these data: N[:METHOD[:STEP]]";
    "budget" budget: Option<String>, Text, FORECAST, "Time for the search of model auto, as 10s";
    "strict" strict: bool, Flag, FORECAST, "Whether too short a history is an error";
    "end" end: Option<String>, Text, ALL, "Series that end before others: common, masked or drop";
    "reading" reading: Map<String, Value>, Object, ALL, "How the tables are read, where that is not as in training";
    "n_windows" n_windows: Option<usize>, Whole, WINDOWS, "Forecasts of each series";
    "step_size" step_size: Option<usize>, Whole, WINDOWS, "Steps from one forecast to the next";
    "method" method: Option<String>, Text, EXPLANATION, "integrated-gradients, the default, input-x-gradient or shapley-sampling";
    "points" points: Option<usize>, Whole, EXPLANATION, "Points of integrated gradients";
    "samples" samples: Option<usize>, Whole, EXPLANATION, "Orders that are drawn, of Shapley values";
    "seed" seed: Option<u64>, Whole, EXPLANATION, "Seed of these orders";
    "output" output: Option<usize>, Whole, EXPLANATION, "The output that is explained, from 0";
    "only" only: Vec<String>, Names, EXPLANATION, "The models that are explained, by their columns";
}

/// The names of the tables of a request.
const TABLES: [&str; 3] = ["data", "static", "future"];

/// Bytes that a cell or a field of JSON takes in memory beside its text, as its list grows.
const CELL_OF_JSON: u64 = 48;

impl Incoming {
    /// The bytes of its tables as they came.
    pub(crate) fn table_bytes(&self) -> u64 {
        let bytes = match self {
            Self::Json(text) => text.len(),
            Self::Tables { tables, .. } => tables.iter().map(|(_, _, bytes)| bytes.len()).sum(),
        };
        bytes as u64
    }

    /// The bytes that its JSON takes at most once it is read: beside its text, as much for each cell; and those that streams of Arrow's
    /// are unpacked to.
    pub(crate) fn field_bytes(&self) -> u64 {
        let of_json = |text: &[u8]| {
            let cells = text.iter().filter(|byte| matches!(byte, b',' | b':' | b'[' | b'{')).count();
            text.len() as u64 + CELL_OF_JSON * cells as u64
        };
        match self {
            Self::Json(text) => of_json(text),
            Self::Tables { tables, texts } => {
                let tables = tables.iter().map(|(_, media, bytes)| match media.format() {
                    None => of_json(bytes),
                    Some(format) => format.memory_of_bytes(bytes).map_or(0, |all| all - bytes.len() as u64),
                });
                tables.sum::<u64>() + texts.iter().map(|(_, text)| of_json(text.as_bytes())).sum::<u64>()
            }
        }
    }

    /// The request that it means.
    pub(crate) fn request(self, asking: Asking) -> Result<ForecastRequest, EngineError> {
        let (mut fields, mut tables) = match self {
            Self::Json(text) => {
                let fields = serde_json::from_slice::<Fields>(&text).map_err(|error| {
                    refused_field(&text).unwrap_or_else(|| unread_json("the request", &text, &error))
                })?;
                (fields, [None, None, None])
            }
            Self::Tables { tables, texts } => of_tables(tables, texts)?,
        };
        refuse_foreign(&fields, &tables, asking)?;
        let columns = [fields.data.take(), fields.statics.take(), fields.future.take()];
        for ((slot, columns), name) in tables.iter_mut().zip(columns).zip(TABLES) {
            if let Some(columns) = columns {
                *slot = Some(MemoryTable::of_columns(name, columns));
            }
        }
        fields.into_request(tables, asking)
    }
}

/// The fields and tables of a request that is not JSON as a whole.
fn of_tables(
    parts: Vec<(String, MediaType, Vec<u8>)>,
    texts: Vec<(String, String)>,
) -> Result<(Fields, [Option<MemoryTable>; 3]), EngineError> {
    let mut all = Map::new();
    let twice = |name: &str| EngineError::Request(format!("{name} stands twice; give it once"));
    for (name, text) in texts {
        let value = entry(&name).map_or_else(|| Value::from(&*text), |entry| entry.kind.value(&text));
        check_field(&name, &value, Written::Text(&text))?;
        if all.insert(name.clone(), value).is_some() {
            return Err(twice(&name));
        }
    }
    let mut tables = [None, None, None];
    for (name, media, bytes) in parts {
        let Some(place) = TABLES.iter().position(|table| **table == name) else {
            let known = TABLES.join(", ");
            return Err(EngineError::Request(format!("there is no table {name:?}; the tables are {known}")));
        };
        let table = match media.format() {
            Some(format) => MemoryTable::new(TABLES[place], format, bytes),
            None => {
                let columns = serde_json::from_slice(&bytes);
                let columns = columns.map_err(|error| unread_json(&name, &bytes, &error))?;
                MemoryTable::of_columns(TABLES[place], columns)
            }
        };
        if tables[place].replace(table).is_some() {
            return Err(twice(&name));
        }
    }
    let fields = serde_json::from_value(Value::Object(all));
    Ok((fields.map_err(|error| EngineError::Request(format!("the fields of the request: {error}")))?, tables))
}

/// The error of JSON that cannot be read, with what to write where programs often write what is none.
fn unread_json(what: &str, text: &[u8], error: &serde_json::Error) -> EngineError {
    let line = text.split(|byte| *byte == b'\n').nth(error.line().saturating_sub(1)).unwrap_or_default();
    let rest = line.get(error.column().saturating_sub(1)..).unwrap_or_default();
    let place = format!("at line {} column {}", error.line(), error.column());
    let no_number = ["NaN", "Infinity"].into_iter().find(|word| rest.starts_with(word.as_bytes()));
    EngineError::Request(match no_number {
        Some(word) => {
            format!("the JSON of {what}: {word} {place} is no JSON; write null for a value that is missing")
        }
        None if error.to_string().starts_with("number out of range") => format!(
            "the JSON of {what}: the number {place} is beyond 64 bits; rescale it, or put it in quotes if it is a name"
        ),
        None => format!("the JSON of {what}: {error}"),
    })
}

/// The error of the first field of a request of JSON that has a value of another kind, where its JSON can be read.
fn refused_field(json: &[u8]) -> Option<EngineError> {
    let AllButTables(fields) = serde_json::from_slice(json).ok()?;
    fields.iter().find_map(|(name, value)| check_field(name, value, Written::Json).err())
}

/// The known fields of a request of JSON that are no tables, as they came.
struct AllButTables(Vec<(&'static str, Value)>);

impl<'de> Deserialize<'de> for AllButTables {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Gather;

        impl<'de> Visitor<'de> for Gather {
            type Value = AllButTables;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the fields of a request")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<AllButTables, A::Error> {
                let mut fields = Vec::new();
                while let Some(name) = map.next_key::<Cow<'de, str>>()? {
                    match entry(&name).filter(|entry| entry.kind != FieldKind::Table) {
                        Some(entry) => fields.push((entry.name, map.next_value()?)),
                        None => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(AllButTables(fields))
            }
        }

        from.deserialize_map(Gather)
    }
}

/// How the value of a field was written.
#[derive(Clone, Copy)]
enum Written<'a> {
    /// As a text beside tables.
    Text(&'a str),
    Json,
}

impl FieldKind {
    /// What its values are where they are written so, unless any fits.
    fn expected(self, written: Written<'_>) -> Option<&'static str> {
        Some(match (self, written) {
            (Self::Numbers, Written::Text(_)) => "numbers with commas between them, as 80,95 or 0.1,0.9",
            (Self::Numbers, Written::Json) => "a list of numbers, as [80, 95] or [0.1, 0.9]",
            (Self::Whole, _) => "a whole number of at least 0, as 3",
            (Self::Flag, _) => "true or false",
            (Self::Object, _) => "an object of JSON, as {\"fill\": \"forward\"}",
            (Self::Text, Written::Json) => "a text in quotes",
            (Self::Names, Written::Json) => "a list of texts in quotes, as [\"NHITS\"]",
            (Self::Text | Self::Names, Written::Text(_)) | (Self::Table, _) => return None,
        })
    }

    /// The value that a text stands for.
    fn value(self, text: &str) -> Value {
        let parsed = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
        match self {
            Self::Text => text.into(),
            Self::Names => text.split(',').map(|name| Value::from(name.trim())).collect(),
            Self::Numbers => text.split(',').map(|number| parsed(number.trim())).collect(),
            Self::Table | Self::Whole | Self::Flag | Self::Object => parsed(text),
        }
    }
}

impl FieldEntry {
    /// What it means, and at which addresses, where not at all.
    pub(crate) fn description(&self) -> String {
        match self.of {
            [alone] => format!("{} ({} alone)", self.meaning, alone.path()),
            all if all.len() == ALL.len() => self.meaning.to_owned(),
            some => {
                let some: Vec<&str> = some.iter().map(|asking| asking.path()).collect();
                format!("{} ({})", self.meaning, some.join(", "))
            }
        }
    }
}

/// The field of this name.
fn entry(name: &str) -> Option<&'static FieldEntry> {
    FIELDS.iter().find(|entry| entry.name == name)
}

/// Checks the value of a field by itself, so that a mistake in it names the field and shows what came.
fn check_field(name: &str, value: &Value, written: Written<'_>) -> Result<(), EngineError> {
    let alone = Value::Object([(name.to_owned(), value.clone())].into_iter().collect());
    let Err(error) = serde_json::from_value::<Fields>(alone) else { return Ok(()) };
    let found = match written {
        Written::Text(text) => format!("{text:?}"),
        Written::Json => value.to_string(),
    };
    Err(EngineError::Request(match entry(name).and_then(|entry| entry.kind.expected(written)) {
        Some(expected) => {
            format!("{name} must be {expected}, found {found}; leave it out for its default")
        }
        None => format!("the fields of the request: {error}"),
    }))
}

impl Fields {
    fn into_request(
        self,
        [data, statics, future]: [Option<MemoryTable>; 3],
        asking: Asking,
    ) -> Result<ForecastRequest, EngineError> {
        let Self { model, h, level, quantiles, intervals, budget, strict, end, reading, .. } = self;
        let asks = match asking {
            Asking::Forecast => {
                ForecastKind::Ahead(AheadOptions { future, h, level, quantiles, intervals, budget, strict })
            }
            Asking::CrossValidation => ForecastKind::Windows {
                n_windows: self.n_windows.unwrap_or(1),
                step_size: self.step_size.unwrap_or(1),
            },
            Asking::Look => ForecastKind::Look,
            Asking::Explanation => {
                let method = attribution(self.method.as_deref(), self.points, self.samples, self.seed)?;
                let output = self.output.unwrap_or(0);
                ForecastKind::Contributions(ContributionOptions {
                    future,
                    h,
                    method,
                    output,
                    only: self.only,
                })
            }
        };
        let data = data.ok_or_else(|| {
            let example = r#"{"unique_id": [...], "ds": [...], "y": [...]}"#;
            EngineError::Request(format!(
                "the request has no data; give the series as data, such as {example}"
            ))
        })?;
        Ok(ForecastRequest { model, data, statics, reading, end, asks })
    }
}

/// Refuses fields that belong to another address.
fn refuse_foreign(
    fields: &Fields,
    tables: &[Option<MemoryTable>; 3],
    asking: Asking,
) -> Result<(), EngineError> {
    let tables: Vec<&str> =
        TABLES.into_iter().zip(tables).filter_map(|(name, table)| table.as_ref().map(|_| name)).collect();
    let is_given = |entry: &FieldEntry| (entry.is_given)(fields) || tables.contains(&entry.name);
    match FIELDS.iter().find(|entry| is_given(entry) && !entry.of.contains(&asking)) {
        None => Ok(()),
        Some(FieldEntry { name, of, .. }) => Err(EngineError::Request(format!(
            "{name} has no meaning here; it belongs to {}",
            of.iter().map(|asking| asking.path()).collect::<Vec<_>>().join(", ")
        ))),
    }
}

/// How contributions are computed.
fn attribution(
    method: Option<&str>,
    points: Option<usize>,
    samples: Option<usize>,
    seed: Option<u64>,
) -> Result<Attribution, EngineError> {
    let within = |name: &str, given: Option<usize>, by_default: usize| match given.unwrap_or(by_default) {
        number @ 1..=MOST_RUNS => Ok(number),
        other => {
            Err(EngineError::Request(format!("{name} is a number from 1 to {MOST_RUNS}, found {other}")))
        }
    };
    let method = match method.unwrap_or("integrated-gradients") {
        "integrated-gradients" => Attribution::IntegratedGradients { points: within("points", points, 50)? },
        "input-x-gradient" => Attribution::InputXGradient,
        "shapley-sampling" => Attribution::ShapleySampling {
            permutations: within("samples", samples, 25)?,
            seed: seed.unwrap_or(1),
        },
        other => {
            return Err(EngineError::Request(format!(
                "there is no method {other:?}; the methods are integrated-gradients, input-x-gradient, shapley-sampling"
            )));
        }
    };
    let used = match method {
        Attribution::IntegratedGradients { .. } => [("samples", samples.is_some()), ("seed", seed.is_some())],
        Attribution::ShapleySampling { .. } => [("points", points.is_some()), ("", false)],
        _ => [("points", points.is_some()), ("samples", samples.is_some())],
    };
    match used.iter().find(|(_, given)| *given) {
        Some((name, _)) => {
            Err(EngineError::Request(format!("{name} belongs to another method; leave it out")))
        }
        None => Ok(method),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables(texts: &[(&str, &str)], names: &[&str]) -> Result<ForecastRequest, EngineError> {
        let texts = texts.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        let tables =
            names.iter().map(|name| ((*name).to_owned(), MediaType::Csv, b"ds,y\n".to_vec())).collect();
        Incoming::Tables { tables, texts }.request(Asking::Forecast)
    }

    #[test]
    fn texts_and_json_mean_the_same() {
        let texts = [("model", "7"), ("h", "3"), ("level", "80, 95.5"), ("strict", "true")];
        let request = tables(&texts, &["data"]).unwrap();
        let json = br#"{"model": "7", "h": 3, "level": [80, 95.5], "strict": true, "data": {}}"#;
        let other = Incoming::Json(json.to_vec()).request(Asking::Forecast).unwrap();
        for request in [request, other] {
            assert_eq!(request.model.as_deref(), Some("7"));
            let ForecastKind::Ahead(asked) = request.asks else { panic!("{:?}", request.asks) };
            assert_eq!((asked.h, &asked.level[..], asked.strict), (Some(3), &[80.0, 95.5][..], true));
        }
    }

    #[test]
    fn mistakes_are_named() {
        let message = |result: Result<ForecastRequest, EngineError>| result.unwrap_err().to_string();
        assert!(message(tables(&[("hh", "3")], &["data"])).contains("unknown field `hh`"));
        for (field, text, expected) in [
            ("h", "-3", "h must be a whole number of at least 0, as 3, found \"-3\""),
            ("level", "", "level must be numbers with commas between them, as 80,95 or 0.1,0.9, found \"\""),
            ("level", "80,high", "found \"80,high\""),
            ("strict", "yes", "strict must be true or false, found \"yes\""),
            ("reading", "fill", "reading must be an object of JSON"),
        ] {
            let message = message(tables(&[(field, text)], &["data"]));
            assert!(message.contains(expected), "{field}: {message}");
        }
        for (fields, expected) in [
            (r#""h": 3.0"#, "h must be a whole number of at least 0, as 3, found 3.0; leave it out"),
            (r#""h": -1"#, "h must be a whole number of at least 0, as 3, found -1"),
            (r#""level": 80"#, "level must be a list of numbers, as [80, 95] or [0.1, 0.9], found 80"),
            (r#""level": null"#, "found null; leave it out for its default"),
            (r#""model": 7"#, "model must be a text in quotes, found 7"),
            (r#""strict": "true""#, "strict must be true or false, found \"true\""),
            (r#""reading": []"#, "reading must be an object of JSON, as {\"fill\": \"forward\"}, found []"),
            (r#""hh": 3, "h": 3"#, "unknown field `hh`"),
            (r#""h": 3, "data": []"#, "expected columns by name"),
        ] {
            let json = Incoming::Json(format!("{{{fields}}}").into_bytes());
            let message = message(json.request(Asking::Forecast));
            assert!(message.contains(expected), "{fields}: {message}");
        }
        assert!(message(tables(&[("h", "3"), ("h", "4")], &["data"])).contains("h stands twice"));
        assert!(message(tables(&[], &["data", "data"])).contains("data stands twice"));
        assert!(message(tables(&[], &["past"])).contains("no table \"past\""));
        assert!(message(tables(&[], &[])).contains("has no data"));
        assert!(message(tables(&[("n_windows", "2")], &["data"])).contains("/v1/cross-validate"));
        let json = Incoming::Json(br#"{"data": {}, "h": 2}"#.to_vec());
        assert!(message(json.request(Asking::CrossValidation)).contains("/v1/forecast"));
    }
}
