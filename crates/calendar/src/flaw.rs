//! Flaws of times as they are written.

use std::fmt;

use foretell_messages::Setting;

/// A flaw of a time, and what to write instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeFlaw {
    text: &'static str,
    advice: Option<&'static Advice>,
}

/// A setting that would help.
#[derive(Debug, PartialEq, Eq)]
pub struct Advice {
    setting: Setting,
    /// An example of its value.
    example: &'static str,
    /// Another remedy.
    or: &'static str,
}

impl TimeFlaw {
    /// What is wrong, as the end of a sentence about the time.
    pub const fn new(text: &'static str) -> Self {
        Self { text, advice: None }
    }

    /// A text that ends with a setting.
    pub const fn advising(text: &'static str, advice: &'static Advice) -> Self {
        Self { text, advice: Some(advice) }
    }

    /// The flaw with what is known to read such texts, in place of an example.
    pub fn with_readings(&self, readings: &str) -> String {
        match self.text.strip_suffix(", as in") {
            Some(text) => format!("{text}: {readings}"),
            None => format!("{self}; {readings}"),
        }
    }
}

impl Advice {
    /// A setting and an example of its value.
    pub const fn new(setting: Setting, example: &'static str) -> Self {
        Self { setting, example, or: "" }
    }

    /// The same with another remedy, which follows the example.
    pub const fn or(self, or: &'static str) -> Self {
        Self { or, ..self }
    }
}

impl fmt::Display for TimeFlaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.advice {
            None => f.write_str(self.text),
            Some(Advice { setting, example, or }) => write!(f, "{} {}{or}", self.text, setting.to(example)),
        }
    }
}

impl std::error::Error for TimeFlaw {}
