//! The records of a block of text and their fields, which are taken from it as they stand.

use memchr::{memchr, memchr_iter};

use super::blocks::{Block, Marks, TAIL};

/// Columns that a table may have. A header of millions of columns without names takes a hundred times its
/// size once it is taken apart.
pub(super) const MAX_COLUMNS: usize = 1_000_000;

/// A record of more fields than [`MAX_COLUMNS`].
#[derive(Debug, PartialEq)]
pub(super) struct TooManyFields;

/// Where a field is in the text.
#[derive(Clone, Copy, Debug)]
struct Field {
    start: u32,
    end: u32,
}

/// The records of a block, one after the other.
pub(super) struct Records {
    marks: Marks,
    /// The block, and behind it the fields of this record that do not stand in it as they are read: `"a ""b"""`.
    text: Vec<u8>,
    /// Where the block ends, and where the next record begins.
    end: usize,
    next: usize,
    /// The line on which this record begins, from 1, and that of the next.
    line: u64,
    next_line: u64,
    fields: Vec<Field>,
}

impl Records {
    pub(super) fn of(block: Block, marks: Marks) -> Self {
        let (end, next_line) = (block.text.len(), block.lines + 1);
        Self { marks, text: block.text, end, next: 0, line: block.lines, next_line, fields: Vec::new() }
    }

    /// The records that follow, which are gone from these.
    pub(super) fn rest(&mut self) -> Self {
        let none = Self::of(Block { text: Vec::new(), lines: self.line }, self.marks);
        let mut rest = std::mem::replace(self, none);
        rest.fields.clear();
        rest
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.next == self.end
    }

    /// The line on which the record begins, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// How many fields it has.
    pub(super) fn len(&self) -> usize {
        self.fields.len()
    }

    /// # Panics
    /// If the record has no such field.
    pub(super) fn field(&self, i: usize) -> &[u8] {
        let Field { start, end } = self.fields[i];
        &self.text[start as usize..end as usize]
    }

    /// Moves to the next record; false at the end. Empty lines and comments are none.
    pub(super) fn advance(&mut self) -> Result<bool, TooManyFields> {
        self.text.truncate(self.end);
        self.fields.clear();
        loop {
            match self.text.get(self.next) {
                None => return Ok(false),
                Some(b'\n') => self.next += 1,
                Some(&byte) if Some(byte) == self.marks.comment => {
                    self.next +=
                        memchr(b'\n', &self.text[self.next..]).map_or(self.end - self.next, |at| at + 1);
                }
                Some(_) => break,
            }
            self.next_line += 1;
        }
        self.line = self.next_line;
        loop {
            if self.fields.len() == MAX_COLUMNS {
                return Err(TooManyFields);
            }
            let at = match self.text[..self.end].get(self.next) {
                Some(b'"') => self.quoted(self.next),
                _ => self.plain(self.next),
            };
            self.next = self.end.min(at + 1);
            if self.text[..self.end].get(at) != Some(&self.marks.separator) {
                self.next_line += 1;
                return Ok(true);
            }
        }
    }

    /// The next separator or line end, or the end of the block.
    fn mark_after(&self, at: usize) -> usize {
        let separator = self.marks.separator;
        let rest = &self.text[at..self.end];
        at + rest.iter().position(|&byte| byte == separator || byte == b'\n').unwrap_or(rest.len())
    }

    /// Takes a field without quotes around it; where it ends.
    fn plain(&mut self, start: usize) -> usize {
        let end = self.mark_after(start);
        self.push(start, end, end);
        end
    }

    /// Takes a field that begins with a quote; where the mark behind it is.
    fn quoted(&mut self, quote: usize) -> usize {
        let (start, text) = (quote + 1, &self.text[..self.end]);
        let close = memchr(b'"', &text[start..]).map_or(self.end, |close| start + close);
        let mark = match text.get(close + 1..) {
            Some([b'\r', b'\n', ..]) => {
                self.fields.push(Field { start: start as u32, end: close as u32 });
                close + 2
            }
            Some(&[next, ..]) if next == self.marks.separator || next == b'\n' => {
                self.push(start, close, close + 1);
                close + 1
            }
            None => {
                self.push(start, close, close);
                close
            }
            Some(_) => self.unquote(start),
        };
        self.next_line += memchr_iter(b'\n', &self.text[quote..mark]).count() as u64;
        mark
    }

    /// Writes a field out behind the block whose first quote stands before `at`: quotes that are doubled are one, and what
    /// stands behind the last belongs to it.
    fn unquote(&mut self, mut at: usize) -> usize {
        let from = self.text.len();
        loop {
            let quote = memchr(b'"', &self.text[at..self.end]).map_or(self.end, |quote| at + quote);
            self.text.extend_from_within(at..quote);
            at = self.end.min(quote + 1);
            if self.text[..self.end].get(at) != Some(&b'"') {
                break;
            }
            self.text.push(b'"');
            at += 1;
        }
        let mark = self.mark_after(at);
        self.text.extend_from_within(at..mark);
        self.push(from, self.text.len(), mark);
        mark
    }

    /// Adds a field with this mark behind it. Before a line end, `\r` is part of that.
    fn push(&mut self, start: usize, end: usize, mark: usize) {
        let ends_line = self.text.get(mark) == Some(&b'\n') && mark < self.end;
        let end = end - usize::from(ends_line && self.text[start..end].ends_with(b"\r"));
        self.fields.push(Field { start: start as u32, end: end as u32 });
    }

    /// Whether there is nothing but blanks in any field.
    pub(super) fn is_blank(&self) -> bool {
        let marks = |byte: &&u8| !byte.is_ascii_whitespace();
        let mut inked = (0..self.len()).flat_map(|i| self.field(i)).filter(marks);
        match inked.next() {
            None => true,
            // The line of [`TAIL`].
            Some(0) => inked.next().is_none(),
            Some(_) => false,
        }
    }

    /// Where the last field is a quote that is never closed: the line on which it opens, and its text on that line.
    pub(super) fn open_quote(&self) -> Option<(u64, &[u8])> {
        let last = self.field(self.len().checked_sub(1)?);
        let first_line = last.strip_suffix(TAIL)?.split(|&byte| byte == b'\n').next()?;
        Some((self.next_line - 1 - memchr_iter(b'\n', last).count() as u64, first_line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readers::blocks::whole_records;
    use proptest::prelude::*;

    fn records(text: &str) -> Vec<(u64, Vec<String>)> {
        let marks = Marks { separator: b',', comment: Some(b'#') };
        let mut records = Records::of(Block { text: text.into(), lines: 0 }, marks);
        let mut found = Vec::new();
        while records.advance().unwrap() {
            let fields = (0..records.len()).map(|i| String::from_utf8_lossy(records.field(i)).into_owned());
            found.push((records.line(), fields.collect()));
        }
        found
    }

    /// The same by the crate that everyone uses.
    fn by_csv(text: &str) -> Vec<(u64, Vec<String>)> {
        let mut reader = csv::ReaderBuilder::new();
        let reader = reader.has_headers(false).flexible(true).comment(Some(b'#'));
        let mut reader = reader.terminator(csv::Terminator::Any(b'\n')).from_reader(text.as_bytes());
        let mut found = Vec::new();
        let mut record = csv::ByteRecord::new();
        while reader.read_byte_record(&mut record).unwrap() {
            let ends = record.as_slice().iter().filter(|byte| **byte == b'\n').count() as u64;
            let mut fields: Vec<String> =
                record.iter().map(|field| String::from_utf8_lossy(field).into_owned()).collect();
            if let Some(last) = fields.last_mut().filter(|last| last.ends_with('\r')) {
                last.pop();
            }
            found.push((reader.position().line() - 1 - ends, fields));
        }
        found
    }

    #[test]
    fn fields_are_taken_as_they_stand() {
        let of = |text: &str| records(text).into_iter().flat_map(|(_, fields)| fields).collect::<Vec<_>>();
        assert_eq!(of("a,b\r\n"), ["a", "b"]);
        assert_eq!(of("\"a\",\"b\"\r\n"), ["a", "b"]);
        assert_eq!(of("\"a \"\"b\"\"\",\"c\"d\n"), ["a \"b\"", "cd"]);
        assert_eq!(of(",\n"), ["", ""]);
        let marks = Marks { separator: b',', comment: None };
        let wide = Block { text: vec![b','; MAX_COLUMNS], lines: 0 };
        assert_eq!(Records::of(wide, marks).advance(), Err(TooManyFields));
    }

    proptest! {
        #[test]
        fn records_are_those_of_the_crate_csv(text in "([a#]|,|\"|\n|\r|\"\"|,\"){0,40}") {
            // That crate counts the lines of a quote that is never closed in another way.
            let text = format!("{text}\n");
            let marks = Marks { separator: b',', comment: Some(b'#') };
            prop_assume!(whole_records(text.as_bytes(), marks) == text.len());
            prop_assert_eq!(records(&text), by_csv(&text));
        }
    }
}
