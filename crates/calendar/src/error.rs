//! Errors of words that should name a frequency, a zone or a format of times.

/// A word that names no frequency, time zone or format of times; says what may be written instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum CalendarError {
    /// The word is no frequency.
    #[error(
        "unknown frequency `{word}`; the nearest are {nearest}; a frequency is an integer, or one of us, ms, s, min, h, bh, \
         D, B, C, W-SUN .. W-SAT, SMS, SME, MS, ME, QS, QE, YS, YE, BMS, BME, BQS, BQE, BYS, BYE with an optional \
         multiple (15min) and first or last month (QE-NOV), or a retail calendar (REQ-N-JAN-SAT-4)"
    )]
    #[strum(serialize = "unknown_frequency")]
    UnknownFreq {
        /// The word.
        word: String,
        /// The nearest valid words.
        nearest: String,
    },
    /// The word is no time zone.
    #[error(
        "unknown time zone `{word}`; write UTC, an offset such as +02:00, or a name of the IANA database such as \
         Europe/Berlin{}",
        if cfg!(feature = "tzdb") { "" } else { " (this program has only the system's; build it with the feature `tzdb`)" }
    )]
    #[strum(serialize = "unknown_zone")]
    UnknownZone {
        /// The word.
        word: String,
    },
    /// The code of a language whose months are not known.
    #[error(
        "the names of months are known in the languages {known}; found `{code}`; write months as numbers, or in one of them"
    )]
    #[strum(serialize = "unknown_locale")]
    Locale {
        /// The code.
        code: String,
        /// Those that are known.
        known: String,
    },
    /// The word is no format of times.
    #[error(
        "unknown time format `{word}`: {reason}; write `integer`, `excel`, `epoch`, `epoch-ms`, or how times look, as in %Y%m%d, %d.%m.%Y %H:%M or \
         %b %Y (Y year, m month, b its name, q quarter, d day, H hour, M minute, S second)"
    )]
    UnknownTimeFormat {
        /// The word.
        word: String,
        /// The fault.
        reason: String,
    },
}
