//! The sizes that the page headers of a Parquet file promise, before anything is unpacked: the reader makes room for a page as
//! its header says, and a damaged or hostile one says anything.
//!
//! Headers are in Thrift's compact protocol (parquet-format, `PageHeader`): fields 2 and 3 are the sizes of
//! the page, unpacked and packed; field 5, or 8 in the newer kind of pages, is a struct that holds the number of the
//! values and their encoding, which dictionary pages have in field 7.

use std::io::Read as _;
use std::ops::Range;

use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::ChunkReader;

/// Pages, and the buffers of a stream together, may be unpacked to this multiple of the file's size,
const FACTOR: u64 = 100;

/// and to this number of bytes in any file: writers aim at one megabyte, whatever it packs to.
const ALWAYS: u64 = 64 << 20;

/// How far a header is read: most take some dozens of bytes, those with statistics of long texts more.
const HEADS: [usize; 2] = [1 << 10, 1 << 20];

/// Rows that a byte of a Parquet file may stand for. Runs of equal values take next to no room, so a
/// damaged or hostile file could claim any number of rows.
const ROWS_PER_BYTE: u64 = 1000;

/// The encoding of texts as a prefix shared with the text before, and the rest: a long text that is
/// repeated takes no room in the page, but is unpacked each time.
const DELTA_BYTE_ARRAY: u64 = 7;

/// The header of a page.
#[derive(Clone, Copy, Debug, PartialEq)]
struct PageHeader {
    unpacked: u64,
    packed: u64,
    /// How many values a data page has, and their encoding; nothing for other pages.
    values: Option<[u64; 2]>,
}

/// The most bytes that a part of a file of `bytes` bytes may be unpacked to.
pub(super) fn most_unpacked(bytes: u64) -> u64 {
    bytes.saturating_mul(FACTOR).max(ALWAYS)
}

/// Checks that the sizes in the footer are possible in `bytes` bytes. Returns the bytes that a value of a column keeps in
/// memory, of the column that takes most.
pub(crate) fn check_layout(
    footer: &ParquetMetaData,
    file: &impl ChunkReader,
    bytes: u64,
) -> Result<u64, String> {
    let mut rows = 0_u64;
    let mut most = 0;
    for group in footer.row_groups() {
        rows = rows.saturating_add(u64::try_from(group.num_rows()).unwrap_or(u64::MAX));
        for column in group.columns() {
            let start = column.dictionary_page_offset().filter(|&start| start > 0);
            let start = start.unwrap_or_else(|| column.data_page_offset());
            let place = u64::try_from(start)
                .ok()
                .zip(u64::try_from(column.compressed_size()).ok())
                .and_then(|(start, size)| Some(start..start.checked_add(size)?))
                .filter(|place| place.end <= bytes);
            match place {
                Some(place) => most = most.max(check_pages(file, bytes, place)?),
                None => {
                    return Err(format!("column {} is outside of its {bytes} bytes", column.column_path()));
                }
            }
        }
    }
    match rows > bytes.saturating_mul(ROWS_PER_BYTE) {
        true => Err(format!("{rows} rows in {bytes} bytes are not credible")),
        false => Ok(most),
    }
}

/// Checks the pages of a column that takes these bytes of a file of `size` bytes. Gives the bytes that a value
/// keeps in memory where its pages are unpacked: their share of the page that they are in and of the dictionary.
fn check_pages(file: &impl ChunkReader, size: u64, column: Range<u64>) -> Result<u64, String> {
    let mut at = column.start;
    let (mut densest, mut shared, mut values) = (0, 0_u64, 0_u64);
    let limit = most_unpacked(size);
    while at < column.end {
        let mut page_and_length = None;
        for head in HEADS {
            let mut bytes = Vec::new();
            let head = (column.end - at).min(head as u64);
            let place = file.get_read(at).map_err(|error| error.to_string())?;
            place.take(head).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
            let mut rest = &bytes[..];
            page_and_length = page_header(&mut rest).map(|page| (page, (bytes.len() - rest.len()) as u64));
            if page_and_length.is_some() {
                break;
            }
        }
        match page_and_length {
            Some((page, header)) if page.unpacked <= limit => {
                at += header + page.packed;
                let Some([count, encoding]) = page.values else {
                    shared = shared.saturating_add(page.unpacked);
                    continue;
                };
                values = values.saturating_add(count);
                let room = if encoding == DELTA_BYTE_ARRAY { 1 } else { count.max(1) };
                densest = densest.max(page.unpacked / room);
            }
            Some((PageHeader { unpacked, .. }, _)) => {
                return Err(format!("a page of {unpacked} bytes in a file of {size} is not credible"));
            }
            None => return Err(format!("there is no page at byte {at}, where one should be")),
        }
    }
    Ok(densest + shared / values.max(1))
}

/// Reads the header of a page.
fn page_header(bytes: &mut &[u8]) -> Option<PageHeader> {
    let (mut field, mut sizes, mut values) = (0, [None; 2], None);
    loop {
        let (number, kind) = next_field(bytes, field)?;
        match (kind, number) {
            (0, _) => return Some(PageHeader { unpacked: sizes[0]?, packed: sizes[1]?, values }),
            (5, 2 | 3) => sizes[number as usize - 2] = Some(u64::try_from(integer(bytes)?).ok()?),
            (12, 5) => values = Some(integers_of_struct(bytes, [1, 2])?),
            (12, 8) => values = Some(integers_of_struct(bytes, [1, 4])?),
            _ => skip(bytes, kind, 0)?,
        }
        field = number;
    }
}

/// Reads a struct; the integers in the fields of these numbers.
fn integers_of_struct(bytes: &mut &[u8], wanted: [i64; 2]) -> Option<[u64; 2]> {
    let (mut field, mut found) = (0, [None; 2]);
    loop {
        let (number, kind) = next_field(bytes, field)?;
        match (kind, wanted.iter().position(|wanted| *wanted == number)) {
            (0, _) => return Some([found[0]?, found[1]?]),
            (5, Some(place)) => found[place] = Some(u64::try_from(integer(bytes)?).ok()?),
            _ => skip(bytes, kind, 1)?,
        }
        field = number;
    }
}

/// A signed integer, which is written in zigzag order.
fn integer(bytes: &mut &[u8]) -> Option<i64> {
    let zigzag = varint(bytes)?;
    Some((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64))
}

/// Number and type of the next field; type 0 ends a struct.
fn next_field(bytes: &mut &[u8], before: i64) -> Option<(i64, u8)> {
    let head = byte(bytes)?;
    match head >> 4 {
        _ if head == 0 => Some((0, 0)),
        0 => Some((integer(bytes)?, head & 15)),
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
        // type 0, sizes 300 and 200, a checksum, a data page header of 1 value with a nested struct and encoding 7.
        let header = [
            0x15, 0, 0x15, 0xD8, 4, 0x15, 0x90, 3, 0x15, 7, 0x1C, 0x15, 2, 0x15, 14, 0x3C, 0x18, 2, 9, 9, 0,
            0, 0,
        ];
        let mut rest = &[&header[..], &[1, 2, 3]].concat()[..];
        let values = Some([1, DELTA_BYTE_ARRAY]);
        assert_eq!(page_header(&mut rest), Some(PageHeader { unpacked: 300, packed: 200, values }));
        assert_eq!(rest, [1, 2, 3]);
        for end in 0..header.len() {
            assert_eq!(page_header(&mut &header[..end]), None, "{end}");
        }
        assert_eq!(page_header(&mut &[0x15, 0, 0x15, 1, 0x15, 0, 0][..]), None, "a size below zero");
    }

    #[test]
    fn the_values_of_a_page_are_found() {
        // Of the newer kind, whose encoding comes after three counts.
        let newer = [0x15, 0, 0x15, 2, 0x15, 2, 0x5C, 0x15, 6, 0x15, 0, 0x15, 6, 0x15, 14, 0, 0];
        assert_eq!(page_header(&mut &newer[..]).unwrap().values, Some([3, DELTA_BYTE_ARRAY]));
        // A dictionary has a struct too, and no values of its own.
        let dictionary = [0x15, 4, 0x15, 2, 0x15, 2, 0x4C, 0x15, 6, 0x15, 0, 0, 0];
        assert_eq!(page_header(&mut &dictionary[..]).unwrap().values, None);
    }
}
