//! Several files of the same columns as one table, with the columns that their folders give.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::vec::IntoIter;

use super::adapter::TableAdapter;
use super::number_format::NumberFormat;
use super::read_note::ReadNote;
use super::table::{TableReader, check_header};
use super::table_files::partition_columns;
use crate::error::TableError;
use crate::error::cell::CellError;
use crate::error::file::UnreadableTable;
use crate::error::flaw::Flaw;
use foretell_calendar::Clock;
use foretell_messages::excerpt;

/// Opens a file.
pub(crate) type OpenFile<'a> = Box<dyn Fn(&Path) -> Result<Box<dyn TableReader>, TableError> + Send + 'a>;

/// Where a column of the table is in the file that is being read.
#[derive(Clone, Debug)]
enum Cell {
    Column(usize),
    /// The value that the name of a folder gives all rows in it.
    Constant(String),
}

/// The rows of files, one after the other.
pub(crate) struct SeveralTables<'a> {
    current: Box<dyn TableReader>,
    cells: Vec<Cell>,
    rest: IntoIter<PathBuf>,
    open: Option<OpenFile<'a>>,
    header: Vec<String>,
    all: Vec<String>,
    /// Whether a part of the current file was taken away: then nothing is left of it but parts.
    taken: bool,
    numbers: NumberFormat,
    /// Of the files that were read.
    notes: Vec<ReadNote>,
}

/// Opens a file with the columns that its folders give.
fn opened(open: &OpenFile<'_>, path: &Path) -> Result<SeveralTables<'static>, TableError> {
    let current = open(path)?;
    let mut header = current.header().to_vec();
    let mut all = current.all_columns().to_vec();
    let mut cells: Vec<Cell> = (0..header.len()).map(Cell::Column).collect();
    for (name, value) in partition_columns(path) {
        // Some writers keep the column in the file as well.
        if !all.contains(&name) {
            header.push(name.clone());
            all.push(name);
            cells.push(Cell::Constant(value));
        }
    }
    check_header(current.file(), &header)?;
    Ok(SeveralTables {
        current,
        cells,
        rest: Vec::new().into_iter(),
        open: None,
        header,
        all,
        taken: false,
        numbers: NumberFormat::default(),
        notes: Vec::new(),
    })
}

/// These files as one table, in their order; `open` opens one of them.
///
/// # Errors
/// Those of opening the first.
pub(crate) fn open_several<'a>(
    files: Vec<PathBuf>,
    open: OpenFile<'a>,
) -> Result<Box<dyn TableReader + 'a>, TableError> {
    let mut rest = files.into_iter();
    let Some(first) = rest.next() else {
        return Err(UnreadableTable::NoFiles { path: String::new() }.into());
    };
    if rest.len() == 0 && partition_columns(&first).is_empty() {
        return open(&first);
    }
    let first = opened(&open, &first)?;
    Ok(Box::new(SeveralTables { rest, open: Some(open), ..first }))
}

impl SeveralTables<'_> {
    /// Goes on to the next file; false if there is none. Its columns must be those of the first one, in any order.
    fn next_file(&mut self) -> Result<bool, TableError> {
        let (Some(path), Some(open)) = (self.rest.next(), &self.open) else { return Ok(false) };
        let next = opened(open, &path)?;
        let differs =
            |one: &[String], other: &[String]| one.iter().find(|name| !other.contains(name)).cloned();
        let (file, other) = (next.current.file().clone(), self.current.file().clone());
        if let Some(column) = differs(&self.header, &next.header) {
            return Err(UnreadableTable::Columns { file, other, column, has: false }.into());
        }
        if let Some(column) = differs(&next.header, &self.header) {
            return Err(UnreadableTable::Columns { file, other, column, has: true }.into());
        }
        let place = |name: &String| next.header.iter().position(|column| column == name);
        self.cells = self.header.iter().filter_map(place).map(|column| next.cells[column].clone()).collect();
        self.current.check_units()?;
        self.notes.extend(self.current.notes());
        self.current = next.current;
        self.current.read_numbers(self.numbers);
        self.taken = false;
        Ok(true)
    }

    /// A part of the current file, with the columns of the table.
    fn part(&self, current: Box<dyn TableReader>) -> Box<dyn TableReader> {
        Box::new(SeveralTables {
            current,
            cells: self.cells.clone(),
            rest: Vec::new().into_iter(),
            open: None,
            header: self.header.clone(),
            all: self.all.clone(),
            taken: false,
            numbers: self.numbers,
            notes: Vec::new(),
        })
    }
}

impl TableAdapter for SeveralTables<'_> {
    fn inner(&self) -> &dyn TableReader {
        &*self.current
    }

    fn inner_mut(&mut self) -> &mut dyn TableReader {
        &mut *self.current
    }

    fn header(&self) -> &[String] {
        &self.header
    }

    fn all_columns(&self) -> &[String] {
        &self.all
    }

    fn read_numbers(&mut self, format: NumberFormat) {
        self.numbers = format;
        self.current.read_numbers(format);
    }

    fn advance(&mut self) -> Result<bool, TableError> {
        while !self.current.advance()? {
            if !self.next_file()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn next_part(&mut self) -> Result<Option<Box<dyn TableReader>>, TableError> {
        loop {
            if let Some(part) = self.current.next_part()? {
                self.taken = true;
                return Ok(Some(self.part(part)));
            }
            // A file that is not read in parts is read row by row, and so are those behind it.
            if !self.taken || !self.next_file()? {
                return Ok(None);
            }
        }
    }

    fn id(&self, column: usize) -> Result<Cow<'_, str>, TableError> {
        match &self.cells[column] {
            Cell::Column(column) => self.current.id(*column),
            Cell::Constant(id) if id.is_empty() => {
                Err(CellError::EmptyId { at: self.current.place(), column: self.header[column].clone() }
                    .into())
            }
            Cell::Constant(id) => Ok(id.into()),
        }
    }

    fn has_id(&self, column: usize, id: &str) -> bool {
        match &self.cells[column] {
            Cell::Column(column) => self.current.has_id(*column, id),
            Cell::Constant(own) => own == id,
        }
    }

    fn integer_ids(&self, column: usize) -> bool {
        matches!(self.cells[column], Cell::Column(column) if self.current.integer_ids(column))
    }

    fn time(&self, column: usize, clock: &mut Clock) -> Result<i64, TableError> {
        let table: &dyn TableReader = self;
        match &self.cells[column] {
            Cell::Column(column) => self.current.time(*column, clock),
            Cell::Constant(text) => clock.read(text).map_err(|why| table.bad_time(column, why)),
        }
    }

    fn wide_number(&self, column: usize) -> Result<f64, Flaw> {
        match &self.cells[column] {
            Cell::Column(column) => self.current.wide_number(*column),
            Cell::Constant(text) => self.numbers.wide_number(text.as_bytes()),
        }
    }

    fn number_or_truth(&self, column: usize) -> Result<f32, Flaw> {
        match &self.cells[column] {
            Cell::Column(column) => self.current.number_or_truth(*column),
            Cell::Constant(text) => self.numbers.number_or_truth(text.as_bytes()),
        }
    }

    fn typed_texts(&self, column: usize) -> bool {
        matches!(self.cells[column], Cell::Column(column) if self.current.typed_texts(column))
    }

    fn label(&self, column: usize) -> Result<Cow<'_, str>, Flaw> {
        match &self.cells[column] {
            Cell::Column(column) => self.current.label(*column),
            Cell::Constant(text) if text.is_empty() => Err(Flaw::Missing),
            Cell::Constant(text) => Ok(text.into()),
        }
    }

    fn notes(&self) -> Vec<ReadNote> {
        self.notes.iter().cloned().chain(self.current.notes()).collect()
    }

    fn shown(&self, column: usize) -> String {
        match &self.cells[column] {
            Cell::Column(column) => self.current.shown(*column),
            Cell::Constant(text) => excerpt(text.as_bytes()),
        }
    }
}
