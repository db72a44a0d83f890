//! Errors of features.

use std::path::PathBuf;

use foretell_data::DataError;

/// A feature that cannot be read or computed.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum FeatureError {
    /// A word that names no feature.
    #[error("no feature is called `{found}`; {}", match nearest {
        Some(nearest) => format!("did you mean {nearest}?"),
        None => format!("there are {known}"),
    })]
    #[strum(serialize = "unknown_feature")]
    Unknown {
        /// The word.
        found: String,
        /// The feature that was probably meant.
        nearest: Option<String>,
        /// All features.
        known: String,
    },
    /// Arguments that a feature does not take.
    #[error("feature {found}: {reason}; write it as {example}")]
    #[strum(serialize = "feature_arguments")]
    Arguments {
        /// The feature as written.
        found: String,
        /// The fault.
        reason: String,
        /// A feature of this name.
        example: &'static str,
    },
    /// Two features with a column of the same name.
    #[error("two features have the column {column}; leave one of them out")]
    #[strum(serialize = "two_columns_of_one_name")]
    Twice {
        /// The column.
        column: String,
    },
    /// A file of days that cannot be opened or read.
    #[error("{}: {source}", path.display())]
    #[strum(serialize = "cannot_read_file")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The fault.
        source: std::io::Error,
    },
    /// A file of days with something else in it.
    #[error("{}: {reason}", path.display())]
    #[strum(serialize = "invalid_days")]
    Days {
        /// The file.
        path: PathBuf,
        /// The fault, and what to write.
        reason: String,
    },
    /// A feature of the calendar, and times that are integers.
    #[error(
        "feature {feature} needs dates, and the times of the data are integers; leave it out, or give dates"
    )]
    #[strum(serialize = "times_without_dates")]
    NoDates {
        /// The feature.
        feature: String,
    },
    /// A panel that has no room for the columns, or whose times leave the calendar.
    #[error(transparent)]
    Data(#[from] DataError),
}
