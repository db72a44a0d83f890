//! The messages of Arrow's streams and files, before anything is unpacked: the decoder makes room for a compressed buffer as its first
//! bytes say, and a damaged or hostile one says anything.
//!
//! A message is a mark of four bytes (none in old streams), the length of its head, the head in flatbuffers, and the body, whose
//! buffers begin with their length when unpacked if they are compressed. A head of length 0 ends a stream. A file is a stream between a
//! mark, which zeros fill up to 8, 16, 32 or 64 bytes, and a table of the places of its batches (Arrow's columnar format,
//! "Serialization and interprocess communication").

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

use arrow_ipc::{Message, root_as_message};

use super::page_headers::most_unpacked;

/// How files begin, with the blanks that fill eight bytes.
const FILE: [u8; 8] = *b"ARROW1\0\0";

/// What stands before the length of a head.
const MARK: u32 = u32::MAX;

/// Where the messages are, and what they take.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Messages {
    /// The bytes of the stream.
    pub(crate) place: Range<u64>,
    /// What their compressed buffers take when unpacked.
    pub(crate) unpacked: u64,
}

/// Looks at the messages in `size` bytes. What contradicts itself is left to the decoder.
///
/// # Errors
/// A size that no writer would come to, in words; what the input says.
pub(crate) fn look(input: &mut (impl Read + Seek), size: u64) -> io::Result<Result<Messages, String>> {
    let mut start = [0; FILE.len()];
    let is_file = size >= 8 && read_at(input, 0, &mut start)? && start == FILE;
    let mut at = if is_file { begin_of_file(input)? } else { 0 };
    let mut messages = Messages { place: at..size, unpacked: 0 };
    while let Some(mut length) = word_at(input, at)? {
        at += 4;
        if length == MARK {
            let Some(next) = word_at(input, at)? else { break };
            (length, at) = (next, at + 4);
        }
        if length == 0 {
            messages.place.end = at;
            break;
        }
        let body = at + u64::from(length);
        if body > size {
            break;
        }
        let Some(head) = Head::read(input, at, length)? else { break };
        let Some(message) = head.message() else { break };
        let Ok(body_length) = u64::try_from(message.bodyLength()) else { break };
        for place in compressed(&message) {
            let mut first = [0; 8];
            let Some(at) = body.checked_add(place).filter(|at| *at < size) else { continue };
            if read_at(input, at, &mut first)? {
                let unpacked = u64::try_from(i64::from_le_bytes(first)).unwrap_or(0);
                messages.unpacked = messages.unpacked.saturating_add(unpacked);
            }
        }
        if messages.unpacked > most_unpacked(size) {
            let unpacked = messages.unpacked;
            return Ok(Err(format!("{unpacked} bytes that are unpacked of {size} are not credible")));
        }
        at = body.saturating_add(body_length);
    }
    Ok(Ok(messages))
}

/// Where the first message of a file begins: at the first of the places to which writers fill up their mark that does not hold zeros.
/// (The first message is the schema, so that a stream does not end here.)
fn begin_of_file(input: &mut (impl Read + Seek)) -> io::Result<u64> {
    const PLACES: [u64; 4] = [8, 16, 32, 64];
    for at in PLACES {
        if word_at(input, at)? != Some(0) {
            return Ok(at);
        }
    }
    Ok(PLACES[0])
}

/// Where the buffers of a message begin in its body, if they are compressed.
fn compressed(message: &Message<'_>) -> Vec<u64> {
    let batch = message.header_as_record_batch();
    let batch = batch.or_else(|| message.header_as_dictionary_batch()?.data());
    let buffers = batch.filter(|batch| batch.compression().is_some()).and_then(|batch| batch.buffers());
    let places = buffers.into_iter().flatten().filter(|buffer| buffer.length() > 0);
    places.filter_map(|buffer| u64::try_from(buffer.offset()).ok()).collect()
}

/// The head of a message where its numbers are aligned, as their reader asks for.
struct Head {
    bytes: Vec<u8>,
    place: Range<usize>,
}

impl Head {
    fn read(input: &mut (impl Read + Seek), at: u64, length: u32) -> io::Result<Option<Self>> {
        let length = length as usize;
        let mut bytes = vec![0; length + 8];
        let start = bytes.as_ptr().align_offset(8).min(8);
        let place = start..start + length;
        Ok(read_at(input, at, &mut bytes[place.clone()])?.then_some(Self { bytes, place }))
    }

    fn message(&self) -> Option<Message<'_>> {
        root_as_message(&self.bytes[self.place.clone()]).ok()
    }
}

fn word_at(input: &mut (impl Read + Seek), at: u64) -> io::Result<Option<u32>> {
    let mut word = [0; 4];
    Ok(read_at(input, at, &mut word)?.then_some(u32::from_le_bytes(word)))
}

/// Reads these bytes at a place; whether they are all there.
fn read_at(input: &mut (impl Read + Seek), at: u64, out: &mut [u8]) -> io::Result<bool> {
    input.seek(SeekFrom::Start(at))?;
    match input.read_exact(out) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        read => read.map(|()| true),
    }
}
