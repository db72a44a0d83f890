//! Calendars of time series: the steps between times, the zones that clocks show, and the ways in which times are written.
//!
//! Times are integers: microseconds since 1970 in UTC, or plain numbers ([`TimeKind`]). A [`Freq`] is a calendar or a step,
//! recognised from times or parsed from pandas' words; it leads from a time to the next one. A [`Clock`] reads the times of a column,
//! whose first one settles how all are written; a [`TimeStyle`] writes
//! them.
//!
//! ```
//! use foretell_calendar::{Freq, TimeKind};
//!
//! let freq = Freq::parse("ME")?; // ends of months
//! let january = 1_706_659_200_000_000; // 2024-01-31
//! let february = freq.next(january, 1).expect("a time within the calendar");
//! assert_eq!(TimeKind::Timestamp.display(february), "2024-02-29");
//! # Ok::<(), foretell_calendar::CalendarError>(())
//! ```
//!
//! # Features
//!
//! * `tzdb`, on by default: the database of time zones is built in. Without it zones are looked up in the system's, if it has one; UTC and
//!   offsets such as `+02:00` need none.

#![forbid(unsafe_code)]

mod clock;
mod cursor;
pub mod days;
mod directives;
mod error;
mod flaw;
mod freq;
mod freq_guess;
mod freq_words;
mod given_time;
mod integer_dates;
mod interval;
mod iso;
mod kind;
mod locale;
mod mail;
mod months;
mod opening_hours;
mod pattern;
mod period_days;
pub mod periods;
pub mod readings;
mod repeated_times;
mod retail;
mod season;
mod serial;
mod spelling;
pub mod step_hints;
mod step_words;
mod steps;
mod style;
mod time_format;
mod unit;
mod workdays;
mod written;
pub mod zone;

pub use clock::Clock;
pub use error::CalendarError;
pub use flaw::{Advice, TimeFlaw};
pub use freq::Freq;
pub use given_time::{LATE_ZONE, Time};
pub use integer_dates::IntegerFormat;
/// Dates and times in code.
pub use jiff;
pub use kind::TimeKind;
pub use locale::Locale;
pub use repeated_times::RepeatedTimes;
pub use season::{calendar_seasons, usual_season};
pub use step_hints::StepHint;
pub use step_words::{MostlyMissing, OddSteps};
pub use steps::Steps;
pub use style::TimeStyle;
pub use time_format::TimeFormat;
pub use zone::Zone;

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
