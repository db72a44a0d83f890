//! A table in which several columns make the time: a date and an hour, a year and a month.

use std::borrow::Cow;
use std::cell::Cell;

use super::adapter::TableAdapter;
use super::day_clock::{HOUR, Hours, Twin, hour_of_day, time_of_day, without_twin};
use super::joined_head::JoinedHead;
use super::read_note::ReadNote;
use super::table::TableReader;
use crate::error::TableError;
use crate::error::flaw::Flaw;
use foretell_calendar::{Advice, Clock, Locale, TimeFlaw, TimeFormat, TimeKind, periods::century};
use foretell_messages::Setting;

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
const QUARTERS: TimeFlaw = TimeFlaw::new(
    "is no quarter of an hour; they are those of a day, from 1 to 96, to 92 or 100 where clocks are changed",
);
const COUNTED: TimeFlaw = TimeFlaw::new(
    "is no hour that is counted; they are numbers from 1 to 24, to 23 or 25 where clocks are changed",
);
const SHIFT: TimeFlaw = TimeFlaw::new(
    "is a part of a day, and its number does not say when it begins; write the time of day at which it does, as 06:00",
);
const TWENTY_FIFTH: TimeFlaw = TimeFlaw::advising(
    "has an hour 25, so that hours seem to be counted through a day on which clocks were put back; say so, as in",
    &Advice::new(Setting::Hours, "counted")
        .or(", and name the zone; where every day has numbers up to 48 they are half-hours: call their column settlement_period"),
);
const TWINS: TimeFlaw = TimeFlaw::advising(
    "is one of two hours that clocks show alike when they are put back; name their zone, as in",
    &Advice::new(Setting::Zone, "Europe/Berlin"),
);
const WHICH: TimeFlaw = TimeFlaw::advising(
    "is one of two hours that clocks show alike; say which hour its number names, as in",
    &Advice::new(Setting::Hours, "ending").or(" (1 to 24) or starting (0 to 23)"),
);
const NO_TWIN: TimeFlaw = TimeFlaw::new(
    "is the second of two hours that clocks show alike, and those of this zone show it once; name the zone of the file, or correct the hour",
);

const NO_MONTH: TimeFlaw = TimeFlaw::new(
    "is more than the 12 months of a year; if these are weeks, call their column `week`, and if they are other parts of a year, such as 13 \
     periods of four weeks, number the rows with integers as times, and name the season",
);

/// Parts of the names of columns that number the weeks of a year,
const WEEKS: [&str; 9] = ["week", "wk", "woche", "kw", "semaine", "semana", "settimana", "vecka", "uke"];

/// its quarters,
const QUARTERS_OF_A_YEAR: [&str; 4] = ["quart", "qtr", "trimest", "kvartal"];

/// and its halves.
const HALF_YEARS: [&str; 4] = ["half", "semest", "halbjahr", "halvår"];

/// The names of columns that number the half-hours of a day, without blanks and the like.
const SETTLEMENT: [&str; 4] = ["settlementperiod", "settlementperiodid", "halfhour", "halfhourperiod"];

/// The names of those that number its quarters of an hour, unless they stand beside a year,
const QUARTER_HOURS: [&str; 4] = ["quarter", "quarterhour", "quarterhourly", "qh"];

/// and of those that number parts of no length that is known.
const SHIFTS: [&str; 4] = ["shift", "session", "slot", "block"];

/// A table whose first column is the time that several of its columns make.
pub struct JoinedTimes<'a> {
    inner: Box<dyn TableReader + 'a>,
    head: JoinedHead,
    /// How the first of the columns that make the time are written, and how many these are.
    format: Option<TimeFormat>,
    dated: usize,
    hours: Option<Hours>,
    /// The length of what the last of them counts from midnight on, if it does: half-hours, as electricity markets in Britain do, or hours.
    counted: Option<i64>,
    zero: Cell<bool>,
    last: Cell<bool>,
    /// Whether a time of day has minutes: those that are no whole hours number none.
    minutes: Cell<bool>,
}

impl<'a> JoinedTimes<'a> {
    /// Joins the columns of these names to one called `name`.
    pub fn new(
        inner: Box<dyn TableReader + 'a>,
        names: &[String],
        name: &str,
        format: Option<TimeFormat>,
        hours: Option<Hours>,
    ) -> Result<Self, TableError> {
        const REMEDY: &str = "name the columns that make the time";
        let parts = names.iter().map(|part| inner.column(part, REMEDY)).collect::<Result<Vec<_>, _>>()?;
        let head = JoinedHead::new(&*inner, parts, name, |_| false)?;
        let dated = format.clone().map_or(0, |format| String::from(format).split_whitespace().count());
        let hours = hours.or_else(|| names.iter().find_map(|name| Hours::said_by(name)));
        let [zero, last, minutes] = [false; 3].map(Cell::new);
        let numbers = |words: &[&str]| names.last().is_some_and(|name| words.contains(&plain(name).as_str()));
        let counted = match hours {
            _ if names.len() < 2 => None,
            _ if numbers(&SETTLEMENT) => Some(HOUR / 2),
            _ if numbers(&QUARTER_HOURS) => Some(HOUR / 4),
            Some(Hours::Counted) => Some(HOUR),
            _ => None,
        };
        Ok(Self { inner, head, format, dated, hours, counted, zero, last, minutes })
    }

    fn parts(&self) -> Result<Vec<Cow<'_, str>>, TableError> {
        let text = |&column: &usize| match self.inner.label(column) {
            Ok(text) => Ok(text),
            Err(Flaw::Missing) => Ok("".into()),
            // A date by its type.
            Err(_) => {
                let time = self.inner.time(column, &mut Clock::default())?;
                Ok(TimeKind::Timestamp.display(time).into())
            }
        };
        let mut parts: Vec<_> = self.head.parts.iter().map(text).collect::<Result<_, TableError>>()?;
        if let Some(year) = parts.first().and_then(|first| fiscal_year(first)) {
            parts[0] = year.into();
        }
        Ok(parts)
    }

    /// The time on the clocks, in microseconds since 1970-01-01 00:00, and which of two such times.
    fn civil(&self, parts: &[Cow<'_, str>], locale: Option<Locale>) -> Result<(i64, Option<Twin>), TimeFlaw> {
        let trimmed: Vec<&str> = parts.iter().map(|part| part.trim()).collect();
        let (date, dated) = match &self.format {
            Some(_) => {
                let dated = self.dated.clamp(1, parts.len());
                (trimmed[..dated].join(" "), dated)
            }
            None if parts.len() > 1 && is_year(trimmed[0]) => self.date_of_year(&trimmed, locale)?,
            None => (trimmed[0].to_owned(), 1),
        };
        let mut clock = Clock::new(self.format.clone(), None, None);
        let date = clock.read(&date)?;
        if clock.kind != Some(TimeKind::Timestamp) || clock.zone.is_some() {
            return Err(PARTS);
        }
        self.with_time_of_day(date, &trimmed, dated)
    }

    /// The time that the columns make.
    fn joined(&self, parts: &[Cow<'_, str>], clock: &mut Clock) -> Result<i64, TimeFlaw> {
        if let (Some(unit), Some((number, date))) = (self.counted, parts.split_last())
            && self.dated < parts.len()
            && !(date.len() == 1 && is_year(date[0].trim()))
        {
            return self.counted(unit, self.civil(date, clock.locale)?.0, number, clock);
        }
        let (civil, twin) = self.civil(parts, clock.locale)?;
        let time = clock.read(&TimeKind::Timestamp.display(civil))?;
        let later = if twin.is_some() { clock.later.take() } else { None };
        match (twin, clock.zone.is_some()) {
            (None, _) => Ok(time),
            (Some(_), false) => Err(TWINS),
            (Some(_), true) if self.hours.is_none() => Err(WHICH),
            (Some(Twin::First), true) => Ok(time),
            (Some(Twin::Second), true) => later.ok_or(NO_TWIN),
        }
    }

    /// The time of a midnight on the clocks and a number that counts steps of this length from it: where clocks are put back there are
    /// more.
    fn counted(&self, unit: i64, midnight: i64, number: &str, clock: &mut Clock) -> Result<i64, TimeFlaw> {
        let flaw = match HOUR / unit {
            1 => COUNTED,
            2 => HALVES,
            _ => QUARTERS,
        };
        let most = 25 * HOUR / unit;
        let number = number.trim().trim_start_matches(|c: char| c.is_ascii_alphabetic() || "_ ".contains(c));
        let number = number.strip_suffix(".0").unwrap_or(number).parse::<i64>().ok();
        let number = number.filter(|number| (1..=most).contains(number)).ok_or(flaw)?;
        hour_of_day(unit, midnight, number - 1, clock)
    }

    /// The date of a year, and a month, quarter, half or week of it, and how many columns it takes. Months have names in English or
    /// the language of the file.
    fn date_of_year(&self, parts: &[&str], locale: Option<Locale>) -> Result<(String, usize), TimeFlaw> {
        let name = self.inner.header()[self.head.parts[1]].to_lowercase();
        let digits = parts[1].trim_start_matches(|c: char| c.is_ascii_alphabetic() || "_ ".contains(c));
        let letter = parts[1].chars().next().map(|letter| letter.to_ascii_lowercase());
        let named = || Locale::all().take(1).chain(locale).find_map(|locale| locale.month_headed(parts[1]));
        let (number, letter) = match digits.strip_suffix(".0").unwrap_or(digits).parse::<u8>() {
            Ok(number) => (number, letter),
            Err(_) => (named().ok_or(PARTS)? as u8 + 1, None),
        };
        let year = parts[0];
        let is_called = |words: &[&str]| words.iter().any(|word| name.contains(word));
        if is_called(&HALF_YEARS) || letter == Some('h') {
            let month = number.checked_sub(1).filter(|half| *half < 2).ok_or(PARTS)? * 6 + 1;
            return Ok((format!("{year}-{month:02}"), 2));
        }
        if is_called(&WEEKS) || letter == Some('w') {
            return Ok((format!("{year}-W{number:02}"), 2));
        }
        if is_called(&QUARTERS_OF_A_YEAR) || letter == Some('q') {
            let month = number.checked_sub(1).filter(|quarter| *quarter < 4).ok_or(PARTS)? * 3 + 1;
            return Ok((format!("{year}-{month:02}"), 2));
        }
        if number > 12 {
            return Err(NO_MONTH);
        }
        let is_day = |text: &&str| text.len() <= 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        Ok(match parts.get(2).filter(|text| is_day(text)) {
            Some(day) => (format!("{year}-{number:02}-{day:0>2}"), 3),
            None => (format!("{year}-{number:02}"), 2),
        })
    }

    /// The date, of the first `dated` parts, with the hour and the minute that the others say.
    fn with_time_of_day(
        &self,
        date: i64,
        parts: &[&str],
        dated: usize,
    ) -> Result<(i64, Option<Twin>), TimeFlaw> {
        let Some((hour, rest)) = parts[dated..].split_first() else { return Ok((date, None)) };
        let name = plain(&self.inner.header()[self.head.parts[dated]]);
        if SHIFTS.contains(&name.as_str()) && hour.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(SHIFT);
        }
        let (hour, twin) = without_twin(hour).map_or((*hour, None), |(hour, twin)| (hour, Some(twin)));
        let number = hour.trim_start_matches(|c: char| c.is_ascii_alphabetic() || "_ ".contains(c));
        let flaw = if number.trim_end_matches(".0") == "25" { TWENTY_FIFTH } else { PARTS };
        let time = time_of_day(hour).ok_or(flaw)?;
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
        self.minutes.set(self.minutes.get() || time % HOUR != 0);
        let numbered = !self.minutes.get();
        let before = match self.hours {
            Some(Hours::Ending) if time < HOUR => return Err(ZERO),
            Some(Hours::Starting) if time == 24 * HOUR && numbered => return Err(LAST),
            None if numbered && self.zero.get() && self.last.get() => {
                return Err(if time < HOUR { ZERO } else { LAST });
            }
            Some(Hours::Ending) => HOUR,
            _ => 0,
        };
        Ok((date + time + finer - before, twin))
    }
}

impl TableAdapter for JoinedTimes<'_> {
    fn inner(&self) -> &dyn TableReader {
        &*self.inner
    }

    fn inner_mut(&mut self) -> &mut dyn TableReader {
        &mut *self.inner
    }

    fn inner_column(&self, column: usize) -> usize {
        self.head.inner_column(column)
    }

    fn header(&self) -> &[String] {
        &self.head.header
    }

    fn all_columns(&self) -> &[String] {
        &self.head.header
    }

    fn integer_ids(&self, column: usize) -> bool {
        column > 0 && self.inner.integer_ids(self.inner_column(column))
    }

    fn time(&self, column: usize, clock: &mut Clock) -> Result<i64, TableError> {
        if column > 0 {
            return self.inner.time(self.inner_column(column), clock);
        }
        let parts = self.parts()?;
        let read = self.joined(&parts, clock);
        read.map_err(|why| (self as &dyn TableReader).bad_time(0, why))
    }

    fn reads_its_times(&self) -> bool {
        true
    }

    /// Hours that no one named turn out to be those that end once there is a 24.
    fn late_shift(&self) -> i64 {
        if self.hours.is_none() && self.last.get() && !self.minutes.get() { -HOUR } else { 0 }
    }

    fn shown(&self, column: usize) -> String {
        match column {
            0 => self.parts().map_or_else(|_| String::new(), |parts| parts.join(" ")),
            column => self.inner.shown(self.inner_column(column)),
        }
    }

    fn notes(&self) -> Vec<ReadNote> {
        let ending = self.hours == Some(Hours::Ending) || TableAdapter::late_shift(self) != 0;
        let hours = ending.then(|| ReadNote::HoursEnding { file: self.inner.file().clone() });
        self.inner.notes().into_iter().chain(hours).collect()
    }
}

fn is_year(text: &str) -> bool {
    text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The year of `FY2024` and `FY 24`.
fn fiscal_year(text: &str) -> Option<String> {
    let text = text.trim();
    let digits = text.get(..2).filter(|word| word.eq_ignore_ascii_case("fy")).map(|_| &text[2..])?;
    let digits = digits.trim_start_matches([' ', '-', '\'']);
    match digits.len() {
        4 if is_year(digits) => Some(digits.to_owned()),
        2 if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            Some(century(digits.parse().ok()?).to_string())
        }
        _ => None,
    }
}

/// A name without blanks and the like.
fn plain(name: &str) -> String {
    name.to_lowercase().replace(['_', ' ', '-'], "")
}
