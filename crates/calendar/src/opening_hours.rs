//! Hours in which someone works.

use std::fmt;
use std::sync::Mutex;

use super::days::DAY;
use super::workdays::{MONDAY_TO_FRIDAY, Workdays};

pub(crate) const HOUR: i64 = 3_600_000_000;

/// Times of day, the same on each of some days, that follow each other without a gap in between.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct OpeningHours {
    pub(crate) days: &'static Workdays,
    /// Starts and ends in microseconds of the day, ascending; together they are some hours.
    spans: Vec<(i64, i64)>,
}

static KNOWN: Mutex<Vec<&'static OpeningHours>> = Mutex::new(Vec::new());

impl OpeningHours {
    /// Opening hours; nothing if they are not ascending, or not whole hours together.
    pub(crate) fn new(days: &'static Workdays, spans: Vec<(i64, i64)>) -> Option<&'static Self> {
        let clock = spans.iter().flat_map(|(start, end)| [*start, *end]);
        let hours = Self { days, spans: spans.clone() };
        let length = hours.length();
        if !clock.is_sorted() || spans.last()?.1 > DAY || length % HOUR != 0 || length == 0 {
            return None;
        }
        let mut known = KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(same) = known.iter().find(|same| ***same == hours) {
            return Some(same);
        }
        let leaked: &'static Self = Box::leak(Box::new(hours));
        known.push(leaked);
        Some(leaked)
    }

    /// The same on other days.
    pub(crate) fn on(&self, days: &'static Workdays) -> Option<&'static Self> {
        Self::new(days, self.spans.clone())
    }

    /// Reads nothing (9 to 17, Monday to Friday), `-08:00-18:00` or `-09:00-12:00,13:00-18:00`, and behind a slash the days.
    pub(crate) fn parse(word: &str) -> Option<&'static Self> {
        let (spans, days) = word.split_once('/').map_or((word, None), |(spans, days)| (spans, Some(days)));
        let days = days.map_or(Some(&MONDAY_TO_FRIDAY), Workdays::parse)?;
        if spans.is_empty() {
            return Self::new(days, vec![(9 * HOUR, 17 * HOUR)]);
        }
        let clock = |text: &str| {
            let (hours, minutes) = text.split_once(':')?;
            let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
            ((0..=24).contains(&hours) && (0..60).contains(&minutes))
                .then(|| hours * HOUR + minutes * (HOUR / 60))
        };
        let span =
            |text: &str| text.split_once('-').and_then(|(start, end)| Some((clock(start)?, clock(end)?)));
        Self::new(days, spans.strip_prefix('-')?.split(',').map(span).collect::<Option<Vec<_>>>()?)
    }

    /// Hours of a day.
    pub(crate) fn per_day(&self) -> usize {
        (self.length() / HOUR) as usize
    }

    fn length(&self) -> i64 {
        self.spans.iter().map(|(start, end)| end - start).sum()
    }

    /// Time that is open from a fixed day on until `time`.
    pub(crate) fn open_until(&self, time: i64) -> Option<i64> {
        let (day, clock) = (time.div_euclid(DAY), time.rem_euclid(DAY));
        let index = self.days.floor(day);
        let passed = match self.days.day(index)? == day {
            true => self.spans.iter().map(|(start, end)| (clock - start).clamp(0, end - start)).sum(),
            false => self.length(),
        };
        index.checked_mul(self.length())?.checked_add(passed)
    }

    /// The time `n` hours after `time`. As in pandas, a time outside goes to the next opening first, and the moment of
    /// closing is that of the next opening.
    pub(crate) fn next(&self, time: i64, n: i64) -> Option<i64> {
        let total = self.open_until(time)?.checked_add(n.checked_mul(HOUR)?)?;
        let day = self.days.day(total.div_euclid(self.length()))?;
        let mut rest = total.rem_euclid(self.length());
        for (start, end) in &self.spans {
            if rest < end - start {
                return day.checked_mul(DAY)?.checked_add(start + rest);
            }
            rest -= end - start;
        }
        None
    }
}

/// As it is read.
impl fmt::Display for OpeningHours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.spans != [(9 * HOUR, 17 * HOUR)] {
            let clock = |micros: i64| format!("{:02}:{:02}", micros / HOUR, micros % HOUR / (HOUR / 60));
            let span = |(start, end): &(i64, i64)| format!("{}-{}", clock(*start), clock(*end));
            write!(f, "-{}", self.spans.iter().map(span).collect::<Vec<_>>().join(","))?;
        }
        if *self.days == MONDAY_TO_FRIDAY { Ok(()) } else { write!(f, "/{}", self.days) }
    }
}
