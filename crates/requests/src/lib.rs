//! Requests and answers as bytes: the engine as hosts of JavaScript call it
//!
//! A [`Session`] holds models and answers requests. A request and an answer are each a [message](split): JSON, and bytes beside it where
//! a file or an archive of a model comes, or an archive or a report goes. What a request holds is what the npm package `foretell` sends: `op`, the work, and its fields.
//! An error is an answer, too: `{"error": {"code", "setting", "message", "advice", ...}}`, with the codes of `docs/errors.md`.
#![forbid(unsafe_code)]

mod archive;
mod evaluation;
mod forecast;
mod host;
mod kept;
mod kept_asked;
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
