//! Days on which someone works: a week's and, of these, all but holidays.

use std::fmt::{self, Write as _};
use std::sync::Mutex;

use jiff::civil::Date;

use super::days::{date_of, days_to};

pub(crate) const WEEKDAYS: [&str; 7] = ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"];

/// The days that a calendar has, numbered one by one.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Workdays {
    /// From Monday on; at least one is open.
    week: [bool; 7],
    /// The closed days among those that the week has open, counted from the Monday before 1970-01-01 on; ascending.
    closed: Vec<i64>,
}

/// Monday to Friday.
pub(crate) static MONDAY_TO_FRIDAY: Workdays =
    Workdays { week: [true, true, true, true, true, false, false], closed: Vec::new() };

/// Calendars are few and live as long as the process, so that a frequency can be copied.
static KNOWN: Mutex<Vec<&'static Workdays>> = Mutex::new(Vec::new());

impl Workdays {
    /// The calendar of these weekdays, from Monday on; nothing if all are closed.
    pub(crate) fn of_week(week: [bool; 7]) -> Option<&'static Self> {
        week.contains(&true).then(|| Self { week, closed: Vec::new() }.interned())
    }

    /// The same without these days of 1970 and on; those that are closed anyway change nothing.
    pub(crate) fn without(&self, holidays: &[Date]) -> &'static Self {
        let open = |day: &i64| self.week[(day + 3).rem_euclid(7) as usize];
        let mut closed = self.closed.clone();
        closed
            .extend(holidays.iter().map(|date| days_to(*date)).filter(open).map(|day| self.of_the_week(day)));
        closed.sort_unstable();
        closed.dedup();
        Self { week: self.week, closed }.interned()
    }

    fn interned(self) -> &'static Self {
        if self == MONDAY_TO_FRIDAY {
            return &MONDAY_TO_FRIDAY;
        }
        let mut known = KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(same) = known.iter().find(|same| ***same == self) {
            return same;
        }
        let leaked: &'static Self = Box::leak(Box::new(self));
        known.push(leaked);
        leaked
    }

    /// Reads `1111110`, open or closed from Monday on, or `Mon Tue Wed`, and holidays behind it: `1111100,2024-12-25`.
    pub(crate) fn parse(word: &str) -> Option<&'static Self> {
        let mut parts = word.split(',');
        let mask = parts.next()?.trim();
        let mut week = [false; 7];
        if mask.len() == 7 && mask.bytes().all(|byte| byte == b'0' || byte == b'1') {
            week.iter_mut().zip(mask.bytes()).for_each(|(open, byte)| *open = byte == b'1');
        } else {
            for name in mask.split_ascii_whitespace() {
                week[WEEKDAYS.iter().position(|weekday| weekday.eq_ignore_ascii_case(name))?] = true;
            }
        }
        let holidays: Option<Vec<Date>> = parts.map(|date| date.trim().parse().ok()).collect();
        Some(Self::of_week(week)?.without(&holidays?))
    }

    /// Days that it has in a week without holidays.
    pub(crate) fn per_week(&self) -> usize {
        self.week.iter().filter(|open| **open).count()
    }

    /// Number of the last day that the week has and that is not after `day`.
    fn of_the_week(&self, day: i64) -> i64 {
        let monday_based = day + 3;
        let so_far = &self.week[..=monday_based.rem_euclid(7) as usize];
        let per_week = self.per_week() as i64;
        monday_based.div_euclid(7) * per_week + so_far.iter().filter(|open| **open).count() as i64 - 1
    }

    /// How many of the closed days come first, as long as `first` holds of the number of a day and of those before it.
    fn closed_while(&self, first: impl Fn(i64, i64) -> bool) -> i64 {
        let (mut low, mut high) = (0, self.closed.len());
        while low < high {
            let middle = low.midpoint(high);
            if first(self.closed[middle], middle as i64) { low = middle + 1 } else { high = middle }
        }
        low as i64
    }

    /// Number of the last day that is not after `day` (days since 1970-01-01).
    pub(crate) fn floor(&self, day: i64) -> i64 {
        let index = self.of_the_week(day);
        index - self.closed_while(|closed, _| closed <= index)
    }

    /// The day of that number, in days since 1970-01-01.
    pub(crate) fn day(&self, index: i64) -> Option<i64> {
        let index = index.checked_add(self.closed_while(|closed, before| closed - before <= index))?;
        self.day_of_the_week(index)
    }

    fn day_of_the_week(&self, index: i64) -> Option<i64> {
        let per_week = self.per_week() as i64;
        let mut open = (0..7).filter(|&weekday| self.week[weekday as usize]);
        let weekday = open.nth(index.rem_euclid(per_week) as usize)?;
        index.div_euclid(per_week).checked_mul(7)?.checked_add(weekday - 3)
    }
}

/// As it is read: seven digits and the holidays.
impl fmt::Display for Workdays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.week.iter().try_for_each(|open| f.write_char(if *open { '1' } else { '0' }))?;
        let dates = self.closed.iter().filter_map(|index| date_of(self.day_of_the_week(*index)?));
        dates.into_iter().try_for_each(|date| write!(f, ",{date}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn days_are_numbered_in_order_and_holidays_have_no_number(
            mask in 1..128_u32,
            holidays in prop::collection::vec(-60..60_i64, 0..20),
        ) {
            let week = std::array::from_fn(|weekday| mask >> weekday & 1 == 1);
            let dates: Vec<Date> = holidays.iter().filter_map(|day| date_of(*day)).collect();
            let days = Workdays::of_week(week).unwrap().without(&dates);
            let open = |day: i64| week[(day + 3).rem_euclid(7) as usize] && !holidays.contains(&day);
            let mut last = days.floor(-80);
            for day in -79..80 {
                let index = days.floor(day);
                prop_assert_eq!(index, last + i64::from(open(day)), "{}", day);
                if open(day) {
                    prop_assert_eq!(days.day(index), Some(day));
                }
                last = index;
            }
            prop_assert_eq!(Workdays::parse(&days.to_string()), Some(days));
        }
    }
}
