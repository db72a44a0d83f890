//! A look at the first rows of a table for a notation that they can only have.

use std::path::{Path, PathBuf};
use std::ptr;

use super::column_signs::{holds_number, is_called_time};
use super::laid_out::year_and_part;
use super::notation::Notation;
use super::options::ReadOptions;
use super::panel::Panel;
use super::roles::{MOST_COLUMNS, ROWS};
use foretell_calendar::{Clock, TimeFormat, TimeKind, readings::formats};
use foretell_tables::{
    DataError, FileFormat, Flaw, MemoryTable, NumberFormat, TableReader, is_called_year, named_months, open,
    parts_of_year, table_files,
};

impl Panel {
    pub(super) fn with_notation_noted(self, notation: &Notation) -> Self {
        let note = notation.note(self.data.table.clone());
        self.with_notes(note.into_iter().collect())
    }
}

impl ReadOptions {
    /// These options for a file of text as its first rows are written; unchanged for other files. What they say of times and numbers stays where it reads these rows, or was
    /// `said` of them (of times, of numbers). Else times are read by the only format that reads all of them, numbers with a decimal comma that
    /// is none between thousands, or both as usual. What could mean two things is left to the reading, which asks.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn with_notation_of(self, path: impl AsRef<Path>, said: [bool; 2]) -> Result<Self, DataError> {
        let first: Vec<PathBuf> = table_files(path)?.into_iter().take(1).collect();
        let is_text = |file: &PathBuf| ptr::eq(FileFormat::of(file), &raw const FileFormat::all()[0]);
        if !first.iter().all(is_text) {
            return Ok(self);
        }
        let table = open(&first, &self.file, |_| true)?;
        Ok(self.with_notation(table, said))
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
        let table = table.open(&self.file, |_| true)?;
        Ok(self.with_notation(table, said))
    }

    fn with_notation(mut self, mut table: Box<dyn TableReader + '_>, said: [bool; 2]) -> Self {
        let named = table.columns().filter(|name| !name.is_empty()).count();
        let times_are_one = self.across.is_none() && self.time_cols.is_empty();
        let asks_times = !said[0] && self.locale.is_none() && times_are_one && !table.reads_its_times();
        let asks_numbers = !said[1];
        if named > MOST_COLUMNS || (!asks_times && !asks_numbers) {
            return self;
        }
        let ways = [self.numbers, NumberFormat::default(), comma(None), comma(Some('.'))];
        let clock = self.clock(&*table);
        let mut columns: Vec<Seen> =
            table.header().iter().map(|name| Seen::of(name, clock.clone())).collect();
        for _ in 0..ROWS {
            // What cannot be read is an error later on, with its place.
            if !table.advance().unwrap_or(false) {
                break;
            }
            for (place, column) in columns.iter_mut().enumerate() {
                column.see(&mut *table, place, &ways);
            }
        }
        let mut notation = Notation::default();
        let time = self.times_among(&columns);
        let is_numbered = self.freq.is_some_and(|freq| freq.kind() == TimeKind::Integer);
        let may_be_years = self.time_format.is_none() && !is_numbered;
        let is_other = |time: &&Seen| !time.is_read || (may_be_years && time.are_years());
        if let Some(time) = time.map(|time| &columns[time]).filter(is_other).filter(|_| asks_times) {
            match time.only_format() {
                Some(format) => {
                    self.time_format = Some(format.clone());
                    notation.times = Some((format, time.first.clone()));
                }
                None if time.are_usual => self.time_format = None,
                None => {}
            }
        }
        let others = columns.iter().enumerate().filter(|(place, _)| Some(*place) != time);
        let numbers: Vec<&Seen> =
            others.map(|(_, column)| column).filter(|column| column.are_numbers).collect();
        let first = numbers.iter().find_map(|column| column.comma.as_ref());
        let way = (0..ways.len()).find(|&way| numbers.iter().all(|column| column.fits[way]));
        // `1.250` is a number with decimals and one with thousands: what was set is not given up for either.
        let is_clear = |way: &usize| *way != 1 || !numbers.iter().all(|column| column.fits[3]);
        if let Some(way) = way.filter(|way| asks_numbers && *way > 0).filter(is_clear) {
            self.numbers = ways[way];
            notation.numbers = first.map(|first| (ways[way], first.clone()));
        }
        self.notation = notation;
        self
    }

    /// The column of times: the one that these options name, the first of a wide table, else the only one that is written in another than
    /// the usual way, where none is written as usual.
    fn times_among(&self, columns: &[Seen]) -> Option<usize> {
        let called = columns.iter().position(|column| column.name == self.time_name());
        if called.is_some() || self.time_col.is_some() {
            return called;
        }
        if self.wide {
            return columns.iter().position(|column| !column.name.is_empty());
        }
        if columns.iter().any(|column| column.are_usual) {
            return None;
        }
        let names = || columns.iter().map(|column| &column.name);
        // Years beside parts of them are a question.
        let of_parts = year_and_part(names()).is_some()
            || named_months(names().map(String::as_str)).is_some()
            || parts_of_year(names().map(String::as_str)).is_some();
        let is_time = |column: &Seen| match column.are_years() {
            true => !of_parts,
            false => !column.are_numbers && column.only_format().is_some(),
        };
        let written: Vec<usize> = (0..columns.len()).filter(|&i| is_time(&columns[i])).collect();
        match written[..] {
            [only] => Some(only),
            _ => {
                let mut called = written.into_iter().filter(|&i| is_called_time(&columns[i].name));
                called.next().filter(|_| called.next().is_none())
            }
        }
    }
}

/// Numbers with a decimal comma.
fn comma(thousands: Option<char>) -> NumberFormat {
    NumberFormat::new(',', thousands).expect("two marks")
}

/// What was seen of a column.
struct Seen {
    name: String,
    /// The formats that read all of its cells so far; none before the first.
    formats: Option<Vec<TimeFormat>>,
    first: String,
    /// Whether all are timestamps in a usual form, such as ISO 8601, and none is an integer.
    are_usual: bool,
    /// A clock that is set as the options say, and whether it reads all.
    clock: Clock,
    is_read: bool,
    /// Whether all are numbers, however written.
    are_numbers: bool,
    /// Whether all are numbers of four digits that may be years.
    are_years: bool,
    /// A number whose comma stands before decimals.
    comma: Option<String>,
    /// Whether each of the ways reads all numbers.
    fits: [bool; 4],
}

impl Seen {
    fn of(name: &str, clock: Clock) -> Self {
        Self {
            name: name.to_owned(),
            clock,
            formats: None,
            first: String::new(),
            are_usual: false,
            is_read: true,
            are_numbers: true,
            are_years: true,
            comma: None,
            fits: [true; 4],
        }
    }

    fn see(&mut self, table: &mut dyn TableReader, place: usize, ways: &[NumberFormat; 4]) {
        let label = table.label(place).unwrap_or_default().trim().to_owned();
        if label.is_empty() {
            return;
        }
        let is_whole = label.parse::<i64>().is_ok();
        let is_year = label.len() == 4 && label.parse().is_ok_and(|year| (1600..2200).contains(&year));
        self.are_years = self.are_years && is_year;
        let is_usual = !is_whole && TimeKind::Timestamp.parse(&label).is_ok();
        self.is_read = self.is_read && self.clock.read(&label).is_ok();
        match &mut self.formats {
            None => {
                let found = if may_be_date(&label) && !is_usual { formats(&label) } else { Vec::new() };
                let found = found.iter().filter(|(format, _)| has_whole_date(format));
                self.formats = Some(found.filter_map(|(format, _)| TimeFormat::parse(format).ok()).collect());
                self.first.clone_from(&label);
                self.are_usual = is_usual;
            }
            Some(formats) => {
                formats.retain(|format| format.civil(&label).is_some());
                self.are_usual = self.are_usual && is_usual;
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
        if read == Err(Flaw::DecimalComma) {
            self.comma.get_or_insert(label);
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

    /// The only format that reads all cells.
    fn only_format(&self) -> Option<TimeFormat> {
        match self.formats.as_deref() {
            _ if self.are_years() => TimeFormat::parse("%Y").ok(),
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

/// Whether a format has a year of four digits and a month: others may mean several things.
fn has_whole_date(format: &str) -> bool {
    let has = |part: &str| format.contains(part);
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
            ("a;ds;y\n0,5;2024-01-01;1\n", "numbers with a decimal comma (0,5)"),
            ("year,y\n2023,1.5\n2024,1.5\n", "times by %Y (2023)"),
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
        // What someone said is not looked at.
        let german = file("ds;y\n01.02.2024;1,5\n");
        let said = ReadOptions::new().with_notation_of(&german, [true; 2]).unwrap();
        assert_eq!((said.time_format, said.numbers), (None, NumberFormat::default()));
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
            // Usual dates beside others.
            "date,expiry,y\n2024-01-01,31.12.2024,1\n2024-01-02,30.12.2024,2\n",
            "start,end,y\n01.02.2023,01.03.2023,1\n",
        ] {
            assert_eq!(notation(text), "", "{text}");
        }
    }
}
