//! What is done to the forecasts of models, and to which: the one table of it.

use std::fmt;

/// Where the windows come from that are forecast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The steps after the end of each series.
    Ahead,
    /// The history of each series, from one cutoff after the other.
    History,
    /// The end of each series, by models that have not seen it.
    Cutoffs,
    /// Sample paths of the steps after the end.
    Paths,
    /// The parts of forecasts: components, or contributions of columns.
    Parts,
}

/// What is done to the forecasts of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Levels and quantiles: the model's own, of calibration or of dropout.
    Intervals,
    /// Columns that combine those of the models.
    Ensembles,
    /// Values that are not negative, or whole numbers.
    Bounds,
    /// Forecasts of a hierarchy that add up.
    Sums,
}

impl Source {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Ahead, Self::History, Self::Cutoffs, Self::Paths, Self::Parts];

    /// The commands that forecast such windows.
    pub fn commands(self) -> &'static str {
        match self {
            Self::Ahead => "`predict`, `forecast`, `serve`",
            Self::History => "`predict` of the history, `anomalies` of trained models",
            Self::Cutoffs => "`cross-validate`, `anomalies`, `tune`",
            Self::Paths => "`simulate`",
            Self::Parts => "`decompose`, `explain`",
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ahead => "forecasts ahead",
            Self::History => "forecasts of the history",
            Self::Cutoffs => "cross-validation",
            Self::Paths => "sample paths",
            Self::Parts => "parts of forecasts",
        })
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Intervals => "intervals",
            Self::Ensembles => "ensembles",
            Self::Bounds => "bounds",
            Self::Sums => "sums of a hierarchy",
        })
    }
}

impl Stage {
    /// All of them, in the order in which they change forecasts.
    pub const ALL: [Self; 4] = [Self::Intervals, Self::Ensembles, Self::Bounds, Self::Sums];

    /// Why forecasts of this source stay without what the stage does, if they do.
    pub fn refusal(self, source: Source) -> Option<&'static str> {
        match (self, source) {
            (Self::Intervals, Source::Paths) => {
                Some("paths are drawn from the intervals that models have, and have none themselves")
            }
            (Self::Intervals, Source::Parts) => Some("a model explains its forecast of a single number"),
            (Self::Ensembles, Source::Parts) => {
                Some("each member has parts of its own, which are not combined")
            }
            (Self::Bounds, Source::Parts) => {
                Some("parts add up to the forecast before it is bounded: a bound belongs to none of them")
            }
            (Self::Sums, Source::Parts) => {
                Some("parts add up to the model's own forecast of each series, before sums are reconciled")
            }
            _ => None,
        }
    }
}
