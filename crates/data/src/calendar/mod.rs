//! Times and the steps between them: kinds, frequencies, zones, how they are read and written.

pub(crate) mod clock;
pub(crate) mod cursor;
pub(crate) mod days;
pub(crate) mod directives;
pub(crate) mod error;
pub(crate) mod flaw;
pub(crate) mod freq;
pub(crate) mod given_time;
pub(crate) mod integer_dates;
pub(crate) mod interval;
pub(crate) mod iso;
pub(crate) mod kind;
pub(crate) mod pattern;
pub(crate) mod periods;
pub(crate) mod repeated_times;
pub(crate) mod season;
pub(crate) mod serial;
pub(crate) mod spelling;
pub(crate) mod steps;
pub(crate) mod style;
pub(crate) mod time_format;
pub(crate) mod written;
pub(crate) mod zone;
