//! Periods that rows are gathered in and that are not complete: at the beginning or the end of a series.

use std::collections::{BTreeMap, BTreeSet};

use super::fill::Fill;
use super::holes::UsualSteps;
use super::periods::Periods;
use super::rows::{SeriesRun, TableRows};
use crate::error::DataError;
use foretell_calendar::Zone;
use foretell_tables::{ReadNote, UnreadableTable};

/// The fewest steps between rows that tell how far apart they usually are, where few periods do.
const LEAST_STEPS: usize = 2;

/// Steps within a period from which their usual length says whether one is missing, and the tolerance of margins: months are of 28 to 31
/// days.
const STEPS: i64 = 5;
const TOLERANCE: [i64; 2] = [9, 8];

/// The share of periods with several rows up to which the others' one row is all that they have.
const SEVERAL: f64 = 0.05;

/// The rows of a period: the first and the last time, and how many there are.
#[derive(Clone, Copy, Debug)]
struct Span {
    first: i64,
    last: i64,
    rows: usize,
}

/// How far the first row of a period is from its beginning, and the last from its end, and its length.
#[derive(Clone, Copy, Debug)]
struct Margins {
    before: i64,
    after: i64,
    length: i64,
}

/// The periods of some rows by their names.
type Spans = BTreeMap<i64, Span>;

/// The first and the last period of a run, where they are not complete.
pub(super) type PartialEdges = [Option<i64>; 2];

impl TableRows {
    /// Of each run of an arranged table, the first and the last period with known values, where they miss rows that the periods between
    /// have: of its own rows, if these follow each other in usual steps, or of those of all series together, as where few of them have
    /// rows at the end of the data.
    pub(super) fn partial_periods(&self, periods: &Periods, zone: Option<&Zone>) -> Vec<PartialEdges> {
        let (mut names, mut times) = (Vec::new(), Vec::new());
        let mut of_all = Spans::new();
        let mut own = Vec::with_capacity(self.runs.len());
        let (mut several, mut count) = (0, 0);
        for run in &self.runs {
            self.known_within(run, zone, &mut names, &mut times);
            let spans = spans(&names, &times);
            for (name, span) in &spans {
                several += usize::from(span.rows > 1);
                let all = of_all.entry(*name).or_insert(Span { rows: 0, ..*span });
                (all.first, all.last) = (all.first.min(span.first), all.last.max(span.last));
                all.rows += span.rows;
            }
            count += spans.len();
            let steps = UsualSteps::of(&mut times, LEAST_STEPS);
            let partial = match steps {
                Some(_) => partial_edges(&spans, periods, zone, steps),
                // When there are no more rows of a few sales, it is the others that say whether the period is over.
                None => [false; 2],
            };
            own.push((edges(&spans), partial));
        }
        // No one can count the rows of periods that have one each.
        if several as f64 <= SEVERAL * count as f64 {
            return vec![[None; 2]; own.len()];
        }
        let together = partial_edges(&of_all, periods, zone, self.steps_of_all(zone));
        let ends = edges(&of_all);
        let partial = |(of_run, partial): (PartialEdges, [bool; 2])| {
            [0, 1].map(|edge| {
                let is_partial = partial[edge] || together[edge] && of_run[edge] == ends[edge];
                of_run[edge].filter(|_| is_partial)
            })
        };
        own.into_iter().map(partial).collect()
    }

    /// The rows of a run whose value is known: the names of their periods, and their times as clocks show them, so that a day on which
    /// they are changed is no longer than others.
    pub(super) fn known_within(
        &self,
        run: &SeriesRun,
        zone: Option<&Zone>,
        names: &mut Vec<i64>,
        times: &mut Vec<i64>,
    ) {
        self.times.copy(run.start, run.len, names);
        self.within.copy(run.start, run.len, times);
        let mut known = 0;
        for i in 0..run.len {
            if self.is_known(run.start + i) {
                (names[known], times[known]) = (names[i], civil(zone, times[i]));
                known += 1;
            }
        }
        names.truncate(known);
        times.truncate(known);
    }

    /// Whether a row has a value: a missing one is known where it was said to be 0.
    fn is_known(&self, row: usize) -> bool {
        let has_value = !self.y[row].is_nan() || self.fill == Some(Fill::Zero);
        has_value && self.mask.as_ref().is_none_or(|mask| mask[row] != 0.0)
    }

    /// The steps between the times of all series.
    fn steps_of_all(&self, zone: Option<&Zone>) -> Option<UsualSteps> {
        let (mut names, mut times, mut all) = (Vec::new(), Vec::new(), BTreeSet::new());
        for run in &self.runs {
            self.known_within(run, zone, &mut names, &mut times);
            all.extend(times.iter().copied());
        }
        UsualSteps::of(&mut all.into_iter().collect(), LEAST_STEPS)
    }

    /// Leaves these periods out, and what stands before the first and behind the last ones, or keeps them; and says so.
    ///
    /// # Errors
    /// If no period is left.
    pub(super) fn take_partial(&mut self, partial: &[PartialEdges], kept: bool) -> Result<(), DataError> {
        let count = |edge: usize| partial.iter().filter(|run| run[edge].is_some()).count();
        let [first, last] = [count(0), count(1)];
        if first + last == 0 {
            return Ok(());
        }
        let mut series = Vec::new();
        if !kept {
            let mut times = Vec::new();
            for (run, [first, last]) in self.runs.iter_mut().zip(partial) {
                self.times.copy(run.start, run.len, &mut times);
                let start = first.map_or(0, |name| times.partition_point(|time| *time <= name));
                let end = last.map_or(run.len, |name| times.partition_point(|time| *time < name));
                (run.start, run.len) = (run.start + start, end.saturating_sub(start));
            }
            let empty = self.runs.iter().filter(|run| run.len == 0);
            series = empty.map(|run| self.id(run).to_string()).collect();
            self.runs.retain(|run| run.len > 0);
            if self.runs.is_empty() {
                return Err(UnreadableTable::NoWholePeriod { table: self.origin.table() }.into());
            }
        }
        series.sort_unstable();
        let table = self.origin.table();
        self.note(vec![ReadNote::PartialPeriods { table, first, last, kept, series }]);
        Ok(())
    }
}

fn civil(zone: Option<&Zone>, time: i64) -> i64 {
    zone.and_then(|zone| zone.civil(time)).unwrap_or(time)
}

/// The names of the first and the last period.
fn edges(spans: &Spans) -> PartialEdges {
    [spans.keys().next().copied(), spans.keys().next_back().copied()]
}

/// The periods of rows that stand in the order of their names.
fn spans(names: &[i64], times: &[i64]) -> Spans {
    let mut spans = Spans::new();
    for (name, &time) in names.iter().zip(times) {
        let span = spans.entry(*name).or_insert(Span { first: time, last: time, rows: 0 });
        (span.first, span.last) = (span.first.min(time), span.last.max(time));
        span.rows += 1;
    }
    spans
}

/// Whether the rows of the first period begin later than those of any period between, and those of the last end earlier, and by more than
/// a usual step, where there are several in a period; where there is none between, than a usual step from its beginning or its end.
fn partial_edges(
    spans: &Spans,
    periods: &Periods,
    zone: Option<&Zone>,
    steps: Option<UsualSteps>,
) -> [bool; 2] {
    let margins = spans.iter().map(|(name, span)| {
        let bounds = periods.bounds(zone, *name)?;
        let [start, end] = [bounds.start, bounds.end].map(|time| civil(zone, time));
        Some(Margins { before: span.first - start, after: end - span.last, length: end - start })
    });
    let Some(margins) = margins.collect::<Option<Vec<Margins>>>() else { return [false; 2] };
    let (Some(first), Some(last)) = (margins.first(), margins.last()) else { return [false; 2] };
    let between = margins.get(1..margins.len() - 1).unwrap_or_default();
    let usual =
        between.iter().map(|period| period.before).max().zip(between.iter().map(|period| period.after).max());
    let by_steps = |steps: UsualSteps| steps.are_missing(first.before, last.after);
    let Some((before, after)) = usual else { return steps.map_or([false; 2], by_steps) };
    let is_more = |margin: i64, usual: i64| TOLERANCE[1] * margin > TOLERANCE[0] * usual;
    let by_others = [is_more(first.before, before), is_more(last.after, after)];
    let length = between[0].length;
    match steps.filter(|steps| steps.are_several_in(length / STEPS)).map(by_steps) {
        Some(by_steps) => [0, 1].map(|edge| by_others[edge] && by_steps[edge]),
        None => by_others,
    }
}

#[cfg(test)]
mod tests {
    use crate::{Aggregate, Panel, ReadOptions};
    use foretell_calendar::Freq;

    /// Days from 3 January 2024, a Wednesday, with 1 in each.
    fn days(count: i64, business: bool) -> String {
        let days = (0..count).filter(|day| !business || (day + 2) % 7 < 5);
        let day = |day| foretell_calendar::TimeKind::Timestamp.display((19_725 + day) * 86_400_000_000);
        days.map(|i| format!("{},1\n", day(i))).fold("ds,y\n".to_owned(), |text, row| text + &row)
    }

    fn read(text: &str, freq: &str, keep_partial: bool) -> Panel {
        let options = ReadOptions::new().aggregate(Aggregate::Sum).resample(Freq::parse(freq).unwrap());
        let options = ReadOptions { keep_partial, ..options };
        Panel::read_csv(text.as_bytes(), "t.csv", &options).unwrap()
    }

    #[test]
    fn periods_without_all_rows_are_told_or_left_out() {
        for (text, freq, all, whole) in [
            (days(34, false), "W-SUN", &[5.0, 7.0, 7.0, 7.0, 7.0, 1.0][..], 1..5),
            (days(33, false), "W-SUN", &[5.0, 7.0, 7.0, 7.0, 7.0], 1..5),
            (days(33, true), "W-SUN", &[3.0, 5.0, 5.0, 5.0, 5.0], 1..5),
            (days(100, false), "MS", &[29.0, 29.0, 31.0, 11.0], 1..3),
            (days(100, false), "ME", &[29.0, 29.0, 31.0, 11.0], 1..3),
        ] {
            let (kept, dropped) = (read(&text, freq, true), read(&text, freq, false));
            assert_eq!((kept.y(0), dropped.y(0)), (all, &all[whole]), "{freq}");
            let [told, left_out] = [kept, dropped].map(|panel| panel.notes()[0].to_string());
            assert!(told.contains("are kept") && left_out.contains("are left out"), "{told}; {left_out}");
        }
        let days = days(33, false);
        let from_monday: Vec<&str> = days.lines().filter(|line| *line >= "2024-01-15").collect();
        assert!(read(&from_monday.join("\n"), "W-SUN", false).notes().is_empty(), "nothing is missing");
    }

    #[test]
    fn few_periods_are_told_by_the_steps_of_their_rows() {
        // Two days of January, the whole of February, 20 days of March: the first and the last of two periods have none between.
        let days = days(79, false);
        let rows = |from: &str, to: &str| {
            let rows = days.lines().skip(1).filter(|line| *line >= from && *line < to);
            rows.fold("ds,y\n".to_owned(), |text, row| text + row + "\n")
        };
        for (from, to, kept) in [
            ("2024-02-01", "2024-03-21", &[29.0][..]),
            ("2024-01-30", "2024-03-01", &[29.0]),
            ("2024-02-01", "2024-03-01", &[29.0]),
        ] {
            assert_eq!(read(&rows(from, to), "MS", false).y(0), kept, "{from} to {to}");
        }
        let options = ReadOptions::new().aggregate(Aggregate::Sum).resample(Freq::parse("MS").unwrap());
        let none = Panel::read_csv(rows("2024-02-02", "2024-02-20").as_bytes(), "t.csv", &options);
        let none = none.unwrap_err().to_string();
        assert!(none.starts_with("t.csv: no period is complete"), "{none}");
        // The Sunday on which clocks are put back has 25 hours.
        let hours =
            (14 * 24..28 * 24).map(|hour| format!("2024-10-{:02}T{:02}:00,1\n", hour / 24, hour % 24));
        let zone = foretell_calendar::Zone::parse("Europe/Berlin").unwrap();
        let weeks = ReadOptions::new().aggregate(Aggregate::Sum).resample(Freq::parse("W-SUN").unwrap());
        let hours = hours.fold("ds,y\n".to_owned(), |text, row| text + &row);
        let weeks = Panel::read_csv(hours.as_bytes(), "t.csv", &weeks.zone(zone)).unwrap();
        assert!(weeks.notes().is_empty() && weeks.len(0) == 2, "{:?}", weeks.notes());
        // A row a month is one whose rows no one can count.
        assert_eq!(read("ds,y\n2024-01-31,1\n2024-02-29,1\n", "MS", false).y(0), [1.0, 1.0]);
    }

    #[test]
    fn series_without_rows_on_most_days_end_with_the_data() {
        // Of what is sold on some days alone, a month is over when it is so for the others.
        let often: Vec<String> = days(100, false).lines().skip(1).map(|line| format!("a,{line}\n")).collect();
        let seldom: Vec<String> =
            (0..100).filter(|day| (day * day) % 13 < 2).map(|day| often[day].replacen('a', "b", 1)).collect();
        let panel = read(&format!("unique_id,ds,y\n{}{}", often.concat(), seldom.concat()), "MS", false);
        assert_eq!((panel.y(0), panel.len(1)), (&[29.0, 31.0][..], 2));
    }

    #[test]
    fn few_sales_at_the_end_of_a_whole_month_are_all_that_there_are() {
        // The others have rows until the end of April; of `b` the last sale of April is on the 3rd.
        let often: Vec<String> = days(119, false).lines().skip(1).map(|line| format!("a,{line}\n")).collect();
        let seldom = [5, 11, 12, 24, 33, 37, 50, 51, 58, 63, 70, 84, 89, 90, 91];
        let seldom: String = seldom.iter().map(|day| often[*day].replacen('a', "b", 1)).collect();
        let panel = read(&format!("unique_id,ds,y\n{}{seldom}", often.concat()), "MS", false);
        assert_eq!(panel.y(0), [29.0, 31.0, 30.0]);
        assert_eq!(panel.y(1)[panel.len(1) - 3..], [4.0, 4.0, 3.0]);
        // Where each day has had a row until then, rows are missing.
        let dense: String = often[..95].iter().map(|row| row.replacen('a', "b", 1)).collect();
        let new: String = often[100..105].iter().map(|row| row.replacen('a', "c", 1)).collect();
        let panel = read(&format!("unique_id,ds,y\n{}{dense}{new}", often.concat()), "MS", false);
        assert_eq!((panel.y(0), panel.y(1)), (&[29.0, 31.0, 30.0][..], &[29.0, 31.0][..]));
        let note = panel.notes()[0].to_string();
        assert!(note.contains("series without any other: `c`") && panel.n_series() == 2, "{note}");
    }

    #[test]
    fn whole_periods_of_several_lengths_are_none_that_miss_rows() {
        let rows = |times: &[String]| times.iter().fold("ds,y\n".to_owned(), |all, time| all + time + ",1\n");
        // Months in quarters, whose last one has 28 to 31 days.
        let months = |count: usize| -> Vec<String> {
            (0..count).map(|at| format!("{}-{:02}-01", 2022 + at / 12, at % 12 + 1)).collect()
        };
        for count in [9, 12, 15, 24] {
            let panel = read(&rows(&months(count)), "QS", false);
            assert_eq!((panel.len(0), panel.notes().len()), (count / 3, 0), "{count} months");
        }
        assert_eq!(read(&rows(&months(14)), "QS", false).y(0), [3.0; 4]);
        // Weeks in months, which begin up to six days before the next month does.
        let weeks: Vec<String> = (0..13)
            .map(|week| foretell_calendar::TimeKind::Timestamp.display((19_723 + 7 * week) * 86_400_000_000))
            .collect();
        assert_eq!(read(&rows(&weeks), "MS", false).y(0), [5.0, 4.0, 4.0]);
        // A day of each quarter.
        let quarters = ["2023-02-15", "2023-05-15", "2023-08-16", "2023-11-02"].map(str::to_owned);
        assert_eq!(read(&rows(&quarters), "QS", false).y(0), [1.0; 4]);
    }

    #[test]
    fn values_that_are_missing_at_the_end_are_rows_that_are() {
        // A column of a wide table whose last days of March are empty.
        let wide = days(89, false).lines().fold(String::new(), |text, line| {
            text + &match line.split_once(',') {
                Some((ds, "y")) => format!("{ds},a,b\n"),
                Some((ds, _)) if ds > "2024-03-12" => format!("{ds},1,\n"),
                _ => format!("{line},1\n"),
            }
        });
        let options = ReadOptions::new().aggregate(Aggregate::Sum).resample(Freq::parse("MS").unwrap());
        let panel = Panel::read_csv(wide.as_bytes(), "t.csv", &options.clone().wide()).unwrap();
        assert_eq!((panel.y(0), panel.y(1)), (&[29.0, 31.0][..], &[29.0][..]));
        let kept = Panel::read_csv(wide.as_bytes(), "t.csv", &options.with_partial_periods().wide()).unwrap();
        assert_eq!((kept.y(0), kept.y(1)), (&[29.0, 29.0, 31.0][..], &[29.0, 29.0, 12.0][..]));
    }

    #[test]
    fn whether_such_periods_are_kept_is_in_the_words_of_directories() {
        let kept = ReadOptions::new().with_partial_periods();
        let json = serde_json::to_value(&kept).unwrap();
        assert_eq!(json["drop_partial"], false);
        assert_eq!(serde_json::from_value::<ReadOptions>(json).unwrap(), kept);
        assert!(!serde_json::from_str::<ReadOptions>("{}").unwrap().keep_partial);
    }
}
