//! The Python module `foretell._foretell`: tables of Arrow in, forecasts out.
//!
//! Each class is a file over one of the facade's types. What neuralforecast's users call is written in Python above them
//! (`python/foretell`): these classes know neither pandas nor signatures. Long calls release the interpreter's lock.
#![forbid(unsafe_code)]
#![cfg(feature = "parquet")]

mod argument_words;
mod attribution;
mod batches;
mod error;
mod evaluation;
mod features;
mod fitted;
mod forecaster;
mod frame;
mod frame_text;
mod ids;
mod imported;
mod interval_sources;
mod joined;
mod leaderboard;
mod models;
mod panel;
mod prepared;
mod pruning;
mod reconciliation;
mod report;
mod setting_words;
mod spec;
mod stream;
mod table;
mod told;
mod training_settings;
mod watched;

/// The engine behind the package `foretell`.
#[pyo3::pymodule]
mod _foretell {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::evaluation::evaluate;
    #[pymodule_export]
    use crate::features::{compute_features, feature_names};
    #[pymodule_export]
    use crate::fitted::PyFitted;
    #[pymodule_export]
    use crate::forecaster::PyForecaster;
    #[pymodule_export]
    use crate::frame::PyFrame;
    #[pymodule_export]
    use crate::ids::joined_ids;
    #[pymodule_export]
    use crate::imported::import_models;
    #[pymodule_export]
    use crate::joined::join_models;
    #[pymodule_export]
    use crate::leaderboard::leaderboard;
    #[pymodule_export]
    use crate::models::{check_model, hyper_parameters, local_scalers, model_names, search_space};
    #[pymodule_export]
    use crate::panel::PyPanel;
    #[pymodule_export]
    use crate::prepared::PyPrepared;
    #[pymodule_export]
    use crate::reconciliation::reconcile;
    #[pymodule_export]
    use crate::report::report;
    #[pymodule_export]
    use crate::table::PyTable;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        foretell_auto::Auto::register();
        foretell::word_settings(crate::setting_words::ARGUMENTS);
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
