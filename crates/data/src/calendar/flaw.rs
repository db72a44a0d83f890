//! What is wrong with a time as it is written.

use std::fmt;

use crate::setting::Setting;

/// What is wrong with a time, and what to write instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeFlaw {
    text: &'static str,
    /// A setting to change, and an example of its value.
    setting: Option<(Setting, &'static str)>,
    /// What else would help.
    or: &'static str,
}

impl TimeFlaw {
    pub(crate) const fn new(text: &'static str) -> Self {
        Self { text, setting: None, or: "" }
    }

    /// A text that ends with a setting.
    pub(crate) const fn advising(text: &'static str, setting: Setting, example: &'static str) -> Self {
        Self { text, setting: Some((setting, example)), or: "" }
    }

    /// Another remedy, behind the setting.
    pub(crate) const fn or(self, or: &'static str) -> Self {
        Self { or, ..self }
    }
}

impl fmt::Display for TimeFlaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.setting {
            None => write!(f, "{}{}", self.text, self.or),
            Some((setting, example)) => write!(f, "{} {}{}", self.text, setting.to(example), self.or),
        }
    }
}

impl std::error::Error for TimeFlaw {}
