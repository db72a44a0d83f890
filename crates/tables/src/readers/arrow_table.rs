//! Arrow record batches as a table, and Parquet files as record batches.

use std::borrow::Cow;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::arrow_cells::{id_at, label_at, number_at, text_at, time_at};
use super::arrow_stream::batches;
use super::number_format::{NumberFormat, narrow};
use super::plain_cells::PlainCells;
use super::row_groups::{Names, RowGroups};
use super::table::{TableReader, check_header};
use crate::error::TableError;
use crate::error::cell::CellError;
use crate::error::file::UnreadableTable;
use crate::error::flaw::Flaw;
use crate::error::place::Place;
use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;
use bytes::Bytes;
use foretell_calendar::Clock;
use foretell_messages::excerpt;

/// Where batches come from.
enum Source<'a> {
    Given(Box<dyn Iterator<Item = RecordBatch> + Send + 'a>),
    Parquet(Box<RowGroups>),
}

/// The rows of record batches, one after the other.
pub struct ArrowTable<'a> {
    name: Arc<str>,
    header: Vec<String>,
    /// The columns of the file, also those that are not read.
    all: Vec<String>,
    numbers: NumberFormat,
    source: Source<'a>,
    /// The columns of the current batch, its rows, and the current one of them.
    columns: Vec<ArrayRef>,
    plain: Vec<PlainCells>,
    rows: usize,
    row: usize,
    /// Batches read, and rows of those before the current one.
    read: usize,
    before: u64,
    /// Rows of given batches in a part.
    part: usize,
}

impl ArrowTable<'static> {
    /// Opens a Parquet file; nothing but its footer and the headers of its pages is read yet.
    pub fn open(path: &Path, wanted: impl Fn(&str) -> bool) -> Result<Self, TableError> {
        Self::of_row_groups(path.display().to_string().into(), RowGroups::open(path, wanted)?)
    }

    /// The same of some row groups of the file.
    pub(crate) fn open_groups(
        path: &Path,
        groups: Range<usize>,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Self, TableError> {
        let (mut file, names) = RowGroups::open(path, wanted)?;
        let before = file.keep(groups);
        Ok(Self { before, ..Self::of_row_groups(path.display().to_string().into(), (file, names))? })
    }

    /// The same of a file that is in memory, called `name` in messages.
    pub(crate) fn of_parquet(
        name: &Arc<str>,
        file: Bytes,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Self, TableError> {
        let groups = RowGroups::of_bytes(name.clone(), file, wanted)?;
        Self::of_row_groups(name.clone(), groups)
    }

    /// Opens a file of Arrow's stream format.
    pub(crate) fn open_stream(path: &Path) -> Result<Self, TableError> {
        let name: Arc<str> = path.display().to_string().into();
        let bytes = fs::read(path).map_err(|source| TableError::Read { file: name.clone(), source })?;
        Self::of_stream(&name, bytes.into())
    }

    /// The same of a stream that is in memory, called `name` in messages.
    pub(crate) fn of_stream(name: &Arc<str>, stream: Bytes) -> Result<Self, TableError> {
        let batches = batches(name, stream)?;
        Ok(Self { name: name.clone(), ..Self::from_batches(batches)? })
    }

    fn of_row_groups(name: Arc<str>, (groups, names): (RowGroups, Names)) -> Result<Self, TableError> {
        let source = Source::Parquet(Box::new(groups));
        Ok(Self { all: names.all, ..Self::new(name, names.read, source)? })
    }
}

impl<'a> ArrowTable<'a> {
    /// Record batches that all have the columns of the first.
    ///
    /// # Errors
    /// Columns of one name.
    pub fn from_batches(
        batches: impl IntoIterator<Item = RecordBatch, IntoIter: Send + 'a>,
    ) -> Result<Self, TableError> {
        let mut batches = batches.into_iter().peekable();
        let header = batches.peek().map_or_else(Vec::new, names);
        Self::new("the record batches".into(), header, Source::Given(Box::new(batches)))
    }

    fn new(name: Arc<str>, header: Vec<String>, source: Source<'a>) -> Result<Self, TableError> {
        check_header(&name, &header)?;
        Ok(Self {
            all: header.clone(),
            name,
            header,
            numbers: NumberFormat::default(),
            source,
            columns: Vec::new(),
            plain: Vec::new(),
            rows: 0,
            row: 0,
            read: 0,
            before: 0,
            part: PART,
        })
    }

    /// The same with this many rows of given batches in a part that another thread reads.
    #[must_use]
    pub fn in_parts(self, rows: usize) -> Self {
        Self { part: rows, ..self }
    }
}

/// Rows of given batches that are a part where no one says otherwise: enough for a thread to be worth waking.
const PART: usize = 1 << 19;

impl ArrowTable<'_> {
    /// The next rows of batches that were given, without a copy.
    fn next_given_part(&mut self) -> Result<Option<Box<dyn TableReader>>, TableError> {
        // The row that the table stands on was read, unless it is the first of another batch.
        let first = match self.row + 1 < self.rows {
            true => self.row + 1,
            false if self.advance()? => 0,
            false => return Ok(None),
        };
        let rows = self.part.min(self.rows - first);
        let columns = self.columns.iter().map(|column| column.slice(first, rows));
        let columns = self.header.iter().zip(columns).map(|(name, column)| (name, column, true));
        let batch = RecordBatch::try_from_iter_with_nullable(columns).expect("columns of one length");
        let source = Source::Given(Box::new(std::iter::once(batch)));
        let mut part = ArrowTable::new(self.name.clone(), self.header.clone(), source)?;
        (part.numbers, part.before) = (self.numbers, self.before + first as u64);
        self.row = first + rows - 1;
        Ok(Some(Box::new(part)))
    }
}

fn names(batch: &RecordBatch) -> Vec<String> {
    batch.schema_ref().fields().iter().map(|field| field.name().clone()).collect()
}

impl TableReader for ArrowTable<'_> {
    fn file(&self) -> &Arc<str> {
        &self.name
    }

    fn header(&self) -> &[String] {
        &self.header
    }

    fn all_columns(&self) -> &[String] {
        &self.all
    }

    fn read_numbers(&mut self, format: NumberFormat) {
        self.numbers = format;
    }

    fn advance(&mut self) -> Result<bool, TableError> {
        if self.row + 1 < self.rows {
            self.row += 1;
            return Ok(true);
        }
        self.before += self.rows as u64;
        (self.row, self.rows) = (0, 0);
        self.columns.clear();
        while let Some(batch) = match &mut self.source {
            Source::Given(batches) => batches.next(),
            Source::Parquet(groups) => groups.next_batch()?,
        } {
            let found = names(&batch);
            if found != self.header {
                let (table, expected) = (self.name.clone(), self.header.clone());
                return Err(UnreadableTable::Batches { table, batch: self.read, expected, found }.into());
            }
            self.read += 1;
            if batch.num_rows() > 0 {
                self.rows = batch.num_rows();
                self.columns = batch.columns().to_vec();
                self.plain = self.columns.iter().map(PlainCells::of).collect();
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn next_part(&mut self) -> Result<Option<Box<dyn TableReader>>, TableError> {
        let Source::Parquet(groups) = &mut self.source else { return self.next_given_part() };
        let begun = self.rows > 0;
        let (groups, before) = match begun {
            true => (groups.take_begun(), self.before),
            false => match groups.take_part()? {
                Some(part) => part,
                None => return Ok(None),
            },
        };
        let source = Source::Parquet(Box::new(groups));
        let mut part = ArrowTable::new(self.name.clone(), self.header.clone(), source)?;
        (part.all, part.numbers, part.before) = (self.all.clone(), self.numbers, before);
        if begun {
            part.columns = std::mem::take(&mut self.columns);
            part.plain = std::mem::take(&mut self.plain);
            (part.rows, part.row) = (std::mem::take(&mut self.rows), self.row);
        }
        Ok(Some(Box::new(part)))
    }

    fn place(&self) -> Place {
        Place { file: Some(self.name.clone()), line: false, series: None, row: self.row() }
    }

    fn row(&self) -> u64 {
        self.before + self.row as u64
    }

    fn has_id(&self, column: usize, id: &str) -> bool {
        match self.plain[column].is(self.row, id) {
            Some(same) => same,
            None => self.id(column).is_ok_and(|own| *own == *id),
        }
    }

    fn id(&self, column: usize) -> Result<Cow<'_, str>, TableError> {
        let name = || self.header[column].clone();
        match id_at(&*self.columns[column], self.row).filter(|id| !id.is_empty()) {
            Some(id) if id.contains('\0') => {
                Err(CellError::NulInId { at: self.place(), column: name() }.into())
            }
            Some(id) => Ok(id),
            None => Err(CellError::EmptyId { at: self.place(), column: name() }.into()),
        }
    }

    fn integer_ids(&self, column: usize) -> bool {
        self.columns[column].data_type().is_integer()
    }

    fn time(&self, column: usize, clock: &mut Clock) -> Result<i64, TableError> {
        if clock.is_civil()
            && let Some(time) = self.plain[column].civil_time(self.row)
        {
            return Ok(time);
        }
        let table: &dyn TableReader = self;
        time_at(&*self.columns[column], self.row, clock).map_err(|why| table.bad_time(column, why))
    }

    fn wide_number(&self, column: usize) -> Result<f64, Flaw> {
        match self.plain[column].number(self.row) {
            Some(number) => Ok(number),
            None => number_at(&*self.columns[column], self.row, &|text| self.numbers.wide_number(text)),
        }
    }

    fn number_or_truth(&self, column: usize) -> Result<f32, Flaw> {
        if let Some(number) = self.plain[column].number(self.row) {
            return narrow(number);
        }
        let array = &*self.columns[column];
        match array.as_boolean_opt() {
            Some(truths) if truths.is_valid(self.row) => Ok(f32::from(truths.value(self.row))),
            _ => {
                narrow(number_at(array, self.row, &|text| self.numbers.number_or_truth(text).map(f64::from))?)
            }
        }
    }

    fn typed_texts(&self, column: usize) -> bool {
        match self.columns[column].data_type() {
            DataType::Dictionary(_, values) => values.is_string(),
            other => other.is_string(),
        }
    }

    fn label(&self, column: usize) -> Result<Cow<'_, str>, Flaw> {
        label_at(&*self.columns[column], self.row)
    }

    fn shown(&self, column: usize) -> String {
        let array = &*self.columns[column];
        match text_at(array, self.row) {
            Some(text) => excerpt(text.as_bytes()),
            None if array.is_null(self.row) => String::new(),
            None => match number_at(array, self.row, &|_| Err(Flaw::Text)) {
                Ok(value) => value.to_string(),
                Err(Flaw::Missing) => "NaN".to_owned(),
                Err(Flaw::Infinite) => "inf".to_owned(),
                Err(_) => array.data_type().to_string(),
            },
        }
    }
}
