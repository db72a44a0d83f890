//! How estimators see series whose values are held relative to a level.

/// How an estimator sees series that are held relative to a [`SeriesLevel`](foretell_data::SeriesLevel): what it reads is relative to this
/// level, and so is what it forecasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelsSeen {
    /// At any level; its forecasts of a series do not depend on it.
    Any,
    /// At the level that the series had in training.
    OfTraining,
    /// Without levels: what it forecasts depends on where zero is, as of counts, of values above zero or of relative errors.
    None,
}
