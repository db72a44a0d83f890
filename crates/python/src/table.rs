//! A table of columns that come as bytes, which is what numpy has, or as arrays of Arrow.

use std::sync::Arc;

use arrow_array::types::{Float32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, DictionaryArray, Int32Array, PrimitiveArray, RecordBatch, StringArray,
    TimestampMicrosecondArray, TimestampMillisecondArray, TimestampNanosecondArray, TimestampSecondArray,
    make_array,
};
use arrow_buffer::{Buffer, ScalarBuffer};
use arrow_pyarrow::FromPyArrow;
use bytes::Bytes;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyCapsule;

use crate::stream::stream;

/// Columns of one length: bytes of numbers in the order of this machine, or arrays of Arrow.
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
    fn numbers(&mut self, name: String, kind: &str, bytes: PyBackedBytes) -> PyResult<()> {
        let column: ArrayRef = match kind {
            "f4" => Arc::new(values::<Float32Type>(bytes)),
            "f8" => Arc::new(values::<Float64Type>(bytes)),
            "i4" => Arc::new(values::<Int32Type>(bytes)),
            "i8" => Arc::new(values::<Int64Type>(bytes)),
            other => {
                let text = format!("column {name}: expected numbers of kind f4, f8, i4 or i8, found {other}");
                return Err(PyValueError::new_err(text));
            }
        };
        self.columns.push((name, column));
        Ok(())
    }

    /// Adds a column of times, `i8` since 1970 in a unit (`s`, `ms`, `us`, `ns`), of UTC where there is a zone.
    fn times(&mut self, name: String, unit: &str, zone: Option<&str>, bytes: PyBackedBytes) -> PyResult<()> {
        let times = values::<Int64Type>(bytes);
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
    fn texts(&mut self, name: String, codes: PyBackedBytes, texts: Vec<String>) -> PyResult<()> {
        let codes = values::<Int32Type>(codes);
        let codes: Int32Array = match codes.values().contains(&-1) {
            true => codes.values().iter().map(|&code| Some(code).filter(|&code| code >= 0)).collect(),
            false => codes,
        };
        let column = DictionaryArray::try_new(codes, Arc::new(StringArray::from(texts)))
            .map_err(|error| PyValueError::new_err(format!("column {name}: {error}")))?;
        self.columns.push((name, Arc::new(column)));
        Ok(())
    }

    /// Adds a column that is an array of Arrow, of which nothing is copied.
    fn array(&mut self, name: String, array: &Bound<'_, PyAny>) -> PyResult<()> {
        self.columns.push((name, make_array(FromPyArrow::from_pyarrow_bound(array)?)));
        Ok(())
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.columns.iter().map(|(name, _)| name.clone()).collect()
    }

    /// The table as a stream of Arrow.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface lets a producer hand out its own types.
        drop(requested_schema);
        stream(py, self.batch()?)
    }
}

impl PyTable {
    pub(crate) fn batch(&self) -> PyResult<RecordBatch> {
        let columns = self.columns.iter().map(|(name, column)| (name.as_str(), column.clone(), true));
        RecordBatch::try_from_iter_with_nullable(columns)
            .map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

/// Numbers of this machine, in the memory of Python's object where that is aligned as numbers are.
fn values<T: ArrowPrimitiveType>(bytes: PyBackedBytes) -> PrimitiveArray<T> {
    let width = size_of::<T::Native>();
    let len = bytes.len() / width;
    let buffer = match bytes.as_ptr().addr().is_multiple_of(width) {
        true => Buffer::from(Bytes::from_owner(bytes)),
        false => Buffer::from_slice_ref(&*bytes),
    };
    PrimitiveArray::new(ScalarBuffer::new(buffer, 0, len), None)
}
