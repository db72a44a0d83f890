//! A look at the first rows of a table for a notation that they can only have.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::column_signs::{holds_number, is_called_as_ids, is_called_quarter, is_called_time};
use super::counted_cells::{Counted, YearParts};
use super::first_rows::FirstRows;
use super::laid_out::year_and_part;
use super::month_languages::MonthLanguages;
use super::notation::Notation;
use super::options::ReadOptions;
use super::panel::Panel;
use super::roles::MOST_COLUMNS;
use super::year_weeks::YearWeeks;
use crate::error::DataError;
use foretell_calendar::{Clock, TimeFormat, TimeKind, readings::formats};
use foretell_tables::{
    Flaw, MemoryTable, NumberFormat, TableReader, check_sizes, is_called_year, is_of_id, named_months, open,
    parts_of_year, table_files,
};

/// Bytes of a file that is read as a whole, streams of Arrow's and JSON, above which no one looks at it twice.
const MOST_BYTES: u64 = 1 << 28;

impl Panel {
    pub(super) fn with_notation_noted(self, notation: &Notation, id_col: &str) -> Self {
        let table = || self.data.table.clone();
        let written = notation.note(table()).into_iter().chain(notation.note_of_months(table()));
        let notes = written.chain(notation.note_of_ids(table(), id_col)).collect();
        self.with_notes(notes)
    }
}

impl ReadOptions {
    /// These options for a file as its first rows are written; unchanged for one that is very large and read as a whole. What they say of
    /// times and numbers stays where it reads these rows, or was
    /// `said` of them (of times, of numbers). Else times are read by the only format that reads all of them, numbers with a decimal comma that
    /// is none between thousands, or both as usual. What could mean two things is left to the reading, which asks.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn with_notation_of(self, path: impl AsRef<Path>, said: [bool; 2]) -> Result<Self, DataError> {
        let first: Vec<PathBuf> = table_files(path)?.into_iter().take(1).collect();
        if check_sizes(&first, Some(MOST_BYTES)).is_err() {
            return Ok(self);
        }
        let table = open(&first, &self.file, |_| true)?;
        let rows = FirstRows::of_file(first.first().map(PathBuf::as_path));
        Ok(self.with_notation(table, rows, said))
    }

    /// These options for files beside the data, which may be written otherwise; unchanged for a pipe, which gives its text once, and for what
    /// cannot be read: that is an error of the reading.
    pub(super) fn of_beside(&self, paths: &[impl AsRef<Path>]) -> Self {
        let beside = Self { file: self.file.beside(), ..self.clone() };
        let first = paths.first().map(AsRef::as_ref).filter(|path| path.is_file() || path.is_dir());
        match first.map(|first| beside.with_notation_of(first, [false; 2])) {
            Some(Ok(found)) => Self { file: self.file.clone(), ..found },
            _ => self.clone(),
        }
    }

    /// The same of a table that is in memory.
    ///
    /// # Errors
    /// A table that cannot be read.
    pub fn with_notation_in(self, table: &MemoryTable, said: [bool; 2]) -> Result<Self, DataError> {
        table.check_size(self.max_memory)?;
        let table = table.open(&self.file, |_| true)?;
        Ok(self.with_notation(table, FirstRows::of_any(), said))
    }

    /// The same; unchanged for a table that cannot be read, which is an error of its reading.
    pub fn as_written_in(self, table: &MemoryTable, said: [bool; 2]) -> Self {
        self.clone().with_notation_in(table, said).unwrap_or(self)
    }

    /// These options for a table in memory beside the data, which may be written otherwise.
    pub(super) fn of_memory_beside(&self, table: &MemoryTable) -> Self {
        let beside = Self { file: self.file.beside(), ..self.clone() };
        Self { file: self.file.clone(), ..beside.as_written_in(table, [false; 2]) }
    }

    fn with_notation(
        mut self,
        mut table: Box<dyn TableReader + '_>,
        mut rows: FirstRows,
        said: [bool; 2],
    ) -> Self {
        let named = table.columns().filter(|name| !name.is_empty()).count();
        let times_are_one = self.across.is_none() && self.time_cols.is_empty();
        let asks_times = !said[0] && self.locale.is_none() && times_are_one && !table.reads_its_times();
        let asks_numbers = !said[1];
        if named > MOST_COLUMNS || (!asks_times && !asks_numbers && self.wide) {
            return self;
        }
        let ways = [self.numbers, NumberFormat::default(), comma(None), comma(Some('.')), grouped()];
        let clock = self.clock(&*table);
        let mut columns: Vec<Seen> =
            table.header().iter().map(|name| Seen::of(name, clock.clone())).collect();
        while rows.advance(&mut *table) {
            for (place, column) in columns.iter_mut().enumerate() {
                column.see(&mut *table, place, &ways);
            }
        }
        let mut notation = Notation::default();
        let time = self.times_among(table.find(self.time_name()), &columns);
        let is_numbered = self.freq.is_some_and(|freq| freq.kind() == TimeKind::Integer);
        let may_be_years = self.time_format.is_none() && !is_numbered;
        let is_other = |time: &&Seen| {
            !time.is_read || (may_be_years && (time.are_years() || time.weeks.format().is_some()))
        };
        if let Some(time) = time.map(|time| &columns[time]).filter(is_other).filter(|_| asks_times) {
            match time.only_format() {
                Some(format) => {
                    self.time_format = Some(format.clone());
                    notation.times = Some((format, time.first.clone()));
                }
                None if time.are_usual => self.time_format = None,
                None if self.time_format.is_none() => {
                    self.locale = time.months.first();
                    notation.months = self.locale.map(|locale| (locale, time.first.clone()));
                }
                None => {}
            }
        }
        let asks_date = !said[0] && self.locale.is_none() && self.time_format.is_none();
        let date = self.time_cols.first().filter(|_| asks_date && self.across.is_none());
        let date = date.and_then(|name| columns.iter().find(|column| column.name == *name));
        if let Some((format, first)) = date.and_then(|date| Some((date.only_date()?, &date.first))) {
            self.time_format = Some(format.clone());
            notation.times = Some((format, first.clone()));
        }
        let others = columns.iter().enumerate().filter(|(place, _)| Some(*place) != time);
        // A time of day with a point, `18.00`, is no number.
        let is_number = |column: &&Seen| column.are_numbers && !self.time_cols.contains(&column.name);
        let numbers: Vec<&Seen> = others.map(|(_, column)| column).filter(is_number).collect();
        let first = numbers.iter().find_map(|column| column.comma.as_ref());
        let grouped = numbers.iter().find_map(|column| column.grouped.as_ref());
        let way = (0..ways.len()).find(|&way| numbers.iter().all(|column| column.fits[way]));
        // `1.250` is a number with decimals and one with thousands: what was set is not given up for either.
        // Nor is a comma that may stand between thousands, as in `1,200`, one before decimals.
        let is_told = |way: &usize| match way {
            0 | 1 => true,
            4 => grouped.is_some(),
            _ => first.is_some(),
        };
        let is_clear = |way: &usize| *way != 1 || !numbers.iter().all(|column| column.fits[3]);
        if let Some(way) = way.filter(|way| asks_numbers && *way > 0).filter(is_told).filter(is_clear) {
            self.numbers = ways[way];
            let first = if way == 4 { grouped } else { first };
            notation.numbers = first.map(|first| (ways[way], first.clone()));
        }
        if !self.wide {
            let above = columns.iter().enumerate().filter(|(place, _)| Some(*place) != time);
            let above = above
                .map(|(_, column)| column)
                .filter(|column| column.stand_above(is_of_id(&self.id_col, &column.name)));
            for column in above {
                notation.ids_above.push(column.name.clone());
                notation.ids_seen.push(column.rows - column.empty);
                notation.rows_seen = column.rows;
            }
        }
        self.notation = notation;
        self
    }

    /// The column of times: the one `called` as these options say, the first of a wide table, else the only one that is written in another
    /// than the usual way, where none is written as usual.
    fn times_among(&self, called: Option<usize>, columns: &[Seen]) -> Option<usize> {
        if called.is_some() || self.time_col.is_some() {
            return called;
        }
        if self.wide {
            return columns.iter().position(|column| !column.name.is_empty());
        }
        let are_weeks = |column: &Seen| column.weeks.format().is_some();
        if columns.iter().any(|column| column.are_usual && !are_weeks(column)) {
            return None;
        }
        let names = || columns.iter().map(|column| &column.name);
        // Years beside parts of them are a question.
        let of_parts = year_and_part(names()).is_some()
            || named_months(names().map(String::as_str)).is_some()
            || parts_of_year(names().map(String::as_str)).is_some();
        // Numbers of rows have no name.
        let are_counted = columns
            .iter()
            .any(|column| !column.name.is_empty() && column.wholes.as_ref().is_some_and(Counted::follow));
        let is_time = |column: &Seen| match column.are_years() {
            true => !of_parts,
            false if are_weeks(column) => true,
            // Values may be as years with parts of them are, beside steps that are counted.
            false if column.are_parts_of_years() => is_called_time(&column.name) || !are_counted,
            // Months with a point before their year, as numbers have it.
            false if column.are_numbers && !is_called_time(&column.name) => false,
            false => column.only_format().is_some() || column.months.first().is_some(),
        };
        let written: Vec<usize> = (0..columns.len()).filter(|&i| is_time(&columns[i])).collect();
        match written[..] {
            [only] => Some(only),
            [start, end] if columns[start].begins_before(&columns[end]) => Some(start),
            _ => {
                let mut called = written.into_iter().filter(|&i| is_called_time(&columns[i].name));
                called.next().filter(|_| called.next().is_none())
            }
        }
    }
}

/// Numbers with commas between their thousands.
fn grouped() -> NumberFormat {
    NumberFormat::new('.', Some(',')).expect("two marks")
}

/// Numbers with a decimal comma.
fn comma(thousands: Option<char>) -> NumberFormat {
    NumberFormat::new(',', thousands).expect("two marks")
}

/// What was seen of a column.
struct Seen {
    name: String,
    /// Rows, and those of them that are empty,
    rows: usize,
    empty: usize,
    /// whether the first is, and the texts of the others; nothing where one came again.
    begins_empty: bool,
    texts: Option<HashSet<String>>,
    /// The formats that read all of its cells so far; none before the first.
    formats: Option<Vec<TimeFormat>>,
    /// The format of quarters such as `1/2019`, where it is called so and none of its numbers is one of a month.
    quarters: Option<TimeFormat>,
    first: String,
    /// The first one that is another.
    second: String,
    /// Whether all are timestamps in a usual form, such as ISO 8601, and none is an integer.
    are_usual: bool,
    /// A clock that is set as the options say, and whether it reads all.
    clock: Clock,
    is_read: bool,
    /// Whether all are numbers, however written.
    are_numbers: bool,
    /// Whether all are numbers of four digits that may be years.
    are_years: bool,
    /// How years with parts of them are read, of those that read all cells.
    parts: Vec<YearParts>,
    /// How weeks are read, of those that read all cells.
    weeks: YearWeeks,
    /// The languages of months in which all are times.
    months: MonthLanguages,
    /// How whole numbers follow each other, where all are.
    wholes: Option<Counted>,
    /// A number whose comma stands before decimals.
    comma: Option<String>,
    /// A number with commas between its thousands, and a point before its decimals.
    grouped: Option<String>,
    /// Whether each of the ways reads all numbers.
    fits: [bool; 5],
}

impl Seen {
    fn of(name: &str, clock: Clock) -> Self {
        Self {
            name: name.to_owned(),
            rows: 0,
            empty: 0,
            begins_empty: false,
            texts: Some(HashSet::new()),
            clock,
            formats: None,
            quarters: None,
            first: String::new(),
            second: String::new(),
            are_usual: false,
            is_read: true,
            are_numbers: true,
            are_years: true,
            parts: YearParts::all(),
            weeks: YearWeeks::of(name),
            months: MonthLanguages::default(),
            wholes: Some(Counted::default()),
            comma: None,
            grouped: None,
            fits: [true; 5],
        }
    }

    fn see(&mut self, table: &mut dyn TableReader, place: usize, ways: &[NumberFormat; 5]) {
        let label = table.label(place).unwrap_or_default().trim().to_owned();
        // What stands for a missing label, such as `NA`, may be an id: empty is only what has no text.
        let text = if label.is_empty() { table.shown(place).trim().to_owned() } else { label.clone() };
        self.begins_empty |= self.rows == 0 && text.is_empty();
        self.rows += 1;
        self.empty += usize::from(text.is_empty());
        if !text.is_empty() && self.texts.as_mut().is_some_and(|texts| !texts.insert(text)) {
            self.texts = None;
        }
        if label.is_empty() {
            return;
        }
        let whole = label.parse::<i64>().ok();
        let is_whole = whole.is_some();
        self.wholes = self
            .wholes
            .take()
            .zip(whole)
            .and_then(|(mut wholes, whole)| wholes.goes_on(whole).then_some(wholes));
        let is_year = label.len() == 4 && label.parse().is_ok_and(|year| (1600..2200).contains(&year));
        self.are_years = self.are_years && is_year;
        self.parts.retain_mut(|parts| parts.reads(&label));
        // Lines that sum up others have a word in place of a time, which their reading tells.
        let is_word = !label.bytes().any(|byte| byte.is_ascii_digit());
        if !is_word {
            self.weeks.see(&label);
            self.months.see(&label);
        }
        let is_usual = !is_whole && TimeKind::Timestamp.parse(&label).is_ok();
        self.is_read = self.is_read && self.clock.read(&label).is_ok();
        match &mut self.formats {
            None => {
                let may_be = may_be_date(&label) || is_called_time(&self.name) && is_pointed_month(&label);
                let found = if may_be && !is_usual { formats(&label) } else { Vec::new() };
                let found = found.iter().filter(|(format, _)| has_whole_date(format));
                self.formats = Some(found.filter_map(|(format, _)| TimeFormat::parse(format).ok()).collect());
                let quarters =
                    || TimeFormat::parse("%q/%Y").ok().filter(|format| format.civil(&label).is_some());
                self.quarters = is_called_quarter(&self.name).then(quarters).flatten();
                self.first.clone_from(&label);
                self.are_usual = is_usual;
            }
            Some(_) if is_word => {}
            Some(formats) => {
                formats.retain(|format| format.civil(&label).is_some());
                self.quarters = self.quarters.take().filter(|format| format.civil(&label).is_some());
                self.are_usual = self.are_usual && is_usual;
                if self.second.is_empty() && label != self.first {
                    self.second.clone_from(&label);
                }
            }
        }
        if !self.are_numbers {
            return;
        }
        table.read_numbers(NumberFormat::default());
        let read = table.number_or_truth(place);
        if !holds_number(read) {
            self.are_numbers = false;
            return;
        }
        let stands_before = |one, other| label.split_once(one).is_some_and(|(_, rest)| rest.contains(other));
        let has_both = [stands_before('.', ','), stands_before(',', '.')];
        if read == Err(Flaw::DecimalComma) || has_both[0] {
            self.comma.get_or_insert(label);
        } else if has_both[1] {
            self.grouped.get_or_insert(label);
        }
        for (fits, way) in self.fits.iter_mut().zip(ways) {
            table.read_numbers(*way);
            *fits = *fits && matches!(table.number_or_truth(place), Ok(_) | Err(Flaw::Missing | Flaw::Dash));
        }
    }

    /// Whether it is called so and holds years: by their numbers or as dates their steps are the same.
    fn are_years(&self) -> bool {
        is_called_year(&self.name) && self.are_years && !self.first.is_empty()
    }

    /// Whether its texts, ids as it seems, stand in the first of some rows each and are those of the empty ones below.
    fn stand_above(&self, is_named: bool) -> bool {
        // A note beside the first row is no id.
        let are_several = self.rows - self.empty > 1;
        let may_be_ids = is_named || is_called_as_ids(&self.name) || are_several && !self.are_numbers;
        let is_sparse = !self.begins_empty && 2 * self.empty >= self.rows && self.empty < self.rows;
        may_be_ids && is_sparse && self.rows > 2 && self.texts.is_some()
    }

    /// Whether it holds years with parts of them, as R writes the times of months and quarters, one after the other.
    fn are_parts_of_years(&self) -> bool {
        !self.are_years && self.parts.first().is_some_and(|parts| parts.counted.follow())
    }

    /// Whether it holds the beginnings of intervals that follow each other, and the other column their ends.
    fn begins_before(&self, end: &Self) -> bool {
        !self.second.is_empty() && self.second == end.first
    }

    /// The only format that reads all cells, if it is one of days.
    fn only_date(&self) -> Option<TimeFormat> {
        let [only] = self.formats.as_deref()? else { return None };
        let word = only.to_string();
        let is_of_days = word.contains("%d") && !word.contains("%H") && !word.contains("%I");
        (is_of_days && !self.are_usual).then(|| only.clone())
    }

    /// The only format that reads all cells.
    fn only_format(&self) -> Option<TimeFormat> {
        match self.formats.as_deref() {
            _ if self.weeks.format().is_some() => self.weeks.format().cloned(),
            _ if self.are_years() => TimeFormat::parse("%Y").ok(),
            _ if self.are_parts_of_years() => self.parts.first().map(|parts| parts.format.clone()),
            _ if self.quarters.is_some() => self.quarters.clone(),
            Some([only]) => Some(only.clone()),
            _ => None,
        }
    }
}

/// Whether a text may be a date that is not written as usual.
fn may_be_date(text: &str) -> bool {
    let is_as_long = (6..=40).contains(&text.len()) && text.bytes().any(|byte| byte.is_ascii_digit());
    is_as_long && text.parse::<f64>().is_err()
}

/// Whether a text is a month and a year of four digits behind a point, as numbers with decimals are written, too.
fn is_pointed_month(text: &str) -> bool {
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    text.split_once('.').is_some_and(|(month, year)| {
        month.len() == 2 && year.len() == 4 && is_number(month) && is_number(year)
    })
}

/// Whether a format has a year of four digits and a month: others may mean several things.
fn has_whole_date(format: &str) -> bool {
    let has = |part: &str| format.contains(part);
    if format == "%m.%Y" {
        return true;
    }
    has("%Y") && (has("%d") || has("%m/") || has("%m-")) && (has("%m") || has("%b") || has("%B"))
}

#[cfg(test)]
mod tests {
    use foretell_calendar::{Freq, TimeFormat};
    use foretell_tables::NumberFormat;

    use crate::{Panel, ReadOptions};

    fn file(text: &str) -> tempfile::TempPath {
        let file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap().into_temp_path();
        std::fs::write(&file, text).unwrap();
        file
    }

    fn notation(text: &str) -> String {
        let file = file(text);
        let options = ReadOptions::new().with_notation_of(&file, [false; 2]).unwrap();
        options.notation.note("t".into()).map_or_else(String::new, |note| note.to_string())
    }

    #[test]
    fn what_can_mean_one_thing_is_read_so() {
        let german =
            "Datum;Filiale;Umsatz\n01.01.2023;Köln;1294,67\n02.01.2023;Köln;1.213,2\n03.01.2023;Köln;5\n";
        for (text, read) in [
            (german, "times by %d.%m.%Y (01.01.2023) and numbers with a decimal comma (1294,67)"),
            ("day,y\n01/09/2007,1\n02/09/2007,2\n13/09/2007,3\n", "times by %d/%m/%Y (01/09/2007)"),
            ("ds,y\n1/31/2024 1:45:07 PM,1\n", "times by %m/%d/%Y %I:%M:%S %p (1/31/2024 1:45:07 PM)"),
            ("ds;y\n2024-01-01;1.294,67\n", "numbers with a decimal comma (1.294,67)"),
            ("a;ds;y\n0,5;2024-01-01;1\n", "numbers with a decimal comma (0,5)"),
            ("year,y\n2023,1.5\n2024,1.5\n", "times by %Y (2023)"),
            (
                "ds,y\n2024-01-01,\"1,234.50\"\n2024-01-02,987.25\n",
                "numbers with commas between thousands (1,234.50)",
            ),
            ("time,y\n1949.000,1\n1949.083,2\n1949.167,3\n", "times by year/12 (1949.000)"),
            ("x,y\n1960.75,1.5\n1961.00,2\n1961.25,2\n", "times by year/4 (1960.75)"),
            // As R writes a table with the numbers of its rows.
            (
                "\"\",\"t\",\"n\"\n\"1\",1949,112\n\"2\",1949.0833333,118\n\"3\",1949.1666667,132\n",
                "times by year/12 (1949)",
            ),
            ("Monat;y\n01.2024;1\n02.2024;2\n", "times by %m.%Y (01.2024)"),
            ("Tag;y\n01.02.2024;1\n02.02.2024;2\nSumme;3\n", "times by %d.%m.%Y (01.02.2024)"),
            ("KW;y\n1/2024;1\n2/2024;2\n", "times by %V/%G (1/2024)"),
            ("Woche;y\n2024-01;1\n2024-02;2\n", "times by %G-%V (2024-01)"),
            ("KW;y\n202401;1\n202402;2\n", "times by %G%V (202401)"),
            ("ds;y\n12/2024;1\n13/2024;2\n14/2024;2\n", "times by %V/%G (12/2024)"),
            ("ds;y\n11/2024;1\n12/2024;2\n1/2025;2\n", "times by %m/%Y (11/2024)"),
            ("ds;y\n01.02.2024 18.00.00;1\n", "times by %d.%m.%Y %H.%M.%S (01.02.2024 18.00.00)"),
            // The ends of intervals stand beside their beginnings.
            (
                "von;bis;y\n01.02.2024 00:00;01.02.2024 01:00;1\n01.02.2024 01:00;01.02.2024 02:00;2\n",
                "times by %d.%m.%Y %H:%M (01.02.2024 00:00)",
            ),
        ] {
            let note = notation(text);
            assert!(
                note.starts_with(&format!("t: read {read}, as its first rows fit nothing else; ")),
                "{note}"
            );
        }
        let file = file(german);
        let options = ReadOptions::new().id_col("Filiale").time_col("Datum").target_col("Umsatz");
        let panel = Panel::from_file(&file, &options.with_notation_of(&file, [false; 2]).unwrap()).unwrap();
        assert_eq!(panel.y(0), [1294.67, 1213.2, 5.0]);
    }

    #[test]
    fn ids_that_stand_above_their_rows_are_those_of_all() {
        let read = |text: &str| {
            let file = file(text);
            let options = ReadOptions::new().id_col("shop").time_col("day");
            let panel = Panel::from_file(&file, &options.with_notation_of(&file, [false; 2]).unwrap())?;
            let notes: Vec<String> = panel.notes().iter().map(ToString::to_string).collect();
            Ok::<_, crate::error::DataError>((
                panel.ids().map(|id| id.to_string()).collect::<Vec<_>>(),
                notes,
            ))
        };
        let days = |id: &str| format!("{id},2024-01-01,1\n,2024-01-02,2\n,2024-01-03,3\n");
        for ids in [["North", "South"], ["12", "17"]] {
            let (found, notes) = read(&format!("shop,day,y\n{}{}", days(ids[0]), days(ids[1]))).unwrap();
            assert_eq!(found, ids);
            assert!(notes[0].contains("texts of `shop` stand in the first row"), "{notes:?}");
            // An id that was forgotten is seen by their number.
            assert!(notes[0].ends_with("; ids in the first 6 rows: 2"), "{notes:?}");
        }
        // An id that elsewhere stands for what is missing, as that of Namibia.
        for na in ["NA", "null", "None", "n/a"] {
            let (found, _) = read(&format!("shop,day,y\n{}{}", days("DE"), days(na))).unwrap();
            assert_eq!(found, ["DE", na]);
            let (found, notes) = read(&format!(
                "shop,day,y\nDE,2024-01-01,1\n{na},2024-01-02,1\n{na},2024-01-03,1\n{na},2024-01-04,1\n"
            ))
            .unwrap();
            assert_eq!(found, ["DE", na]);
            assert!(!notes.iter().any(|note| note.contains("stand in the first row")), "{notes:?}");
        }
        // One that was forgotten, rows above the first, and ids that come again.
        for text in [
            "shop,day,y\na,2024-01-01,1\n,2024-01-02,2\na,2024-01-03,3\na,2024-01-04,3\n".to_owned(),
            format!("shop,day,y\n,2023-12-31,1\n{}", days("a")),
            format!("shop,day,y\n{}{}", days("a"), days("a")),
        ] {
            let error = read(&text).unwrap_err().to_string();
            assert!(error.contains("the id is empty"), "{error}");
        }
    }

    #[test]
    fn numbers_of_quarters_with_their_year_are_no_months() {
        for (name, format) in [("quarter", "%q/%Y"), ("month", "%m/%Y")] {
            let file = file(&format!("{name},y\n1/2019,1\n2/2019,2\n3/2019,3\n4/2019,4\n"));
            let found = ReadOptions::new().with_notation_of(&file, [false; 2]).unwrap();
            assert_eq!(found.time_format.map(|format| format.to_string()).as_deref(), Some(format));
        }
    }

    #[test]
    fn what_was_set_stays_where_it_reads_the_rows() {
        let set = |format: &str, decimal| {
            let numbers = NumberFormat::new(decimal, None).unwrap();
            ReadOptions::new().time_format(TimeFormat::parse(format).unwrap()).numbers(numbers)
        };
        let of = |options: ReadOptions, text: &str| {
            let file = file(text);
            let found = options.with_notation_of(&file, [false; 2]).unwrap();
            (found.time_format.map_or_else(String::new, |format| format.to_string()), found.numbers.decimal())
        };
        let german = set("%d.%m.%Y", ',');
        assert_eq!(of(german.clone(), "ds;y\n01.02.2024;1,5\n"), ("%d.%m.%Y".into(), ','));
        // Another file of the same models, written as usual.
        assert_eq!(of(german.clone(), "ds,y\n2024-02-01,1.5\n"), (String::new(), '.'));
        // Decimals or thousands: the comma stays, and the reading refuses the point.
        assert_eq!(of(german.clone(), "ds;y\n01.02.2024;1.250\n"), ("%d.%m.%Y".into(), ','));
        assert_eq!(of(german, "ds,y\n2/13/2024,2\n"), ("%m/%d/%Y".into(), ','));
        assert_eq!(of(set("integer", '.'), "year,y\n2023,1.5\n"), ("integer".into(), '.'));
        let numbered = ReadOptions::new().freq(Freq::parse("1").unwrap());
        assert_eq!(of(numbered, "year,y\n2023,1.5\n"), (String::new(), '.'));
        // Decimals or thousands.
        assert_eq!(of(ReadOptions::new(), "ds,y\n2024-01-01,\"1,200\"\n"), (String::new(), '.'));
        // What someone said is not looked at.
        let german = file("ds;y\n01.02.2024;1,5\n");
        let said = ReadOptions::new().with_notation_of(&german, [true; 2]).unwrap();
        assert_eq!((said.time_format, said.numbers), (None, NumberFormat::default()));
    }

    #[test]
    fn months_of_another_language_are_read_where_all_cells_are_times_in_it() {
        let read = |text: &str| {
            let file = file(text);
            let panel =
                Panel::from_file(&file, &ReadOptions::new().with_notation_of(&file, [false; 2]).unwrap());
            let panel = panel.unwrap();
            let notes: Vec<String> = panel.notes().iter().map(ToString::to_string).collect();
            (panel.freq().to_string(), notes.join("\n"))
        };
        let (freq, told) = read("Monat;Umsatz\nJan 2019;1\nFeb 2019;2\nMär 2019;3\nApr 2019;3\n");
        assert!(
            freq == "MS" && told.contains("read the months of its times in the language de (Jan 2019)"),
            "{told}"
        );
        let (freq, told) = read("Mois;Ventes\n1 déc. 2019;1,5\n2 déc. 2019;2,5\n3 déc. 2019;3\n");
        assert!(
            freq == "D" && told.contains("in the language fr") && told.contains("decimal comma"),
            "{told}"
        );
        assert_eq!(read("Month,y\nJan 2019,1\nFeb 2019,2\nMar 2019,3\n"), ("MS".to_owned(), String::new()));
    }

    #[test]
    fn days_beside_their_times_of_day_are_read_by_the_only_format() {
        let file =
            file("Datum;Uhrzeit;y\n13.01.2024;00.00;1,5\n13.01.2024;00.15;2,5\n13.01.2024;00.30;3,5\n");
        let time_cols = ["Datum", "Uhrzeit"].map(str::to_owned).into();
        let options = ReadOptions { time_cols, ..ReadOptions::new() };
        let options = options.with_notation_of(&file, [false; 2]).unwrap();
        let panel = Panel::from_file(&file, &options).unwrap();
        assert_eq!((panel.freq().to_string().as_str(), panel.y(0)), ("15min", &[1.5, 2.5, 3.5][..]));
        assert!(
            panel.notes()[0].to_string().contains("times by %d.%m.%Y (13.01.2024)"),
            "{:?}",
            panel.notes()
        );
    }

    #[test]
    fn what_can_mean_two_things_is_a_question() {
        for text in [
            "ds,y\n01/01/2007,1\n01/02/2007,2\n01/03/2007,3\n",
            "ds,y\n31.01.24,1\n",
            "ds,y\n2015.1,1\n2015.2,1\n",
            "ds;y\n2024-01-01;1,234\n",
            // Decimals by a comma and by a point in one table.
            "ds;x;y\n2024-01-01;1,5;2.5\n",
            // A usual date is not looked at, whatever else would read it.
            "ds,y\n2024-01-02,1\n",
            "year,month,y\n2023,1,1.5\n2023,2,1.5\n",
            "step,y\n2023,1.5\n2024,1.5\n",
            // Numbers with decimals, under a name that tells nothing.
            "level;y\n01.2024;1\n02.2024;2\n",
            // Prices that are parts of no years, or do not follow each other.
            "ds,price,y\n2024-01-01,1949.25,1\n2024-01-02,1950.00,2\n",
            "x,y\n1958.2027,1\n1958.2877,2\n",
            // Steps that are counted, and a level that is as quarters are.
            "step,level\n0,1990.00\n1,1990.25\n2,1990.50\n3,1990.75\n",
            // Usual dates beside others.
            "date,expiry,y\n2024-01-01,31.12.2024,1\n2024-01-02,30.12.2024,2\n",
            "start,end,y\n01.02.2023,01.03.2023,1\n",
        ] {
            assert_eq!(notation(text), "", "{text}");
        }
    }
}
