//! Arrow record batches as a table, and Parquet files as record batches.

use std::borrow::Cow;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::arrow_bytes::{bytes_at, decimal_at, hexadecimal, is_text};
use super::arrow_stream::batches;
use super::number_format::{NumberFormat, narrow};
use super::plain_cells::PlainCells;
use super::row_groups::{Names, RowGroups};
use super::table::{TableReader, check_header};
use crate::calendar::clock::Clock;
use crate::calendar::days::{DAY, FINE, RANGE};
use crate::calendar::flaw::TimeFlaw;
use crate::calendar::kind::TimeKind;
use crate::calendar::zone::in_range;
use crate::error::DataError;
use crate::error::file::UnreadableTable;
use crate::error::flaw::Flaw;
use crate::error::place::Place;
use crate::wording::excerpt;
use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    Date32Type, Date64Type, Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, TimeUnit};
use bytes::Bytes;

// What may be wrong with a time; completes a sentence.
const MISSING: TimeFlaw = TimeFlaw::new("is missing; every row needs its time");
const TYPE: TimeFlaw =
    TimeFlaw::new("is of a type that holds no times; use timestamps, dates, integers or text");

/// Where batches come from.
enum Source<'a> {
    Given(Box<dyn Iterator<Item = RecordBatch> + Send + 'a>),
    Parquet(Box<RowGroups>),
}

/// The rows of record batches, one after the other.
pub(crate) struct ArrowTable<'a> {
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
}

impl ArrowTable<'static> {
    /// Opens a Parquet file; nothing but its footer and the headers of its pages is read yet.
    pub(crate) fn open(path: &Path, wanted: impl Fn(&str) -> bool) -> Result<Self, DataError> {
        Self::of_row_groups(path.display().to_string().into(), RowGroups::open(path, wanted)?)
    }

    /// The same of some row groups of the file.
    pub(crate) fn open_groups(
        path: &Path,
        groups: Range<usize>,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Self, DataError> {
        let (mut file, names) = RowGroups::open(path, wanted)?;
        let before = file.keep(groups);
        Ok(Self { before, ..Self::of_row_groups(path.display().to_string().into(), (file, names))? })
    }

    /// The same of a file that is in memory, called `name` in messages.
    pub(crate) fn of_parquet(
        name: &Arc<str>,
        file: Bytes,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Self, DataError> {
        let groups = RowGroups::of_bytes(name.clone(), file, wanted)?;
        Self::of_row_groups(name.clone(), groups)
    }

    /// Opens a file of Arrow's stream format.
    pub(crate) fn open_stream(path: &Path) -> Result<Self, DataError> {
        let name: Arc<str> = path.display().to_string().into();
        let bytes = fs::read(path).map_err(|source| DataError::Read { file: name.clone(), source })?;
        Self::of_stream(&name, bytes.into())
    }

    /// The same of a stream that is in memory, called `name` in messages.
    pub(crate) fn of_stream(name: &Arc<str>, stream: Bytes) -> Result<Self, DataError> {
        let batches = batches(name, stream)?;
        Ok(Self { name: name.clone(), ..Self::of(batches)? })
    }

    fn of_row_groups(name: Arc<str>, (groups, names): (RowGroups, Names)) -> Result<Self, DataError> {
        let source = Source::Parquet(Box::new(groups));
        Ok(Self { all: names.all, ..Self::new(name, names.read, source)? })
    }
}

impl<'a> ArrowTable<'a> {
    /// Record batches that all have the columns of the first.
    pub(crate) fn of(
        batches: impl IntoIterator<Item = RecordBatch, IntoIter: Send + 'a>,
    ) -> Result<Self, DataError> {
        let mut batches = batches.into_iter().peekable();
        let header = batches.peek().map_or_else(Vec::new, names);
        Self::new("the record batches".into(), header, Source::Given(Box::new(batches)))
    }

    fn new(name: Arc<str>, header: Vec<String>, source: Source<'a>) -> Result<Self, DataError> {
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
        })
    }
}

/// Rows of given batches that are a part: enough for a thread to be worth waking, and few in tests, which have small tables.
const PART: usize = if cfg!(test) { 3 } else { 1 << 19 };

impl ArrowTable<'_> {
    /// The next rows of batches that were given, without a copy.
    fn next_given_part(&mut self) -> Result<Option<Box<dyn TableReader>>, DataError> {
        // The row that the table stands on was read, unless it is the first of another batch.
        let first = match self.row + 1 < self.rows {
            true => self.row + 1,
            false if self.advance()? => 0,
            false => return Ok(None),
        };
        let rows = PART.min(self.rows - first);
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

    fn advance(&mut self) -> Result<bool, DataError> {
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

    fn next_part(&mut self) -> Result<Option<Box<dyn TableReader>>, DataError> {
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

    fn id(&self, column: usize) -> Result<Cow<'_, str>, DataError> {
        let name = || self.header[column].clone();
        match id_at(&*self.columns[column], self.row).filter(|id| !id.is_empty()) {
            Some(id) if id.contains('\0') => Err(DataError::NulInId { at: self.place(), column: name() }),
            Some(id) => Ok(id),
            None => Err(DataError::EmptyId { at: self.place(), column: name() }),
        }
    }

    fn integer_ids(&self, column: usize) -> bool {
        self.columns[column].data_type().is_integer()
    }

    fn time(&self, column: usize, clock: &mut Clock) -> Result<i64, DataError> {
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

/// An integer of any width; nothing for null, for other types, and for what is beyond 64 bits.
fn integer_at(array: &dyn Array, row: usize) -> Option<i64> {
    if array.is_null(row) {
        return None;
    }
    Some(match array.data_type() {
        DataType::Int8 => array.as_primitive::<Int8Type>().value(row).into(),
        DataType::Int16 => array.as_primitive::<Int16Type>().value(row).into(),
        DataType::Int32 => array.as_primitive::<Int32Type>().value(row).into(),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row),
        DataType::UInt8 => array.as_primitive::<UInt8Type>().value(row).into(),
        DataType::UInt16 => array.as_primitive::<UInt16Type>().value(row).into(),
        DataType::UInt32 => array.as_primitive::<UInt32Type>().value(row).into(),
        DataType::UInt64 => array.as_primitive::<UInt64Type>().value(row).try_into().ok()?,
        _ => return None,
    })
}

/// The value of a dictionary that a row points at; nothing for null.
fn entry(array: &dyn Array, row: usize) -> Option<(&dyn Array, usize)> {
    let dictionary = array.as_any_dictionary_opt()?;
    let key = usize::try_from(integer_at(dictionary.keys(), row)?).ok()?;
    (key < dictionary.values().len()).then(|| (&**dictionary.values(), key))
}

/// The id of a series: a text, or a number, truth value, time or bytes as one.
fn id_at(array: &dyn Array, row: usize) -> Option<Cow<'_, str>> {
    if array.is_null(row) {
        return None;
    }
    let float = |value: f64, text: String| (!value.is_nan()).then(|| Cow::from(text));
    match array.data_type() {
        DataType::Dictionary(..) => entry(array, row).and_then(|(values, key)| id_at(values, key)),
        DataType::Float32 => {
            // By way of 64 bits 0.1 would be 0.10000000149011612.
            let value = array.as_primitive::<Float32Type>().value(row);
            float(value.into(), (value + 0.0).to_string())
        }
        DataType::Float16 | DataType::Float64 => {
            float_at(array, row).and_then(|value| float(value, (value + 0.0).to_string()))
        }
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => {
            let mut clock = Clock::default();
            let time = time_at(array, row, &mut clock).ok()?;
            let in_calendar = in_range(TimeKind::Timestamp, clock.zone.as_ref(), time);
            in_calendar.then(|| TimeKind::Timestamp.display_in(clock.zone.as_ref(), time).into())
        }
        kind if kind.is_binary() => {
            // Numbers of this many bytes each are texts only by chance.
            let text = match kind {
                DataType::FixedSizeBinary(_) => None,
                _ => text_at(array, row),
            };
            text.or_else(|| bytes_at(array, row).map(|bytes| hexadecimal(bytes).into()))
        }
        _ => decimal_at(array, row).map(Cow::from).or_else(|| label_at(array, row).ok()),
    }
}

/// A text, or an integer as one.
fn text_at(array: &dyn Array, row: usize) -> Option<Cow<'_, str>> {
    if array.is_null(row) {
        return None;
    }
    match array.data_type() {
        DataType::Utf8 => Some(array.as_string::<i32>().value(row).into()),
        DataType::LargeUtf8 => Some(array.as_string::<i64>().value(row).into()),
        DataType::Utf8View => Some(array.as_string_view().value(row).into()),
        DataType::Dictionary(..) => entry(array, row).and_then(|(values, key)| text_at(values, key)),
        kind if kind.is_binary() => str::from_utf8(bytes_at(array, row)?).ok().map(Cow::from),
        _ => integer_at(array, row).map(|number| number.to_string().into()),
    }
}

/// A number with decimals, of what is not null; nothing for other types.
fn float_at(array: &dyn Array, row: usize) -> Option<f64> {
    Some(match array.data_type() {
        DataType::Float16 => array.as_primitive::<Float16Type>().value(row).to_f64(),
        DataType::Float32 => array.as_primitive::<Float32Type>().value(row).into(),
        DataType::Float64 => array.as_primitive::<Float64Type>().value(row),
        DataType::Decimal128(_, scale) => {
            array.as_primitive::<Decimal128Type>().value(row) as f64 / 10_f64.powi((*scale).into())
        }
        _ => return decimal_at(array, row)?.parse().ok(),
    })
}

/// A text, or a number or truth value as one.
fn label_at(array: &dyn Array, row: usize) -> Result<Cow<'_, str>, Flaw> {
    if array.is_null(row) {
        return Err(Flaw::Missing);
    }
    if let Some(text) = text_at(array, row) {
        return Ok(text);
    }
    match float_at(array, row) {
        Some(value) if value.is_nan() => return Err(Flaw::Missing),
        Some(value) if value.is_infinite() => return Err(Flaw::Infinite),
        Some(value) => return Ok(value.to_string().into()),
        None => {}
    }
    Ok(match array.data_type() {
        DataType::Boolean => {
            if array.as_boolean().value(row) {
                "True".into()
            } else {
                "False".into()
            }
        }
        DataType::UInt64 => array.as_primitive::<UInt64Type>().value(row).to_string().into(),
        DataType::Dictionary(..) => {
            let (values, key) = entry(array, row).ok_or(Flaw::Missing)?;
            return label_at(values, key);
        }
        _ => return Err(Flaw::Label),
    })
}

/// A number of any type; `read` reads texts.
fn number_at(array: &dyn Array, row: usize, read: &dyn Fn(&[u8]) -> Result<f64, Flaw>) -> Result<f64, Flaw> {
    if array.is_null(row) {
        return Err(Flaw::Missing);
    }
    let value = match array.data_type() {
        DataType::UInt64 => array.as_primitive::<UInt64Type>().value(row) as f64,
        DataType::Dictionary(..) => {
            let (values, key) = entry(array, row).ok_or(Flaw::Missing)?;
            return number_at(values, key, read);
        }
        DataType::Null => return Err(Flaw::Missing),
        _ if is_text(array.data_type()) => {
            return text_at(array, row).map_or(Err(Flaw::Text), |text| read(text.as_bytes()));
        }
        _ => match float_at(array, row) {
            Some(value) => value,
            None => integer_at(array, row).ok_or(Flaw::Type)? as f64,
        },
    };
    match value {
        value if value.is_nan() => Err(Flaw::Missing),
        value if value.is_infinite() => Err(Flaw::Infinite),
        value => Ok(value),
    }
}

/// A time: a timestamp of any unit and zone, a date, an integer or a text.
fn time_at(array: &dyn Array, row: usize, clock: &mut Clock) -> Result<i64, TimeFlaw> {
    if array.is_null(row) {
        return Err(MISSING);
    }
    let (ticks, unit) = match array.data_type() {
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => (array.as_primitive::<TimestampSecondType>().value(row), 1_000_000),
            TimeUnit::Millisecond => (array.as_primitive::<TimestampMillisecondType>().value(row), 1000),
            TimeUnit::Microsecond => (array.as_primitive::<TimestampMicrosecondType>().value(row), 1),
            TimeUnit::Nanosecond => {
                let nanos = array.as_primitive::<TimestampNanosecondType>().value(row);
                (if nanos % 1000 == 0 { nanos / 1000 } else { return Err(FINE) }, 1)
            }
        },
        DataType::Date32 => (array.as_primitive::<Date32Type>().value(row).into(), DAY),
        DataType::Date64 => (array.as_primitive::<Date64Type>().value(row), 1000),
        DataType::Dictionary(..) => {
            let (values, key) = entry(array, row).ok_or(MISSING)?;
            return time_at(values, key, clock);
        }
        _ if is_text(array.data_type()) => {
            return clock.read(text_at(array, row).ok_or(TYPE)?.trim());
        }
        _ => {
            let step = integer_at(array, row).ok_or(TYPE)?;
            return clock.step(step);
        }
    };
    let zone = match array.data_type() {
        DataType::Timestamp(_, zone) => zone.as_deref(),
        _ => None,
    };
    let time = ticks.checked_mul(unit).ok_or(RANGE)?;
    clock.typed(zone, time)
}

#[cfg(test)]
#[path = "arrow_table_tests.rs"]
mod tests;
