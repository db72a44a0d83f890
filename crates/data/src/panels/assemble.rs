//! From the rows of a table to a panel: duplicates, the frequency, gaps.

use super::fill::Filled;
use super::panel::{Data, Panel, Series};
use super::rows::{SeriesRun, TableRows};
use crate::calendar::days::{DAY, date_of};
use crate::calendar::freq::Freq;
use crate::calendar::kind::TimeKind;
use crate::calendar::step_hints::{StepHint, shows_hours_twice, skipped_before};
use crate::calendar::step_words::OddSteps;
use crate::calendar::zone::{Zone, in_range};
use crate::error::DataError;
use crate::error::file::UnreadableTable;
use crate::error::flaw::Gap;
use crate::error::place::Place;
use crate::error::remedies::Repeated;

impl TableRows {
    /// Sorts by (id, time), checks duplicates, settles the frequency, and checks or fills gaps.
    pub(crate) fn finish(
        mut self,
        kind: TimeKind,
        zone: Option<Zone>,
        freq: Option<Freq>,
    ) -> Result<Panel, DataError> {
        let zone = zone.filter(|_| kind == TimeKind::Timestamp);
        if self.len() == 0 {
            return Err(DataError::NoRows { table: self.origin.table() });
        }
        self.arrange()?;
        if let Some(how) = self.aggregate {
            let partial = match &self.partial {
                Some((periods, drop)) if periods.resample.is_some() => {
                    Some((self.partial_periods(periods, zone.as_ref()), *drop))
                }
                _ => None,
            };
            self.aggregate(how);
            if let Some((partial, drop)) = partial {
                self.take_partial(&partial, drop);
            }
        }
        let trimmed = self.trim()?;
        self.runs.sort_by(|a, b| self.ids[a.code as usize].cmp(&self.ids[b.code as usize]));
        let settled = self.settle(kind, zone.as_ref(), freq)?;
        let filled = match self.fill {
            Some(fill) => self.fill_gaps(fill, zone.as_ref(), settled)?,
            None => Filled::default(),
        };
        let mut times = Vec::new();
        for run in &self.runs {
            let place = |i: usize| self.place(run.start + i);
            let step = self.times.regular(run.start, run.len).map(|(_, step)| step);
            if step.is_some() && step == settled.fixed_in(zone.as_ref()) {
                continue;
            }
            self.times.copy(run.start, run.len, &mut times);
            check_steps(settled, zone.as_ref(), freq.is_none(), self.id(run), &times, place).map_err(
                |mut gap| {
                    gap.mixed = gap.fits.is_some_and(|fits| self.is_mixed(fits, zone.as_ref()));
                    DataError::Gap(gap)
                },
            )?;
        }
        let levels = self.take_levels();
        let series = self.runs.iter().zip(levels).enumerate().map(|(i, (run, level))| Series {
            id: self.id(run).clone(),
            start: run.start,
            len: run.len,
            reach: run.start + run.len,
            first_time: self.times.get(run.start),
            place: i,
            level,
        });
        let series = series.collect();
        let mut data = Data {
            table: self.origin.table(),
            y: self.y.into(),
            mask: self.mask.map(Into::into),
            weight: self.weight.map(Into::into),
            columns: self.columns,
            freq_inferred: freq.is_none(),
            integer_ids: self.integer_ids,
            filled,
            trimmed,
        };
        data.shrink();
        Ok(Panel::new(settled, zone, series, data).with_notes(self.notes))
    }

    /// Whether the times of a series ascend in steps of one length within the calendar: then [`check_order`] need not look.
    fn is_in_order(&self, run: &SeriesRun, kind: TimeKind, zone: Option<&Zone>) -> bool {
        self.times.regular(run.start, run.len).is_some_and(|(first, step)| {
            let last = first + step * (run.len as i64 - 1);
            let usual = buddhist_year(kind, first).is_none();
            step > 0 && usual && in_range(kind, zone, first) && in_range(kind, zone, last)
        })
    }

    /// Whether a series seems to follow another frequency than this one.
    fn is_mixed(&self, freq: Freq, zone: Option<&Zone>) -> bool {
        let mut times = Vec::new();
        self.runs.iter().any(|run| {
            self.times.copy(run.start, run.len, &mut times);
            let guess = Freq::guess(freq.kind(), zone, &times);
            guess.is_some_and(|guess| guess != freq) && freq.first_break(zone, &times).is_some()
        })
    }

    /// The frequency that is set, or the one that the longest series seems to have.
    fn settle(&self, kind: TimeKind, zone: Option<&Zone>, freq: Option<Freq>) -> Result<Freq, DataError> {
        let mut times = Vec::new();
        for run in &self.runs {
            if self.is_in_order(run, kind, zone) {
                continue;
            }
            self.times.copy(run.start, run.len, &mut times);
            check_order(kind, zone, self.id(run), &times, |i| self.place(run.start + i))?;
        }
        let longest = self.runs.iter().rev().max_by_key(|run| run.len).expect("there are rows");
        self.times.copy(longest.start, longest.len, &mut times);
        // Closed days and hours are gaps to the one who wants gaps filled.
        let open = || Freq::infer_open(kind, zone, &times).filter(|_| self.fill.is_none());
        match freq.or_else(open).or_else(|| Freq::guess(kind, zone, &times)) {
            Some(freq) if freq.kind() == kind => Ok(freq),
            Some(freq) => Err(DataError::FreqKind { kind, freq, trained: false }),
            None => Err(DataError::NoFreq { id: self.id(longest).to_string(), rows: longest.len }),
        }
    }
}

/// The years 1900 to 2099 as the Buddhist calendar counts them: no history is of these.
const BUDDHIST: std::ops::RangeInclusive<i16> = 2443..=2642;

/// The year of a time, if it is one that the Buddhist calendar seems to count.
fn buddhist_year(kind: TimeKind, time: i64) -> Option<i16> {
    let year = date_of(time.div_euclid(DAY))?.year();
    (kind == TimeKind::Timestamp && BUDDHIST.contains(&year)).then_some(year)
}

/// Sorted times must be distinct and within the calendar.
fn check_order(
    kind: TimeKind,
    zone: Option<&Zone>,
    id: &str,
    times: &[i64],
    place: impl Fn(usize) -> Place,
) -> Result<(), DataError> {
    if !(in_range(kind, zone, times[0]) && in_range(kind, zone, times[times.len() - 1])) {
        return Err(DataError::TimeRange { id: id.to_owned() });
    }
    if let Some(year) = buddhist_year(kind, times[0]) {
        let (at, id) = (place(0), id.to_owned());
        return Err(UnreadableTable::BuddhistYears { at, id, year }.into());
    }
    match times.windows(2).position(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(i) => Err(DataError::DuplicateRow {
            at: place(i + 1).into(),
            earlier: place(i).into(),
            id: id.to_owned(),
            time: kind.display_in(zone, times[i]),
            remedy: match zone.and_then(|zone| skipped_before(zone, times[i])) {
                Some(offset) => Repeated::BySkippedHour(offset),
                None if shows_hours_twice(kind, zone, times) => {
                    zone.map_or(Repeated::ByClocks, |_| Repeated::InZone)
                }
                None => Repeated::InData,
            },
        }),
    }
}

/// Each time must be as many steps after the first as there are rows between them.
fn check_steps(
    freq: Freq,
    zone: Option<&Zone>,
    inferred: bool,
    id: &str,
    times: &[i64],
    place: impl Fn(usize) -> Place,
) -> Result<(), Box<Gap>> {
    let Some(i) = freq.first_break(zone, times) else { return Ok(()) };
    let kind = freq.kind();
    let expected = freq.next_in(zone, times[0], i as i64);
    let shown = |time| kind.display_in(zone, time);
    Err(Box::new(Gap {
        at: place(i),
        id: id.to_owned(),
        after: shown(times[i - 1]),
        expected: expected.map_or_else(|| "no time".to_owned(), shown),
        found: shown(times[i]),
        freq,
        inferred,
        trained: false,
        fits: Freq::infer(kind, zone, times),
        odd: (!times.iter().all(|time| freq.leads(zone, times[0], *time)))
            .then(|| OddSteps::between(kind, zone, times)),
        mixed: false,
        hint: StepHint::of(kind, zone, times, i, freq),
    }))
}

#[cfg(test)]
mod tests {
    use crate::{Panel, ReadOptions};

    #[test]
    fn years_of_the_buddhist_calendar_are_refused() {
        let csv = "ds,y\n2567-01-01,1\n2567-01-02,2\n2567-01-03,3\n";
        let error =
            Panel::read_csv(csv.as_bytes(), "t.csv", &ReadOptions::default()).unwrap_err().to_string();
        assert!(
            error.starts_with("t.csv, line 2: ") && error.contains("to be 2024 by the Buddhist"),
            "{error}"
        );
    }

    #[test]
    fn advice_to_add_rows_is_given_where_there_is_a_grid() {
        let error = |times: &[&str]| {
            let rows: String = times.iter().map(|time| format!("{time},1\n")).collect();
            let csv = format!("ds,y\n{rows}");
            Panel::read_csv(csv.as_bytes(), "t.csv", &ReadOptions::default()).unwrap_err().to_string()
        };
        let gap = error(&["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-05"]);
        assert!(gap.contains("add the rows in between") && !gap.contains("its steps are"), "{gap}");
        let business = error(&["2024-01-04", "2024-01-05", "2024-01-08", "2024-01-09", "2024-01-11"]);
        assert!(
            business.contains("add the rows") && business.contains("`Freq::without_holidays`"),
            "{business}"
        );
        for (times, steps) in [
            (&["2024-01-27", "2024-02-24", "2024-03-30"][..], "its steps are 4 and 5 weeks"),
            (
                &["2023-01-15", "2023-02-15", "2023-03-15"],
                "its steps are months of 28 to 31 days from the 15th; where only",
            ),
            (
                &["2023-01-01 00:00", "2023-01-01 01:02", "2023-01-01 02:00", "2023-01-01 03:03"],
                "its steps are between 58 and 63 minutes; if its times are only early or late, move them to their grid \
                 (`ReadOptions::snap = h`)",
            ),
        ] {
            let error = error(times);
            assert!(error.contains(steps) && error.contains("number them with integers"), "{error}");
            assert!(!error.contains("add the rows"), "{error}");
        }
    }
}
