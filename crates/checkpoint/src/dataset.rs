//! The training panel stored beside the models.

use serde_json::{Map, Value, json};

use crate::column::{Column, Container, names};
use crate::tagged::{Misfit, Sidecar, count, object, text};
use crate::tensor::{TensorData, TensorValues};

/// The panel a forecaster was fitted on, with all series one below the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// Names of the columns of `temporal`: the target, exogenous columns, `available_mask`.
    pub columns: Vec<String>,
    /// Values `[rows, columns]`, row-major, after the local scalers of the configuration.
    pub temporal: Vec<f32>,
    /// Where each series starts, and at last the number of rows: `[series + 1]`.
    pub indptr: Vec<usize>,
    /// The column of the target; neuralforecast itself writes 0.
    pub target: usize,
    /// Names of the static columns.
    pub static_columns: Vec<String>,
    /// Static values `[series, static_columns]`, row-major, after the local static scalers.
    pub static_values: Vec<f32>,
    /// Whether future rows were appended in place.
    pub updated: bool,
}

impl Dataset {
    /// Number of rows of all series.
    pub fn rows(&self) -> usize {
        self.indptr.last().copied().unwrap_or(0)
    }

    /// Number of series.
    pub fn series(&self) -> usize {
        self.indptr.len().saturating_sub(1)
    }

    /// The first contradiction between the fields.
    pub(crate) fn check(&self) -> Result<(), Misfit> {
        let rising = self.indptr.first() == Some(&0) && self.indptr.is_sorted();
        if self.series() == 0 || !rising {
            return Err(Misfit::new(
                "fields.indptr",
                "0 and the end of each series, rising",
                "other offsets",
            ));
        }
        if self.target >= self.columns.len() {
            let expected = format!("one of {} columns", self.columns.len());
            return Err(Misfit::new("fields.y_idx", expected, self.target.to_string()));
        }
        let sizes = [
            ("fields.temporal", self.temporal.len(), self.rows(), self.columns.len()),
            ("fields.static", self.static_values.len(), self.series(), self.static_columns.len()),
        ];
        for (field, found, rows, columns) in sizes {
            if rows.checked_mul(columns) != Some(found) {
                let expected = format!("{rows} rows of {columns} columns");
                return Err(Misfit::new(field, expected, format!("{found} values")));
            }
        }
        Ok(())
    }

    pub(crate) fn decode(document: &Value, sidecar: &mut Sidecar) -> Result<Self, Misfit> {
        let class = text("dataset_class", &document["dataset_class"])?;
        if class != "TimeSeriesDataset" {
            return Err(Misfit::new(
                "dataset_class",
                "TimeSeriesDataset (save with save_dataset=False)",
                class,
            ));
        }
        let fields = object("fields", &document["fields"])?;
        let field = |name: &str| fields.get(name).unwrap_or(&Value::Null);
        let has_static = !field("static").is_null();
        let dataset = Self {
            columns: names("fields.temporal_cols", field("temporal_cols"), sidecar)?,
            temporal: matrix("fields.temporal", field("temporal"), sidecar)?,
            indptr: offsets("fields.indptr", field("indptr"), sidecar)?,
            target: count("fields.y_idx", field("y_idx"))?,
            static_columns: match has_static {
                true => names("fields.static_cols", field("static_cols"), sidecar)?,
                false => Vec::new(),
            },
            static_values: match has_static {
                true => matrix("fields.static", field("static"), sidecar)?,
                false => Vec::new(),
            },
            updated: document["extra"]["updated"].as_bool().unwrap_or(false),
        };
        dataset.check()?;
        Ok(dataset)
    }

    pub(crate) fn encode(&self, sidecar: &mut Sidecar) -> Value {
        let names = |names: &[String], path: &str, sidecar: &mut Sidecar| {
            let mut index = Column::Text(names.to_vec()).encode(Container::Index, "", path, sidecar);
            index["name"] = Value::Null;
            index
        };
        let mut fields = Map::new();
        let temporal = TensorData::f32([self.rows(), self.columns.len()], self.temporal.clone());
        fields.insert("temporal".into(), sidecar.put("temporal", "torch", temporal));
        fields.insert("temporal_cols".into(), names(&self.columns, "temporal_cols", sidecar));
        let offsets: Result<Vec<i32>, _> = self.indptr.iter().map(|&at| at.try_into()).collect();
        let offsets = match offsets {
            Ok(offsets) => TensorValues::I32(offsets),
            Err(_) => TensorValues::I64(self.indptr.iter().map(|&at| at as i64).collect()),
        };
        let offsets = TensorData::new([self.indptr.len()], offsets);
        fields.insert("indptr".into(), sidecar.put("indptr", "numpy", offsets));
        fields.insert("y_idx".into(), self.target.into());
        let (mut values, mut columns) = (Value::Null, Value::Null);
        if !self.static_columns.is_empty() {
            let shape = [self.series(), self.static_columns.len()];
            let tensor = TensorData::f32(shape, self.static_values.clone());
            values = sidecar.put("static", "torch", tensor);
            columns = names(&self.static_columns, "static_cols", sidecar);
        }
        fields.insert("static".into(), values);
        fields.insert("static_cols".into(), columns);
        json!({"dataset_class": "TimeSeriesDataset", "fields": fields, "extra": {"updated": self.updated}})
    }
}

fn matrix(field: &str, value: &Value, sidecar: &mut Sidecar) -> Result<Vec<f32>, Misfit> {
    let tensor = sidecar.take(field, value)?;
    let found = format!("{} of shape {:?}", tensor.dtype(), tensor.shape());
    match (tensor.shape().len(), tensor.into_values()) {
        (2, TensorValues::F32(values)) => Ok(values),
        _ => Err(Misfit::new(field, "a matrix of F32", found)),
    }
}

fn offsets(field: &str, value: &Value, sidecar: &mut Sidecar) -> Result<Vec<usize>, Misfit> {
    let integers = match Column::decode(field, value, sidecar)? {
        Column::Integers(integers) => integers,
        _ => return Err(Misfit::value(field, "integers", value)),
    };
    let offsets: Result<_, _> = integers.into_iter().map(usize::try_from).collect();
    offsets.map_err(|_| Misfit::new(field, "offsets from 0", "a negative one"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_series() -> Dataset {
        Dataset {
            columns: vec!["y".into(), "available_mask".into()],
            temporal: vec![1.0, 1.0, 2.0, 1.0, 3.0, 0.0],
            indptr: vec![0, 1, 3],
            target: 0,
            static_columns: vec!["size".into()],
            static_values: vec![0.5, 0.25],
            updated: false,
        }
    }

    #[test]
    fn comes_back() {
        let without = Dataset { static_columns: vec![], static_values: vec![], ..two_series() };
        for dataset in [two_series(), without] {
            let mut sidecar = Sidecar::default();
            let document = dataset.encode(&mut sidecar);
            assert_eq!(Dataset::decode(&document, &mut sidecar).unwrap(), dataset);
        }
    }

    #[test]
    fn contradictions_are_named() {
        let all = two_series;
        let cases = [
            ("indptr", Dataset { indptr: vec![0], ..all() }),
            ("indptr", Dataset { indptr: vec![0, 2, 1], ..all() }),
            ("indptr", Dataset { indptr: vec![1, 3], ..all() }),
            ("temporal", Dataset { indptr: vec![0, 1, 2], ..all() }),
            ("temporal", Dataset { indptr: vec![0, 1, usize::MAX], ..all() }),
            ("y_idx", Dataset { target: 2, ..all() }),
            ("static", Dataset { static_values: vec![0.5], ..all() }),
        ];
        for (field, dataset) in cases {
            let text = dataset.check().unwrap_err().at("dataset.json").to_string();
            assert!(text.contains(field), "{text}");
        }
    }
}
