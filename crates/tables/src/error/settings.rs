//! Errors of settings of reading.

use foretell_messages::did_you_mean;

/// A setting of a value that it cannot have.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum SettingError {
    /// A setting is out of its range.
    #[error("{name} must be {expected}, found {found}")]
    #[strum(serialize = "setting_out_of_range")]
    OutOfRange {
        /// The setting.
        name: &'static str,
        /// Its value.
        found: String,
        /// The values it may have.
        expected: String,
    },
    /// The word is no way to fill.
    #[error("unknown fill `{word}`{}; known are forward, zero, interpolate", did_you_mean(.nearest))]
    UnknownFill {
        /// The word.
        word: String,
        /// The one it may be a slip of.
        nearest: Option<String>,
    },
    /// The word is no local scaler.
    #[error("unknown local scaler `{word}`{}; known are standard, robust, robust-iqr, minmax, boxcox", did_you_mean(.nearest))]
    UnknownLocalScaler {
        /// The word.
        word: String,
        /// The scaler it may be a slip of.
        nearest: Option<String>,
    },
}

impl SettingError {
    /// The setting, where the kind of the error does not name it.
    pub fn setting(&self) -> Option<&'static str> {
        match self {
            Self::OutOfRange { name, .. } => Some(name),
            Self::UnknownFill { .. } | Self::UnknownLocalScaler { .. } => None,
        }
    }
}
