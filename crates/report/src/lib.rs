//! A report on forecasts as one HTML file that needs no network.
//!
//! A [`Report`] holds what is told, as plain data of any origin; [`Report::write`] writes the page. `foretell::report` gathers it from panels and
//! tables of forecasts. Tables are markup, so they are read without scripts; charts are drawn by the page's own script, each when it is
//! looked at, from numbers that are packed as base64. All texts are escaped, and the script sets them as text, since ids of series come
//! from files of others.
#![forbid(unsafe_code)]

mod contents;
mod error;
mod escape;
mod markup;
mod metric_words;
mod packed;
mod page;
mod sections;

pub use contents::{
    Answer, Charts, ForecastLines, Importances, ModelLines, ModelSettings, Report, ScoreSheet, ScoredBy,
    SeriesLines, TotalLines,
};
pub use error::ReportError;
pub use markup::{amount, grouped, percent};
pub use metric_words::metric_words;

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
