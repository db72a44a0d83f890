//! Columns of the saved panel: series names, times, calibration values.

use serde_json::{Value, json};

use crate::tagged::{Misfit, Sidecar, TAG, list, numbers, plain, tag, text};
use crate::tensor::{TensorData, TensorValues};

/// A column of a pandas or polars frame.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// Texts.
    Text(Vec<String>),
    /// Integers.
    Integers(Vec<i64>),
    /// Real numbers.
    Floats(Vec<f64>),
    /// Time stamps, counted in `unit` from 1970-01-01.
    Times {
        /// The unit of the counts.
        unit: TimeUnit,
        /// With a zone the count starts at 1970-01-01 UTC; without one the stamps are civil times.
        zone: Option<String>,
        /// The counts.
        values: Vec<i64>,
    },
}

/// The resolution of time stamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// Days.
    Days,
    /// Hours.
    Hours,
    /// Minutes.
    Minutes,
    /// Seconds.
    Seconds,
    /// Thousandths of a second.
    Milliseconds,
    /// Millionths of a second; what pandas 3 and this crate write.
    Microseconds,
    /// Billionths of a second; what pandas 2 writes.
    Nanoseconds,
}

/// The Python object a column is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Container {
    Array,
    Index,
    Series,
}

impl TimeUnit {
    /// Units, their numpy names and their lengths in nanoseconds.
    const ALL: [(Self, &'static str, i128); 7] = [
        (Self::Days, "D", 86_400_000_000_000),
        (Self::Hours, "h", 3_600_000_000_000),
        (Self::Minutes, "m", 60_000_000_000),
        (Self::Seconds, "s", 1_000_000_000),
        (Self::Milliseconds, "ms", 1_000_000),
        (Self::Microseconds, "us", 1_000),
        (Self::Nanoseconds, "ns", 1),
    ];

    fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, n, _)| *n == name).map(|(unit, ..)| *unit)
    }

    fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    fn nanoseconds(self) -> i128 {
        Self::ALL[self as usize].2
    }

    /// A count of this unit in microseconds; nothing if it is beyond 64 bits.
    pub fn microseconds(self, count: i64) -> Option<i64> {
        (i128::from(count) * self.nanoseconds()).div_euclid(1000).try_into().ok()
    }
}

impl Column {
    /// Civil time stamps in microseconds since 1970-01-01.
    pub fn microseconds(values: Vec<i64>) -> Self {
        Self::Times { unit: TimeUnit::Microseconds, zone: None, values }
    }

    /// Time stamps converted to microseconds, in the column's zone convention. None if this is not
    /// a column of times, or if one is absent (NaT), finer than a microsecond or out of range.
    pub fn to_microseconds(&self) -> Option<Vec<i64>> {
        let Self::Times { unit, values, .. } = self else {
            return None;
        };
        let convert = |&value: &i64| {
            let nanoseconds = i128::from(value) * unit.nanoseconds();
            let exact = value != i64::MIN && nanoseconds % 1_000 == 0;
            exact.then(|| i64::try_from(nanoseconds / 1_000).ok())?
        };
        values.iter().map(convert).collect()
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Text(values) => values.len(),
            Self::Integers(values) | Self::Times { values, .. } => values.len(),
            Self::Floats(values) => values.len(),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads any of the objects that neuralforecast writes for a column.
    pub(crate) fn decode(field: &str, value: &Value, sidecar: &mut Sidecar) -> Result<Self, Misfit> {
        let wrong = || Misfit::value(field, "a column of texts, numbers or times", value);
        match tag(value) {
            Some("series") => Self::decode(field, &value["data"], sidecar),
            Some("datetime64") => {
                let unit = text(field, &value["unit"])?;
                let unit = TimeUnit::parse(&unit)
                    .ok_or_else(|| Misfit::new(field, "times in D, h, m, s, ms, us or ns", unit))?;
                let zone = match &value["tz"] {
                    Value::Null => None,
                    zone => Some(text(field, zone)?),
                };
                let values = match value.get("values") {
                    Some(values) => list(field, values)?.iter().map(Value::as_i64).collect(),
                    None => sidecar.take(field, &value["data"])?.integers(),
                };
                let values = values.ok_or_else(wrong)?;
                Ok(Self::Times { unit, zone, values })
            }
            Some("index") => Self::from_list(list(field, &value["values"])?).ok_or_else(wrong),
            Some("tensor" | "array") => {
                let tensor = sidecar.take(field, value)?;
                let column = match tensor.integers() {
                    Some(integers) => Some(Self::Integers(integers)),
                    None => tensor.floats().map(Self::Floats),
                };
                column.ok_or_else(wrong)
            }
            None => Self::from_list(list(field, value)?).ok_or_else(wrong),
            _ => Err(wrong()),
        }
    }

    fn from_list(list: &[Value]) -> Option<Self> {
        let texts: Option<Vec<_>> = list.iter().map(|v| v.as_str().map(str::to_owned)).collect();
        match (texts, numbers(list)) {
            (Some(texts), _) => Some(Self::Text(texts)),
            (_, Some(TensorValues::I64(integers))) => Some(Self::Integers(integers)),
            (_, Some(TensorValues::F64(floats))) => Some(Self::Floats(floats)),
            _ => None,
        }
    }

    /// The tagged value of this column as a pandas or numpy object called `name`.
    pub(crate) fn encode(
        &self,
        container: Container,
        name: &str,
        path: &str,
        sidecar: &mut Sidecar,
    ) -> Value {
        let dtype = self.pandas_dtype();
        if container == Container::Index {
            let values = match self {
                Self::Text(values) => json!(values),
                Self::Integers(values) => json!(values),
                Self::Floats(values) => json!(values),
                Self::Times { unit, zone, values } => {
                    let mut times = encode_times("pandas", *unit, zone.as_deref(), values, path, sidecar);
                    times["name"] = name.into();
                    return times;
                }
            };
            return json!({TAG: "index", "kind": "pandas", "dtype": dtype, "name": name, "values": values});
        }
        let data_path = match container {
            Container::Series => format!("{path}.values"),
            _ => path.to_owned(),
        };
        let mut numeric =
            |values: TensorValues| sidecar.put(&data_path, "numpy", TensorData::new([self.len()], values));
        let data = match self {
            Self::Text(values) => json!({TAG: "index", "kind": "numpy", "dtype": "object", "values": values}),
            Self::Integers(values) => numeric(TensorValues::I64(values.clone())),
            Self::Floats(values) => numeric(TensorValues::F64(values.clone())),
            Self::Times { unit, zone, values } => {
                // numpy has no zones: a zoned array is written as an index.
                let numpy = container == Container::Array && zone.is_none();
                let kind = if numpy { "numpy" } else { "pandas" };
                encode_times(kind, *unit, zone.as_deref(), values, path, sidecar)
            }
        };
        match container {
            Container::Series => {
                json!({TAG: "series", "kind": "pandas", "name": name, "dtype": dtype, "data": data})
            }
            _ => data,
        }
    }

    /// "str" and microseconds are what pandas 3 has and pandas 2 accepts.
    fn pandas_dtype(&self) -> String {
        match self {
            Self::Text(_) => "str".into(),
            Self::Integers(_) => "int64".into(),
            Self::Floats(_) => "float64".into(),
            Self::Times { unit, zone: None, .. } => format!("datetime64[{}]", unit.name()),
            Self::Times { unit, zone: Some(zone), .. } => format!("datetime64[{}, {zone}]", unit.name()),
        }
    }
}

fn encode_times(
    kind: &str,
    unit: TimeUnit,
    zone: Option<&str>,
    values: &[i64],
    path: &str,
    sidecar: &mut Sidecar,
) -> Value {
    let counts = TensorData::new([values.len()], TensorValues::I64(values.to_vec()));
    let data = sidecar.put(path, "numpy", counts);
    let mut times = json!({TAG: "datetime64", "kind": kind, "unit": unit.name(), "data": data});
    if let Some(zone) = zone {
        times["tz"] = zone.into();
    }
    times
}

/// A list of names written as an index, an array or a plain list.
pub(crate) fn names(field: &str, value: &Value, sidecar: &mut Sidecar) -> Result<Vec<String>, Misfit> {
    let value = plain(field, value, sidecar)?;
    list(field, &value)?.iter().map(|name| text(field, name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_comes_back_from_every_container() {
        let zone = Some("Europe/Paris".to_owned());
        let columns = [
            Column::Text(vec!["a".into(), "é".into()]),
            Column::Integers(vec![-1, 7]),
            Column::Floats(vec![0.5, 1e-300]),
            Column::microseconds(vec![0, -5]),
            Column::Times { unit: TimeUnit::Nanoseconds, zone, values: vec![1, 2] },
        ];
        for column in columns {
            for container in [Container::Array, Container::Index, Container::Series] {
                let mut sidecar = Sidecar::default();
                let value = column.encode(container, "n", "p", &mut sidecar);
                assert_eq!(Column::decode("p", &value, &mut sidecar).unwrap(), column);
                assert!(sidecar.0.is_empty());
            }
        }
    }

    #[test]
    fn polars_columns_are_read() {
        let ids =
            json!({TAG: "index", "kind": "polars", "dtype": "String", "name": "unique_id", "values": ["a"]});
        let times = json!({TAG: "datetime64", "kind": "polars", "unit": "D", "values": [3]});
        let sidecar = &mut Sidecar::default();
        assert_eq!(Column::decode("u", &ids, sidecar).unwrap(), Column::Text(vec!["a".into()]));
        let times = Column::decode("t", &times, sidecar).unwrap();
        assert_eq!(times.to_microseconds(), Some(vec![3 * 86_400_000_000]));
    }

    #[test]
    fn microseconds_are_exact_or_none() {
        let times = |unit, value| Column::Times { unit, zone: None, values: vec![value] };
        assert_eq!(times(TimeUnit::Nanoseconds, -2_000).to_microseconds(), Some(vec![-2]));
        assert_eq!(times(TimeUnit::Nanoseconds, 2_001).to_microseconds(), None);
        assert_eq!(times(TimeUnit::Seconds, i64::MAX).to_microseconds(), None);
        assert_eq!(times(TimeUnit::Microseconds, i64::MIN).to_microseconds(), None);
        for (i, (unit, name, _)) in TimeUnit::ALL.into_iter().enumerate() {
            assert_eq!((unit as usize, TimeUnit::parse(name)), (i, Some(unit)));
        }
    }
}
