//! Forecasts as a stream in Arrow's format.

use std::io;

use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::ArrowError;

use super::frame::{Frame, FrameWriter};
use crate::error::DataError;

/// Writes a table of forecasts as a stream of Arrow's, each part a [`record_batch`](Frame::record_batch).
pub(crate) struct ArrowStreamWriter<W: io::Write> {
    /// The columns and their types are those of the first part: until then there is an output alone.
    begun: Option<StreamWriter<W>>,
    out: Option<W>,
}

impl<W: io::Write> ArrowStreamWriter<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { begun: None, out: Some(out) }
    }

    /// Writes a part of the table.
    pub(crate) fn write_batch(&mut self, batch: &RecordBatch) -> Result<(), DataError> {
        if let Some(out) = self.out.take() {
            self.begun = Some(StreamWriter::try_new(out, &batch.schema()).map_err(refused)?);
        }
        match &mut self.begun {
            Some(writer) => writer.write(batch).map_err(refused),
            None => Err(DataError::Write(io::Error::other("the part before could not be written"))),
        }
    }
}

impl<W: io::Write> FrameWriter for ArrowStreamWriter<W> {
    fn write(&mut self, part: &Frame) -> Result<(), DataError> {
        self.write_batch(&part.record_batch())
    }

    fn finish(mut self: Box<Self>) -> Result<(), DataError> {
        match &mut self.begun {
            Some(writer) => writer.finish().map_err(refused),
            None => Err(DataError::Write(io::Error::other("a table without any part"))),
        }
    }
}

fn refused(error: ArrowError) -> DataError {
    DataError::Write(match error {
        ArrowError::IoError(_, error) => error,
        other => io::Error::other(other),
    })
}
