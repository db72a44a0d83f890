//! The trait of every table of rows, whatever file it is in.

use std::borrow::Cow;
use std::sync::Arc;

use super::below_header::INDEX;
use super::number_format::{NumberFormat, narrow};
use super::read_note::ReadNote;
use super::sheets::Sheets;
use crate::error::TableError;
use crate::error::column::{ColumnError, ColumnRemedy};
use crate::error::flaw::Flaw;
use crate::error::place::Place;
use crate::error::too_large::TooLarge;
use foretell_calendar::{Clock, TimeFlaw};
use foretell_messages::is_slip;

/// The usual name of the column of ids.
pub const ID: &str = "unique_id";

/// A table read row by row; columns are found by name and then known by their position.
pub trait TableReader: Send {
    /// The file, for messages.
    fn file(&self) -> &Arc<str>;

    /// Names of the columns.
    fn header(&self) -> &[String];

    /// Names of all columns of the file, also of those that are not read.
    fn all_columns(&self) -> &[String] {
        self.header()
    }

    /// Says how numbers are written in texts.
    fn read_numbers(&mut self, format: NumberFormat);

    /// Moves to the next row; false at the end.
    fn advance(&mut self) -> Result<bool, TableError>;

    /// Takes rows that follow away, as a table of their own that another thread may read: all that remain, part by part.
    /// Nothing at the end, and where a table is read row by row only.
    fn next_part(&mut self) -> Result<Option<Box<dyn TableReader>>, TableError> {
        Ok(None)
    }

    /// Where the row stands.
    fn place(&self) -> Place;

    /// The number of that place.
    fn row(&self) -> u64 {
        self.place().row
    }

    /// The id in that column, which may not be empty.
    fn id(&self, column: usize) -> Result<Cow<'_, str>, TableError>;

    /// Whether that is the id in that column; told without a look at what else it might be.
    fn has_id(&self, column: usize, id: &str) -> bool {
        self.id(column).is_ok_and(|own| *own == *id)
    }

    /// Whether the ids in that column are integers by its type.
    fn integer_ids(&self, _column: usize) -> bool {
        false
    }

    /// The time in that column; the first one settles `clock`.
    fn time(&self, column: usize, clock: &mut Clock) -> Result<i64, TableError>;

    /// The number in that column.
    fn number(&self, column: usize) -> Result<f32, Flaw> {
        narrow(self.wide_number(column)?)
    }

    /// The same with all its digits.
    fn wide_number(&self, column: usize) -> Result<f64, Flaw>;

    /// The number in that column, or a truth value as 1 or 0.
    fn number_or_truth(&self, column: usize) -> Result<f32, Flaw>;

    /// Whether that column holds texts by its type.
    fn typed_texts(&self, _column: usize) -> bool {
        false
    }

    /// The label in that column: a text, or a number or truth value as one; what is missing may be empty.
    fn label(&self, column: usize) -> Result<Cow<'_, str>, Flaw>;

    /// Whether it knows itself how its times are written, and gives them as they usually are.
    fn reads_its_times(&self) -> bool {
        false
    }

    /// The shift of every time once all rows were read, in microseconds.
    fn late_shift(&self) -> i64 {
        0
    }

    /// Whether the numbers of each column are of one unit, once all is read.
    ///
    /// # Errors
    /// If some are not.
    fn check_units(&self) -> Result<(), TableError> {
        Ok(())
    }

    /// The assumptions of the reader, once all is read.
    fn notes(&self) -> Vec<ReadNote> {
        Vec::new()
    }

    /// The sheets of its file, if that is a workbook of several.
    fn sheets(&self) -> Option<&Sheets> {
        None
    }

    /// The cell as it is shown in a message.
    fn shown(&self, column: usize) -> String;
}

impl dyn TableReader + '_ {
    /// The names of the columns that are read, in their order.
    pub fn columns(&self) -> impl Iterator<Item = &str> + Clone {
        self.header().iter().map(String::as_str)
    }

    /// Position of the column `name`; `remedy` completes the error.
    pub fn column(&self, name: &str, remedy: impl Into<ColumnRemedy>) -> Result<usize, TableError> {
        self.find(name).ok_or_else(|| self.missing_column(name, self.columns(), remedy))
    }

    /// The error of a column that is not among these; `remedy` completes it.
    pub fn missing_column<'a>(
        &self,
        name: &str,
        available: impl Iterator<Item = &'a str> + Clone,
        remedy: impl Into<ColumnRemedy>,
    ) -> TableError {
        let remedy = match self.sheets() {
            Some(sheets) => ColumnRemedy::With(Box::new((remedy.into(), sheets.hint()))),
            None => remedy.into(),
        };
        TableError::missing_column(self.file(), name, available, remedy)
    }

    /// Position of the column of ids; `None` where a table has none and only the usual name was asked for: then it holds one
    /// series. A column that is called nearly so is taken for a slip.
    pub fn id_column(
        &self,
        name: &str,
        remedy: impl Into<ColumnRemedy>,
    ) -> Result<Option<usize>, TableError> {
        let slip = |column: &String| is_slip(name, column);
        match self.column(name, remedy) {
            Err(_) if name == ID && !self.all_columns().iter().any(slip) => Ok(None),
            found => found.map(Some),
        }
    }

    /// The position of a column; without a name that of the first, which may have been called `index` for that.
    pub fn find(&self, name: &str) -> Option<usize> {
        let index = self.columns().next().filter(|column| name.is_empty() && *column == INDEX).map(|_| 0);
        index.or_else(|| self.columns().position(|column| column == name))
    }

    /// The id in the column of ids, or that of the only series.
    pub fn id_or<'a>(&'a self, column: Option<usize>, only: &'a str) -> Result<Cow<'a, str>, TableError> {
        let id = column.map_or(Ok(only.into()), |column| self.id(column))?;
        match id.len() > LONGEST_NAME {
            true => Err(TooLarge::Id { at: self.place(), bytes: id.len(), most: LONGEST_NAME }.into()),
            false => Ok(id),
        }
    }

    /// The error of a time of the current row.
    pub fn bad_time(&self, column: usize, why: TimeFlaw) -> TableError {
        TableError::bad_time(self.place(), self.header()[column].clone(), self.shown(column), why)
    }

    /// The error of a value of the current row.
    pub fn bad_value(&self, column: usize, flaw: Flaw) -> TableError {
        TableError::bad_value(self.place(), self.header()[column].clone(), self.shown(column), flaw)
    }
}

/// Bytes that an id or the name of a column may have: a text that is longer is no name, and messages, answers and indexes would repeat it.
const LONGEST_NAME: usize = 1 << 16;

/// A header must name each column once.
pub(crate) fn check_header(file: &Arc<str>, header: &[String]) -> Result<(), TableError> {
    if let Some(at) = header.iter().position(|name| name.len() > LONGEST_NAME) {
        let (file, bytes) = (file.clone(), header[at].len());
        return Err(TooLarge::ColumnName { file, number: at + 1, bytes, most: LONGEST_NAME }.into());
    }
    let mut names: Vec<&String> = header.iter().filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(ColumnError::Duplicate { table: file.clone(), column: pair[0].clone() }.into()),
        None => Ok(()),
    }
}
