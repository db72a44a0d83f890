//! Tables whose times go across: a series a row with a column for each time, a day a row with a column for each hour, or a year a
//! row with a column for each month.
//! They are read as long tables, cell by cell.

use std::collections::HashSet;

use super::adapter::TableAdapter;
use super::day_clock::{HOUR, Hours, beyond_day, counted_hours, hour_of_day, steps_of_day};
use super::layout::Across;
use super::read_note::ReadNote;
use super::table::TableReader;
use super::year_months::months_of_year;
use super::year_parts::{is_called_year, parts_of_year};
use crate::error::TableError;
use crate::error::file::UnreadableTable;
use crate::error::flaw::Flaw;
use foretell_calendar::{
    Clock, Locale, TimeFormat, TimeKind, periods::is_quarter_or_half, readings::readings_by_language,
};
use foretell_messages::Setting;

/// How months are headed, if the usual spellings do not say it.
const HEADINGS: [&str; 10] =
    ["%b-%y", "%b-%Y", "%b %y", "%b %Y", "%B %Y", "%B-%y", "%m/%Y", "%d/%m/%Y", "%Y [YR%Y]", "Q%q-%y"];

/// A long table of the cells of another one.
pub struct MeltedTable<'a> {
    inner: Box<dyn TableReader + 'a>,
    header: Vec<String>,
    /// Where the columns before the time and the value are in the table.
    kept: Vec<usize>,
    /// The columns across, each with its time as a text, or with its place in the period of its row.
    cells: Vec<(usize, Offset)>,
    at: usize,
    /// The column of the periods, days or years, and how they are written.
    period: Option<(usize, Option<TimeFormat>)>,
    /// Columns that are left out as the sums of others.
    sums: Vec<String>,
}

enum Offset {
    Time(String),
    Micros(i64),
    /// How many hours of the day passed before.
    Counted(i64),
    /// The number of a month, from 1.
    Month(usize),
}

/// How the long table's columns are called, and how times are written.
pub struct LongNames<'a> {
    /// That of the ids.
    pub id: &'a str,
    /// That of the times.
    pub time: &'a str,
    /// That of the values.
    pub value: &'a str,
    /// How the days of the rows are written, where someone said so.
    pub format: Option<&'a TimeFormat>,
    /// Whether hours are counted through the day, where someone said so.
    pub hours: Option<Hours>,
    /// The language of months, where someone said so.
    pub locale: Option<Locale>,
}

impl<'a> MeltedTable<'a> {
    /// # Errors
    /// A table without such columns, or without that of the days.
    pub fn new(
        inner: Box<dyn TableReader + 'a>,
        across: Across,
        names: &LongNames<'_>,
    ) -> Result<Self, TableError> {
        match across {
            Across::Times => Self::times(inner, names),
            Across::Hours => Self::hours(inner, names),
            Across::Months => Self::months(inner, names),
        }
    }

    fn hours(inner: Box<dyn TableReader + 'a>, names: &LongNames<'_>) -> Result<Self, TableError> {
        match names.hours {
            Some(Hours::Counted) => {
                let hours = counted_hours(inner.columns());
                let hours =
                    hours.ok_or_else(|| none_across(&*inner, "the hours of a day, counted from 1 on"))?;
                let cells = hours.into_iter().zip(0..).map(|(column, hour)| (column, Offset::Counted(hour)));
                return Self::parts(inner, cells.collect(), names.format.cloned(), names);
            }
            Some(hours) => {
                let expected = "counted, or nothing where hours stand across, whose names say it";
                return Err(TableError::setting("hours", hours.name(), expected));
            }
            None => {}
        }
        let Some(steps) = steps_of_day(inner.columns()) else {
            return Err(none_across(&*inner, "the hours of a day"));
        };
        let columns = beyond_day(inner.columns(), &steps);
        if !columns.is_empty() {
            return Err(UnreadableTable::BeyondDay { file: inner.file().clone(), columns }.into());
        }
        let cells = steps.into_iter().map(|(column, micros)| (column, Offset::Micros(micros))).collect();
        Self::parts(inner, cells, names.format.cloned(), names)
    }

    fn months(inner: Box<dyn TableReader + 'a>, names: &LongNames<'_>) -> Result<Self, TableError> {
        let Some(months) = months_of_year(inner.columns()) else {
            return Err(none_across(&*inner, "the months of a year"));
        };
        let cells =
            months.into_iter().zip(1..).map(|(column, month)| (column, Offset::Month(month))).collect();
        let years = names.format.cloned().or_else(|| TimeFormat::parse("%Y").ok());
        Self::parts(inner, cells, years, names)
    }

    /// The parts of a period, which a further column names: the first one, unless someone named it.
    fn parts(
        inner: Box<dyn TableReader + 'a>,
        cells: Vec<(usize, Offset)>,
        format: Option<TimeFormat>,
        names: &LongNames<'_>,
    ) -> Result<Self, TableError> {
        let is_part = |column: &usize| cells.iter().any(|(part, _)| part == column);
        let usual = names.time == "ds" && inner.find("ds").is_none();
        let period = match (0..inner.header().len())
            .find(|column| !is_part(column) && inner.header()[*column] != names.id)
        {
            Some(first) if usual => first,
            _ => inner.column(names.time, "name the column of the days or years")?,
        };
        let kept = (0..inner.header().len()).filter(|column| !is_part(column) && *column != period).collect();
        Self::of(inner, kept, None, cells, Some((period, format)), names)
    }

    fn times(inner: Box<dyn TableReader + 'a>, names: &LongNames<'_>) -> Result<Self, TableError> {
        let id = inner.find(names.id).unwrap_or(0);
        // Each year would be a series.
        if let Some((parts, [first, last])) = parts_of_year(inner.columns())
            && inner.columns().any(is_called_year)
        {
            let [first, last] = [first, last].map(|column| inner.header()[column].clone());
            return Err(
                UnreadableTable::YearsAcross { file: inner.file().clone(), parts, first, last }.into()
            );
        }
        let Some(mut times) = times_of(inner.header(), id, names.format, names.locale) else {
            return Err(none_across(&*inner, "times"));
        };
        // Months of another language would be left out without a word.
        let others = (0..inner.header().len())
            .filter(|column| *column != id && times.iter().all(|(time, _)| time != column));
        let mut others = others.filter(|_| names.format.is_none());
        if let Some((column, readings)) =
            others.find_map(|column| Some((column, readings_by_language(&inner.header()[column])?)))
        {
            let (file, column) = (inner.file().clone(), inner.header()[column].clone());
            return Err(UnreadableTable::MonthAcross { file, column, readings }.into());
        }
        if let Some((locale, column, time)) = in_another_language(inner.header(), id, &times, names) {
            let (file, column) = (inner.file().clone(), inner.header()[column].clone());
            let readings = format!("{} reads it as {time}", Setting::Locale.to(locale));
            return Err(UnreadableTable::MonthAcross { file, column, readings }.into());
        }
        let sums = sums_among(inner.header(), &times);
        times.retain(|(column, _)| !sums.contains(column));
        let is_time = |column: &usize| times.iter().any(|(time, _)| time == column) || sums.contains(column);
        let kept = (0..inner.header().len()).filter(|column| !is_time(column)).collect();
        let cells = times.into_iter().map(|(column, time)| (column, Offset::Time(time))).collect();
        let columns = sums.iter().map(|&column| inner.header()[column].clone()).collect();
        let table = Self::of(inner, kept, Some(id), cells, None, names)?;
        Ok(Self { sums: columns, ..table })
    }

    fn of(
        inner: Box<dyn TableReader + 'a>,
        kept: Vec<usize>,
        id: Option<usize>,
        cells: Vec<(usize, Offset)>,
        period: Option<(usize, Option<TimeFormat>)>,
        names: &LongNames<'_>,
    ) -> Result<Self, TableError> {
        let name = |&column: &usize| match id == Some(column) {
            true => names.id.to_owned(),
            false => inner.header()[column].clone(),
        };
        let long = [names.time, names.value].map(str::to_owned);
        let header: Vec<String> = kept.iter().map(name).chain(long).collect();
        super::table::check_header(inner.file(), &header)?;
        let at = cells.len();
        Ok(Self { inner, header, kept, cells, at, period, sums: Vec::new() })
    }

    fn is_time(&self, column: usize) -> bool {
        column == self.kept.len()
    }
}

/// The columns that are headed by times, but for that of the ids, and these times as they are usually written. Those of one
/// form are: dates, months, or a word and a number that goes up.
pub fn times_of(
    header: &[String],
    id: usize,
    format: Option<&TimeFormat>,
    locale: Option<Locale>,
) -> Option<Vec<(usize, String)>> {
    let others = || header.iter().map(|name| name.trim()).enumerate().filter(|(column, _)| *column != id);
    let read = |format: Option<&TimeFormat>, name: &str| {
        let mut clock = Clock::new(format.cloned(), None, locale);
        let time = clock.read(name).ok()?;
        (clock.kind == Some(TimeKind::Timestamp) && clock.zone.is_none())
            .then(|| TimeKind::Timestamp.display(time))
    };
    let all = |format: Option<&TimeFormat>| -> Vec<(usize, String)> {
        others().filter_map(|(column, name)| Some((column, read(format, name)?))).collect()
    };
    if let Some(format) = format.filter(|format| **format != TimeFormat::INTEGER) {
        return Some(all(Some(format))).filter(|times| !times.is_empty());
    }
    let formats = HEADINGS.iter().filter_map(|pattern| TimeFormat::parse(pattern).ok());
    let dates = [None].into_iter().chain(formats.map(Some)).map(|format| all(format.as_ref()));
    let numbered = |name: &str| -> Option<(String, i64)> {
        let word = name.trim_end_matches(|c: char| c.is_ascii_digit());
        Some((word.to_owned(), name[word.len()..].parse().ok()?))
    };
    let numbers: Vec<_> = others().filter_map(|(column, name)| Some((column, numbered(name)?))).collect();
    let steps = numbers.last().map_or(Vec::new(), |(_, (word, _))| {
        numbers
            .iter()
            .filter(|(_, (other, _))| other == word)
            .map(|(column, (_, step))| (*column, *step))
            .collect()
    });
    let ascending = steps
        .windows(2)
        .all(|pair| pair[1].1 - pair[0].1 == steps[1].1 - steps[0].1 && pair[1].1 > pair[0].1);
    let steps = if ascending { steps } else { Vec::new() };
    let steps = steps.into_iter().map(|(column, step)| (column, step.to_string())).collect();
    // Of several that fit, the first.
    let all: Vec<_> = dates.chain([steps]).collect();
    all.into_iter().rev().max_by_key(Vec::len).filter(|times| times.len() >= 3)
}

/// A column that is no time as it stands and is one in another language, which reads more of them, and that time.
fn in_another_language(
    header: &[String],
    id: usize,
    times: &[(usize, String)],
    names: &LongNames<'_>,
) -> Option<(Locale, usize, String)> {
    let known: HashSet<usize> = times.iter().map(|(column, _)| *column).chain([id]).collect();
    let may_be =
        |name: &str| name.contains(char::is_alphabetic) && name.contains(|c: char| c.is_ascii_digit());
    let mut others = header.iter().enumerate().filter(|(column, _)| !known.contains(column));
    if names.locale.is_some() || !others.any(|(_, name)| may_be(name)) {
        return None;
    }
    // The first is English, which was read.
    Locale::all().skip(1).find_map(|locale| {
        let read =
            times_of(header, id, names.format, Some(locale)).filter(|read| read.len() > times.len())?;
        let (column, time) = read.into_iter().find(|(column, _)| !known.contains(column))?;
        Some((locale, column, time))
    })
}

fn none_across(table: &dyn TableReader, what: &'static str) -> TableError {
    UnreadableTable::NothingAcross { file: table.file().clone(), what, columns: table.header().to_vec() }
        .into()
}

impl TableAdapter for MeltedTable<'_> {
    fn inner(&self) -> &dyn TableReader {
        &*self.inner
    }

    fn inner_mut(&mut self) -> &mut dyn TableReader {
        &mut *self.inner
    }

    /// That of the time is that of the cell, which messages show.
    fn inner_column(&self, column: usize) -> usize {
        let cell = || self.cells.get(self.at).map_or(0, |(column, _)| *column);
        self.kept.get(column).copied().unwrap_or_else(cell)
    }

    fn header(&self) -> &[String] {
        &self.header
    }

    fn all_columns(&self) -> &[String] {
        &self.header
    }

    fn advance(&mut self) -> Result<bool, TableError> {
        self.at += 1;
        // Hours that a day has not are columns without a value.
        while let Some((column, Offset::Counted(hour))) = self.cells.get(self.at)
            && *hour >= 23
            && matches!(self.inner.wide_number(*column), Err(Flaw::Missing))
        {
            self.at += 1;
        }
        if self.at < self.cells.len() {
            return Ok(true);
        }
        self.at = 0;
        self.inner.advance()
    }

    fn time(&self, column: usize, clock: &mut Clock) -> Result<i64, TableError> {
        if !self.is_time(column) {
            return self.inner.time(self.inner_column(column), clock);
        }
        let bad = |why| (self as &dyn TableReader).bad_time(column, why);
        let period = || {
            let (column, format) = self.period.as_ref().expect("parts of a period");
            self.inner.time(*column, &mut Clock::new(format.clone(), None, None))
        };
        match &self.cells[self.at].1 {
            Offset::Time(time) => clock.read(time).map_err(bad),
            Offset::Micros(micros) => {
                clock.read(&TimeKind::Timestamp.display(period()? + micros)).map_err(bad)
            }
            Offset::Counted(hour) => hour_of_day(HOUR, period()?, *hour, clock).map_err(bad),
            Offset::Month(month) => {
                let first = TimeKind::Timestamp.display(period()?);
                let year = first.split('-').next().unwrap_or_default();
                clock.read(&format!("{year}-{month:02}-01")).map_err(bad)
            }
        }
    }

    fn reads_its_times(&self) -> bool {
        true
    }

    fn shown(&self, column: usize) -> String {
        match self.is_time(column) {
            true => self.inner.header()[self.inner_column(column)].clone(),
            false => self.inner.shown(self.inner_column(column)),
        }
    }

    fn notes(&self) -> Vec<ReadNote> {
        let mut notes = self.inner.notes();
        if !self.sums.is_empty() {
            let (file, columns) = (self.inner.file().clone(), self.sums.clone());
            notes.push(ReadNote::SumsAcross { file, columns });
        }
        notes
    }
}

/// Columns of quarters or half-years that begin with a time of a column that is none.
fn sums_among(header: &[String], times: &[(usize, String)]) -> Vec<usize> {
    let (long, short): (Vec<_>, Vec<_>) =
        times.iter().partition(|(column, _)| is_quarter_or_half(header[*column].trim()));
    if long.is_empty() || !long.iter().all(|(_, time)| short.iter().any(|(_, other)| other == time)) {
        return Vec::new();
    }
    long.into_iter().map(|(column, _)| *column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(header: &str, format: Option<&str>) -> Option<Vec<(usize, String)>> {
        let header: Vec<String> = header.split(',').map(str::to_owned).collect();
        times_of(&header, 0, format.map(|word| TimeFormat::parse(word).unwrap()).as_ref(), None)
    }

    #[test]
    fn headers_name_times() {
        for (header, first, last) in [
            ("SKU,Description,Jan-18,Feb-18,Mar-18", (2, "2018-01-01"), (4, "2018-03-01")),
            ("SKU,2018-01,2018-02,2018-03,Total", (1, "2018-01-01"), (3, "2018-03-01")),
            ("id,Jan 2018,Feb 2018,Mar 2018", (1, "2018-01-01"), (3, "2018-03-01")),
            ("Country,1990 [YR1990],1991 [YR1991],1992 [YR1992]", (1, "1990-01-01"), (3, "1992-01-01")),
            ("account,Q1-23,Q2-23,Q3-23", (1, "2023-01-01"), (3, "2023-07-01")),
            ("V1,V2,V3,V4", (1, "2"), (3, "4")),
            ("id,dept2,d_1,d_2,d_3", (2, "1"), (4, "3")),
            ("id,1,2,3", (1, "1"), (3, "3")),
        ] {
            let times = times(header, None).unwrap();
            let (found_first, found_last) = (times.first().unwrap(), times.last().unwrap());
            assert_eq!((found_first.0, &*found_first.1), first, "{header}");
            assert_eq!((found_last.0, &*found_last.1), last, "{header}");
        }
        assert_eq!(times("id,20240101,20240201", Some("%Y%m%d")).unwrap()[1], (2, "2024-02-01".into()));
        let german =
            "id,Jan 2023,Feb 2023,Mär 2023,Q1 2023,Apr 2023,Mai 2023,Jun 2023,Q2 2023,Okt 2023,Q4 2023";
        let header: Vec<String> = german.split(',').map(str::to_owned).collect();
        let found = times_of(&header, 0, None, "de".parse().ok()).unwrap();
        assert_eq!((found.len(), found[2].1.as_str()), (10, "2023-03-01"));
        assert_eq!(sums_among(&header, &found), [4, 8, 10]);
        for none in ["unique_id,ds,y", "id,a,b,c", "id,x1,x3,x2"] {
            assert_eq!(times(none, None), None, "{none}");
        }
    }
}
