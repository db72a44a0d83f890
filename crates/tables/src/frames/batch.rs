//! Forecasts as an Arrow record batch, and as a Parquet file.

use std::io;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, Float32Array, Float64Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use super::frame::{Frame, FrameWriter};
use crate::error::TableError;
use foretell_calendar::TimeKind;

impl Frame {
    /// The frame as an Arrow record batch: ids as texts or integers, times as integers or timestamps in
    /// microseconds with their zone, values as `f32`, those of [`wide`](Self::wide) columns as `f64`, whole numbers as `i64`; NaN is null.
    ///
    /// # Panics
    /// If the columns differ in length.
    pub fn record_batch(&self) -> RecordBatch {
        self.check();
        let times = |times: &[i64]| -> ArrayRef {
            match self.freq.kind() {
                TimeKind::Integer => Arc::new(Int64Array::from(times.to_vec())),
                TimeKind::Timestamp => {
                    let zone = self.zone.as_ref().map(ToString::to_string);
                    Arc::new(TimestampMicrosecondArray::from(times.to_vec()).with_timezone_opt(zone))
                }
            }
        };
        let numbers = || self.ids.iter().map(|id| id.parse().ok()).collect::<Option<Vec<i64>>>();
        let ids: ArrayRef = match numbers().filter(|_| self.integer_ids) {
            Some(numbers) => Arc::new(Int64Array::from(numbers)),
            None => Arc::new(self.ids.iter().map(|id| Some(&**id)).collect::<StringArray>()),
        };
        let mut columns =
            vec![(self.id_name(), ids, false), (self.time_col.as_str(), times(&self.times), false)];
        columns.extend(self.cutoffs.as_ref().map(|cutoffs| ("cutoff", times(cutoffs), false)));
        for (name, values) in &self.columns {
            if self.is_integer(name) {
                let whole: Int64Array = values.iter().map(|value| *value as i64).collect::<Vec<_>>().into();
                columns.push((name, Arc::new(whole), false));
                continue;
            }
            let array: ArrayRef = match self.wide.get(name) {
                _ if self.labels.contains_key(name) => {
                    Arc::new(values.iter().map(|value| self.label(name, *value)).collect::<StringArray>())
                }
                Some(wide) => {
                    Arc::new(wide.iter().map(|y| Some(*y).filter(|y| !y.is_nan())).collect::<Float64Array>())
                }
                None => Arc::new(
                    values.iter().map(|y| Some(*y).filter(|y| !y.is_nan())).collect::<Float32Array>(),
                ),
            };
            columns.push((name, array, true));
        }
        RecordBatch::try_from_iter_with_nullable(columns).expect("columns of one length")
    }

    /// Writes the frame as Parquet: see [`ParquetWriter`].
    ///
    /// # Errors
    /// [`TableError::Write`] if `out` refuses.
    ///
    /// # Panics
    /// If the columns differ in length.
    pub fn write_parquet(&self, out: impl io::Write + Send) -> Result<(), TableError> {
        let mut writer = ParquetWriter::new(out);
        writer.write(self)?;
        writer.finish().map(drop)
    }
}

/// Writes a table of forecasts as a Parquet file, compressed by snappy, one part after the other: each is a
/// [`record_batch`](Frame::record_batch) with the columns of the first one.
pub struct ParquetWriter<W: io::Write + Send>(State<W>);

enum State<W: io::Write + Send> {
    /// The columns and their types are those of the first part.
    Empty(W),
    Begun(Box<ArrowWriter<W>>),
    Failed,
}

impl<W: io::Write + Send> ParquetWriter<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Self {
        Self(State::Empty(out))
    }

    /// Writes the rows of a part.
    ///
    /// # Errors
    /// [`TableError::Write`] if the output refuses, or the part has other columns than the first one.
    ///
    /// # Panics
    /// If the columns of the part differ in length.
    pub fn write(&mut self, part: &Frame) -> Result<(), TableError> {
        self.write_batch(&part.record_batch())
    }

    /// Writes the rows of a record batch.
    pub(crate) fn write_batch(&mut self, batch: &RecordBatch) -> Result<(), TableError> {
        let mut writer = match std::mem::replace(&mut self.0, State::Failed) {
            State::Empty(out) => {
                // Few forecasts are equal: a dictionary of them takes time and no less room.
                let numbers = batch
                    .schema()
                    .fields()
                    .iter()
                    .filter(|field| field.data_type().is_floating())
                    .cloned()
                    .collect::<Vec<_>>();
                let options = WriterProperties::builder()
                    .set_compression(Compression::SNAPPY)
                    .set_statistics_enabled(EnabledStatistics::Chunk);
                let options = numbers.iter().fold(options, |options, field| {
                    options.set_column_dictionary_enabled(ColumnPath::from(field.name().as_str()), false)
                });
                let options = options.build();
                Box::new(ArrowWriter::try_new(out, batch.schema(), Some(options)).map_err(refused)?)
            }
            State::Begun(writer) => writer,
            State::Failed => return Err(refused_before()),
        };
        writer.write(batch).map_err(refused)?;
        self.0 = State::Begun(writer);
        Ok(())
    }

    /// Writes the footer, and gives the output back.
    ///
    /// # Errors
    /// [`TableError::Write`] if the output refuses or there was no part.
    pub fn finish(self) -> Result<W, TableError> {
        match self.0 {
            State::Begun(writer) => writer.into_inner().map_err(refused),
            State::Empty(_) => Err(TableError::Write(io::Error::other("a table without any part"))),
            State::Failed => Err(refused_before()),
        }
    }
}

impl<W: io::Write + Send> FrameWriter for ParquetWriter<W> {
    fn write(&mut self, part: &Frame) -> Result<(), TableError> {
        self.write(part)
    }

    fn finish(self: Box<Self>) -> Result<(), TableError> {
        (*self).finish().map(drop)
    }
}

fn refused(error: ParquetError) -> TableError {
    TableError::Write(match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(cause) => io::Error::other(cause),
        },
        other => io::Error::other(other),
    })
}

fn refused_before() -> TableError {
    TableError::Write(io::Error::other("the part before could not be written"))
}
