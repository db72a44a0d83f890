//! A single time far from all others of its series, as that of a mistyped year.

use super::rows::TableRows;
use foretell_calendar::{
    Freq, Steps, TimeKind, Zone,
    days::{DAY, date_of, days_to},
    jiff::civil::Date,
};

/// The least distinct times that show which are usual.
const LEAST: usize = 6;

/// How far a time is from the others at least: this many of their longest steps, and half a year, or a whole one if they would lack it in no
/// other year.
const STEPS: i64 = 10;
const FAR: i64 = 180 * DAY;
const YEAR: i64 = 365 * DAY;

/// A time far from the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FarTime {
    pub(super) time: i64,
    /// The first and the last of the others.
    pub(super) others: [i64; 2],
    /// The time of another year that the others lack, if there is one: they follow a frequency with it.
    pub(super) meant: Option<i64>,
}

impl FarTime {
    /// That of the times of a series, which stand in any order, and may be those of several rows each.
    pub(super) fn among(kind: TimeKind, zone: Option<&Zone>, times: &[i64]) -> Option<Self> {
        if kind != TimeKind::Timestamp || times.len() < LEAST {
            return None;
        }
        // Of two rows of one day neither is far from the other.
        let mut times = times.to_vec();
        times.sort_unstable();
        times.dedup();
        let (&[first, second, .., before, last], true) = (&times[..], times.len() >= LEAST) else {
            return None;
        };
        let (time, distance, others) = match second - first > last - before {
            true => (first, second - first, &times[1..]),
            false => (last, last - before, &times[..times.len() - 1]),
        };
        // Most series end here.
        if distance < FAR {
            return None;
        }
        let longest = others.windows(2).map(|pair| pair[1] - pair[0]).max()?;
        if distance <= longest.checked_mul(STEPS)? {
            return None;
        }
        let meant = meant(zone, time, others);
        let others = [others[0], others[others.len() - 1]];
        (meant.is_some() || distance >= YEAR).then_some(Self { time, others, meant })
    }
}

impl TableRows {
    /// The times that rows were read with: those of rows that are gathered in periods stand within these in the order of the table.
    pub(super) fn times_read(&self) -> &Steps {
        if self.within.is_empty() { &self.times } else { &self.within }
    }
}

/// The only time of another year with which the others follow a frequency.
fn meant(zone: Option<&Zone>, far: i64, others: &[i64]) -> Option<i64> {
    let civil = |time: i64| zone.map_or(Some(time), |zone| zone.civil(time));
    let year_of = |time: i64| Some(date_of(civil(time)?.div_euclid(DAY))?.year());
    let (far, [first, last]) = (civil(far)?, [others[0], others[others.len() - 1]]);
    let day = date_of(far.div_euclid(DAY))?;
    let found = (year_of(first)? - 1..=year_of(last)? + 1).filter_map(|year| {
        let civil = days_to(Date::new(year, day.month(), day.day()).ok()?) * DAY + far.rem_euclid(DAY);
        let time = zone.map_or(Some(civil), |zone| zone.instant(civil))?;
        let place = others.binary_search(&time).err()?;
        let all = [&others[..place], &[time], &others[place..]].concat();
        Freq::infer(TimeKind::Timestamp, zone, &all).map(|_| time)
    });
    // Where nothing is missing, it may be the one before the others or behind them.
    match found.collect::<Vec<_>>()[..] {
        [only] => Some(only),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::{Aggregate, Fill, Panel, ReadOptions};
    use foretell_calendar::{Freq, TimeKind, days::DAY};

    /// Rows at the steps of a frequency from 2024-01-01 on, of which one has another year.
    fn text(freq: &str, rows: usize, typed: usize, year: &str) -> String {
        let freq = Freq::parse(freq).unwrap();
        let times = freq.times(19_723 * DAY, rows).unwrap();
        let mut text = "ds,y\n".to_owned();
        for (row, time) in times.iter().enumerate() {
            let time = TimeKind::Timestamp.display(*time);
            let time = if row == typed { time.replacen(&time[..4], year, 1) } else { time };
            text += &format!("{time},{row}\n");
        }
        text
    }

    fn refused(text: &str, options: &ReadOptions) -> String {
        Panel::read_csv(text.as_bytes(), "t.csv", options).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn a_mistyped_year_is_told_with_its_row_and_the_time_that_is_missing() {
        for (freq, rows, typed, year, told) in [
            (
                "D",
                60,
                30,
                "2042",
                "line 32: the time 2042-01-31 of series `y` stands far from all others of it",
            ),
            ("D", 60, 30, "0224", "line 32: the time 0224-01-31 of series `y`"),
            ("D", 60, 59, "2204", "line 61: the time 2204-02-29 of series `y`"),
            ("MS", 40, 12, "2052", "line 14: the time 2052-01-01 of series `y`"),
            ("h", 200, 100, "2042", "line 102: the time 2042-01-05 04:00:00 of series `y`"),
        ] {
            let text = text(freq, rows, typed, year);
            let meant = told.split("time ").nth(1).unwrap().replacen(year, "2024", 1);
            let meant = if freq == "MS" { "2025-01-01" } else { meant.split(" of").next().unwrap() };
            // Filled rows up to that year would be most of the series.
            let filled = ReadOptions::new().fill(Fill::Forward);
            for options in
                [Some(ReadOptions::new()), (typed + 1 < rows).then_some(filled)].into_iter().flatten()
            {
                let message = refused(&text, &options);
                assert!(message.contains(told) && message.contains(&format!("write {meant},")), "{message}");
            }
        }
    }

    #[test]
    fn a_far_time_that_no_year_explains_is_told_unless_rows_are_filled() {
        let mut text = text("W-MON", 20, 99, "");
        text += "2031-03-01,5\n";
        let message = refused(&text, &ReadOptions::new());
        assert!(message.contains("line 22: the time 2031-03-01 of series `y` stands far"), "{message}");
        assert!(
            message.contains("2024-01-01 to 2024-05-13") && message.contains("leave the row out"),
            "{message}"
        );
        // A sale that was late, of those that are filled.
        let months = ["2020-01", "2020-02", "2020-03", "2020-04", "2020-05", "2020-06", "2022-03"];
        let text = months.iter().fold("ds,y\n".to_owned(), |text, month| text + month + ",1\n");
        let options = ReadOptions::new().fill(Fill::Zero);
        assert_eq!(Panel::read_csv(text.as_bytes(), "t.csv", &options).unwrap().len(0), 27);
    }

    #[test]
    fn a_far_time_is_told_before_rows_are_gathered_and_left_out_behind_the_end() {
        let text = text("D", 60, 30, "2042");
        let months = ReadOptions::new().aggregate(Aggregate::Sum).resample(Freq::parse("MS").unwrap());
        let told = "line 32: the time 2042-01-31 of series `y` stands far";
        let message = refused(&text, &months);
        assert!(message.contains(told), "{message}");
        // A time that was asked for is in doubt, and one of which what was meant was asked for.
        for until in ["2050", "2024-12", "2024-01-31"] {
            for options in [ReadOptions::new(), ReadOptions::new().fill(Fill::Zero), months.clone()] {
                let message = refused(&text, &options.without_far_times_after(until));
                assert!(message.contains(told), "{message}");
            }
        }
        for aggregate in [None, Some(Aggregate::Sum)] {
            let filled = ReadOptions { fill: Some(Fill::Zero), aggregate, ..ReadOptions::new() };
            let until = filled.without_far_times_after("2024-01-30");
            let panel = Panel::read_csv(text.as_bytes(), "t.csv", &until).unwrap();
            assert_eq!((panel.len(0), panel.y(0)[30], panel.y(0)[59]), (60, 0.0, 59.0));
            assert_eq!(panel.trimmed().far, 1);
        }
    }

    #[test]
    fn several_rows_of_a_far_time_are_told_or_all_left_out() {
        let twice = text("D", 60, 30, "2042") + "2042-01-31,7\n";
        let sums = ReadOptions::new().aggregate(Aggregate::Sum);
        let months = sums.clone().resample(Freq::parse("MS").unwrap());
        for options in [&sums, &months] {
            let filled = options.clone().fill(Fill::Zero);
            for options in [options, &filled, &filled.clone().without_far_times_after("2024-12")] {
                let message = refused(&twice, options);
                let told = "line 32: the time 2042-01-31 of series `y` stands far";
                assert!(message.contains(told), "{message}");
            }
        }
        // A time that no other year explains.
        let late = text("D", 60, 99, "") + "2042-07-01,5\n2042-07-01,6\n";
        for (options, rows) in [(ReadOptions::new(), 60), (sums, 60), (months, 2)] {
            let until = options.without_far_times_after("2024-12");
            let panel = Panel::read_csv(late.as_bytes(), "t.csv", &until).unwrap();
            assert_eq!((panel.len(0), panel.y(0).iter().sum::<f32>()), (rows, 1770.0));
            assert_eq!(panel.trimmed().far, 2);
        }
    }

    #[test]
    fn a_far_time_within_the_last_period_is_told_with_its_own_row() {
        // It is read before all others of 2025.
        let text = text("D", 400, 300, "2025");
        let years = ReadOptions::new().aggregate(Aggregate::Sum).resample(Freq::parse("YS").unwrap());
        for options in [years.clone(), years.without_far_times_after("2024-06")] {
            let message = refused(&text, &options);
            assert!(message.contains("line 302: the time 2025-10-27 of series `y` stands far"), "{message}");
            for part in ["2024-01-01 to 2025-02-03, as", "write 2024-10-27,"] {
                assert!(message.contains(part), "{message}");
            }
        }
    }
}
