//! Forecasts as a stream or a file in Arrow's format.

use std::io;

use arrow_array::{RecordBatch, RecordBatchWriter};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{ArrowError, Schema};

use super::frame::{Frame, FrameWriter};
use crate::error::TableError;

/// Writes a table of forecasts as Arrow's batches, each part a [`record_batch`](Frame::record_batch).
pub(crate) struct BatchWriter<W, B> {
    /// The columns and their types are those of the first part: until then there is an output alone.
    begun: Option<B>,
    out: Option<W>,
    begin: fn(W, &Schema) -> Result<B, ArrowError>,
}

impl<W: io::Write> BatchWriter<W, StreamWriter<W>> {
    /// As a stream.
    pub(crate) fn stream(out: W) -> Self {
        Self { begun: None, out: Some(out), begin: StreamWriter::try_new }
    }
}

impl<W: io::Write> BatchWriter<W, FileWriter<W>> {
    /// As a file, whose end says where its batches are.
    pub(crate) fn file(out: W) -> Self {
        Self { begun: None, out: Some(out), begin: FileWriter::try_new }
    }
}

impl<W, B: RecordBatchWriter> BatchWriter<W, B> {
    /// Writes a part of the table.
    pub(crate) fn write_batch(&mut self, batch: &RecordBatch) -> Result<(), TableError> {
        if let Some(out) = self.out.take() {
            self.begun = Some((self.begin)(out, &batch.schema()).map_err(refused)?);
        }
        match &mut self.begun {
            Some(writer) => writer.write(batch).map_err(refused),
            None => Err(TableError::Write(io::Error::other("the part before could not be written"))),
        }
    }

    /// Writes a table of one part.
    pub(crate) fn write_whole(mut self, batch: &RecordBatch) -> Result<(), TableError> {
        self.write_batch(batch)?;
        self.end()
    }

    fn end(self) -> Result<(), TableError> {
        match self.begun {
            Some(writer) => writer.close().map_err(refused),
            None => Err(TableError::Write(io::Error::other("a table without any part"))),
        }
    }
}

impl<W, B: RecordBatchWriter> FrameWriter for BatchWriter<W, B> {
    fn write(&mut self, part: &Frame) -> Result<(), TableError> {
        self.write_batch(&part.record_batch())
    }

    fn finish(self: Box<Self>) -> Result<(), TableError> {
        (*self).end()
    }
}

fn refused(error: ArrowError) -> TableError {
    TableError::Write(match error {
        ArrowError::IoError(_, error) => error,
        other => io::Error::other(other),
    })
}
