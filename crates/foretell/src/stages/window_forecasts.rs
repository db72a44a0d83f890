//! What stages change: the forecasts of all models for windows of a panel.

use foretell_estimator::{Cutoff, Output};
use foretell_tables::ForecastColumn;

/// The forecasts of all models for windows of a panel.
#[derive(Default)]
pub(crate) struct WindowForecasts {
    /// The windows, by series, then time.
    pub(crate) windows: Vec<Cutoff>,
    /// Columns `[windows, steps]`, and what they hold.
    pub(crate) columns: Vec<(ForecastColumn, Vec<f32>)>,
    /// The columns of each model, then those of each ensemble.
    pub(crate) models: Vec<Vec<Output>>,
    /// Whether those of a hierarchy have been made to add up.
    pub(crate) add_up: bool,
}
