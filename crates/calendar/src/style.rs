//! Times written as text.

use std::fmt::Write as _;

use super::days::{DAY, date_of};
use super::freq::Freq;
use super::kind::TimeKind;
use super::zone::{self, Zone};

impl TimeKind {
    /// Writes a time for messages: without the time of day at midnight.
    pub fn display(self, time: i64) -> String {
        self.display_in(None, time)
    }

    /// Writes a time for messages, as the clocks of that zone show it.
    pub fn display_in(self, zone: Option<&Zone>, time: i64) -> String {
        let style = match self {
            Self::Integer => TimeStyle::Integer,
            Self::Timestamp => TimeStyle::of_times(zone.is_none(), std::iter::once(time)),
        };
        let mut text = String::new();
        style.write(zone, time, &mut text);
        text
    }
}

/// How a column of times is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeStyle {
    /// `17`
    Integer,
    /// `2024-01-31`
    Date,
    /// `2024-01-31 13:45:00`
    Seconds,
    /// `2024-01-31 13:45:00.250000`
    Micros,
}

impl TimeStyle {
    /// Dates where the frequency is daily or coarser and all times are midnights; else with the
    /// clock, and with decimals of the second only where a time has them.
    /// With a zone the clock is always written.
    pub fn of(freq: Freq, zone: Option<&Zone>, times: impl Iterator<Item = i64>) -> Self {
        match freq.kind() {
            TimeKind::Integer => Self::Integer,
            TimeKind::Timestamp => Self::of_times(freq.is_daily_or_coarser() && zone.is_none(), times),
        }
    }

    fn of_times(dates: bool, times: impl Iterator<Item = i64>) -> Self {
        let mut style = if dates { Self::Date } else { Self::Seconds };
        for time in times {
            if time % 1_000_000 != 0 {
                return Self::Micros;
            }
            if time % DAY != 0 {
                style = Self::Seconds;
            }
        }
        style
    }

    /// Appends `time` to `out`, as the clocks of `zone` show it, followed by their offset from UTC.
    ///
    /// # Panics
    /// If a timestamp is outside the years -9999 to 9999.
    pub fn write(self, zone: Option<&Zone>, time: i64, out: &mut String) {
        if let (Some(zone), true) = (zone, self != Self::Integer) {
            let offset = zone.offset(time).expect("timestamps are within the calendar");
            self.write(None, time + i64::from(offset) * 1_000_000, out);
            let _ = zone::write_offset(offset, out);
            if zone.bracketed {
                let _ = write!(out, "[{}]", zone.name);
            }
            return;
        }
        if self == Self::Integer {
            // Writing to a string cannot fail.
            let _ = write!(out, "{time}");
            return;
        }
        let day = date_of(time.div_euclid(DAY)).expect("timestamps are within the calendar");
        match day.year() {
            year @ 0..=9999 => {
                digits::<4>(out, i64::from(year));
                out.push('-');
                digits::<2>(out, day.month().into());
                out.push('-');
                digits::<2>(out, day.day().into());
            }
            _ => {
                let _ = write!(out, "{day}");
            }
        }
        if self == Self::Date {
            return;
        }
        let micros = time.rem_euclid(DAY);
        let seconds = micros / 1_000_000;
        for (mark, number) in [(' ', seconds / 3600), (':', seconds / 60 % 60), (':', seconds % 60)] {
            out.push(mark);
            digits::<2>(out, number);
        }
        if self == Self::Micros {
            out.push('.');
            digits::<6>(out, micros % 1_000_000);
        }
    }
}

/// Appends the last `N` digits of a number, which is not negative.
fn digits<const N: usize>(out: &mut String, mut number: i64) {
    let mut digits = [0; N];
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
    out.push_str(str::from_utf8(&digits).expect("digits"));
}
