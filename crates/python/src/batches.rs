//! Tables of Python as Arrow record batches.

use arrow_array::RecordBatch;
use arrow_array::ffi_stream::RecordBatchStreamReader;
use arrow_pyarrow::FromPyArrow as _;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::table::PyTable;

/// The batches of a `Table`, or of any object with `__arrow_c_stream__`; nothing is copied of the latter.
pub(crate) fn batches(data: &Bound<'_, PyAny>) -> PyResult<Vec<RecordBatch>> {
    if let Ok(table) = data.cast::<PyTable>() {
        return Ok(vec![table.borrow().batch()?]);
    }
    let reader = RecordBatchStreamReader::from_pyarrow_bound(data)?;
    data.py()
        .detach(|| reader.collect::<Result<_, _>>())
        .map_err(|error| PyValueError::new_err(format!("the table cannot be read by Arrow: {error}")))
}
