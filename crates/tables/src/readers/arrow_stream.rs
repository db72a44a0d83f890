//! Arrow's streams and files in memory, as record batches.

use std::io::{self, Cursor};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamDecoder;
use arrow_schema::ArrowError;
use bytes::Bytes;

use super::arrow_messages::look;
use super::catch_panic::caught;
use super::seekable::Seekable;
use crate::error::TableError;
use crate::error::file::UnreadableTable;

/// How files of the first version of Feather begin, which is no format of Arrow's.
const FEATHER_1: &[u8] = b"FEA1";

/// The batches of a stream or file; those that are not compressed point into it. Nothing is allocated by what it says of its sizes
/// unless they are credible.
pub(super) fn batches(name: &Arc<str>, bytes: Bytes) -> Result<Vec<RecordBatch>, TableError> {
    let damaged = |reason: String| UnreadableTable::ArrowStream { file: name.clone(), reason }.into();
    if bytes.is_empty() || bytes.starts_with(FEATHER_1) {
        let reason = if bytes.is_empty() { "it is empty" } else { "it is Feather's first version" };
        return Err(damaged(reason.to_owned()));
    }
    let messages = look(&mut Cursor::new(&bytes), bytes.len() as u64);
    let messages = messages.map_err(|error| damaged(error.to_string()))?.map_err(damaged)?;
    // Without the file's own start and end.
    let bytes = bytes.slice(messages.place.start as usize..messages.place.end as usize);
    // The decoder panics on some damaged streams.
    let decoded = caught(|| {
        let (mut decoder, mut batches) = (StreamDecoder::new(), Vec::new());
        let mut left = bytes.into();
        while let Some(batch) = decoder.decode(&mut left)? {
            batches.push(batch);
        }
        decoder.finish()?;
        Ok::<_, ArrowError>(batches)
    });
    match decoded {
        Some(Ok(batches)) => Ok(batches),
        Some(Err(error)) => Err(damaged(error.to_string())),
        None => Err(damaged("its messages contradict each other".to_owned())),
    }
}

/// The bytes of memory that a stream or file of this size takes: its own, and those of what is unpacked.
pub(super) fn memory_of(mut input: &mut dyn Seekable, size: u64) -> io::Result<u64> {
    let messages = look(&mut input, size)?;
    Ok(size + messages.map_or(0, |messages| messages.unpacked))
}
