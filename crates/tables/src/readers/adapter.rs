//! Tables made of another one, as an iterator adapter is of an iterator: each states what it changes.

use std::borrow::Cow;
use std::sync::Arc;

use super::number_format::NumberFormat;
use super::read_note::ReadNote;
use super::sheets::Sheets;
use super::table::TableReader;
use crate::error::TableError;
use crate::error::flaw::Flaw;
use crate::error::place::Place;
use foretell_calendar::Clock;

/// A [`TableReader`] over another one. Its methods are those of a reader and answer as the inner table does, but for
/// [`next_part`](TableAdapter::next_part): an adapter that is not told how to adapt parts is read row by row.
pub(super) trait TableAdapter: Send {
    fn inner(&self) -> &dyn TableReader;

    fn inner_mut(&mut self) -> &mut dyn TableReader;

    /// The column of the inner table whose cells stand in that column.
    fn inner_column(&self, column: usize) -> usize {
        column
    }

    fn header(&self) -> &[String] {
        self.inner().header()
    }

    fn all_columns(&self) -> &[String] {
        self.inner().all_columns()
    }

    fn read_numbers(&mut self, format: NumberFormat) {
        self.inner_mut().read_numbers(format);
    }

    fn advance(&mut self) -> Result<bool, TableError> {
        self.inner_mut().advance()
    }

    fn next_part(&mut self) -> Result<Option<Box<dyn TableReader>>, TableError> {
        Ok(None)
    }

    fn id(&self, column: usize) -> Result<Cow<'_, str>, TableError> {
        self.inner().id(self.inner_column(column))
    }

    fn has_id(&self, column: usize, id: &str) -> bool {
        self.inner().has_id(self.inner_column(column), id)
    }

    fn integer_ids(&self, column: usize) -> bool {
        self.inner().integer_ids(self.inner_column(column))
    }

    fn time(&self, column: usize, clock: &mut Clock) -> Result<i64, TableError> {
        self.inner().time(self.inner_column(column), clock)
    }

    fn wide_number(&self, column: usize) -> Result<f64, Flaw> {
        self.inner().wide_number(self.inner_column(column))
    }

    fn number_or_truth(&self, column: usize) -> Result<f32, Flaw> {
        self.inner().number_or_truth(self.inner_column(column))
    }

    fn typed_texts(&self, column: usize) -> bool {
        self.inner().typed_texts(self.inner_column(column))
    }

    fn label(&self, column: usize) -> Result<Cow<'_, str>, Flaw> {
        self.inner().label(self.inner_column(column))
    }

    fn reads_its_times(&self) -> bool {
        self.inner().reads_its_times()
    }

    fn late_shift(&self) -> i64 {
        self.inner().late_shift()
    }

    fn check_units(&self) -> Result<(), TableError> {
        self.inner().check_units()
    }

    fn notes(&self) -> Vec<ReadNote> {
        self.inner().notes()
    }

    fn shown(&self, column: usize) -> String {
        self.inner().shown(self.inner_column(column))
    }
}

impl<T: TableAdapter> TableReader for T {
    fn file(&self) -> &Arc<str> {
        self.inner().file()
    }

    fn header(&self) -> &[String] {
        TableAdapter::header(self)
    }

    fn all_columns(&self) -> &[String] {
        TableAdapter::all_columns(self)
    }

    fn read_numbers(&mut self, format: NumberFormat) {
        TableAdapter::read_numbers(self, format);
    }

    fn advance(&mut self) -> Result<bool, TableError> {
        TableAdapter::advance(self)
    }

    fn next_part(&mut self) -> Result<Option<Box<dyn TableReader>>, TableError> {
        TableAdapter::next_part(self)
    }

    fn place(&self) -> Place {
        self.inner().place()
    }

    fn row(&self) -> u64 {
        self.inner().row()
    }

    fn id(&self, column: usize) -> Result<Cow<'_, str>, TableError> {
        TableAdapter::id(self, column)
    }

    fn has_id(&self, column: usize, id: &str) -> bool {
        TableAdapter::has_id(self, column, id)
    }

    fn integer_ids(&self, column: usize) -> bool {
        TableAdapter::integer_ids(self, column)
    }

    fn time(&self, column: usize, clock: &mut Clock) -> Result<i64, TableError> {
        TableAdapter::time(self, column, clock)
    }

    fn wide_number(&self, column: usize) -> Result<f64, Flaw> {
        TableAdapter::wide_number(self, column)
    }

    fn number_or_truth(&self, column: usize) -> Result<f32, Flaw> {
        TableAdapter::number_or_truth(self, column)
    }

    fn typed_texts(&self, column: usize) -> bool {
        TableAdapter::typed_texts(self, column)
    }

    fn label(&self, column: usize) -> Result<Cow<'_, str>, Flaw> {
        TableAdapter::label(self, column)
    }

    fn reads_its_times(&self) -> bool {
        TableAdapter::reads_its_times(self)
    }

    fn late_shift(&self) -> i64 {
        TableAdapter::late_shift(self)
    }

    fn check_units(&self) -> Result<(), TableError> {
        TableAdapter::check_units(self)
    }

    fn notes(&self) -> Vec<ReadNote> {
        TableAdapter::notes(self)
    }

    fn sheets(&self) -> Option<&Sheets> {
        self.inner().sheets()
    }

    fn shown(&self, column: usize) -> String {
        TableAdapter::shown(self, column)
    }
}
