//! From the rows of a table to a panel: duplicates, the frequency, gaps.

use super::between::bound;
use super::far_times::FarTime;
use super::fill::{Filled, Trimmed};
use super::panel::{Data, Panel, Series};
use super::rows::{SeriesRun, TableRows};
use crate::error::DataError;
use crate::error::misread::MisreadTable;
use crate::error::series::{Repeated, SeriesError};
use crate::error::steps::{Gap, StepError};
use foretell_calendar::{
    Freq, MostlyMissing, OddSteps, StepHint, TimeKind, Zone,
    days::{DAY, date_of},
    step_hints::shows_hours_twice,
    zone::in_range,
};
use foretell_tables::{Place, ReadNote};

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
        if let Some(zone) = &zone {
            self.check_skipped_hours(zone)?;
        }
        let far = match &self.until {
            Some(until) => {
                let end = bound(kind, zone.as_ref(), "until", until, true)?;
                self.leave_out_far(kind, zone.as_ref(), end)
            }
            None => 0,
        };
        if let Some(how) = self.aggregate {
            match self.partial.clone().filter(|(periods, _)| periods.resample.is_some()) {
                Some((periods, kept)) => {
                    self.check_gathered(kind, zone.as_ref())?;
                    let holes = self.holes(&periods, zone.as_ref(), how);
                    let partial = self.partial_periods(&periods, zone.as_ref());
                    self.aggregate(how);
                    self.take_partial(&partial, kept)?;
                    self.forget_sums(&holes, &periods, zone.as_ref())?;
                }
                None => self.aggregate(how),
            }
        }
        let trimmed = Trimmed { far, ..self.trim()? };
        self.runs.sort_by(|a, b| self.ids[a.code as usize].cmp(&self.ids[b.code as usize]));
        let settled = self.settle(kind, zone.as_ref(), freq)?;
        let filled = match self.fill {
            Some(fill) => self.fill_gaps(fill, zone.as_ref(), settled)?,
            None => Filled::default(),
        };
        // Most panels have the same times in all series, which calendars of months need not count again.
        let (mut times, mut counted) = (Vec::new(), Vec::new());
        for run in &self.runs {
            let place = |i: usize| self.place(run.start + i);
            let step = self.times.regular(run.start, run.len).map(|(_, step)| step);
            if step.is_some() && step == settled.fixed_in(zone.as_ref()) {
                continue;
            }
            self.times.copy(run.start, run.len, &mut times);
            if times == counted {
                continue;
            }
            check_steps(settled, zone.as_ref(), freq.is_none(), self.id(run), &times, place).map_err(
                |mut gap| {
                    gap.mixed = gap.fits.is_some_and(|fits| self.is_mixed(fits, zone.as_ref()));
                    DataError::Steps(StepError::Gap(gap))
                },
            )?;
            std::mem::swap(&mut times, &mut counted);
        }
        let levels = self.take_levels();
        if let Some(value) = self.first_lost(&levels) {
            self.note(vec![ReadNote::ReadAsZero { table: self.origin.table(), value }]);
        }
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
        Ok(Panel::new(settled, zone, series, data).with_notes(ReadNote::merged(self.notes)))
    }

    /// Whether the times of a series ascend in steps of one length within the calendar: then [`check_order`] need not look.
    fn is_in_order(&self, run: &SeriesRun, kind: TimeKind, zone: Option<&Zone>) -> bool {
        self.times.regular(run.start, run.len).is_some_and(|(first, step)| {
            let last = first + step * (run.len as i64 - 1);
            let usual = buddhist_year(kind, first).is_none();
            step > 0 && usual && in_range(kind, zone, first) && in_range(kind, zone, last)
        })
    }

    /// Refuses a time of a series that is far from all others, unless what is missing is filled in and the others lack it in no other year.
    fn check_far(
        &self,
        kind: TimeKind,
        zone: Option<&Zone>,
        run: &SeriesRun,
        times: &[i64],
    ) -> Result<(), DataError> {
        // Behind the others, or before them, none is lacked.
        let is_lacked = |FarTime { meant, others: [first, last], .. }: &FarTime| {
            meant.is_some_and(|meant| *first < meant && meant < *last)
        };
        let may_be = |far: &FarTime| self.fill.is_none() || is_lacked(far);
        let Some(far) = FarTime::among(kind, zone, times).filter(may_be) else { return Ok(()) };
        let row = times.iter().position(|time| *time == far.time).unwrap_or_default();
        let shown = |time: i64| kind.display_in(zone, time);
        let others = Box::new(far.others.map(shown));
        let (at, id) = (Box::new(self.place(run.start + row)), self.id(run).to_string());
        let (time, meant) = (shown(far.time).into(), far.meant.map(|meant| shown(meant).into()));
        Err(MisreadTable::FarTime { at, id, time, others, meant }.into())
    }

    /// Leaves out the rows of a far time at the end of a series, where neither it nor the time that was meant is before `end`: no one
    /// asked for it, so nothing is in doubt. How many these are.
    fn leave_out_far(&mut self, kind: TimeKind, zone: Option<&Zone>, end: i64) -> usize {
        let is_unasked = |far: &FarTime| far.time.min(far.meant.unwrap_or(far.time)) >= end;
        let mut times = Vec::new();
        let far_rows = self.runs.iter().map(|run| {
            self.times_read().copy(run.start, run.len, &mut times);
            let Some(far) = FarTime::among(kind, zone, &times).filter(is_unasked) else { return 0 };
            let is_far = |time: &&i64| **time == far.time;
            let at_end = times.iter().rev().take_while(is_far).count();
            // Where rows of its period stand behind it, it stays in doubt.
            if at_end == times.iter().filter(is_far).count() { at_end } else { 0 }
        });
        let far_rows: Vec<usize> = far_rows.collect();
        self.runs.iter_mut().zip(&far_rows).for_each(|(run, rows)| run.len -= rows);
        far_rows.iter().sum()
    }

    /// Refuses far times of rows that are gathered: the period of such a row, which is not complete, would be left out without a word.
    fn check_gathered(&self, kind: TimeKind, zone: Option<&Zone>) -> Result<(), DataError> {
        let mut times = Vec::new();
        for run in &self.runs {
            self.times_read().copy(run.start, run.len, &mut times);
            self.check_far(kind, zone, run, &times)?;
        }
        Ok(())
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
            self.check_far(kind, zone, run, &times)?;
        }
        let longest = self.runs.iter().rev().max_by_key(|run| run.len).expect("there are rows");
        self.times.copy(longest.start, longest.len, &mut times);
        // Closed days and hours are gaps to the one who wants gaps filled.
        let open = || {
            let exact = Freq::infer_open(kind, zone, &times);
            exact.or_else(|| Freq::guess_open(kind, zone, &times)).filter(|_| self.fill.is_none())
        };
        match freq.or_else(open).or_else(|| Freq::guess(kind, zone, &times)) {
            Some(found) if freq.is_none() && found.to_string() == "13MS" => {
                let (at, id) = (self.place(longest.start), self.id(longest).to_string());
                Err(MisreadTable::YearsAsMonths { at, id }.into())
            }
            Some(freq) if freq.kind() == kind => Ok(freq),
            Some(freq) => {
                let follows = Freq::proposed(kind, zone, &times);
                Err(StepError::FreqKind { kind, freq, trained: false, follows }.into())
            }
            None => {
                let (id, proposed) = (self.id(longest).to_string(), Freq::proposed(kind, zone, &times));
                Err(StepError::NoFreq { id, rows: longest.len, kind, proposed }.into())
            }
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
        return Err(DataError::time_range(id));
    }
    if let Some(year) = buddhist_year(kind, times[0]) {
        let (at, id) = (place(0), id.to_owned());
        return Err(MisreadTable::BuddhistYears { at, id, year }.into());
    }
    match times.windows(2).position(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(i) => Err(SeriesError::DuplicateRow {
            at: place(i + 1).into(),
            earlier: place(i).into(),
            id: id.to_owned(),
            time: kind.display_in(zone, times[i]),
            remedy: match shows_hours_twice(kind, zone, times) {
                true => zone.map_or(Repeated::ByClocks, |_| Repeated::InZone),
                false => Repeated::InData,
            },
        }
        .into()),
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
    let is_odd = !times.iter().all(|time| freq.leads(zone, times[0], *time));
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
        odd: is_odd.then(|| OddSteps::between(kind, zone, times)),
        finer: Freq::of_shortest(kind, zone, times).filter(|_| is_odd && inferred),
        missing: MostlyMissing::of(freq, zone, times).filter(|_| inferred),
        mixed: false,
        hint: StepHint::of(kind, zone, times, i, freq),
    }))
}

#[cfg(test)]
mod tests {
    use crate::{Aggregate, Panel, ReadOptions};
    use foretell_calendar::{Freq, TimeFormat, TimeKind};

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
    fn a_gap_behind_series_of_the_same_times_is_told() {
        let months = ["2024-01-31", "2024-02-29", "2024-03-31", "2024-04-30", "2024-05-31"];
        let rows = |id: &str, without: usize| -> String {
            let months = months.iter().enumerate().filter(|(i, _)| *i != without);
            months.map(|(i, month)| format!("{id},{month},{i}\n")).collect()
        };
        let read = |without: usize| {
            let csv = format!(
                "unique_id,ds,y\n{}{}{}{}",
                rows("a", 9),
                rows("b", 9),
                rows("c", without),
                rows("d", 9)
            );
            Panel::read_csv(csv.as_bytes(), "t.csv", &ReadOptions::default())
        };
        assert_eq!(read(9).unwrap().freq().to_string(), "ME");
        let error = read(2).unwrap_err().to_string();
        assert!(error.starts_with("t.csv, line 14: ") && error.contains("series `c`"), "{error}");
    }

    fn error(times: &[&str]) -> String {
        let rows: String = times.iter().map(|time| format!("{time},1\n")).collect();
        let csv = format!("ds,y\n{rows}");
        Panel::read_csv(csv.as_bytes(), "t.csv", &ReadOptions::default()).unwrap_err().to_string()
    }

    #[test]
    fn years_that_stand_where_months_do_are_asked_for_and_read() {
        let seasons = ["1998/99", "1999/00", "2000/01", "2001/02", "2002/03", "2003/04"];
        let message = error(&seasons[2..]);
        assert!(message.starts_with("t.csv, line 2: the months of series `y` are 13 apart"), "{message}");
        let rows: String = seasons.iter().map(|time| format!("{time},1\n")).collect();
        let read = |options: &ReadOptions| {
            let panel = Panel::read_csv(format!("ds,y\n{rows}").as_bytes(), "t.csv", options).unwrap();
            (panel.freq().to_string(), TimeKind::Timestamp.display(panel.time(0, 1)))
        };
        let format = TimeFormat::parse("%Y/%y").unwrap();
        let years = ReadOptions { time_format: Some(format), ..ReadOptions::default() };
        assert_eq!(read(&years), ("YS-JAN".to_owned(), "1999-01-01".to_owned()));
        let months = ReadOptions { freq: Freq::parse("13MS").ok(), ..ReadOptions::default() };
        let csv = "ds,y\n2000/01,1\n2001/02,1\n2002/03,1\n";
        assert_eq!(Panel::read_csv(csv.as_bytes(), "t.csv", &months).unwrap().freq().to_string(), "13MS");
        assert!(error(&["2011/12", "2012/13", "2013/14"]).contains("= %Y/%y` reads it as 2012-01-01"));
    }

    #[test]
    fn where_most_rows_would_be_added_the_reading_is_doubted() {
        let quarters: Vec<String> =
            (2015..2019).flat_map(|year| (1..=4).map(move |quarter| format!("{year}.{quarter}"))).collect();
        let quarters: Vec<&str> = quarters.iter().map(String::as_str).collect();
        let message = error(&quarters);
        assert!(message.contains("no frequency by `ReadOptions::time_format = %Y.%m`"), "{message}");
        assert!(message.contains("`QS-JAN` by `ReadOptions::time_format = %Y.%q`"), "{message}");
        let months: Vec<String> = quarters.iter().map(|time| time.replace('.', "-0")).collect();
        let message = error(&months.iter().map(String::as_str).collect::<Vec<_>>());
        for part in [
            "24 rows would be missing and 16 are there",
            "(2015-01-01, 2015-02-01 and on)",
            "`ReadOptions::time_format`",
        ] {
            assert!(message.contains(part), "{message}");
        }
        assert!(!message.contains("fill"), "{message}");
    }

    #[test]
    fn where_there_are_rows_only_of_what_was_sold_zeros_are_advised() {
        let times = [
            "2024-01", "2024-02", "2024-03", "2024-04", "2024-08", "2024-09", "2025-06", "2025-07", "2025-12",
        ];
        let message = error(&times);
        assert!(
            message.contains("15 rows would be missing and 9 are there: if there are rows only"),
            "{message}"
        );
        assert!(
            message.contains("(`ReadOptions::fill = zero`)") && !message.contains("integers"),
            "{message}"
        );
        let csv = times.iter().fold("ds,y\n".to_owned(), |csv, time| csv + time + ",3\n");
        let options = ReadOptions::default().fill(crate::Fill::Zero);
        let panel = Panel::read_csv(csv.as_bytes(), "t.csv", &options).unwrap();
        let with_sales: Vec<usize> = (0..panel.len(0)).filter(|&row| panel.y(0)[row] == 3.0).collect();
        assert_eq!(with_sales, [0, 1, 2, 3, 7, 8, 17, 18, 23]);
        assert_eq!(panel.y(0).iter().sum::<f32>(), 27.0);
    }

    #[test]
    fn rows_of_which_each_month_has_one_are_read_as_months_by_the_advice() {
        for (times, freq, read) in [
            (&["2023-01-15", "2023-02-15", "2023-03-15"][..], "MS", "2023-01-01"),
            (&["2023-01-30", "2023-02-28", "2023-03-30", "2023-04-30"], "MS", "2023-01-01"),
            (&["2023-02-15", "2023-05-15", "2023-08-16"], "QS", "2023-01-01"),
            (&["2022-02-15", "2023-02-15", "2024-02-15", "2025-02-15"], "YS", "2022-01-01"),
        ] {
            let message = error(times);
            let advice = format!("`ReadOptions::resample = {freq}` with `ReadOptions::aggregate = first`");
            assert!(message.contains(&advice), "{message}");
            let rows: String = times.iter().map(|time| format!("{time},1\n")).collect();
            let options = ReadOptions {
                resample: Freq::parse(freq).ok(),
                aggregate: Some(Aggregate::First),
                ..ReadOptions::default()
            };
            let panel = Panel::read_csv(format!("ds,y\n{rows}").as_bytes(), "t.csv", &options).unwrap();
            let first = TimeKind::Timestamp.display(panel.time(0, 0));
            assert_eq!((panel.len(0), first.as_str()), (times.len(), read));
        }
    }

    #[test]
    fn where_steps_are_of_several_lengths_the_frequency_of_the_shortest_is_advised() {
        let read = |times: &[&str], options: &ReadOptions| {
            let csv = times.iter().fold("ds,y\n".to_owned(), |csv, time| csv + time + ",3\n");
            Panel::read_csv(csv.as_bytes(), "t.csv", options)
        };
        let times = ["2024-01-01", "2024-03-01", "2024-04-01", "2024-06-01", "2024-08-01", "2024-09-01"];
        let message = error(&times);
        assert!(message.contains("inferred frequency `2MS`"), "{message}");
        assert!(
            message.contains("(`ReadOptions::freq = MS`)") && message.contains("`ReadOptions::fill`: zero")
        );
        assert!(!message.contains("integers"), "{message}");
        // What it advises, in two steps.
        let options = ReadOptions::new().freq(Freq::parse("MS").unwrap());
        assert!(read(&times, &options).unwrap_err().to_string().contains("`ReadOptions::fill`"));
        let panel = read(&times, &options.fill(crate::Fill::Zero)).unwrap();
        assert_eq!(panel.y(0), [3.0, 0.0, 3.0, 3.0, 0.0, 3.0, 0.0, 3.0, 3.0]);
        // Months by a day within them.
        let times =
            ["2023-01-31", "2023-02-28", "2023-03-31", "2023-05-31"].map(|time| time.replace("31", "30"));
        let times: Vec<&str> = times.iter().map(String::as_str).collect();
        let message = error(&times);
        assert!(
            message.contains(
                "no more than one row in each month; read them as these (`ReadOptions::resample = MS`"
            ),
            "{message}"
        );
        let options = ReadOptions {
            resample: Freq::parse("MS").ok(),
            aggregate: Some(Aggregate::First),
            fill: Some(crate::Fill::Zero),
            ..ReadOptions::default()
        };
        assert_eq!(read(&times, &options).unwrap().y(0), [3.0, 3.0, 3.0, 0.0, 3.0]);
    }

    #[test]
    fn a_holiday_among_closed_days_is_told_by_their_frequency() {
        let read = |options: &ReadOptions| {
            let days = (0..70).filter(|day| day % 7 != 6 && *day != 30);
            let day = |day: i64| TimeKind::Timestamp.display((19_723 + day) * 86_400_000_000);
            let csv = days.fold("ds,y\n".to_owned(), |csv, at| csv + &format!("{},{at}\n", day(at)));
            Panel::read_csv(csv.as_bytes(), "t.csv", options)
        };
        let message = read(&ReadOptions::default()).unwrap_err().to_string();
        assert!(message.contains("by the inferred frequency `C-1111110` 2024-01-31 comes next"), "{message}");
        let advice = "(`ReadOptions::fill` with `ReadOptions::freq = C-1111110` does so on request)";
        assert!(message.contains(advice) && message.contains("`Freq::without_holidays`"), "{message}");
        let options = ReadOptions::new().freq(Freq::parse("C-1111110").unwrap()).fill(crate::Fill::Forward);
        let panel = read(&options).unwrap();
        assert_eq!((panel.len(0), panel.y(0)[26]), (60, 29.0), "no Sunday is added");
    }

    #[test]
    fn a_series_with_holes_among_others_is_advised_to_be_filled() {
        let rows = |id: &str, months: &[u8]| {
            months.iter().fold(String::new(), |all, month| all + &format!("{id},2024-0{month}-01,5\n"))
        };
        let csv = format!("unique_id,ds,y\n{}{}", rows("a", &[1, 2, 3, 4, 5, 6]), rows("b", &[1, 3, 5]));
        let error =
            Panel::read_csv(csv.as_bytes(), "t.csv", &ReadOptions::default()).unwrap_err().to_string();
        assert!(
            error.contains("add the rows in between (`ReadOptions::fill` does so on request); if `2MS`"),
            "{error}"
        );
        // Those of a finer one are no holes.
        let csv = format!("unique_id,ds,y\n{}{}", rows("a", &[1, 3, 5, 7, 9]), rows("b", &[1, 2, 3, 4]));
        let error =
            Panel::read_csv(csv.as_bytes(), "t.csv", &ReadOptions::default()).unwrap_err().to_string();
        assert!(error.contains("its times follow `MS`, and those of other series do not"), "{error}");
    }

    #[test]
    fn advice_to_add_rows_is_given_where_there_is_a_grid() {
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
                &["2023-01-01 00:00", "2023-01-01 01:02", "2023-01-01 02:00", "2023-01-01 03:03"],
                "its steps are between 58 and 63 minutes; if its times are only early or late, move them to their grid \
                 (`ReadOptions::snap = h`)",
            ),
            (
                &["2024-03-29T23:00Z", "2024-03-30T23:00Z", "2024-03-31T22:00Z", "2024-04-01T22:00Z"],
                "its steps are between 23 and 24 hours; if they are days of a zone whose clocks change, name it (`ReadOptions::zone = \
                 Europe/Berlin`)",
            ),
        ] {
            let error = error(times);
            assert!(error.contains(steps) && error.contains("number them with integers"), "{error}");
            assert!(!error.contains("add the rows"), "{error}");
        }
    }
}
