//! Forecasts as an Arrow record batch, and as a Parquet file.

use std::io;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use crate::error::DataError;
use crate::frame::Frame;
use crate::time::TimeKind;

impl Frame {
    /// The frame as an Arrow record batch: ids as texts or integers, times as integers or timestamps in
    /// microseconds with their zone, values as `f32`; NaN is null.
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
            vec![(self.id_col.as_str(), ids, false), (self.time_col.as_str(), times(&self.times), false)];
        columns.extend(self.cutoffs.as_ref().map(|cutoffs| ("cutoff", times(cutoffs), false)));
        for (name, values) in &self.columns {
            let known = values.iter().map(|value| Some(*value).filter(|value| !value.is_nan()));
            columns.push((name, Arc::new(known.collect::<Float32Array>()), true));
        }
        RecordBatch::try_from_iter_with_nullable(columns).expect("columns of one length")
    }

    /// Writes [`record_batch`](Self::record_batch) as a Parquet file, compressed by snappy.
    ///
    /// # Errors
    /// [`DataError::Write`] if `out` refuses.
    ///
    /// # Panics
    /// If the columns differ in length.
    pub fn write_parquet(&self, out: impl io::Write + Send) -> Result<(), DataError> {
        let batch = self.record_batch();
        let options = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        ArrowWriter::try_new(out, batch.schema(), Some(options))
            .and_then(|mut writer| {
                writer.write(&batch)?;
                writer.close()
            })
            .map(|_| ())
            .map_err(|error| DataError::Write(io::Error::other(error)))
    }
}
