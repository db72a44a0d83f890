//! Digits and marks read off the front of a text.

use super::days::{DAY, FRACTION};
use super::flaw::{Advice, TimeFlaw};
use foretell_messages::Setting;

pub(crate) const FORMAT: TimeFlaw = TimeFlaw::advising(
    "is not a time; write an integer, 2024-01-31, 2024-01, or 2024-01-31 13:45:00, or say how times are written, as in",
    &Advice::new(Setting::TimeFormat, "%d.%m.%Y"),
);
pub(crate) const CLOCK: TimeFlaw =
    TimeFlaw::new("is not a time of day; hours go to 23, minutes and seconds to 59, and 24:00 ends a day");

/// The rest of a text.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a>(pub(crate) &'a [u8]);

impl Cursor<'_> {
    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        let is_next = self.0.first() == Some(&byte);
        if is_next {
            self.0 = &self.0[1..];
        }
        is_next
    }

    /// A number of `min` to `max` digits (as many as there are, up to `max`).
    pub(crate) fn number(&mut self, min: usize, max: usize) -> Option<i64> {
        let digits = self.0.iter().take(max).take_while(|b| b.is_ascii_digit()).count();
        let (number, rest) = self.0.split_at(digits);
        self.0 = rest;
        (digits >= min).then(|| number.iter().fold(0, |n, b| n * 10 + i64::from(b - b'0')))
    }

    /// `HH:MM[:SS[.ffffff]]` in microseconds; `24:00` is the end of the day.
    pub(crate) fn clock(&mut self) -> Result<i64, TimeFlaw> {
        let hour = self.number(1, 2).ok_or(FORMAT)?;
        if !self.eat(b':') {
            return Err(FORMAT);
        }
        let minute = self.number(2, 2).ok_or(FORMAT)?;
        let second = if self.eat(b':') { self.number(2, 2).ok_or(FORMAT)? } else { 0 };
        if hour > 24 || minute > 59 || second > 59 {
            return Err(CLOCK);
        }
        let mut micros = 0;
        if self.eat(b'.') {
            let before = self.0.len();
            micros = self.number(1, 6).ok_or(FORMAT)?;
            for _ in before - self.0.len()..6 {
                micros *= 10;
            }
            while self.eat(b'0') {}
            if self.0.first().is_some_and(u8::is_ascii_digit) {
                return Err(FRACTION);
            }
        }
        let time = ((hour * 60 + minute) * 60 + second) * 1_000_000 + micros;
        if time > DAY { Err(CLOCK) } else { Ok(time) }
    }
}
