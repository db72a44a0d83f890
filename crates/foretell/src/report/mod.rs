//! A report on forecasts as one HTML file: the page is `foretell-report`'s, what it tells is gathered from panels and tables of
//! forecasts.

mod answer;
mod apart;
mod baseline;
mod charts;
mod columns;
mod facts;
mod importances;
mod latest;
mod scores;
mod search;
mod sum_series;
mod total;
mod windows;

pub use answer::{AnswerInputs, answer};
pub use apart::{ForecastsApart, forecasts_apart};
pub use baseline::{UnscoredBaseline, baseline};
pub use charts::charts;
pub use columns::drawn_models;
pub use facts::{facts, settings};
pub use foretell_report::*;
pub use importances::importances;
pub use latest::{UnknownForecastSeries, check_series};
pub use scores::{scored, whose_scores};
pub use search::SearchInputs;
pub use windows::{civil, known_values, windows};
