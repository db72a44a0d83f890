//! A table in which several columns make the time: a date and an hour, a year and a month.

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;

use super::day_clock::{HOUR, Hours, time_of_day};
use super::number_format::NumberFormat;
use super::read_note::ReadNote;
use super::table::TableReader;
use crate::calendar::clock::Clock;
use crate::calendar::flaw::{Advice, TimeFlaw};
use crate::calendar::kind::TimeKind;
use crate::calendar::time_format::TimeFormat;
use crate::error::DataError;
use crate::error::flaw::Flaw;
use crate::error::place::Place;
use crate::setting::Setting;

const PARTS: TimeFlaw = TimeFlaw::new(
    "is no time; the columns that make it must be a date, or a year, a month and a day, then the hour and the minute",
);
const ZERO: TimeFlaw = TimeFlaw::advising(
    "has an hour 0, and hours that end go from 1 to 24; if they are those that start, say so, as in",
    &Advice::new(Setting::Hours, "starting"),
);
const LAST: TimeFlaw = TimeFlaw::advising(
    "has an hour 24, and hours that start go from 0 to 23; if they are those that end, say so, as in",
    &Advice::new(Setting::Hours, "ending"),
);

const HALVES: TimeFlaw = TimeFlaw::new(
    "is no settlement period; they are the half-hours of a day, from 1 to 48, to 46 or 50 where clocks are changed",
);
const LONG_DAY: TimeFlaw = TimeFlaw::advising(
    "is a half-hour of a day of 25 hours; name the zone whose clocks were put back, as in",
    &Advice::new(Setting::Zone, "Europe/London"),
);

/// The names of columns that number the half-hours of a day, without blanks and the like.
const SETTLEMENT: [&str; 4] = ["settlementperiod", "settlementperiodid", "halfhour", "halfhourperiod"];

/// A table whose first column is the time that several of its columns make.
pub(crate) struct JoinedTimes<'a> {
    inner: Box<dyn TableReader + 'a>,
    header: Vec<String>,
    /// Where the columns behind the first are in the table,
    places: Vec<usize>,
    /// and those that make the time.
    parts: Vec<usize>,
    /// How the first of them are written, and how many these are.
    format: Option<TimeFormat>,
    dated: usize,
    hours: Option<Hours>,
    /// Whether the last of them numbers the half-hours of a day, as electricity markets in Britain do.
    halves: bool,
    zero: Cell<bool>,
    last: Cell<bool>,
}

impl<'a> JoinedTimes<'a> {
    /// Joins the columns of these names to one called `name`.
    pub(crate) fn new(
        inner: Box<dyn TableReader + 'a>,
        names: &[String],
        name: &str,
        format: Option<TimeFormat>,
        hours: Option<Hours>,
    ) -> Result<Self, DataError> {
        const REMEDY: &str = "name the columns that make the time";
        let parts = names.iter().map(|part| inner.column(part, REMEDY)).collect::<Result<Vec<_>, _>>()?;
        let places: Vec<usize> = (0..inner.header().len()).filter(|column| !parts.contains(column)).collect();
        let others = places.iter().map(|&column| inner.header()[column].clone());
        let header: Vec<String> = [name.to_owned()].into_iter().chain(others).collect();
        super::table::check_header(inner.file(), &header)?;
        let dated = format.clone().map_or(0, |format| String::from(format).split_whitespace().count());
        let hours = hours.or_else(|| names.iter().find_map(|name| Hours::said_by(name)));
        let (zero, last) = (Cell::new(false), Cell::new(false));
        let plain = |name: &String| name.to_lowercase().replace(['_', ' ', '-'], "");
        let halves = names.len() == 2 && SETTLEMENT.contains(&plain(&names[1]).as_str());
        Ok(Self { inner, header, places, parts, format, dated, hours, halves, zero, last })
    }

    fn parts(&self) -> Result<Vec<Cow<'_, str>>, DataError> {
        let text = |&column: &usize| match self.inner.label(column) {
            Ok(text) => Ok(text),
            Err(Flaw::Missing) => Ok("".into()),
            // A date by its type.
            Err(_) => {
                let time = self.inner.time(column, &mut Clock::default())?;
                Ok(TimeKind::Timestamp.display(time).into())
            }
        };
        self.parts.iter().map(text).collect()
    }

    /// The time on the clocks, in microseconds since 1970-01-01 00:00.
    fn civil(&self, parts: &[Cow<'_, str>]) -> Result<i64, TimeFlaw> {
        let trimmed: Vec<&str> = parts.iter().map(|part| part.trim()).collect();
        let year = |text: &str| text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
        let (date, dated) = match &self.format {
            Some(_) => {
                let dated = self.dated.clamp(1, parts.len());
                (trimmed[..dated].join(" "), dated)
            }
            None if parts.len() > 1 && year(trimmed[0]) => self.date_of_year(&trimmed)?,
            None => (trimmed[0].to_owned(), 1),
        };
        let mut clock = Clock { format: self.format.clone(), ..Clock::default() };
        let date = clock.read(&date)?;
        if clock.kind != Some(TimeKind::Timestamp) || clock.zone.is_some() {
            return Err(PARTS);
        }
        self.with_time_of_day(date, &trimmed[dated..])
    }

    /// The time of a date and the number of a half-hour, which counts those that have passed since midnight: where clocks are put back
    /// there are 50.
    fn half_hour(&self, [date, number]: [&str; 2], clock: &mut Clock) -> Result<i64, TimeFlaw> {
        let mut dates = Clock { format: self.format.clone(), ..Clock::default() };
        let midnight = dates.read(date.trim())?;
        if dates.kind != Some(TimeKind::Timestamp) || dates.zone.is_some() {
            return Err(PARTS);
        }
        let number = number.trim();
        let number = number.strip_suffix(".0").unwrap_or(number).parse::<i64>().ok();
        let number = number.filter(|number| (1..=50).contains(number)).ok_or(HALVES)?;
        let passed = (number - 1) * HOUR / 2;
        match clock.zone.is_some() {
            true => Ok(clock.read(&TimeKind::Timestamp.display(midnight))? + passed),
            false if number > 48 => Err(LONG_DAY),
            false => clock.read(&TimeKind::Timestamp.display(midnight + passed)),
        }
    }

    /// The date of a year, and a month, quarter or week of it, and how many columns it takes.
    fn date_of_year(&self, parts: &[&str]) -> Result<(String, usize), TimeFlaw> {
        let name = self.inner.header()[self.parts[1]].to_lowercase();
        let digits = parts[1].trim_start_matches(|c: char| c.is_ascii_alphabetic());
        let number: u8 = digits.strip_suffix(".0").unwrap_or(digits).parse().map_err(|_| PARTS)?;
        let year = parts[0];
        if name.contains("week") {
            return Ok((format!("{year}-W{number:02}"), 2));
        }
        if name.contains("quarter") || name.contains("qtr") || parts[1].starts_with(['Q', 'q']) {
            let month = number.checked_sub(1).filter(|quarter| *quarter < 4).ok_or(PARTS)? * 3 + 1;
            return Ok((format!("{year}-{month:02}"), 2));
        }
        let is_day = |text: &&str| text.len() <= 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        Ok(match parts.get(2).filter(|text| is_day(text)) {
            Some(day) => (format!("{year}-{number:02}-{day:0>2}"), 3),
            None => (format!("{year}-{number:02}"), 2),
        })
    }

    /// The date with the hour and the minute that the other parts say.
    fn with_time_of_day(&self, date: i64, parts: &[&str]) -> Result<i64, TimeFlaw> {
        let Some((hour, rest)) = parts.split_first() else { return Ok(date) };
        let time = time_of_day(hour).ok_or(PARTS)?;
        let mut unit = HOUR;
        let mut finer = 0;
        for part in rest {
            unit /= 60;
            let part = part.strip_suffix(".0").unwrap_or(part);
            let number: Option<i64> = part.parse().ok().filter(|number| (0..60).contains(number));
            finer += number.ok_or(PARTS)? * unit;
        }
        self.zero.set(self.zero.get() || time < HOUR);
        self.last.set(self.last.get() || time == 24 * HOUR);
        let before = match self.hours {
            Some(Hours::Ending) if time < HOUR => return Err(ZERO),
            Some(Hours::Starting) if time == 24 * HOUR => return Err(LAST),
            None if self.zero.get() && self.last.get() => return Err(if time < HOUR { ZERO } else { LAST }),
            Some(Hours::Ending) => HOUR,
            _ => 0,
        };
        Ok(date + time + finer - before)
    }
}

impl TableReader for JoinedTimes<'_> {
    fn file(&self) -> &Arc<str> {
        self.inner.file()
    }

    fn header(&self) -> &[String] {
        &self.header
    }

    fn read_numbers(&mut self, format: NumberFormat) {
        self.inner.read_numbers(format);
    }

    fn advance(&mut self) -> Result<bool, DataError> {
        self.inner.advance()
    }

    fn place(&self) -> Place {
        self.inner.place()
    }

    fn id(&self, column: usize) -> Result<Cow<'_, str>, DataError> {
        self.inner.id(self.inner_column(column))
    }

    fn integer_ids(&self, column: usize) -> bool {
        column > 0 && self.inner.integer_ids(self.inner_column(column))
    }

    fn time(&self, column: usize, clock: &mut Clock) -> Result<i64, DataError> {
        if column > 0 {
            return self.inner.time(self.inner_column(column), clock);
        }
        let parts = self.parts()?;
        let read = match &parts[..] {
            [date, number] if self.halves => self.half_hour([date, number], clock),
            parts => self.civil(parts).and_then(|civil| clock.read(&TimeKind::Timestamp.display(civil))),
        };
        read.map_err(|why| (self as &dyn TableReader).bad_time(0, why))
    }

    fn wide_number(&self, column: usize) -> Result<f64, Flaw> {
        self.inner.wide_number(self.inner_column(column))
    }

    fn number_or_truth(&self, column: usize) -> Result<f32, Flaw> {
        self.inner.number_or_truth(self.inner_column(column))
    }

    fn typed_texts(&self, column: usize) -> bool {
        self.inner.typed_texts(self.inner_column(column))
    }

    fn label(&self, column: usize) -> Result<Cow<'_, str>, Flaw> {
        self.inner.label(self.inner_column(column))
    }

    fn reads_its_times(&self) -> bool {
        true
    }

    /// Hours that nobody named turn out to be those that end once there is a 24.
    fn late_shift(&self) -> i64 {
        if self.hours.is_none() && self.last.get() { -HOUR } else { 0 }
    }

    fn shown(&self, column: usize) -> String {
        match column {
            0 => self.parts().map_or_else(|_| String::new(), |parts| parts.join(" ")),
            column => self.inner.shown(self.inner_column(column)),
        }
    }

    fn check_units(&self) -> Result<(), DataError> {
        self.inner.check_units()
    }

    fn notes(&self) -> Vec<ReadNote> {
        let ending = self.hours == Some(Hours::Ending) || self.late_shift() != 0;
        let hours = ending.then(|| ReadNote::HoursEnding { file: self.file().clone() });
        self.inner.notes().into_iter().chain(hours).collect()
    }
}

impl JoinedTimes<'_> {
    /// The column of the table; that of the time, which only messages ask for, is the first that makes it.
    fn inner_column(&self, column: usize) -> usize {
        column.checked_sub(1).map_or(self.parts[0], |column| self.places[column])
    }
}

#[cfg(test)]
mod tests {
    use crate::{Panel, ReadOptions, Zone};

    #[test]
    fn half_hours_of_a_day_are_counted_from_midnight() {
        // The day on which clocks are put back has 50, that on which they are put forward 46.
        let days = [("2024-10-26", 48), ("2024-10-27", 50), ("2024-10-28", 48)];
        let rows: String = days
            .iter()
            .flat_map(|(day, count)| (1..=*count).map(move |number| format!("{day},{number},{number}\n")))
            .collect();
        let text = format!("settlement_date,Settlement Period,load\n{rows}");
        let options = ReadOptions {
            time_cols: vec!["settlement_date".to_owned(), "Settlement Period".to_owned()],
            target_col: "load".to_owned(),
            ..ReadOptions::new()
        };
        let read = |zone: Option<&str>| {
            let zone = zone.map(|name| Zone::parse(name).unwrap());
            Panel::read_csv(text.as_bytes(), "t.csv", &ReadOptions { zone, ..options.clone() })
        };
        let panel = read(Some("Europe/London")).unwrap();
        assert_eq!((panel.freq().to_string().as_str(), panel.len(0)), ("30min", 146));
        assert_eq!(panel.y(0)[96..99], [49.0, 50.0, 1.0]);
        let error = read(None).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("\"2024-10-27 49\" is a half-hour of a day of 25 hours"), "{error}");
        assert!(error.contains("`ReadOptions::zone = Europe/London`"), "{error}");
    }
}
