//! A table of columns that come as bytes: what numpy has, without Arrow.

use std::sync::Arc;

use arrow_array::types::{Float32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, DictionaryArray, Int32Array, PrimitiveArray, RecordBatch, StringArray,
    TimestampMicrosecondArray, TimestampMillisecondArray, TimestampNanosecondArray, TimestampSecondArray,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Columns of one length, each given as the bytes of numbers in the order of this machine.
#[pyclass(name = "Table", module = "foretell._foretell")]
#[derive(Default)]
pub(crate) struct PyTable {
    columns: Vec<(String, ArrayRef)>,
}

#[pymethods]
impl PyTable {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Adds a column of numbers, `f4`, `f8`, `i4` or `i8` as numpy calls them.
    fn numbers(&mut self, name: String, kind: &str, bytes: &[u8]) -> PyResult<()> {
        let column: ArrayRef = match kind {
            "f4" => Arc::new(values::<Float32Type, 4>(bytes, f32::from_ne_bytes)),
            "f8" => Arc::new(values::<Float64Type, 8>(bytes, f64::from_ne_bytes)),
            "i4" => Arc::new(values::<Int32Type, 4>(bytes, i32::from_ne_bytes)),
            "i8" => Arc::new(values::<Int64Type, 8>(bytes, i64::from_ne_bytes)),
            other => {
                let text = format!("column {name}: expected numbers of kind f4, f8, i4 or i8, found {other}");
                return Err(PyValueError::new_err(text));
            }
        };
        self.columns.push((name, column));
        Ok(())
    }

    /// Adds a column of times, `i8` since 1970 in a unit (`s`, `ms`, `us`, `ns`), of UTC where there is a zone.
    fn times(&mut self, name: String, unit: &str, zone: Option<&str>, bytes: &[u8]) -> PyResult<()> {
        let times = values::<Int64Type, 8>(bytes, i64::from_ne_bytes);
        let nat = i64::MIN;
        let known: Vec<Option<i64>> = match times.values().contains(&nat) {
            true => times.values().iter().map(|&time| Some(time).filter(|&time| time != nat)).collect(),
            false => Vec::new(),
        };
        macro_rules! array {
            ($kind:ty) => {{
                let array = match known.is_empty() {
                    true => <$kind>::new(times.values().clone(), None),
                    false => <$kind>::from(known),
                };
                Arc::new(array.with_timezone_opt(zone)) as ArrayRef
            }};
        }
        let column = match unit {
            "s" => array!(TimestampSecondArray),
            "ms" => array!(TimestampMillisecondArray),
            "us" => array!(TimestampMicrosecondArray),
            "ns" => array!(TimestampNanosecondArray),
            other => {
                return Err(PyValueError::new_err(format!(
                    "column {name}: expected times in s, ms, us or ns, found {other}; convert them by astype"
                )));
            }
        };
        self.columns.push((name, column));
        Ok(())
    }

    /// Adds a column of texts: the number of each row's text as `i4` (-1 where there is none), and the texts.
    fn texts(&mut self, name: String, codes: &[u8], texts: Vec<String>) -> PyResult<()> {
        let codes = values::<Int32Type, 4>(codes, i32::from_ne_bytes);
        let codes: Int32Array = match codes.values().contains(&-1) {
            true => codes.values().iter().map(|&code| Some(code).filter(|&code| code >= 0)).collect(),
            false => codes,
        };
        let column = DictionaryArray::try_new(codes, Arc::new(StringArray::from(texts)))
            .map_err(|error| PyValueError::new_err(format!("column {name}: {error}")))?;
        self.columns.push((name, Arc::new(column)));
        Ok(())
    }
}

impl PyTable {
    pub(crate) fn batch(&self) -> PyResult<RecordBatch> {
        let columns = self.columns.iter().map(|(name, column)| (name.as_str(), column.clone(), true));
        RecordBatch::try_from_iter_with_nullable(columns)
            .map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

/// The numbers of `N` bytes each.
fn values<T: ArrowPrimitiveType, const N: usize>(
    bytes: &[u8],
    read: impl Fn([u8; N]) -> T::Native,
) -> PrimitiveArray<T> {
    let (numbers, _) = bytes.as_chunks::<N>();
    PrimitiveArray::from_iter_values(numbers.iter().map(|&number| read(number)))
}
