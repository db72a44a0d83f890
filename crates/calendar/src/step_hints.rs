//! What is behind steps that a series should not have, where added rows would be no remedy.

use std::fmt;

use jiff::civil::Date;

use super::days::{DAY, date_of, days_to};
use super::freq::Freq;
use super::freq_guess::typical;
use super::kind::TimeKind;
use super::months::month_of;
use super::opening_hours::HOUR;
use super::unit::Unit;
use super::zone::Zone;
use foretell_messages::Setting;

/// Steps of one kind on either side of a change, before it is taken for one.
const STRETCH: usize = 4;

/// The reason why a series leaves its frequency, other than missing rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepHint {
    /// Integers that are a year and a week of it.
    Weeks,
    /// Integers that are a year and a month of it.
    Months,
    /// Integers that are days, in this format.
    Days(&'static str),
    /// One row in each month, quarter or year: the word, and its frequency.
    OneEach(&'static str, &'static str),
    /// No more than one, on the same day, and none in some.
    OneAtMost(&'static str, &'static str),
    /// Quarters of which each fourth is missing, as thirds of a year are that are called `T1` to `T3`.
    Thirds,
    /// Clocks that are put forward: an hour that never was.
    ClocksForward,
    /// A day without its last hour, as one of 23 whose hours are counted from midnight.
    ShortDay,
    /// Clocks of the zone that was named are put back, and an hour that they show twice is there once: how far they then are from UTC.
    ClocksBack(String),
    /// Steps of one length up to a time, and of another one from then on.
    Change {
        /// The last time of the steps before,
        at: String,
        /// these steps,
        before: Freq,
        /// and those that follow.
        after: Freq,
    },
}

impl StepHint {
    /// What explains the first break, at row `i` of sorted times, whose frequency seems to be `freq`.
    pub fn of(kind: TimeKind, zone: Option<&Zone>, times: &[i64], i: usize, freq: Freq) -> Option<Self> {
        if kind == TimeKind::Integer {
            return year_parts(times[i - 1], times[i]).or_else(|| days(times[i - 1], times[i]));
        }
        if zone.is_none() && is_spring_hour(times[i - 1], times[i], freq) {
            return Some(Self::ClocksForward);
        }
        if zone.is_none() && is_short_day(times[i - 1], times[i], freq) {
            return Some(Self::ShortDay);
        }
        if let Some(zone) = zone
            && let Some(kept) = unshown_again(zone, times, i, freq)
        {
            return Some(Self::ClocksBack(kept));
        }
        if are_thirds(zone, times) {
            return Some(Self::Thirds);
        }
        // First and last days of months are such already.
        let is_at_edge = matches!(freq.unit, Unit::Months { .. });
        one_each(zone, times, !is_at_edge).or_else(|| change(kind, zone, times))
    }

    /// Whether it is the whole remedy, so that no row is to be added.
    pub fn is_all(&self) -> bool {
        !matches!(self, Self::Thirds | Self::ClocksForward | Self::ShortDay | Self::ClocksBack(_))
    }
}

impl fmt::Display for StepHint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Weeks => write!(
                f,
                "these seem to be years and their weeks; read them as such ({}), or number all rows one after another",
                Setting::TimeFormat.to("%G%V")
            ),
            Self::Months => write!(
                f,
                "these seem to be years and their months; read them as such ({}), or number all rows one after another",
                Setting::TimeFormat.to("%Y%m")
            ),
            Self::Days(format) => write!(
                f,
                "these seem to be days; read them as such ({}), or number all rows one after another",
                Setting::TimeFormat.to(format)
            ),
            Self::OneEach(period, freq) => write!(
                f,
                "there is one row in each {period}; read them as these ({} with {}), or, where only the order of rows matters, number \
                 them with integers",
                Setting::Resample.to(freq),
                Setting::Aggregate.to("first")
            ),
            Self::OneAtMost(period, freq) => write!(
                f,
                "there is no more than one row in each {period}; read them as these ({} with {}), and say what the {period}s without one \
                 are ({})",
                Setting::Resample.to(freq),
                Setting::Aggregate.to("first"),
                Setting::Fill
            ),
            Self::Thirds => write!(
                f,
                "no fourth quarter is there; if these are thirds of a year, of four months, write the days on which they begin (as \
                 2024-01-01, 2024-05-01 and 2024-09-01); if not, "
            ),
            Self::ClocksForward => write!(
                f,
                "if clocks were put forward there, name their zone ({}); if not, ",
                Setting::Zone.to("Europe/Berlin")
            ),
            Self::ShortDay => write!(
                f,
                "if hours were counted from midnight there, on a day of 23 since clocks were put forward, name their zone ({}); if not, ",
                Setting::Zone.to("Europe/London")
            ),
            Self::ClocksBack(kept) => write!(
                f,
                "clocks of that zone show this hour twice; if these times are in standard time all year, name its offset ({}); if they are \
                 local and lack the second of both hours, ",
                Setting::Zone.to(kept)
            ),
            Self::Change { at, before, after } => {
                let coarse = if before.typical_step() > after.typical_step() { before } else { after };
                write!(
                    f,
                    "its steps are `{before}` up to {at} and `{after}` from then on: gather all rows in the coarser ones \
                     ({} with {}, or with {} if they are amounts), or keep one of the two parts",
                    Setting::Resample.to(coarse),
                    Setting::Aggregate.to("mean"),
                    Setting::Aggregate.to("sum")
                )
            }
        }
    }
}

impl Freq {
    /// The length of its first step from 1970 on; steps of months differ by days.
    fn typical_step(self) -> i64 {
        self.next(0, 2).unwrap_or(0) - self.next(0, 1).unwrap_or(0)
    }
}

/// The last week or month of a year, followed by the first of the next one.
fn year_parts(before: i64, after: i64) -> Option<StepHint> {
    let (year, part) = (before.div_euclid(100), before.rem_euclid(100));
    if !(1600..2200).contains(&year) || after != (year + 1) * 100 + 1 {
        return None;
    }
    match part {
        52 | 53 => Some(StepHint::Weeks),
        12 => Some(StepHint::Months),
        _ => None,
    }
}

/// A day followed by the next one, of another month.
fn days(before: i64, after: i64) -> Option<StepHint> {
    let day = |of: i64| Date::new((of / 10_000) as i16, (of / 100 % 100) as i8, (of % 100) as i8).ok();
    let (format, century) = match before {
        100_101..=991_231 => ("%y%m%d", 20_000_000),
        16_000_101..=21_991_231 => ("%Y%m%d", 0),
        _ => return None,
    };
    let next = day(before + century)?.tomorrow().ok()?;
    (Some(next) == day(after.checked_add(century)?)).then_some(StepHint::Days(format))
}

/// Rows of which each month, quarter or year has one, or, on one day of it, no more than one; whole weeks apart, they belong to another
/// calendar.
fn one_each(zone: Option<&Zone>, times: &[i64], may_lack: bool) -> Option<StepHint> {
    let day = |time: &i64| date_of(zone.map_or(Some(*time), |zone| zone.civil(*time))?.div_euclid(DAY));
    let days: Vec<Date> = times.iter().map(day).collect::<Option<_>>()?;
    let steps = |of: fn(Date) -> i64| days.windows(2).map(move |pair| of(pair[1]) - of(pair[0]));
    if steps(days_to).all(|step| step % 7 == 0) {
        return None;
    }
    let least = steps(month_of).min()?;
    let (period, freq) = match least {
        1 => ("month", "MS"),
        3 => ("quarter", "QS"),
        12 => ("year", "YS"),
        _ => return None,
    };
    if steps(month_of).all(|step| step == least) {
        return Some(StepHint::OneEach(period, freq));
    }
    let day = days.iter().map(|day| day.day()).max()?;
    let is_on_it = |other: &Date| other.day() == day.min(other.days_in_month());
    (may_lack && steps(month_of).all(|step| step % least == 0) && days.iter().all(is_on_it))
        .then_some(StepHint::OneAtMost(period, freq))
}

/// Whether times are the first days of all quarters but the fourth ones.
fn are_thirds(zone: Option<&Zone>, times: &[i64]) -> bool {
    let day = |time: &i64| date_of(zone.map_or(Some(*time), |zone| zone.civil(*time))?.div_euclid(DAY));
    let first = |time: &i64| day(time).filter(|day| day.day() == 1 && [1, 4, 7].contains(&day.month()));
    let days: Option<Vec<Date>> = times.iter().map(first).collect();
    let follows = |pair: &[Date]| {
        let months = if pair[0].month() == 7 { 6 } else { 3 };
        month_of(pair[1]) - month_of(pair[0]) == months
    };
    days.is_some_and(|days| days.len() > 3 && days.windows(2).all(follows))
}

/// Whether an hour is missing in a night of spring, north or south of the equator.
fn is_spring_hour(before: i64, after: i64, freq: Freq) -> bool {
    let Some(step) = freq.fixed_in(None).filter(|step| *step <= HOUR) else { return false };
    let missing = before + step;
    after - missing == HOUR && missing.rem_euclid(DAY) <= 3 * HOUR && is_spring(missing)
}

/// Whether the last hour of a day of spring is missing.
fn is_short_day(before: i64, after: i64, freq: Freq) -> bool {
    let Some(step) = freq.fixed_in(None).filter(|step| *step <= HOUR) else { return false };
    let missing = before + step;
    after - missing == HOUR && after.rem_euclid(DAY) == 0 && is_spring(missing)
}

/// Whether a time is in a month in which clocks are put forward, north or south of the equator.
fn is_spring(time: i64) -> bool {
    date_of(time.div_euclid(DAY)).is_some_and(|day: Date| matches!(day.month(), 3 | 4 | 8..=10))
}

/// The changes of the clocks within times of one zone, row by row: by how much they were put forward, below 0 if back, and the time
/// that passed.
fn clock_changes(zone: &Zone, times: &[i64]) -> impl Iterator<Item = (i64, i64)> {
    times.windows(2).filter_map(|pair| {
        let [before, after] = [zone.offset(pair[0])?, zone.offset(pair[1])?];
        (before != after).then(|| (i64::from(after - before) * 1_000_000, pair[1] - pair[0]))
    })
}

/// Whether sorted times have the hour that clocks show twice when they are put back twice, or once; nothing where they have no such night.
pub fn shown_again(zone: &Zone, times: &[i64]) -> Option<bool> {
    let steps = times.windows(2).map(|pair| pair[1] - pair[0]);
    let step = typical(steps.filter(|step| *step > 0))?;
    let mut nights = clock_changes(zone, times).filter(|(change, _)| *change < 0);
    nights.find_map(|(change, passed)| match passed - step {
        0 => Some(true),
        more if more == -change => Some(false),
        _ => None,
    })
}

/// The offset after clocks were put back, where an hour that they show twice is there once before row `i`, and no row shows that the times
/// follow these clocks.
fn unshown_again(zone: &Zone, times: &[i64], i: usize, freq: Freq) -> Option<String> {
    let step = freq.fixed_in(Some(zone)).filter(|step| *step <= HOUR)?;
    let (change, passed) = clock_changes(zone, &times[i - 1..=i]).next()?;
    let follows = clock_changes(zone, times).any(|(_, passed)| passed == step);
    (change < 0 && passed == step - change && !follows)
        .then(|| Zone::fixed(zone.offset(times[i])?).map(|zone| zone.name))?
}

/// Whether times that are there twice seem to be those of an hour that clocks show twice: hours of few nights, in a series of
/// steps below a day. Those of another zone than the one that was named are still there twice.
pub fn shows_hours_twice(kind: TimeKind, zone: Option<&Zone>, times: &[i64]) -> bool {
    if kind == TimeKind::Integer {
        return false;
    }
    let shown = |time: i64| zone.and_then(|zone| zone.civil(time)).unwrap_or(time);
    let steps = times.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
    if typical(steps.filter(|step| *step > 0)).is_none_or(|step| step > HOUR) {
        return false;
    }
    let mut nights: Vec<i64> = Vec::new();
    for pair in times.windows(2).filter(|pair| pair[0] == pair[1]) {
        if shown(pair[0]).rem_euclid(DAY) > 3 * HOUR {
            return false;
        }
        nights.push(shown(pair[0]).div_euclid(DAY));
    }
    nights.dedup();
    // Clocks are put back once a year.
    nights.windows(2).all(|pair| pair[1] - pair[0] > 150)
}

/// A change of the steps: the first of them go on for a while, and others after them.
fn change(kind: TimeKind, zone: Option<&Zone>, times: &[i64]) -> Option<StepHint> {
    let infer = |times: &[i64]| {
        Freq::infer(kind, zone, times).filter(|freq| !matches!(freq.unit, Unit::Workdays(_) | Unit::Hours(_)))
    };
    let before = infer(times.get(..STRETCH)?)?;
    let last = before.first_break(zone, times)? - 1;
    let after = infer(times.get(last..)?.get(..=STRETCH)?).filter(|after| *after != before)?;
    // Of a missing row the steps after it are as before.
    let same = after.typical_step() == before.typical_step();
    (last + 1 >= STRETCH && !same).then(|| StepHint::Change {
        at: kind.display_in(zone, times[last]),
        before,
        after,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thirds_of_a_year_that_were_taken_for_quarters_are_told() {
        let times = |texts: &[&str]| -> Vec<i64> {
            texts.iter().map(|text| TimeKind::Timestamp.parse(text).unwrap()).collect()
        };
        let quarters = Freq::parse("QS").unwrap();
        let hint = |times: &[i64]| StepHint::of(TimeKind::Timestamp, None, times, 3, quarters);
        let thirds = times(&["T1 2023", "T2 2023", "T3 2023", "T1 2024", "T2 2024"]);
        assert_eq!(hint(&thirds), Some(StepHint::Thirds));
        assert!(hint(&thirds).unwrap().to_string().contains("2024-01-01, 2024-05-01 and 2024-09-01"));
        // Of two quarters that are missing, one is no fourth.
        let quarters = times(&["T1 2023", "T2 2023", "T3 2023", "T1 2024", "T3 2024", "T4 2024"]);
        assert_ne!(hint(&quarters), Some(StepHint::Thirds));
    }
}
