//! Parquet files as record batches, of some row groups at a time.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::{DataType, FieldRef, Schema, SchemaRef};
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::file::reader::{ChunkReader, Length};

use super::catch_panic::caught;
use super::page_headers::check_layout;
use crate::error::TableError;
use crate::error::file::UnreadableTable;

/// Rows that are decoded at a time: enough to hide the cost of a batch, few enough to stay small.
const BATCH: usize = 8192;

/// The most bytes of the pages of a batch beside those at its ends; fewer rows are decoded at a time
/// where a few of them stand for large pages.
const BATCH_BYTES: u64 = 16 << 20;

/// Rows of a part: small row groups are read several at a time.
const PART: u64 = 1 << 16;

/// Row groups of a file, read one after the other.
pub(super) struct RowGroups {
    name: Arc<str>,
    file: ParquetFile,
    footer: ArrowReaderMetadata,
    /// The columns that are read.
    mask: ProjectionMask,
    batch: usize,
    /// Those that are being read.
    reader: Option<ParquetRecordBatchReader>,
    /// Those that follow, and the row at which they begin.
    left: Range<usize>,
    row: u64,
}

/// Names of columns: all of the file, and those that are read.
pub(super) struct Names {
    pub(super) all: Vec<String>,
    pub(super) read: Vec<String>,
}

impl RowGroups {
    /// Opens a Parquet file; nothing but its footer and the headers of its pages is read yet.
    pub(super) fn open(path: &Path, wanted: impl Fn(&str) -> bool) -> Result<(Self, Names), TableError> {
        let name: Arc<str> = path.display().to_string().into();
        let refuse = |source| TableError::Read { file: name.clone(), source };
        let opened = File::open(path).map_err(refuse)?;
        let bytes = opened.metadata().map_err(refuse)?.len();
        let source = Source::File(Arc::new(Mutex::new(opened)));
        Self::of(name, ParquetFile { source, bytes }, wanted)
    }

    /// The same of a file that is in memory, called `name` in messages.
    pub(super) fn of_bytes(
        name: Arc<str>,
        file: Bytes,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<(Self, Names), TableError> {
        let bytes = file.len() as u64;
        Self::of(name, ParquetFile { source: Source::Memory(file), bytes }, wanted)
    }

    fn of(
        name: Arc<str>,
        file: ParquetFile,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<(Self, Names), TableError> {
        let fault = |reason: String| faulty(&name, reason);
        let footer =
            guarded(|| ArrowReaderMetadata::load(&file, ArrowReaderOptions::new())).map_err(fault)?;
        let each = check_layout(footer.metadata(), &file, file.bytes).map_err(fault)?;
        let batch = (BATCH_BYTES / each.max(1)).clamp(1, BATCH as u64) as usize;
        let options = ArrowReaderOptions::new().with_schema(with_views(footer.schema()));
        let footer =
            guarded(|| ArrowReaderMetadata::try_new(footer.metadata().clone(), options)).map_err(fault)?;
        let fields = footer.schema().fields();
        let all = fields.iter().map(|field| field.name().clone()).collect();
        let roots = fields.iter().enumerate();
        let roots = roots.filter(|(_, field)| wanted(field.name()) && is_readable(field.data_type()));
        let unknown = |(_, field): &(usize, &FieldRef)| match field.data_type() {
            DataType::Dictionary(_, values) => **values == DataType::Boolean,
            _ => false,
        };
        if let Some((_, field)) = roots.clone().find(unknown) {
            return Err(fault(format!(
                "column {} is a dictionary of truth values; make it a plain one",
                field.name()
            )));
        }
        if let Some((_, field)) = roots.clone().find(|(_, field)| is_of_periods(field)) {
            let column = field.name().clone();
            return Err(UnreadableTable::NumberedPeriods { file: name.clone(), column }.into());
        }
        let (roots, read): (Vec<usize>, _) = roots.map(|(i, field)| (i, field.name().clone())).unzip();
        let mask = ProjectionMask::roots(footer.parquet_schema(), roots);
        let left = 0..footer.metadata().num_row_groups();
        Ok((
            Self { name: name.clone(), file, footer, mask, batch, reader: None, left, row: 0 },
            Names { all, read },
        ))
    }

    /// The rows of each row group.
    pub(super) fn rows(&self) -> Vec<u64> {
        self.footer.metadata().row_groups().iter().map(|group| group.num_rows().max(0) as u64).collect()
    }

    /// Reads these row groups alone; the row at which they begin.
    pub(super) fn keep(&mut self, groups: Range<usize>) -> u64 {
        let rows = self.rows();
        let end = groups.end.min(rows.len());
        self.left = groups.start.min(end)..end;
        self.row = rows[..self.left.start].iter().sum();
        self.row
    }

    /// Begins with the next row groups, as many as make a part; the row at which they begin.
    fn begin_part(&mut self) -> Result<Option<u64>, TableError> {
        let (from, row) = (self.left.start, self.row);
        while self.row - row < PART
            && let Some(group) = self.left.next()
        {
            self.row += self.footer.metadata().row_group(group).num_rows().max(0) as u64;
        }
        if from == self.left.start {
            return Ok(None);
        }
        let reader = guarded(|| {
            ParquetRecordBatchReaderBuilder::new_with_metadata(self.file.clone(), self.footer.clone())
                .with_projection(self.mask.clone())
                .with_batch_size(self.batch)
                .with_row_groups((from..self.left.start).collect())
                .build()
        });
        self.reader = Some(reader.map_err(|reason| faulty(&self.name, reason))?);
        Ok(Some(row))
    }

    /// The next rows.
    pub(super) fn next_batch(&mut self) -> Result<Option<RecordBatch>, TableError> {
        loop {
            if let Some(reader) = &mut self.reader {
                let batch = guarded(|| reader.next().transpose());
                if let Some(batch) = batch.map_err(|reason| faulty(&self.name, reason))? {
                    return Ok(Some(batch));
                }
                self.reader = None;
            }
            if self.begin_part()?.is_none() {
                return Ok(None);
            }
        }
    }

    /// Takes away what is being read.
    pub(super) fn take_begun(&mut self) -> Self {
        Self {
            name: self.name.clone(),
            file: self.file.clone(),
            footer: self.footer.clone(),
            mask: self.mask.clone(),
            batch: self.batch,
            reader: self.reader.take(),
            left: 0..0,
            row: self.row,
        }
    }

    /// Takes away the next part, and says at which row it begins.
    pub(super) fn take_part(&mut self) -> Result<Option<(Self, u64)>, TableError> {
        Ok(self.begin_part()?.map(|row| (self.take_begun(), row)))
    }
}

fn faulty(file: &Arc<str>, reason: String) -> TableError {
    UnreadableTable::Parquet { file: file.clone(), reason }.into()
}

/// Runs a part of the Parquet reader, which panics on some damaged files. After an error nothing more is
/// asked of it.
fn guarded<T, E: Display>(read: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    match caught(read) {
        Some(read) => read.map_err(|error| error.to_string()),
        None => Err("its pages contradict its footer".to_owned()),
    }
}

/// The same columns, but of texts and bytes that point into the pages which hold them: a long text that stands in many
/// rows is not copied for each.
fn with_views(schema: &SchemaRef) -> SchemaRef {
    let fields = schema.fields().iter().map(|field| {
        let values = match field.data_type() {
            DataType::Dictionary(_, values) => values,
            other => other,
        };
        let view = match values {
            text if text.is_string() => DataType::Utf8View,
            DataType::Binary | DataType::LargeBinary => DataType::BinaryView,
            _ => return field.clone(),
        };
        Arc::new(field.as_ref().clone().with_data_type(view))
    });
    Arc::new(Schema::new_with_metadata(fields.collect::<Vec<FieldRef>>(), schema.metadata().clone()))
}

/// Whether a column of this type may be read. Those of lists and structs hold no numbers, texts or times, and a row of
/// them may be of any size.
fn is_readable(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_readable(values),
        DataType::Boolean | DataType::Null | DataType::FixedSizeBinary(_) => true,
        other => other.is_primitive() || other.is_string() || other.is_binary(),
    }
}

/// Whether its integers count periods, of a length that only pandas' own type knows.
fn is_of_periods(field: &FieldRef) -> bool {
    field.extension_type_name() == Some("pandas.period")
}

/// A file that several threads read, each in its own place.
#[derive(Clone)]
struct ParquetFile {
    source: Source,
    bytes: u64,
}

/// Where its bytes are.
#[derive(Clone)]
enum Source {
    /// Handles that were cloned share one place.
    File(Arc<Mutex<File>>),
    Memory(Bytes),
}

/// A place in it.
struct At {
    source: Source,
    at: u64,
}

impl Read for At {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = match &self.source {
            Source::File(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                file.seek(SeekFrom::Start(self.at))?;
                file.read(out)?
            }
            Source::Memory(bytes) => {
                let at = usize::try_from(self.at).unwrap_or(usize::MAX);
                bytes.get(at..).unwrap_or_default().read(out)?
            }
        };
        self.at += read as u64;
        Ok(read)
    }
}

impl Length for ParquetFile {
    fn len(&self) -> u64 {
        self.bytes
    }
}

impl ChunkReader for ParquetFile {
    type T = BufReader<At>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        Ok(BufReader::new(At { source: self.source.clone(), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        let mut bytes = Vec::new();
        At { source: self.source.clone(), at: start }.take(length as u64).read_to_end(&mut bytes)?;
        match bytes.len() == length {
            true => Ok(bytes.into()),
            false => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
        }
    }
}
