//! The size of a workbook once it is unpacked, looked up before it is read into memory.

use std::io::{self, BufReader, Read, Seek, SeekFrom};

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use zip::ZipArchive;

use super::spanned_cells::{SpannedCells, number_of};

/// A workbook may unpack to this, and this many times its size beside.
const ALWAYS: u64 = 16 << 20;
const FACTOR: u64 = 100;

/// Bytes of memory that an empty cell takes.
pub(super) const CELL: u64 = 64;

pub(super) const TOO_MUCH: &str =
    "it unpacks to over 100 times its size, or to more than it may take; write it as CSV";

/// The bytes that the contents of a file of this size may take.
fn limit_of(file_size: u64) -> u64 {
    ALWAYS + FACTOR.saturating_mul(file_size)
}

/// What was seen of a workbook before it is read.
pub(super) struct Contents {
    /// The bytes that its cells may take.
    pub(super) limit: u64,
    /// The merged cells of OpenDocument's sheets, which its reader does not tell.
    pub(super) spanned: SpannedCells,
}

/// Looks at all that a workbook unpacks to, and at the cells that OpenDocument repeats. Whatever the archive says of sizes is not
/// believed. Its cells may take no more than `most` bytes.
///
/// # Errors
/// In words, if it is too much, or no archive.
pub(super) fn check_contents(mut file: impl Read + Seek, most: Option<u64>) -> Result<Contents, String> {
    let size = file.seek(SeekFrom::End(0)).map_err(|error| error.to_string())?;
    let limit = limit_of(size).min(most.unwrap_or(u64::MAX));
    let mut archive = ZipArchive::new(file).map_err(|error| error.to_string())?;
    let mut left = limit;
    let mut spanned = SpannedCells::default();
    for place in 0..archive.len() {
        // An entry that cannot be unpacked is none that anyone reads.
        let Ok(entry) = archive.by_index(place) else { continue };
        let name = entry.name().map(|name| name.into_owned()).unwrap_or_default();
        let is_content = name == "content.xml";
        let mut entry = Counted { entry: entry.take(left + 1), bytes: 0 };
        let (cells, is_whole) =
            if is_content { cells_of(&mut entry, limit, &mut spanned) } else { (0, true) };
        if cells > limit {
            return Err(TOO_MUCH.to_owned());
        }
        // To its end, behind which the checksum is compared: the one who reads a sheet stops where its cells end.
        let read = io::copy(&mut entry, &mut io::sink());
        left = left.checked_sub(entry.bytes).ok_or(TOO_MUCH)?;
        read.map_err(|error| {
            format!("its part {name} is damaged ({error}); copy or save the workbook anew")
        })?;
        // The reader of sheets would look for the end of a table for ever.
        if !is_whole {
            return Err(format!("its part {name} ends within a table; copy or save the workbook anew"));
        }
    }
    Ok(Contents { limit, spanned })
}

/// Counts what is read.
struct Counted<R> {
    entry: R,
    bytes: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.entry.read(into)?;
        self.bytes += read as u64;
        Ok(read)
    }
}

/// The bytes that the cells of OpenDocument's tables take once rows and cells are repeated, or some number above `limit`. Counting
/// ends where the text is damaged. And whether all that begins in the text ends there.
fn cells_of(content: impl Read, limit: u64, spanned: &mut SpannedCells) -> (u64, bool) {
    let mut xml = Reader::from_reader(BufReader::new(content));
    let mut sheets = Cells::default();
    let mut buffer = Vec::new();
    let mut open = 0_usize;
    while sheets.bytes().saturating_add(spanned.bytes()) <= limit {
        buffer.clear();
        match xml.read_event_into(&mut buffer) {
            Ok(Event::Start(tag)) => {
                open += 1;
                sheets.begin(&tag);
                spanned.begin(&tag);
            }
            Ok(Event::Empty(tag)) => {
                sheets.begin(&tag);
                sheets.end(tag.name().as_ref());
                spanned.begin(&tag);
                spanned.end(tag.name().as_ref());
            }
            Ok(Event::Text(text)) => sheets.text(text.len()),
            Ok(Event::CData(text)) => sheets.text(text.len()),
            Ok(Event::End(tag)) => {
                open = open.saturating_sub(1);
                sheets.end(tag.name().as_ref());
                spanned.end(tag.name().as_ref());
            }
            Ok(Event::Eof) => return (sheets.bytes(), open == 0),
            Err(_) => return (sheets.bytes(), false),
            Ok(_) => {}
        }
    }
    (sheets.bytes().saturating_add(spanned.bytes()), true)
}

/// The cells of tables as they are counted.
#[derive(Default)]
struct Cells {
    /// Bytes of the rows so far, and the rows without content between them, which are as wide as the widest.
    filled: u64,
    empty_rows: u64,
    /// The rows after the last with content.
    after: u64,
    widest: u64,
    /// How often the row is repeated, its bytes and cells up to the last with content, and the cells after that.
    repeated: u64,
    row: u64,
    cells: u64,
    empty_cells: u64,
    /// How often the cell is repeated, and its bytes if it has content.
    cell_repeated: u64,
    cell: u64,
}

impl Cells {
    fn bytes(&self) -> u64 {
        let open = self.row.saturating_mul(self.repeated.max(1));
        let empty = self.empty_rows.saturating_mul(self.widest.max(self.cells)).saturating_mul(CELL);
        self.filled.saturating_add(open).saturating_add(empty)
    }

    fn begin(&mut self, tag: &BytesStart<'_>) {
        match tag.name().as_ref() {
            "table:table-row" => {
                (self.repeated, self.row, self.cells, self.empty_cells) =
                    (number_of(tag, "table:number-rows-repeated"), 0, 0, 0);
            }
            "table:table-cell" | "table:covered-table-cell" => {
                self.cell_repeated = number_of(tag, "table:number-columns-repeated");
                let has_value = tag.attributes().flatten().any(|attribute| {
                    let key = attribute.key.as_ref();
                    key.starts_with("office:") || key == "table:formula"
                });
                self.cell = if has_value { tag.len() as u64 } else { 0 };
            }
            _ => {}
        }
    }

    fn text(&mut self, bytes: usize) {
        self.cell = self.cell.saturating_add(bytes as u64);
    }

    fn end(&mut self, tag: &str) {
        match tag {
            "table:table-cell" | "table:covered-table-cell" if self.cell == 0 => {
                self.empty_cells = self.empty_cells.saturating_add(self.cell_repeated);
            }
            "table:table-cell" | "table:covered-table-cell" => {
                let own = (self.cell + CELL).saturating_mul(self.cell_repeated);
                self.row = self.row.saturating_add(own).saturating_add(self.empty_cells.saturating_mul(CELL));
                self.cells = self.cells.saturating_add(self.empty_cells).saturating_add(self.cell_repeated);
                (self.empty_cells, self.cell) = (0, 0);
            }
            "table:table-row" => {
                self.widest = self.widest.max(self.cells);
                match self.row {
                    0 => self.after = self.after.saturating_add(self.repeated),
                    row => {
                        self.filled = self.filled.saturating_add(row.saturating_mul(self.repeated));
                        self.empty_rows = self.empty_rows.saturating_add(std::mem::take(&mut self.after));
                    }
                }
                (self.row, self.cells, self.empty_cells) = (0, 0, 0);
            }
            // No one reads the rows after the last with content.
            "table:table" => *self = Self { filled: self.bytes(), ..Self::default() },
            _ => {}
        }
    }
}
