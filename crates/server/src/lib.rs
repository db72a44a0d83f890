//! Forecasts over HTTP: saved models served to other programs, and the same engine as a library
//!
//! A [`ForecastEngine`] holds models and threads that forecast with them; [`serve`] answers requests on a socket. Requests and answers
//! are tables in JSON, CSV, Parquet or Arrow's streams; errors are problem details (RFC 9457) that say what the command line
//! says.
//!
//! # Features
//!
//! The only one, `default`, switches on what the crates below have by default: kernels dispatched at run time (`simd` of `foretell-simd`),
//! threads (`parallel` of `foretell-threads`), recycled buffers (`pool` of `foretell-pool`) and the like. Without it they are off, and
//! everything gives the same results; depend on those crates as well to choose among them.
#![forbid(unsafe_code)]

mod address;
mod anew;
mod app;
mod encode;
mod engine;
mod error;
mod field_words;
mod fields;
mod forecast;
mod joint_request;
mod joint_sizes;
mod media_type;
mod memory_account;
mod metrics;
mod model;
mod models;
mod observe;
mod openapi;
mod page;
mod pieces;
mod problem;
mod queue;
mod read_request;
mod reading;
mod receive;
mod request;
mod routes;
mod run;
mod serve;
mod serve_settings;
mod settings;
mod timed_stream;
mod token;

pub use engine::ForecastEngine;
pub use error::{EngineError, EngineStartError};
pub use field_words::FIELD_WORDS;
pub use model::ModelFacts;
pub use models::Reload;
pub use request::{AheadOptions, ContributionOptions, ForecastAnswer, ForecastKind, ForecastRequest};
pub use run::run;
pub use serve::serve;
pub use serve_settings::{LogLine, ServeSettings};
pub use settings::EngineSettings;
pub use token::Token;

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
