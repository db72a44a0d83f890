//! Scores of forecasts, beside the true values: a table of metrics, over all rows or by series, cutoff and step.
//!
//! A [`Metric`] is an entry of [`METRICS`]: a name, what it needs, and a function of one row. [`ScoredRows`] are the forecasts of
//! any number of models, whatever their source; [`evaluate`] scores them as `utilsforecast` does, on the rows that all models have.
//! All is in `f64`.
//!
//! ```
//! use foretell_evaluate::{Metric, ModelForecasts, ScoreBy, ScoreOptions, ScoredRows, evaluate};
//!
//! let naive = ModelForecasts::of_points("Naive", &[2.0, 2.0, 7.0]);
//! let rows = ScoredRows::new(&[1.0, 2.0, 6.0], &[0, 0, 1], &[0, 0, 0], &[1, 2, 1], vec![naive])?;
//! let scores = evaluate(&rows, &[Metric::parse("mae")?], ScoreBy::Series, &ScoreOptions::default())?;
//! assert_eq!(scores.groups[1].series, Some(1));
//! assert_eq!(scores.metrics[0].values, [[0.5], [1.0]]);
//! # Ok::<(), foretell_evaluate::EvaluationError>(())
//! ```
#![forbid(unsafe_code)]

mod anomalies;
mod diebold_mariano;
mod error;
mod evaluate;
mod history;
mod metric;
mod metrics;
mod parse;
mod rows;
mod samples;
mod score_table;
#[cfg(test)]
mod utilsforecast_tests;

pub use anomalies::{Anomaly, anomalies, error_spread};
pub use diebold_mariano::{DieboldMariano, diebold_mariano};
pub use error::EvaluationError;
pub use evaluate::evaluate;
pub use history::ScoreHistory;
pub use metric::{Metric, RowAggregate, RowScore, Scale};
pub use metrics::METRICS;
pub use rows::{ModelForecasts, ScoredRows};
pub use score_table::{
    MISSING, MetricScores, ScoreBy, ScoreGroup, ScoreOptions, ScoreTable, Uncounted, is_count,
};

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
