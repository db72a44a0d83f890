//! Parts of messages: settings by the names that each host has for them, the nearest valid name, and excerpts of cells.
//!
//! A library that finds a mistake says which [`Setting`] to change. It knows neither the flags of a command line nor the fields of a
//! request: the host words settings, for the whole process ([`word_settings`]) or for a part of it ([`in_words_of`]).

#![forbid(unsafe_code)]

mod nearest;
mod request_field;
mod setting;
mod wording;

pub use nearest::{is_slip, nearest, ranked};
pub use request_field::{request_field, request_value};
pub use setting::{Setting, SettingWords, in_words_of, settings_named, word_settings, words_here};
pub use wording::{did_you_mean, excerpt, listed};

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
