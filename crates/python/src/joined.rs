//! Models of parts of a panel, joined.

use foretell::Fitted;
use pyo3::prelude::*;

use crate::error::exception;
use crate::fitted::PyFitted;

/// The models of all series, of what `Fitted.to_bytes` wrote of models that were fitted to parts of these, in their order.
#[pyfunction]
#[pyo3(signature = (parts, threads = 0))]
pub(crate) fn join_models(py: Python<'_>, parts: Vec<Vec<u8>>, threads: usize) -> PyResult<PyFitted> {
    let join = || {
        let parts = parts.iter().map(|part| Fitted::from_bytes(part)).collect::<Result<Vec<_>, _>>()?;
        PyFitted::read(Fitted::joined(parts)?, threads)
    };
    py.detach(join).map_err(|error: foretell::Error| exception(error))
}
