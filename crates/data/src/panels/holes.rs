//! Rows that are missing in the middle of periods which are added up: the sum of a month with nine days of thirty looks like any other.

use std::ops::{Range, RangeInclusive};

use rustc_hash::FxHashMap;

use super::aggregate::Aggregate;
use super::fill::Fill;
use super::periods::Periods;
use super::rows::TableRows;
use crate::error::DataError;
use foretell_calendar::Zone;
use foretell_calendar::days::{DAY, date_of};
use foretell_tables::UnreadableTable;

/// Steps of a series that tell whether it has a usual one.
const LEAST: usize = 10;

/// The share of equal steps from which any longer one is a hole, and the part of a period that it takes at least.
const REGULAR: (f64, f64) = (0.9, 0.05);

/// The same of series with several usual steps, as of business days: a hole is longer than twice the longest of them.
const OPEN: (f64, f64) = (0.6, 0.2);

/// The lengths of months.
const MONTHS: RangeInclusive<i64> = 28 * DAY..=31 * DAY;

/// The share of steps that makes one of these usual.
const USUAL: f64 = 0.02;

impl TableRows {
    /// Checks that no sum of a period lacks rows, or values in them, in its middle, of series whose rows follow each other in usual steps.
    ///
    /// # Errors
    /// The first hole, where no one said that missing rows are 0.
    pub(super) fn check_holes(
        &self,
        periods: &Periods,
        zone: Option<&Zone>,
        how: Aggregate,
    ) -> Result<(), DataError> {
        let Some(freq) = periods.resample.filter(|_| how == Aggregate::Sum && self.fill != Some(Fill::Zero))
        else {
            return Ok(());
        };
        let (mut names, mut times) = (Vec::new(), Vec::new());
        for run in &self.runs {
            self.known_within(run, None, &mut names, &mut times);
            let steps = UsualSteps::of(&mut times, LEAST);
            let name = self.times.get(run.start + run.len / 2);
            let Some(period) = periods.bounds(zone, name).map(|bounds| bounds.end - bounds.start) else {
                continue;
            };
            if let Some([after, before]) = steps.and_then(|steps| steps.hole(&times, period)) {
                let shown = |time| freq.kind().display_in(zone, time);
                let (id, after, before) = (self.ids[run.code as usize].clone(), shown(after), shown(before));
                return Err(UnreadableTable::Hole { id, after, before, freq }.into());
            }
        }
        Ok(())
    }
}

/// How far the rows of a series usually are from each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct UsualSteps {
    usual: i64,
    /// The longest step that is no hole, and the part of a period that a hole takes at least.
    longest: i64,
    part: f64,
    is_regular: bool,
    is_monthly: bool,
}

impl UsualSteps {
    /// The steps between these times, which are sorted for it; nothing where no step is usual, as of events, and of fewer steps than `least`.
    pub(super) fn of(times: &mut Vec<i64>, least: usize) -> Option<Self> {
        times.sort_unstable();
        times.dedup();
        let steps = || times.windows(2).map(|pair| pair[1] - pair[0]);
        let all = steps().count();
        if all < least {
            return None;
        }
        let mut counts: FxHashMap<i64, usize> = FxHashMap::default();
        steps().for_each(|step| *counts.entry(step).or_default() += 1);
        let of_months = counts.iter().filter(|(step, _)| MONTHS.contains(step)).map(|(_, count)| count);
        if of_months.sum::<usize>() as f64 >= REGULAR.0 * all as f64 {
            let longest = *MONTHS.end();
            return Some(Self {
                usual: longest,
                longest,
                part: REGULAR.1,
                is_regular: true,
                is_monthly: true,
            });
        }
        let (&most, &count) = counts.iter().max_by_key(|(step, count)| (**count, -**step))?;
        match count as f64 / all as f64 {
            share if share >= REGULAR.0 => Some(Self {
                usual: most,
                longest: most,
                part: REGULAR.1,
                is_regular: true,
                is_monthly: false,
            }),
            share if share >= OPEN.0 => {
                let is_usual =
                    |(_, count): &(&i64, &usize)| **count >= 2 && **count as f64 >= USUAL * all as f64;
                let usual = counts.iter().filter(is_usual).map(|(step, _)| *step).max()?;
                Some(Self { usual, longest: 2 * usual, part: OPEN.1, is_regular: false, is_monthly: false })
            }
            _ => None,
        }
    }

    /// The times around the first stretch without rows that is longer than the usual steps, and takes a good part of a period.
    fn hole(self, times: &[i64], period: i64) -> Option<[i64; 2]> {
        let is_hole = |pair: &&[i64]| {
            let step = pair[1] - pair[0];
            step > self.longest && (step - self.usual) as f64 >= self.part * period as f64
        };
        times.windows(2).find(is_hole).map(|pair| [pair[0], pair[1]])
    }

    /// Whether there are several in as long as this, so that a margin of a period is made of them.
    pub(super) fn are_several_in(self, time: i64) -> bool {
        self.is_regular || self.usual <= time
    }

    /// The length of the usual step.
    pub(super) fn usual(self) -> i64 {
        self.usual
    }

    /// Whether rows are missing between the beginning of a period and its first one, and between the last one of a period and its end.
    pub(super) fn are_missing(self, before: Range<i64>, after: Range<i64>) -> [bool; 2] {
        if self.is_monthly {
            // No number of days tells a missing month: of stamps at its beginning it leaves 28 to 31, as the first stamp at an end does.
            return [month(before.start) < month(before.end), month(after.start) < month(after.end - 1)];
        }
        let [before, after] = [before, after].map(|margin| margin.end - margin.start);
        let is_late = if self.is_regular { before >= self.usual } else { before > self.usual };
        [is_late, after > self.usual]
    }
}

/// The year and the month of a time.
fn month(time: i64) -> Option<(i16, i8)> {
    date_of(time.div_euclid(DAY)).map(|day| (day.year(), day.month()))
}

#[cfg(test)]
mod tests {
    use crate::error::DataError;
    use crate::{Aggregate, Fill, Panel, ReadOptions};
    use foretell_calendar::{Freq, TimeKind};

    /// Days from 1 January 2024 on, a Monday, of which some are left out, with 1 in each.
    fn read(
        is_open: impl Fn(i64) -> bool,
        freq: &str,
        how: Aggregate,
        fill: Option<Fill>,
    ) -> Result<Panel, DataError> {
        let day = |day| TimeKind::Timestamp.display((19_723 + day) * 86_400_000_000);
        let rows: String =
            (0..182).filter(|day| is_open(*day)).map(|at| format!("{},1\n", day(at))).collect();
        let options = ReadOptions::new().aggregate(how).resample(Freq::parse(freq).unwrap());
        let options = ReadOptions { fill, ..options };
        Panel::read_csv(format!("ds,y\n{rows}").as_bytes(), "t.csv", &options)
    }

    #[test]
    fn sums_of_periods_with_a_hole_are_refused() {
        let gap = |day: i64| !(98..118).contains(&day);
        for is_open in [&gap as &dyn Fn(i64) -> bool, &|day| gap(day) && day % 7 < 5] {
            let error = read(is_open, "MS", Aggregate::Sum, None).unwrap_err().to_string();
            assert!(error.contains("no values between 2024-04-0") && error.contains("2024-04-2"), "{error}");
            assert!(error.contains("`ReadOptions::fill = zero`"), "{error}");
            // What the message advises: the missing rows are 0.
            let zero = read(is_open, "MS", Aggregate::Sum, Some(Fill::Zero)).unwrap();
            let open = (91..121).filter(|day| is_open(*day)).count();
            assert_eq!(zero.y(0)[3], open as f32);
            assert_eq!(read(is_open, "MS", Aggregate::Mean, None).unwrap().y(0)[3], 1.0);
        }
    }

    #[test]
    fn values_that_are_missing_in_the_middle_are_rows_that_are() {
        let sum = |text: &str, freq: &str| {
            let options = ReadOptions::new().aggregate(Aggregate::Sum).resample(Freq::parse(freq).unwrap());
            Panel::read_csv(text.as_bytes(), "t.csv", &options.clone().wide())
                .map(|panel| panel.y(0).to_vec())
        };
        let day = |day: i64| TimeKind::Timestamp.display((19_723 + day) * 86_400_000_000);
        let rows = |day: i64| if (40..50).contains(&day) { "" } else { "1" };
        let days: String = (0..121).map(|at| format!("{},{}\n", day(at), rows(at))).collect();
        let error = sum(&format!("ds,a\n{days}"), "MS").unwrap_err().to_string();
        assert!(error.contains("no values between 2024-02-09 and 2024-02-20"), "{error}");
        // A month of a quarter.
        let months: Vec<String> =
            (0..18).map(|at| format!("{}-{:02}-01", 2022 + at / 12, at % 12 + 1)).collect();
        let csv = |missing: usize| {
            let rows = months.iter().enumerate().filter(|(at, _)| *at != missing);
            rows.fold("ds,a\n".to_owned(), |text, (_, month)| text + month + ",1\n")
        };
        assert_eq!(sum(&csv(99), "QS").unwrap(), [3.0; 6]);
        let error = sum(&csv(7), "QS").unwrap_err().to_string();
        assert!(error.contains("no values between 2022-07-01 and 2022-09-01"), "{error}");
    }

    #[test]
    fn days_without_business_and_events_are_no_holes() {
        let closed = |day: i64| day % 7 < 5 && day != 88 && day != 91;
        assert_eq!(read(closed, "MS", Aggregate::Sum, None).unwrap().y(0)[2], 20.0);
        let sales = |day: i64| (day * day + 3 * day) % 11 < 4;
        assert!(read(sales, "MS", Aggregate::Sum, None).is_ok());
        assert!(read(|_| true, "MS", Aggregate::Sum, None).is_ok());
        // A day of a month that is not known.
        assert!(read(|day| day != 100, "MS", Aggregate::Sum, None).is_ok());
    }
}
