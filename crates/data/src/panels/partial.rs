//! Periods that rows are gathered in and that are not complete: at the beginning or the end of a series.

use super::periods::Periods;
use super::rows::{SeriesRun, TableRows};
use foretell_calendar::Zone;
use foretell_tables::ReadNote;

/// A period of a series: how far its first row is from the period's beginning, and its last from the end.
#[derive(Clone, Copy, Debug)]
struct Margins {
    before: i64,
    after: i64,
}

impl TableRows {
    /// Of each run of an arranged table, whether its first and its last period miss rows that the periods between them have.
    pub(super) fn partial_periods(&self, periods: &Periods, zone: Option<&Zone>) -> Vec<[bool; 2]> {
        let (mut names, mut times) = (Vec::new(), Vec::new());
        let of_run = |run: &SeriesRun| {
            self.times.copy(run.start, run.len, &mut names);
            self.within.copy(run.start, run.len, &mut times);
            let mut margins = Vec::new();
            let mut row = 0;
            while let Some(&name) = names.get(row) {
                let end = row + names[row..].partition_point(|other| *other == name);
                let rows = &times[row..end];
                let (Some(&first), Some(&last)) = (rows.iter().min(), rows.iter().max()) else { break };
                let Some(bounds) = periods.bounds(zone, name) else { return [false; 2] };
                margins.push(Margins { before: first - bounds.start, after: bounds.end - last });
                row = end;
            }
            partial_edges(&margins)
        };
        self.runs.iter().map(of_run).collect()
    }

    /// Leaves these edges out, and says so; or says that they are there.
    pub(super) fn take_partial(&mut self, partial: &[[bool; 2]], drop: bool) {
        let count = |edge: usize| partial.iter().filter(|run| run[edge]).count();
        let [first, last] = [count(0), count(1)];
        if first + last == 0 {
            return;
        }
        if drop {
            for (run, [first, last]) in self.runs.iter_mut().zip(partial) {
                run.start += usize::from(*first);
                run.len -= usize::from(*first) + usize::from(*last);
            }
        }
        self.note(vec![ReadNote::PartialPeriods { table: self.origin.table(), first, last, dropped: drop }]);
    }
}

/// Whether the rows of the first period begin later than those of any period between, and those of the last end earlier.
fn partial_edges(periods: &[Margins]) -> [bool; 2] {
    let [first, between @ .., last] = periods else { return [false; 2] };
    let usual =
        between.iter().map(|period| period.before).max().zip(between.iter().map(|period| period.after).max());
    usual.map_or([false; 2], |(before, after)| [first.before > before, last.after > after])
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
}
