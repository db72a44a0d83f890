//! Periods that rows are gathered in and that are not complete: at the beginning or the end of a series.

use std::collections::{BTreeMap, BTreeSet};

use super::holes::UsualSteps;
use super::periods::Periods;
use super::rows::{SeriesRun, TableRows};
use crate::error::DataError;
use foretell_calendar::Zone;
use foretell_tables::{ReadNote, UnreadableTable};

/// The fewest steps between rows that tell how far apart they usually are, where few periods do.
const LEAST_STEPS: usize = 2;

/// A period of a series: how far its first row is from the period's beginning, and its last from the end.
#[derive(Clone, Copy, Debug)]
struct Margins {
    before: i64,
    after: i64,
}

/// The periods of some rows by their names, with the first and the last time in each.
type Spans = BTreeMap<i64, [i64; 2]>;

impl TableRows {
    /// Of each run of an arranged table, whether its first and its last period miss rows that the periods between them have: of its own
    /// rows, or of those of all series together, as where few of them have rows at the end of the data.
    pub(super) fn partial_periods(&self, periods: &Periods, zone: Option<&Zone>) -> Vec<[bool; 2]> {
        let (mut names, mut times) = (Vec::new(), Vec::new());
        let mut of_all = Spans::new();
        let mut own = Vec::with_capacity(self.runs.len());
        for run in &self.runs {
            self.times.copy(run.start, run.len, &mut names);
            self.clocks_within(run, zone, &mut times);
            let spans = spans(&names, &times);
            for (name, [first, last]) in &spans {
                let all = of_all.entry(*name).or_insert([*first, *last]);
                *all = [all[0].min(*first), all[1].max(*last)];
            }
            let ends = [spans.keys().next().copied(), spans.keys().next_back().copied()];
            own.push((
                ends,
                partial_edges(&spans, periods, zone, || UsualSteps::of(&mut times, LEAST_STEPS)),
            ));
        }
        let together = partial_edges(&of_all, periods, zone, || self.steps_of_all(zone));
        let ends = [of_all.keys().next().copied(), of_all.keys().next_back().copied()];
        let partial = |(of_run, partial): ([Option<i64>; 2], [bool; 2])| {
            [0, 1].map(|edge| partial[edge] || together[edge] && of_run[edge] == ends[edge])
        };
        own.into_iter().map(partial).collect()
    }

    /// The times of the rows of a run as clocks show them: a day on which they are changed is no longer than others.
    fn clocks_within(&self, run: &SeriesRun, zone: Option<&Zone>, times: &mut Vec<i64>) {
        self.within.copy(run.start, run.len, times);
        times.iter_mut().for_each(|time| *time = civil(zone, *time));
    }

    /// The steps between the times of all series.
    fn steps_of_all(&self, zone: Option<&Zone>) -> Option<UsualSteps> {
        let (mut times, mut all) = (Vec::new(), BTreeSet::new());
        for run in &self.runs {
            self.clocks_within(run, zone, &mut times);
            all.extend(times.iter().copied());
        }
        UsualSteps::of(&mut all.into_iter().collect(), LEAST_STEPS)
    }

    /// Leaves these edges out, and says so; or says that they are there.
    ///
    /// # Errors
    /// If no period is left.
    pub(super) fn take_partial(&mut self, partial: &[[bool; 2]], drop: bool) -> Result<(), DataError> {
        let count = |edge: usize| partial.iter().filter(|run| run[edge]).count();
        let [first, last] = [count(0), count(1)];
        if first + last == 0 {
            return Ok(());
        }
        if drop {
            for (run, [first, last]) in self.runs.iter_mut().zip(partial) {
                let left = run.len.saturating_sub(usize::from(*first) + usize::from(*last));
                (run.start, run.len) = (run.start + usize::from(*first), left);
            }
            self.runs.retain(|run| run.len > 0);
            if self.runs.is_empty() {
                return Err(UnreadableTable::NoWholePeriod { table: self.origin.table() }.into());
            }
        }
        self.note(vec![ReadNote::PartialPeriods { table: self.origin.table(), first, last, dropped: drop }]);
        Ok(())
    }
}

fn civil(zone: Option<&Zone>, time: i64) -> i64 {
    zone.and_then(|zone| zone.civil(time)).unwrap_or(time)
}

/// The periods of rows that stand in the order of their names.
fn spans(names: &[i64], times: &[i64]) -> Spans {
    let mut spans = Spans::new();
    for (name, time) in names.iter().zip(times) {
        let span = spans.entry(*name).or_insert([*time; 2]);
        *span = [span[0].min(*time), span[1].max(*time)];
    }
    spans
}

/// Whether the rows of the first period begin later than those of any period between, and those of the last end earlier; where there is
/// none between, than a usual step from its beginning or its end.
fn partial_edges(
    spans: &Spans,
    periods: &Periods,
    zone: Option<&Zone>,
    steps: impl FnOnce() -> Option<UsualSteps>,
) -> [bool; 2] {
    let margins = spans.iter().map(|(name, [first, last])| {
        let bounds = periods.bounds(zone, *name)?;
        Some(Margins { before: first - civil(zone, bounds.start), after: civil(zone, bounds.end) - last })
    });
    let Some(margins) = margins.collect::<Option<Vec<Margins>>>() else { return [false; 2] };
    let (Some(first), Some(last)) = (margins.first(), margins.last()) else { return [false; 2] };
    let between = margins.get(1..margins.len() - 1).unwrap_or_default();
    let usual =
        between.iter().map(|period| period.before).max().zip(between.iter().map(|period| period.after).max());
    match usual {
        Some((before, after)) => [first.before > before, last.after > after],
        None => steps().map_or([false; 2], |steps| steps.are_missing(first.before, last.after)),
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

    fn read(text: &str, freq: &str, drop: bool) -> Panel {
        let options = ReadOptions::new().aggregate(Aggregate::Sum).resample(Freq::parse(freq).unwrap());
        let options = if drop { options.without_partial_periods() } else { options };
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
            let (kept, dropped) = (read(&text, freq, false), read(&text, freq, true));
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
            assert_eq!(read(&rows(from, to), "MS", true).y(0), kept, "{from} to {to}");
        }
        let options = ReadOptions::new().aggregate(Aggregate::Sum).resample(Freq::parse("MS").unwrap());
        let none = Panel::read_csv(
            rows("2024-02-02", "2024-02-20").as_bytes(),
            "t.csv",
            &options.without_partial_periods(),
        );
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
        assert_eq!(read("ds,y\n2024-01-31,1\n2024-02-29,1\n", "MS", true).y(0), [1.0, 1.0]);
    }

    #[test]
    fn series_without_rows_on_most_days_end_with_the_data() {
        // Of what is sold on some days alone, a month is over when it is so for the others.
        let often: Vec<String> = days(100, false).lines().skip(1).map(|line| format!("a,{line}\n")).collect();
        let seldom: Vec<String> =
            (0..100).filter(|day| (day * day) % 13 < 2).map(|day| often[day].replacen('a', "b", 1)).collect();
        let panel = read(&format!("unique_id,ds,y\n{}{}", often.concat(), seldom.concat()), "MS", true);
        assert_eq!((panel.y(0), panel.len(1)), (&[29.0, 31.0][..], 2));
    }
}
