//! Rows that are missing in the middle of periods which are added up: the sum of a month with nine days of thirty looks like any other.

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::aggregate::Aggregate;
use super::column::{Column, ColumnKind};
use super::fill::Fill;
use super::float::Float;
use super::periods::Periods;
use super::periods::civil;
use super::rows::TableRows;
use crate::error::DataError;
use foretell_calendar::Zone;
use foretell_calendar::days::{DAY, date_of};
use foretell_tables::ReadNote;
use foretell_threads::Workers;

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

/// Rows that a series lacks in the middle of periods.
#[derive(Debug)]
pub(super) struct Hole {
    code: u32,
    /// The times of the rows around them,
    around: [i64; 2],
    /// and from when until when they are missing.
    missing: Range<i64>,
    /// The part of a period from which on its sum is not known without them.
    part: f64,
}

impl TableRows {
    /// The rows, or values in them, that periods which are added up lack in their middle, of series whose rows follow each other in usual
    /// steps; none where someone said that missing rows are 0. They are sorted by series and time.
    pub(super) fn holes(&self, periods: &Periods, zone: Option<&Zone>, how: Aggregate) -> Vec<Hole> {
        let mut holes = Vec::new();
        if periods.resample.is_none() || how != Aggregate::Sum || self.fill == Some(Fill::Zero) {
            return holes;
        }
        let (mut names, mut times) = (Vec::new(), Vec::new());
        for run in &self.runs {
            self.known_within(run, None, &mut names, &mut times);
            let Some(steps) = UsualSteps::of(&mut times, LEAST) else { continue };
            let name = self.times.get(run.start + run.len / 2);
            let Some(period) = periods.bounds(zone, name).map(|bounds| bounds.end - bounds.start) else {
                continue;
            };
            let own = steps.holes(&times, period).map(|(after, before)| Hole {
                code: run.code,
                around: [after, before],
                missing: steps.missing(after, before, zone),
                part: steps.part,
            });
            holes.extend(own);
        }
        holes.sort_by_key(|hole| (hole.code, hole.around));
        holes
    }

    /// Makes the sums of periods with these holes unknown, those of periods without any row among them, which are added; and says so.
    /// Their values are on the line between those around them.
    ///
    /// # Errors
    /// More rows than the limit allows.
    pub(super) fn forget_sums(
        &mut self,
        holes: &[Hole],
        periods: &Periods,
        zone: Option<&Zone>,
    ) -> Result<(), DataError> {
        let Some(freq) = periods.resample.filter(|_| !holes.is_empty()) else { return Ok(()) };
        // The first hole in a period of a series.
        let hole_in = |code: u32, name: i64| {
            let bounds = periods.bounds(zone, name)?;
            let first = holes.partition_point(|hole| (hole.code, hole.missing.end) <= (code, bounds.start));
            let within =
                holes[first..].iter().take_while(|hole| hole.code == code && hole.missing.start < bounds.end);
            let missing =
                |hole: &Hole| hole.missing.end.min(bounds.end) - hole.missing.start.max(bounds.start);
            let all: i64 = within.map(missing).sum();
            let hole = holes.get(first)?;
            (all > 0 && all as f64 >= hole.part * (bounds.end - bounds.start) as f64).then_some(hole)
        };
        let had_mask = self.mask.is_some();
        self.mask.get_or_insert_with(|| vec![1.0; self.y.len()]);
        let workers = Workers::new(self.threads).unwrap_or_else(|_| Workers::apart(1));
        self.add_rows(zone, freq, &workers, |run, gap| hole_in(run.code, gap).is_some())?;
        self.unrounded.keep(&self.y);
        // Those that lack sums, with the times around the first hole in these.
        let mut series: Vec<(Arc<str>, [i64; 2])> = Vec::new();
        let (mut times, mut unknown) = (Vec::new(), 0);
        for run in self.runs.clone() {
            self.times.copy(run.start, run.len, &mut times);
            let lacking =
                times.iter().enumerate().filter_map(|(row, time)| Some((row, hole_in(run.code, *time)?)));
            let lacking: Vec<(usize, &Hole)> = lacking.collect();
            let Some((_, first)) = lacking.first() else { continue };
            series.push((self.id(&run).clone(), first.around));
            unknown += lacking.len();
            let rows: Vec<usize> = lacking.iter().map(|(row, _)| *row).collect();
            let own = run.start..run.start + run.len;
            // Of a series without any other sum nothing is known.
            let is_known = between(&mut self.y[own.clone()], &rows, true);
            self.unrounded.each(|values| {
                between(&mut values[own.clone()], &rows, true);
            });
            if let Some(mask) = self.mask.as_mut().filter(|_| is_known) {
                rows.iter().for_each(|row| mask[run.start + row] = 0.0);
            }
            for Column { kind, values, .. } in &mut self.columns {
                let Ok(values) = values else { continue };
                let values = &mut values.vec()[own.clone()];
                let rows: Vec<usize> = rows.iter().copied().filter(|row| values[*row].is_nan()).collect();
                between(values, &rows, matches!(kind, ColumnKind::Numbers));
            }
        }
        match unknown {
            0 if !had_mask => self.mask = None,
            0 => {}
            _ => {
                series.sort_unstable();
                let (table, periods) = (self.origin.table(), unknown);
                let around = series[0].1.map(|time| freq.kind().display_in(zone, time));
                let series = series.iter().map(|(id, _)| id.to_string()).collect();
                self.note(vec![ReadNote::SumsUnknown { table, freq, periods, series, around }]);
            }
        }
        Ok(())
    }
}

/// Puts these rows of a series on the line between those around them, but for others that are missing; whether any is known.
fn between<T: Float>(values: &mut [T], rows: &[usize], lines: bool) -> bool {
    rows.iter().for_each(|row| values[*row] = T::of(f64::NAN));
    let mut filled = values.to_vec();
    let is_known = Fill::Interpolate.values(&mut filled, lines).is_ok();
    rows.iter().for_each(|row| values[*row] = filled[*row]);
    is_known
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

    /// The times around stretches without rows that are longer than the usual steps, and take a good part of a period.
    fn holes(self, times: &[i64], period: i64) -> impl Iterator<Item = (i64, i64)> {
        let pairs = times.windows(2).map(|pair| (pair[0], pair[1]));
        pairs.filter(move |(after, before)| {
            let step = before - after;
            step > self.longest && (step - self.usual) as f64 >= self.part * period as f64
        })
    }

    /// From when until when rows are missing between these two. Those of months are where their month is, whichever day they are of.
    fn missing(self, after: i64, before: i64, zone: Option<&Zone>) -> Range<i64> {
        let month_of = |time: i64| {
            let day = civil(zone, time).div_euclid(DAY);
            let date = date_of(day)?;
            let first = day - i64::from(date.day() - 1);
            let instant = |day: i64| zone.map_or(Some(day * DAY), |zone| zone.instant(day * DAY));
            Some(instant(first)?..instant(first + i64::from(date.days_in_month()))?)
        };
        match (self.is_monthly, month_of(after), month_of(before)) {
            (true, Some(after), Some(before)) => after.end..before.start,
            _ => after + self.usual..before,
        }
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

    /// The known values of a series, NaN where they are not, with what was told of its holes.
    fn known(panel: &Panel, series: usize) -> (Vec<f64>, String) {
        let notes: Vec<String> = panel.notes().iter().map(ToString::to_string).collect();
        (panel.known_values(series, 0..panel.len(series)), notes.join("\n"))
    }

    #[test]
    fn sums_of_periods_with_a_hole_are_not_known() {
        let gap = |day: i64| !(98..118).contains(&day);
        for is_open in [&gap as &dyn Fn(i64) -> bool, &|day| gap(day) && day % 7 < 5] {
            let panel = read(is_open, "MS", Aggregate::Sum, None).unwrap();
            let (values, told) = known(&panel, 0);
            let open = |days: std::ops::Range<i64>| days.filter(|day| is_open(*day)).count() as f64;
            assert_eq!((values[2], values[4]), (open(60..91), open(121..152)));
            assert!(values[3].is_nan() && values.iter().filter(|value| value.is_nan()).count() == 1);
            // What a network sees there is no part of a sum.
            assert_eq!(f64::from(panel.y(0)[3]), (values[2] + values[4]) / 2.0);
            assert!(told.contains("between 2024-04-0") && told.contains("2024-04-2"), "{told}");
            assert!(told.contains("`ReadOptions::fill = zero`"), "{told}");
            // What the message advises: the missing rows are 0.
            let zero = read(is_open, "MS", Aggregate::Sum, Some(Fill::Zero)).unwrap();
            assert_eq!(f64::from(zero.y(0)[3]), open(91..121));
            assert_eq!(known(&zero, 0).0.iter().filter(|value| value.is_nan()).count(), 0);
            assert_eq!(read(is_open, "MS", Aggregate::Mean, None).unwrap().y(0)[3], 1.0);
        }
    }

    #[test]
    fn one_series_with_a_hole_leaves_the_others_alone() {
        let day = |day: i64| TimeKind::Timestamp.display((19_723 + day) * 86_400_000_000);
        let rows = |id: &str, is_open: &dyn Fn(i64) -> bool| -> String {
            (0..182).filter(|day| is_open(*day)).map(|at| format!("{id},{},1,2\n", day(at))).collect()
        };
        // All of April and May, and some days of March.
        let holed = rows("b", &|day| !(80..152).contains(&day));
        let text = format!("unique_id,ds,y,price\n{}{holed}{}", rows("a", &|_| true), rows("c", &|_| true));
        let options = ReadOptions::new().aggregate(Aggregate::Sum).resample(Freq::parse("MS").unwrap());
        for fill in [None, Some(Fill::Forward)] {
            let options = ReadOptions { fill, ..options.clone() };
            let panel = Panel::read_csv(text.as_bytes(), "t.csv", &options).unwrap();
            for series in [0, 2] {
                assert_eq!(known(&panel, series).0, [31.0, 29.0, 31.0, 30.0, 31.0, 30.0]);
            }
            let (values, told) = known(&panel, 1);
            let is_known: Vec<bool> = values.iter().map(|value| !value.is_nan()).collect();
            assert_eq!(is_known, [true, true, false, false, false, true], "{values:?}");
            assert_eq!([values[0], values[1], values[5]], [31.0, 29.0, 30.0]);
            assert_eq!((panel.y(1)[3], panel.column("price", 1).unwrap()), (29.5, &[2.0; 6][..]));
            assert!(
                told.contains("the sums of 3 periods (`MS`) are not known")
                    && told.contains("series `b` has no values between 2024-03-20 and 2024-06-01; models"),
                "{told}"
            );
        }
    }

    #[test]
    fn values_that_are_missing_in_the_middle_are_rows_that_are() {
        let sum = |text: &str, freq: &str| {
            let options = ReadOptions::new().aggregate(Aggregate::Sum).resample(Freq::parse(freq).unwrap());
            let panel = Panel::read_csv(text.as_bytes(), "t.csv", &options.clone().wide()).unwrap();
            known(&panel, 0)
        };
        let day = |day: i64| TimeKind::Timestamp.display((19_723 + day) * 86_400_000_000);
        let rows = |day: i64| if (40..50).contains(&day) { "" } else { "1" };
        let days: String = (0..121).map(|at| format!("{},{}\n", day(at), rows(at))).collect();
        let (values, told) = sum(&format!("ds,a\n{days}"), "MS");
        assert!(values[1].is_nan() && [values[0], values[2], values[3]] == [31.0, 31.0, 30.0], "{values:?}");
        assert!(told.contains("between 2024-02-09 and 2024-02-20"), "{told}");
        // A month of a quarter.
        let months: Vec<String> =
            (0..18).map(|at| format!("{}-{:02}-01", 2022 + at / 12, at % 12 + 1)).collect();
        let csv = |missing: usize| {
            let rows = months.iter().enumerate().filter(|(at, _)| *at != missing);
            rows.fold("ds,a\n".to_owned(), |text, (_, month)| text + month + ",1\n")
        };
        assert_eq!(sum(&csv(99), "QS").0, [3.0; 6]);
        let (values, told) = sum(&csv(7), "QS");
        assert!(
            values[2].is_nan() && values.iter().filter(|value| **value == 3.0).count() == 5,
            "{values:?}"
        );
        assert!(told.contains("between 2022-07-01 and 2022-09-01"), "{told}");
        // The last days of months: March is one of the first quarter.
        let ends = [
            "01-31", "02-28", "04-30", "05-31", "06-30", "07-31", "08-31", "09-30", "10-31", "11-30", "12-31",
        ];
        let csv = ends.iter().fold("ds,a\n".to_owned(), |text, end| text + &format!("2022-{end},1\n"));
        let (values, told) = sum(&(csv + "2023-01-31,1\n2023-02-28,1\n2023-03-31,1\n"), "QS");
        assert!(told.contains("between 2022-02-28 and 2022-04-30"), "{told}");
        assert!(values[0].is_nan() && values[1..] == [3.0; 4], "{values:?}");
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
