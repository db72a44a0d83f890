//! A series that a model forecasts in another way than its hyper-parameters say.

use foretell_estimator::Fallback;

/// A series that a model forecasts in another way than its hyper-parameters say, as its history does not allow it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesFallback {
    /// The id of the series.
    pub series: String,
    /// The name of the model's column.
    pub model: String,
    /// What the history has or lacks.
    pub reason: String,
    /// What forecasts it.
    pub instead: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
}

impl SeriesFallback {
    pub(crate) fn new(series: String, model: String, Fallback { reason, instead, remedy }: Fallback) -> Self {
        Self { series, model, reason, instead, remedy }
    }
}
