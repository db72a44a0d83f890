//! Ids that several columns make together.

use foretell::{ArrowTable, DataError, Frame, Freq, joined_ids as joined};
use pyo3::prelude::*;

use crate::batches::batches;
use crate::error::{exception, of_calendar};
use crate::frame::PyFrame;

/// The id of each row of a table that these of its columns make, joined as the engine joins them in files; the times are the rows.
#[pyfunction]
pub(crate) fn joined_ids(table: &Bound<'_, PyAny>, parts: Vec<String>) -> PyResult<PyFrame> {
    let rows = batches(table)?;
    let freq = Freq::parse("1").map_err(of_calendar)?;
    let read = || -> Result<Frame, DataError> {
        let ids = joined(Box::new(ArrowTable::from_batches(rows)?), &parts.join(","))?;
        Ok(Frame { times: (0..ids.len() as i64).collect(), ids, ..Frame::new(freq) })
    };
    let frame = table.py().detach(read).map_err(exception)?;
    Ok(PyFrame::of(frame, None))
}
