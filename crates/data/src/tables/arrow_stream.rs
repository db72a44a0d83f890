//! Arrow's stream format in memory, as record batches.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamDecoder;
use arrow_schema::ArrowError;

use super::catch_panic::caught;
use crate::error::DataError;
use crate::error::file::UnreadableTable;

/// The batches of a stream; they point into it. Nothing is allocated by what the stream says of its sizes, only by what is
/// there.
pub(super) fn batches(name: &Arc<str>, stream: Vec<u8>) -> Result<Vec<RecordBatch>, DataError> {
    // The decoder panics on some damaged streams.
    let is_empty = stream.is_empty();
    let decoded = caught(|| {
        let (mut decoder, mut batches) = (StreamDecoder::new(), Vec::new());
        let mut left = stream.into();
        while let Some(batch) = decoder.decode(&mut left)? {
            batches.push(batch);
        }
        decoder.finish()?;
        Ok::<_, ArrowError>(batches)
    });
    let reason = match decoded {
        Some(Ok(_)) if is_empty => "it is empty".to_owned(),
        Some(Ok(batches)) => return Ok(batches),
        Some(Err(error)) => error.to_string(),
        None => "its messages contradict each other".to_owned(),
    };
    Err(UnreadableTable::ArrowStream { file: name.clone(), reason }.into())
}
