//! What the page headers of a Parquet file promise, before anything is unpacked: the reader makes room for
//! a page as its header says, and a damaged or hostile one says anything.
//!
//! Headers are in Thrift's compact protocol (parquet-format, `PageHeader`): fields 2 and 3 are the sizes of
//! the page, unpacked and packed.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::Range;

/// Pages may be unpacked to so many times the file's size,
const FACTOR: u64 = 100;

/// and to so much in any file: writers aim at one megabyte, whatever it packs to.
const ALWAYS: u64 = 64 << 20;

/// How far a header is read: most take some dozens of bytes, those with statistics of long texts more.
const HEADS: [usize; 2] = [1 << 10, 1 << 20];

/// Checks the pages of a column that takes these bytes of a file of `size` bytes.
pub(crate) fn check_pages(file: &File, size: u64, column: Range<u64>) -> Result<(), String> {
    let (mut file, mut at) = (file, column.start);
    let limit = size.saturating_mul(FACTOR).max(ALWAYS);
    while at < column.end {
        let mut found = None;
        for head in HEADS {
            let mut bytes = Vec::new();
            let head = (column.end - at).min(head as u64);
            let read = file.seek(SeekFrom::Start(at)).and_then(|_| file.take(head).read_to_end(&mut bytes));
            read.map_err(|error| error.to_string())?;
            let mut rest = &bytes[..];
            found = sizes(&mut rest).map(|sizes| (sizes, (bytes.len() - rest.len()) as u64));
            if found.is_some() {
                break;
            }
        }
        match found {
            Some(([unpacked, packed], header)) if unpacked <= limit => at += header + packed,
            Some(([unpacked, _], _)) => {
                return Err(format!("a page of {unpacked} bytes in a file of {size} is not credible"));
            }
            None => return Err(format!("there is no page at byte {at}, where one should be")),
        }
    }
    Ok(())
}

/// Reads a header; the sizes of its page, unpacked and packed.
fn sizes(bytes: &mut &[u8]) -> Option<[u64; 2]> {
    let (mut field, mut sizes) = (0, [None; 2]);
    loop {
        let (number, kind) = next_field(bytes, field)?;
        match (kind, number) {
            (0, _) => return Some([sizes[0]?, sizes[1]?]),
            (5, 2 | 3) => {
                let zigzag = varint(bytes)?;
                let size = (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
                sizes[number as usize - 2] = Some(u64::try_from(size).ok()?);
            }
            _ => skip(bytes, kind, 0)?,
        }
        field = number;
    }
}

/// Number and type of the next field; type 0 ends a struct.
fn next_field(bytes: &mut &[u8], before: i64) -> Option<(i64, u8)> {
    let head = byte(bytes)?;
    match head >> 4 {
        _ if head == 0 => Some((0, 0)),
        0 => {
            let zigzag = varint(bytes)?;
            Some(((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64), head & 15))
        }
        step => Some((before.checked_add(step.into())?, head & 15)),
    }
}

fn skip(bytes: &mut &[u8], kind: u8, depth: usize) -> Option<()> {
    match kind {
        1 | 2 => {}
        3 => *bytes = bytes.get(1..)?,
        4..=6 => {
            varint(bytes)?;
        }
        7 => *bytes = bytes.get(8..)?,
        8 => {
            let len = usize::try_from(varint(bytes)?).ok()?;
            *bytes = bytes.get(len..)?;
        }
        9 | 10 if depth < 8 => {
            let head = byte(bytes)?;
            let len = if head >> 4 == 15 { varint(bytes)? } else { u64::from(head >> 4) };
            for _ in 0..len {
                // A truth value in a list takes a byte.
                match head & 15 {
                    1 | 2 => *bytes = bytes.get(1..)?,
                    kind => skip(bytes, kind, depth + 1)?,
                }
                if bytes.is_empty() {
                    return None;
                }
            }
        }
        12 if depth < 8 => {
            let mut field = 0;
            loop {
                let (number, kind) = next_field(bytes, field)?;
                if kind == 0 {
                    break;
                }
                skip(bytes, kind, depth + 1)?;
                field = number;
            }
        }
        _ => return None,
    }
    Some(())
}

fn byte(bytes: &mut &[u8]) -> Option<u8> {
    let (first, rest) = bytes.split_first()?;
    *bytes = rest;
    Some(*first)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let next = byte(bytes)?;
        value |= u64::from(next & 127) << shift;
        if next < 128 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sizes_of_a_page_are_found() {
        // type 0, sizes 300 and 200, a checksum, a data page header with two fields and a nested struct.
        let header =
            [0x15, 0, 0x15, 0xD8, 4, 0x15, 0x90, 3, 0x15, 7, 0x1C, 0x15, 2, 0x4C, 0x18, 2, 9, 9, 0, 0, 0];
        let mut rest = &[&header[..], &[1, 2, 3]].concat()[..];
        assert_eq!(sizes(&mut rest), Some([300, 200]));
        assert_eq!(rest, [1, 2, 3]);
        for end in 0..header.len() {
            assert_eq!(sizes(&mut &header[..end]), None, "{end}");
        }
        assert_eq!(sizes(&mut &[0x15, 0, 0x15, 1, 0x15, 0, 0][..]), None, "a size below zero");
    }
}
