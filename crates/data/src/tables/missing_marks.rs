//! A table in which some values stand for missing ones.

use std::borrow::Cow;
use std::sync::Arc;

use super::number_format::NumberFormat;
use super::read_note::ReadNote;
use super::table::TableReader;
use crate::calendar::clock::Clock;
use crate::error::DataError;
use crate::error::flaw::Flaw;
use crate::error::place::Place;

/// Values that stand for missing ones: as texts in any case, those that are numbers also in any other spelling.
#[derive(Clone, Debug)]
pub(crate) struct Marks {
    texts: Vec<String>,
    numbers: Vec<f64>,
}

impl Marks {
    pub(crate) fn new(texts: &[String]) -> Self {
        let texts: Vec<String> = texts.iter().map(|text| text.trim().to_lowercase()).collect();
        Self { numbers: texts.iter().filter_map(|text| text.parse().ok()).collect(), texts }
    }

    fn has_text(&self, text: &str) -> bool {
        self.texts.contains(&text.trim().to_lowercase())
    }
}

/// The table with these marks.
pub(crate) struct MarkedTable<'a> {
    pub(crate) inner: Box<dyn TableReader + 'a>,
    pub(crate) marks: Arc<Marks>,
}

impl MarkedTable<'_> {
    /// What is read, or that it is missing.
    fn known<T: Copy>(
        &self,
        column: usize,
        read: Result<T, Flaw>,
        wide: impl Fn(T) -> f64,
    ) -> Result<T, Flaw> {
        let is_mark = match read {
            Ok(value) => self.marks.numbers.contains(&wide(value)),
            Err(_) => self.inner.label(column).is_ok_and(|text| self.marks.has_text(&text)),
        };
        if is_mark { Err(Flaw::Missing) } else { read }
    }
}

impl TableReader for MarkedTable<'_> {
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
        self.inner.advance()
    }

    fn next_part(&mut self) -> Result<Option<Box<dyn TableReader>>, DataError> {
        let part = self.inner.next_part()?;
        Ok(part.map(|inner| Box::new(MarkedTable { inner, marks: self.marks.clone() }) as _))
    }

    fn place(&self) -> Place {
        self.inner.place()
    }

    fn row(&self) -> u64 {
        self.inner.row()
    }

    fn id(&self, column: usize) -> Result<Cow<'_, str>, DataError> {
        self.inner.id(column)
    }

    fn has_id(&self, column: usize, id: &str) -> bool {
        self.inner.has_id(column, id)
    }

    fn integer_ids(&self, column: usize) -> bool {
        self.inner.integer_ids(column)
    }

    fn time(&self, column: usize, clock: &mut Clock) -> Result<i64, DataError> {
        self.inner.time(column, clock)
    }

    fn number(&self, column: usize) -> Result<f32, Flaw> {
        self.known(column, self.inner.number(column), f64::from)
    }

    fn wide_number(&self, column: usize) -> Result<f64, Flaw> {
        self.known(column, self.inner.wide_number(column), |value| value)
    }

    fn number_or_truth(&self, column: usize) -> Result<f32, Flaw> {
        self.known(column, self.inner.number_or_truth(column), f64::from)
    }

    fn typed_texts(&self, column: usize) -> bool {
        self.inner.typed_texts(column)
    }

    fn label(&self, column: usize) -> Result<Cow<'_, str>, Flaw> {
        let label = self.inner.label(column)?;
        if self.marks.has_text(&label) { Err(Flaw::Missing) } else { Ok(label) }
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

    fn shown(&self, column: usize) -> String {
        self.inner.shown(column)
    }
}
