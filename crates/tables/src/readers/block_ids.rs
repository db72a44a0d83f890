//! A table whose ids stand in the first row of each series alone, as reports and merged cells have them.

use std::borrow::Cow;
use std::sync::Arc;

use super::number_format::NumberFormat;
use super::read_note::ReadNote;
use super::sheets::Sheets;
use super::table::TableReader;
use crate::error::DataError;
use crate::error::flaw::Flaw;
use crate::error::place::Place;
use foretell_calendar::Clock;

/// A table in some of whose columns an empty cell stands for the one above.
pub struct BlockIds<'a> {
    inner: Box<dyn TableReader + 'a>,
    /// By column, the last text; nothing of columns that are not filled in.
    last: Vec<Option<String>>,
}

impl<'a> BlockIds<'a> {
    /// The table with these columns filled in; unchanged if it has none of them.
    pub fn over(inner: Box<dyn TableReader + 'a>, columns: &[String]) -> Box<dyn TableReader + 'a> {
        let is_filled = |name: &String| columns.contains(name);
        if !inner.header().iter().any(is_filled) {
            return inner;
        }
        let last = inner.header().iter().map(|name| is_filled(name).then(String::new)).collect();
        Box::new(Self { inner, last })
    }

    /// The text above, where a cell of such a column is empty.
    fn above(&self, column: usize) -> Option<&str> {
        self.last[column].as_deref().filter(|last| !last.is_empty())
    }
}

impl TableReader for BlockIds<'_> {
    fn file(&self) -> &Arc<str> {
        self.inner.file()
    }

    fn header(&self) -> &[String] {
        self.inner.header()
    }

    fn all_columns(&self) -> &[String] {
        self.inner.all_columns()
    }

    fn read_numbers(&mut self, format: NumberFormat) {
        self.inner.read_numbers(format);
    }

    fn advance(&mut self) -> Result<bool, DataError> {
        let is_there = self.inner.advance()?;
        for (column, last) in self.last.iter_mut().enumerate().filter(|_| is_there) {
            let Some(last) = last else { continue };
            match self.inner.label(column) {
                Ok(text) if !text.trim().is_empty() => *last = text.trim().to_owned(),
                // What stands for a missing label, such as `NA`, is an id.
                _ if !self.inner.shown(column).trim().is_empty() => {
                    *last = self.inner.id(column).map_or_else(|_| String::new(), |id| id.trim().to_owned());
                }
                _ => {}
            }
        }
        Ok(is_there)
    }

    fn place(&self) -> Place {
        self.inner.place()
    }

    fn row(&self) -> u64 {
        self.inner.row()
    }

    fn id(&self, column: usize) -> Result<Cow<'_, str>, DataError> {
        self.above(column).map_or_else(|| self.inner.id(column), |id| Ok(id.into()))
    }

    fn integer_ids(&self, column: usize) -> bool {
        self.inner.integer_ids(column)
    }

    fn time(&self, column: usize, clock: &mut Clock) -> Result<i64, DataError> {
        self.inner.time(column, clock)
    }

    fn number(&self, column: usize) -> Result<f32, Flaw> {
        self.inner.number(column)
    }

    fn wide_number(&self, column: usize) -> Result<f64, Flaw> {
        self.inner.wide_number(column)
    }

    fn number_or_truth(&self, column: usize) -> Result<f32, Flaw> {
        self.inner.number_or_truth(column)
    }

    fn typed_texts(&self, column: usize) -> bool {
        self.inner.typed_texts(column)
    }

    fn label(&self, column: usize) -> Result<Cow<'_, str>, Flaw> {
        self.above(column).map_or_else(|| self.inner.label(column), |text| Ok(text.into()))
    }

    fn reads_its_times(&self) -> bool {
        self.inner.reads_its_times()
    }

    fn late_shift(&self) -> i64 {
        self.inner.late_shift()
    }

    fn check_units(&self) -> Result<(), DataError> {
        self.inner.check_units()
    }

    fn notes(&self) -> Vec<ReadNote> {
        self.inner.notes()
    }

    fn sheets(&self) -> Option<&Sheets> {
        self.inner.sheets()
    }

    fn shown(&self, column: usize) -> String {
        self.above(column).map_or_else(|| self.inner.shown(column), str::to_owned)
    }
}
