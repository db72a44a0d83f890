//! A look at the first rows of a table for a notation that they can only have.

use std::path::{Path, PathBuf};

use super::column_signs::{holds_number, is_called_time};
use super::laid_out::year_and_part;
use super::notation::Notation;
use super::options::ReadOptions;
use super::panel::Panel;
use super::roles::{MOST_COLUMNS, ROWS};
use foretell_calendar::{TimeFormat, TimeKind, readings::formats};
use foretell_tables::{
    DataError, Flaw, MemoryTable, NumberFormat, TableReader, is_called_year, open, table_files,
};

impl Panel {
    pub(super) fn with_notation_noted(self, notation: &Notation) -> Self {
        let note = notation.note(self.data.table.clone());
        self.with_notes(note.into_iter().collect())
    }
}

impl ReadOptions {
    /// How a table is written, by the first rows of its first file: times that one format reads and no other, numbers with a decimal comma that
    /// is none between thousands. Nothing of what these options say, and of what could mean two things: that is a question of its reading.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn notation(&self, path: impl AsRef<Path>) -> Result<Notation, DataError> {
        let first: Vec<PathBuf> = table_files(path)?.into_iter().take(1).collect();
        Ok(self.notation_of(open(&first, &self.file, |_| true)?))
    }

    /// The same of a table that is in memory.
    ///
    /// # Errors
    /// A table that cannot be read.
    pub fn notation_in(&self, table: &MemoryTable) -> Result<Notation, DataError> {
        Ok(self.notation_of(table.open(&self.file, |_| true)?))
    }

    /// These options for a table that is written so.
    #[must_use]
    pub fn written(mut self, notation: Notation) -> Self {
        if let Some((format, _)) = &notation.times {
            self.time_format = Some(format.clone());
        }
        if let Some((format, _)) = &notation.numbers {
            self.numbers = *format;
        }
        self.notation = notation;
        self
    }

    fn notation_of(&self, mut table: Box<dyn TableReader + '_>) -> Notation {
        let named = table.columns().filter(|name| !name.is_empty()).count();
        let times_are_one = self.across.is_none() && self.time_cols.is_empty();
        let asks_times =
            self.time_format.is_none() && self.locale.is_none() && times_are_one && !table.reads_its_times();
        let asks_numbers = self.numbers == NumberFormat::default();
        if named > MOST_COLUMNS || !(asks_times || asks_numbers) {
            return Notation::default();
        }
        let mut columns: Vec<Seen> = table.header().iter().map(|name| Seen::of(name)).collect();
        for _ in 0..ROWS {
            // What cannot be read is an error later on, with its place.
            if !table.advance().unwrap_or(false) {
                break;
            }
            for (place, column) in columns.iter_mut().enumerate() {
                column.see(place, &mut *table);
            }
        }
        let year = columns.iter().position(Seen::are_years).filter(|_| self.may_be_yearly(&columns));
        let time = self.times_among(&columns).or(year);
        let format = |time: usize| match Some(time) == year {
            true => Some((TimeFormat::parse("%Y").ok()?, columns[time].first.clone())),
            false => columns[time].only_format(),
        };
        let times = time.filter(|_| asks_times).and_then(format);
        let others = columns.iter().enumerate().filter(|(place, _)| Some(*place) != time);
        let numbers = if asks_numbers { only_numbers(others.map(|(_, column)| column)) } else { None };
        Notation { times, numbers }
    }

    /// Whether a table of these columns may have a row per year: years beside parts of them are a question, and steps may be numbered.
    fn may_be_yearly(&self, columns: &[Seen]) -> bool {
        let is_numbered = self.freq.is_some_and(|freq| freq.kind() == TimeKind::Integer);
        let names = columns.iter().map(|column| &column.name).filter(|name| !name.is_empty());
        !self.wide && !is_numbered && names.clone().count() <= 3 && year_and_part(names).is_none()
    }

    /// The column of times: the one that these options name, the first of a wide table, else the only one whose texts a format reads.
    fn times_among(&self, columns: &[Seen]) -> Option<usize> {
        let called = columns.iter().position(|column| column.name == self.time_name());
        if called.is_some() || self.time_col.is_some() {
            return called;
        }
        if self.wide {
            return columns.iter().position(|column| !column.name.is_empty());
        }
        let mut written =
            (0..columns.len()).filter(|&i| columns[i].only_format().is_some() && !columns[i].are_numbers);
        match (written.next(), written.next()) {
            (Some(only), None) => Some(only),
            (Some(_), Some(_)) => {
                let mut called = (0..columns.len())
                    .filter(|&i| columns[i].only_format().is_some() && is_called_time(&columns[i].name));
                called.next().filter(|_| called.next().is_none())
            }
            (None, _) => None,
        }
    }
}

/// Ways of writing numbers with a decimal comma.
fn commas() -> [NumberFormat; 2] {
    [None, Some('.')].map(|thousands| NumberFormat::new(',', thousands).expect("two marks"))
}

/// What was seen of a column.
struct Seen {
    name: String,
    /// The formats that read all of its cells so far; none before the first.
    formats: Option<Vec<TimeFormat>>,
    first: String,
    /// Whether all are numbers, however written.
    are_numbers: bool,
    /// Whether all are numbers of four digits that may be years.
    are_years: bool,
    /// A number whose comma stands before decimals.
    comma: Option<String>,
    /// Whether each of the ways with a comma reads all numbers.
    fits: [bool; 2],
}

impl Seen {
    fn of(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            formats: None,
            first: String::new(),
            are_numbers: true,
            are_years: true,
            comma: None,
            fits: [true; 2],
        }
    }

    fn see(&mut self, place: usize, table: &mut dyn TableReader) {
        let label = table.label(place).unwrap_or_default().trim().to_owned();
        if label.is_empty() {
            return;
        }
        let is_year = label.len() == 4 && label.parse().is_ok_and(|year| (1600..2200).contains(&year));
        self.are_years = self.are_years && is_year;
        match &mut self.formats {
            None => {
                let found = if may_be_date(&label) { formats(&label) } else { Vec::new() };
                let found = found.iter().filter(|(format, _)| has_whole_date(format));
                self.formats = Some(found.filter_map(|(format, _)| TimeFormat::parse(format).ok()).collect());
                self.first.clone_from(&label);
            }
            Some(formats) => formats.retain(|format| format.civil(&label).is_some()),
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
        for (fits, format) in self.fits.iter_mut().zip(commas()) {
            table.read_numbers(format);
            *fits = *fits && matches!(table.number_or_truth(place), Ok(_) | Err(Flaw::Missing | Flaw::Dash));
        }
        table.read_numbers(NumberFormat::default());
    }

    /// Whether it is called so and holds years: by their numbers or as dates their steps are the same.
    fn are_years(&self) -> bool {
        is_called_year(&self.name) && self.are_years
    }

    /// The only format that reads all cells, and the first of these.
    fn only_format(&self) -> Option<(TimeFormat, String)> {
        match self.formats.as_deref() {
            Some([only]) => Some((only.clone(), self.first.clone())),
            _ => None,
        }
    }
}

/// Whether a text may be a date that is not written as usual.
fn may_be_date(text: &str) -> bool {
    let is_as_long = (6..=40).contains(&text.len()) && text.bytes().any(|byte| byte.is_ascii_digit());
    is_as_long && text.parse::<f64>().is_err() && TimeKind::Timestamp.parse(text).is_err()
}

/// Whether a format has a year of four digits and a month: others may mean several things.
fn has_whole_date(format: &str) -> bool {
    let has = |part: &str| format.contains(part);
    has("%Y") && (has("%d") || has("%m/") || has("%m-")) && (has("%m") || has("%b") || has("%B"))
}

/// The only way with a decimal comma that reads the numbers of all columns, if one of them needs it.
fn only_numbers<'a>(columns: impl Iterator<Item = &'a Seen>) -> Option<(NumberFormat, String)> {
    let numbers: Vec<&Seen> = columns.filter(|column| column.are_numbers).collect();
    let first = numbers.iter().find_map(|column| column.comma.clone())?;
    let way = (0..2).find(|&way| numbers.iter().all(|column| column.fits[way]))?;
    Some((commas()[way], first))
}

#[cfg(test)]
mod tests {
    use crate::{Panel, ReadOptions};

    fn file(text: &str) -> tempfile::TempPath {
        let file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap().into_temp_path();
        std::fs::write(&file, text).unwrap();
        file
    }

    fn notation(text: &str) -> String {
        let file = file(text);
        let notation = ReadOptions::new().notation(&file).unwrap();
        notation.note("t".into()).map_or_else(String::new, |note| note.to_string())
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
        let panel =
            Panel::from_file(&file, &options.clone().written(options.notation(&file).unwrap())).unwrap();
        assert_eq!(panel.y(0), [1294.67, 1213.2, 5.0]);
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
            "start,end,y\n01.02.2023,01.03.2023,1\n",
        ] {
            assert_eq!(notation(text), "", "{text}");
        }
    }
}
