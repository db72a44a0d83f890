//! Text cut into blocks of whole records, which can be read apart from each other.

use std::io::{self, Read};

use memchr::{memchr, memchr_iter, memrchr};

/// Bytes that are read at a time: enough to hide what a block costs, little beside a panel.
const BLOCK: usize = 1 << 19;

/// Bytes of a small text.
const SMALL: usize = 1 << 16;

/// Bytes that a record may have: a thousand times what records have, and little beside a machine's memory. `/dev/zero` is
/// one record, and so is a large file whose first quote is never closed.
pub(super) const LONGEST_RECORD: usize = 32 << 20;

/// The bytes that are read after the text: a line end to close the last line with, and a line that no table has, so that a quote that is
/// still open is known by it.
pub(super) const TAIL: &[u8] = b"\n\0\n";

/// The marks by which lines are taken apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    /// Between fields.
    pub(super) separator: u8,
    /// Of lines that are passed over, if they begin with it.
    pub(super) comment: Option<u8>,
}

/// Whole records, and how many lines stand before them.
pub(super) struct Block {
    pub(super) text: Vec<u8>,
    pub(super) lines: u64,
}

/// Why there is no further block.
#[derive(Debug)]
pub(super) enum BlockError {
    Read(io::Error),
    /// The record after this line is longer than [`LONGEST_RECORD`].
    Record(u64),
}

/// A text as blocks.
pub(super) struct Blocks<R> {
    input: R,
    marks: Marks,
    /// The beginning of a record, whose end was not read yet.
    rest: Vec<u8>,
    /// Lines before it.
    lines: u64,
    /// Whether it has more than [`SMALL`] bytes: a small text takes as much memory as it has bytes.
    is_large: bool,
    /// Whether nothing is left to be read, and why if it should be.
    ended: bool,
    failed: Option<io::Error>,
}

impl<R: Read> Blocks<R> {
    /// The blocks of `input`, in front of which this many lines stood.
    pub(super) fn new(input: R, marks: Marks, lines: u64) -> Self {
        Self { input, marks, rest: Vec::new(), lines, is_large: false, ended: false, failed: None }
    }

    pub(super) fn get_ref(&self) -> &R {
        &self.input
    }

    /// The next block; what follows the last is [`TAIL`]. Records in front of what cannot be read are given first.
    pub(super) fn next(&mut self) -> Result<Option<Block>, BlockError> {
        let mut text = std::mem::take(&mut self.rest);
        let mut goal = BLOCK;
        loop {
            self.fill(&mut text, goal);
            if self.ended && self.failed.is_none() {
                if !text.is_empty() {
                    text.extend_from_slice(TAIL);
                }
                break;
            }
            let whole = whole_records(&text, self.marks);
            if let Some(error) = self.failed.take_if(|_| whole == 0) {
                return Err(BlockError::Read(error));
            }
            if whole > 0 {
                self.rest.extend_from_slice(&text[whole..]);
                text.truncate(whole);
                break;
            }
            if text.len() > LONGEST_RECORD {
                return Err(BlockError::Record(self.lines));
            }
            // By a quarter, since both copies are in memory while it grows.
            goal = (text.len() + text.len() / 4).min(LONGEST_RECORD + 1);
        }
        let lines = self.lines;
        self.lines += memchr_iter(b'\n', &text).count() as u64;
        Ok((!text.is_empty()).then_some(Block { text, lines }))
    }

    /// Reads until `text` has this many bytes, or as many as there are.
    fn fill(&mut self, text: &mut Vec<u8>, goal: usize) {
        while !self.ended && text.len() < goal {
            let left = goal - text.len();
            let part = if self.is_large { left } else { left.min(SMALL) };
            if self.is_large {
                text.reserve_exact(part);
            }
            // What was read before an error stays in the text.
            match (&mut self.input).take(part as u64).read_to_end(text) {
                Ok(read) => self.ended = read < part,
                Err(error) => (self.ended, self.failed) = (true, Some(error)),
            }
            self.is_large = true;
        }
    }
}

/// How many bytes at the beginning of a text are whole records: up to the last line end that is not within quotes. A quote
/// opens only at the beginning of a field.
pub(super) fn whole_records(text: &[u8], marks: Marks) -> usize {
    let after_last_line_end =
        |from: usize, to: usize| memrchr(b'\n', &text[from..to]).map(|at| from + at + 1);
    // The end of the records so far, and where what was looked at ends.
    let (mut whole, mut at) = (0, 0);
    while let Some(quote) = memchr(b'"', &text[at..]).map(|quote| at + quote) {
        whole = after_last_line_end(at, quote).unwrap_or(whole);
        if marks.comment.is_some_and(|mark| text[whole] == mark) {
            let Some(end) = memchr(b'\n', &text[quote..]) else { return whole };
            at = quote + end + 1;
            whole = at;
            continue;
        }
        at = quote + 1;
        if quote == whole || text[quote - 1] == marks.separator {
            match end_of_quotes(text, at) {
                Some(end) => at = end,
                None => return whole,
            }
        }
    }
    after_last_line_end(at, text.len()).unwrap_or(whole)
}

/// Where the text within quotes ends that begins there: behind the quote that is not doubled.
fn end_of_quotes(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += memchr(b'"', &text[at..])? + 1;
        match text.get(at)? {
            b'"' => at += 1,
            _ => return Some(at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str) -> &str {
        let marks = Marks { separator: b',', comment: Some(b'#') };
        &text[..whole_records(text.as_bytes(), marks)]
    }

    #[test]
    fn blocks_end_where_records_do() {
        for (text, records) in [
            ("a,b\nc,", "a,b\n"),
            ("a,b", ""),
            ("a,\"b\nc\"\nd,\"e\nf", "a,\"b\nc\"\n"),
            ("\"a\nb\",\"c\nd\"\ne", "\"a\nb\",\"c\nd\"\n"),
            ("\"a\nb\",\"c\nd", ""),
            ("x\n\"a\nb\",\"c\nd", "x\n"),
            // A quote within a field opens nothing, and one behind another is a quote.
            ("a\"b\nc", "a\"b\n"),
            ("\"a\"\"\nb\"\nc\n", "\"a\"\"\nb\"\nc\n"),
            ("\"a\"b\"\nc\n\"d", "\"a\"b\"\nc\n"),
            // What may be doubled yet is open.
            ("a\n\"b\"", "a\n"),
            ("# \"a\nb\n# \"", "# \"a\nb\n"),
            ("", ""),
        ] {
            assert_eq!(whole(text), records, "{text:?}");
        }
    }

    #[test]
    fn blocks_are_as_large_as_their_text_and_hold_all_of_it() {
        let marks = Marks { separator: b',', comment: None };
        let line = b"2024-01-01,1.5\n";
        for (lines, blocks) in [(0, 0), (10, 1), (1000, 1), (200_000, 6)] {
            let text = line.repeat(lines);
            let mut parts = Blocks::new(&text[..], marks, 0);
            let mut joined = Vec::new();
            let mut count = 0;
            while let Some(block) = parts.next().unwrap() {
                assert!(block.text.capacity() <= 2 * block.text.len().max(64), "{}", block.text.capacity());
                joined.extend(block.text);
                count += 1;
            }
            assert_eq!((count, joined.strip_suffix(TAIL).unwrap_or_default()), (blocks, &text[..]));
        }
    }

    #[test]
    fn a_record_without_an_end_is_an_error() {
        let marks = Marks { separator: b',', comment: None };
        let mut blocks = Blocks::new(io::repeat(0), marks, 7);
        assert!(matches!(blocks.next(), Err(BlockError::Record(7))));
    }

    #[test]
    fn what_stands_before_a_failure_is_given_first() {
        struct Fails;
        impl Read for Fails {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("no more"))
            }
        }
        let marks = Marks { separator: b',', comment: None };
        let mut blocks = Blocks::new((&b"a\nb"[..]).chain(Fails), marks, 0);
        assert_eq!(blocks.next().unwrap().unwrap().text, b"a\n");
        assert!(matches!(blocks.next(), Err(BlockError::Read(_))));
    }
}
