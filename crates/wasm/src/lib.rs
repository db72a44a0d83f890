//! The engine in browsers and Node: requests and answers as bytes, a module of WebAssembly
//!
//! A [`Session`] holds models and answers requests. A request and an answer are each a [message](split): JSON, and bytes beside it where
//! a file or an archive of a model comes, or an archive or a report goes. What a request holds is what the npm package `foretell` sends: `op`, the work, and its fields.
//! An error is an answer, too: `{"error": {"code", "setting", "message", "advice", ...}}`, with the codes of `docs/errors.md`.
//!
//! # Features
//!
//! The only one, `default`, switches on what the crates below have by default. The module has it off, and of the facade `excel`, `flash`,
//! `networks`, `pool` and `simd` alone; the small one `pool` and `simd`.
#![deny(unsafe_code)]

mod archive;
mod evaluation;
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
mod exports;
mod forecast;
mod host;
mod kept;
mod look;
mod message;
mod models;
mod refusal;
mod series;
mod session;
mod setting_words;
mod specs;
mod table;

pub use host::Host;
pub use message::{join, split};
pub use session::Session;
