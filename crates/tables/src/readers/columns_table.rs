//! Listed columns read row by row.

use std::borrow::Cow;
use std::sync::Arc;

use super::number_format::NumberFormat;
use super::table::{TableReader, check_header};
use super::table_columns::TableColumns;
use crate::error::TableError;
use crate::error::cell::CellError;
use crate::error::flaw::Flaw;
use crate::error::place::Place;
use foretell_calendar::Clock;
use foretell_messages::excerpt;

/// The rows of listed columns, one after the other.
pub(crate) struct ColumnsTable {
    name: Arc<str>,
    columns: Arc<TableColumns>,
    header: Vec<String>,
    /// Of each column, whether all of its cells came as texts, and whether as whole numbers.
    kinds: Vec<(bool, bool)>,
    /// How numbers are written in texts; those that came as numbers are written as code has them.
    numbers: NumberFormat,
    rows: usize,
    /// The rows so far; the last of them is the current one.
    read: usize,
}

impl ColumnsTable {
    pub(crate) fn new(name: &Arc<str>, columns: Arc<TableColumns>) -> Result<Self, TableError> {
        let header: Vec<String> = columns.0.iter().map(|column| column.name.clone()).collect();
        check_header(name, &header)?;
        let rows = columns.0.first().map_or(0, |column| column.len());
        if let Some(other) = columns.0.iter().find(|column| column.len() != rows) {
            let what = format!("{name}, column `{}`", other.name);
            return Err(TableError::Length { what, expected: rows, found: other.len() });
        }
        let kinds = columns.0.iter().map(|column| (column.is_of_texts(), column.is_of_integers())).collect();
        let (name, numbers) = (name.clone(), NumberFormat::default());
        Ok(Self { name, columns, header, kinds, numbers, rows, read: 0 })
    }

    fn at(&self) -> usize {
        self.read.saturating_sub(1)
    }

    fn cell(&self, column: usize) -> &str {
        self.columns.0[column].cell(self.at())
    }

    fn format(&self, column: usize) -> NumberFormat {
        match self.columns.0[column].is_text(self.at()) {
            true => self.numbers,
            false => NumberFormat::default(),
        }
    }
}

impl TableReader for ColumnsTable {
    fn file(&self) -> &Arc<str> {
        &self.name
    }

    fn header(&self) -> &[String] {
        &self.header
    }

    fn read_numbers(&mut self, format: NumberFormat) {
        self.numbers = format;
    }

    fn advance(&mut self) -> Result<bool, TableError> {
        let more = self.read < self.rows;
        self.read += usize::from(more);
        Ok(more)
    }

    fn place(&self) -> Place {
        Place { file: Some(self.name.clone()), line: false, series: None, row: self.at() as u64 }
    }

    fn id(&self, column: usize) -> Result<Cow<'_, str>, TableError> {
        let name = || self.header[column].clone();
        match self.cell(column) {
            "" => Err(CellError::EmptyId { at: self.place(), column: name() }.into()),
            id if id.contains('\0') => Err(CellError::NulInId { at: self.place(), column: name() }.into()),
            id => Ok(id.into()),
        }
    }

    fn has_id(&self, column: usize, id: &str) -> bool {
        self.cell(column) == id
    }

    fn integer_ids(&self, column: usize) -> bool {
        self.kinds[column].1
    }

    fn time(&self, column: usize, clock: &mut Clock) -> Result<i64, TableError> {
        let cell = self.cell(column);
        if let Some(time) = clock.plain_form(cell.as_bytes()) {
            return Ok(time);
        }
        let table: &dyn TableReader = self;
        clock.read(cell.trim()).map_err(|why| table.bad_time(column, why))
    }

    fn wide_number(&self, column: usize) -> Result<f64, Flaw> {
        let (format, cell) = (self.format(column), self.cell(column).as_bytes());
        format.short(cell).map_or_else(|| format.wide_number(cell), Ok)
    }

    fn number_or_truth(&self, column: usize) -> Result<f32, Flaw> {
        self.format(column).number_or_truth(self.cell(column).as_bytes())
    }

    fn typed_texts(&self, column: usize) -> bool {
        self.kinds[column].0
    }

    fn label(&self, column: usize) -> Result<Cow<'_, str>, Flaw> {
        match self.cell(column) {
            "" => Err(Flaw::Missing),
            label => Ok(label.into()),
        }
    }

    fn shown(&self, column: usize) -> String {
        excerpt(self.cell(column).as_bytes())
    }
}
