//! Descriptions of steps that no frequency has.

use std::collections::HashSet;
use std::fmt;

use jiff::civil::Date;

use super::days::{DAY, date_of, days_to};
use super::freq::Freq;
use super::freq_guess::typical;
use super::kind::TimeKind;
use super::retail::Retail;
use super::zone::Zone;
use foretell_messages::Setting;

/// The steps between times that are off the grid of their frequency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OddSteps {
    /// The steps in words: `4 and 5 weeks`, `between 58 and 63 minutes`.
    pub text: String,
    /// The grid that times which are only a little early or late belong to.
    pub grid: Option<&'static str>,
    /// Whether they may be days of a zone whose clocks change: all are of 23, 24 or 25 hours, most of 24.
    pub may_be_zone_days: bool,
}

/// The rows that a series would lack by its frequency, if these are at least as many as it has: then its times were hardly read
/// as they were meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MostlyMissing {
    /// How many,
    missing: i64,
    /// how many are there,
    rows: usize,
    /// the first two times,
    first: [String; 2],
    /// and whether the steps are of many lengths, as where there are rows only where something happened. Months that were read of
    /// quarters have two.
    is_irregular: bool,
}

/// Lengths of steps from which these follow no pattern.
const MANY_LENGTHS: usize = 4;

impl MostlyMissing {
    /// Whether there may be rows only where something happened.
    pub fn is_irregular(&self) -> bool {
        self.is_irregular
    }

    /// What sorted times, of which there are two at least, lack.
    pub fn of(freq: Freq, zone: Option<&Zone>, times: &[i64]) -> Option<Self> {
        let (first, last, rows) = (*times.first()?, *times.last()?, times.len());
        // Months differ by days: the mean of four years.
        let step = freq.next(0, 48)? / 48;
        let steps = last.saturating_sub(first).saturating_add(step / 2) / step.max(1);
        let missing = steps.saturating_add(1).saturating_sub(rows as i64);
        let first = [first, times[1]].map(|time| freq.kind().display_in(zone, time));
        let steps = times
            .windows(2)
            .map(|pair| pair[1].saturating_sub(pair[0]).saturating_add(step / 2) / step.max(1));
        let is_irregular = steps.collect::<HashSet<_>>().len() >= MANY_LENGTHS;
        (missing >= rows as i64).then_some(Self { missing, rows, first, is_irregular })
    }
}

impl fmt::Display for MostlyMissing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { missing, rows, first: [first, second], is_irregular } = self;
        if *is_irregular {
            return write!(
                f,
                "{missing} rows would be missing and {rows} are there: if there are rows only where something happened, as where \
                 something was sold, the others are 0 ({}); else its times were probably read as others than they are ({first}, \
                 {second} and on): say how they are written ({}), or set another frequency",
                Setting::Fill.to("zero"),
                Setting::TimeFormat
            );
        }
        write!(
            f,
            "{missing} rows would be missing and {rows} are there, so that its times were probably read as others than they are \
             ({first}, {second} and on): say how they are written ({})",
            Setting::TimeFormat
        )
    }
}

/// Units of time of day: word, microseconds.
const UNITS: [(&str, i64); 4] =
    [("microseconds", 1), ("seconds", 1_000_000), ("minutes", 60_000_000), ("hours", 3_600_000_000)];

/// Grids that sensors and meters have.
const GRIDS: [(&str, i64); 16] = [
    ("s", 1),
    ("5s", 5),
    ("10s", 10),
    ("15s", 15),
    ("30s", 30),
    ("min", 60),
    ("5min", 300),
    ("10min", 600),
    ("15min", 900),
    ("20min", 1200),
    ("30min", 1800),
    ("h", 3600),
    ("2h", 7200),
    ("6h", 21_600),
    ("12h", 43_200),
    ("D", 86_400),
];

impl OddSteps {
    /// The steps between sorted times, of which there are two at least.
    pub fn between(kind: TimeKind, zone: Option<&Zone>, times: &[i64]) -> Self {
        let steps =
            |times: &[i64]| times.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect::<Vec<_>>();
        let text = |text| Self { text, grid: None, may_be_zone_days: false };
        if kind == TimeKind::Integer {
            return text(range(&steps(times), 1, "").trim_end().to_owned());
        }
        let civil: Option<Vec<i64>> =
            zone.map_or(Some(times.to_vec()), |zone| times.iter().map(|time| zone.civil(*time)).collect());
        let civil = civil.unwrap_or_else(|| times.to_vec());
        let clock = civil[0].rem_euclid(DAY);
        if civil.iter().all(|time| time.rem_euclid(DAY) == clock) {
            let days: Option<Vec<Date>> = civil.iter().map(|time| date_of(time.div_euclid(DAY))).collect();
            return text(in_days(&steps(&civil), &days.unwrap_or_default()));
        }
        let steps = steps(times);
        let step = typical(steps.iter().copied()).unwrap_or(1);
        let (unit, length) = UNITS.into_iter().rev().find(|(_, unit)| step >= 2 * unit).unwrap_or(UNITS[0]);
        let distance = |seconds: i64| (seconds * 1_000_000 - step).abs();
        let (grid, seconds) =
            GRIDS.into_iter().min_by_key(|(_, seconds)| distance(*seconds)).unwrap_or(GRIDS[0]);
        // Further from it, no one knows where a time belongs.
        let near = distance(seconds) <= step / 4;
        let may_be_zone_days = are_zone_days(&steps);
        Self { text: range(&steps, length, unit), grid: near.then_some(grid), may_be_zone_days }
    }
}

/// Whether all steps are those of days where clocks change twice a year.
fn are_zone_days(steps: &[i64]) -> bool {
    let hour = DAY / 24;
    let whole = steps.iter().filter(|step| **step == DAY).count();
    2 * whole >= steps.len() && steps.iter().all(|step| [23 * hour, DAY, 25 * hour].contains(step))
}

/// Steps of whole days: in weeks or months, if they are all of them.
fn in_days(steps: &[i64], days: &[Date]) -> String {
    let (least, most) = extremes(steps, DAY);
    let week = 7 * DAY;
    if steps.iter().all(|step| step % week == 0) {
        let mut weeks: Vec<i64> = steps.iter().map(|step| step / week).collect();
        weeks.sort_unstable();
        weeks.dedup();
        return match weeks[..] {
            [4, 5] => format!("4 and 5 weeks{}", retail_months(days)),
            // A month of five weeks has the 53rd, too.
            [4, 5, 6] => format!("4, 5 and 6 weeks{}", retail_months(days)),
            [a, b] => format!("{a} and {b} weeks"),
            [a, b, c] => format!("{a}, {b} and {c} weeks"),
            _ => range(steps, week, "weeks"),
        };
    }
    let same = days.windows(2).all(|pair| pair[0].day() == pair[1].day());
    match days.first() {
        Some(day) if same => format!("months of {least} to {most} days from the {}", ordinal(day.day())),
        _ => range(steps, DAY, "days"),
    }
}

/// The retail calendars that have these months, in words: their frequencies read them.
fn retail_months(days: &[Date]) -> String {
    const NAMED: usize = 3;
    let days: Vec<i64> = days.iter().map(|day| days_to(*day)).collect();
    let all = Retail::months_on(&days);
    let named: Vec<String> =
        all.iter().take(NAMED).map(|one| Setting::Freq.to(format!("R{one}")).to_string()).collect();
    let more = match all.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    match all.len() {
        0 => " (as months of retail calendars are; of none of these all rows follow each other)".to_owned(),
        1 => format!(", the months of a retail calendar ({})", named[0]),
        _ => format!(
            ", the months of a retail calendar ({}{more}; each has these months, and they differ in others, as in where a \
             year has 53 weeks)",
            named.join(" or ")
        ),
    }
}

fn range(steps: &[i64], unit: i64, name: &str) -> String {
    match extremes(steps, unit) {
        (least, most) if least == most => format!("{least} {name}"),
        (least, most) => format!("between {least} and {most} {name}"),
    }
}

/// The least and the greatest, rounded away from each other to whole units.
fn extremes(steps: &[i64], unit: i64) -> (i64, i64) {
    let least = steps.iter().min().map_or(0, |step| step.div_euclid(unit));
    let most = steps.iter().max().map_or(0, |step| -(-step).div_euclid(unit));
    (least, most)
}

fn ordinal(day: i8) -> String {
    let ending = match (day % 10, day / 10) {
        (_, 1) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{day}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(texts: &[&str]) -> OddSteps {
        let times: Vec<i64> = texts.iter().map(|text| TimeKind::Timestamp.parse(text).unwrap()).collect();
        OddSteps::between(TimeKind::Timestamp, None, &times)
    }

    #[test]
    fn steps_are_told_in_the_largest_unit_that_tells_them() {
        for (texts, steps) in [
            (
                &["2024-01-27", "2024-02-24", "2024-03-30"][..],
                "4 and 5 weeks, the months of a retail calendar (`ReadOptions::freq = REM-",
            ),
            (
                &["2024-01-27", "2024-02-24", "2024-03-30", "2024-05-04", "2024-06-08"][..],
                "4 and 5 weeks (as months",
            ),
            (&["2024-01-01", "2024-01-08", "2024-01-22"], "1 and 2 weeks"),
            (&["2023-01-15", "2023-02-15", "2023-03-15"], "months of 28 to 31 days from the 15th"),
            (&["2023-01-22", "2023-02-22", "2023-03-22"], "months of 28 to 31 days from the 22nd"),
            (&["2023-01-01", "2023-01-04", "2023-01-05"], "between 1 and 3 days"),
            (&["2023-01-01 00:00", "2023-01-01 00:58", "2023-01-01 02:00:30"], "between 58 and 63 minutes"),
            (&["2023-01-01 00:00", "2023-01-01 05:00", "2023-01-01 11:00"], "between 5 and 6 hours"),
        ] {
            assert!(between(texts).text.starts_with(steps), "{texts:?}: {}", between(texts).text);
        }
        let several = between(&["2024-01-27", "2024-02-24", "2024-03-30"]).text;
        assert!(
            several.matches("REM-").count() == 3 && several.contains(" more; each has these months"),
            "{several}"
        );
        let odd = OddSteps::between(TimeKind::Integer, None, &[1, 3, 8]);
        assert_eq!((odd.text.as_str(), odd.grid), ("between 2 and 5", None));
    }

    #[test]
    fn a_grid_is_named_where_times_are_near_to_it() {
        assert_eq!(between(&["2023-01-01 00:00", "2023-01-01 00:58", "2023-01-01 02:00"]).grid, Some("h"));
        assert_eq!(
            between(&["2023-01-01 00:00:01", "2023-01-01 00:15", "2023-01-01 00:30:02"]).grid,
            Some("15min")
        );
        assert_eq!(between(&["2023-01-01 00:00", "2023-01-01 04:00", "2023-01-01 08:10"]).grid, None);
        assert_eq!(between(&["2023-01-15", "2023-02-15", "2023-03-15"]).grid, None);
    }

    #[test]
    fn days_of_a_zone_are_told_from_days_that_jitter() {
        let of = |third: &str| {
            let odd = between(&["2024-03-29 23:00", "2024-03-30 23:00", third]);
            (odd.grid, odd.may_be_zone_days)
        };
        assert_eq!(of("2024-03-31 22:00"), (Some("D"), true));
        assert_eq!(of("2024-04-01 00:00"), (Some("D"), true));
        assert_eq!(of("2024-03-31 23:04"), (Some("D"), false));
        assert_eq!(of("2024-04-01 01:00"), (Some("D"), false));
    }
}
