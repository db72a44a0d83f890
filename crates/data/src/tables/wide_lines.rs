//! A reader that stops at lines of too many separators, before anything takes them apart, and at records without an end, before
//! they fill memory: `/dev/zero`, or a quote that is never closed at the head of a large file.

use std::fmt;
use std::io::{self, Read};

/// Bytes that a record may have: a thousand times what records have, and little beside a machine's memory.
pub(crate) const LONGEST_RECORD: usize = 32 << 20;

/// Passes on what `input` gives, up to a line that holds more than `most` separators or a record of more than
/// [`LONGEST_RECORD`] bytes.
pub(crate) struct NarrowLines<R> {
    input: R,
    separator: u8,
    most: usize,
    /// Separators of the current line so far.
    separators: usize,
    /// Bytes since the record began.
    bytes: usize,
}

/// Why a text is no table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum LineTooWide {
    /// A line holds too many separators.
    Separators,
    /// A record has too many bytes.
    Bytes,
}

impl fmt::Display for LineTooWide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a line of too many columns or bytes")
    }
}

impl std::error::Error for LineTooWide {}

impl LineTooWide {
    /// Whether a reader of CSV failed for such a reason.
    pub(crate) fn cause_of(error: &csv::Error) -> Option<Self> {
        match error.kind() {
            csv::ErrorKind::Io(error) => error.get_ref()?.downcast_ref().copied(),
            _ => None,
        }
    }
}

impl<R> NarrowLines<R> {
    pub(crate) fn get_ref(&self) -> &R {
        &self.input
    }

    pub(crate) fn new(input: R, separator: u8, most: usize) -> Self {
        Self { input, separator, most, separators: 0, bytes: 0 }
    }

    /// Says that a record begins at the next bytes, or a little before: what was read ahead of it is not counted.
    pub(crate) fn begin_record(&mut self) {
        self.bytes = 0;
    }
}

impl<R: Read> Read for NarrowLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.input.read(buffer)?;
        self.bytes += len;
        if self.bytes > LONGEST_RECORD {
            return Err(io::Error::other(LineTooWide::Bytes));
        }
        let read = &buffer[..len];
        let separators = |bytes: &[u8]| bytes.iter().filter(|&&byte| byte == self.separator).count();
        let before = self.separators + separators(read);
        let last = read.iter().rposition(|&byte| byte == b'\n');
        if before > self.most {
            let mut lines = read.split(|&byte| byte == b'\n').map(separators);
            let first = self.separators + lines.next().unwrap_or(0);
            if lines.chain([first]).any(|count| count > self.most) {
                return Err(io::Error::other(LineTooWide::Separators));
            }
        }
        self.separators = last.map_or(before, |last| separators(&read[last + 1..]));
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_without_an_end_is_an_error() {
        let mut lines = NarrowLines::new(io::repeat(0), b',', 1);
        let mut piece = vec![0; LONGEST_RECORD / 4];
        for _ in 0..2 {
            (0..4).for_each(|_| assert_eq!(lines.read(&mut piece).unwrap(), piece.len()));
            let error = lines.read(&mut piece).unwrap_err();
            assert_eq!(error.get_ref().and_then(|cause| cause.downcast_ref()), Some(&LineTooWide::Bytes));
            lines.begin_record();
        }
    }

    #[test]
    fn separators_are_counted_by_line_however_the_lines_are_read() {
        let text = ",,\n,,\n\n,,";
        for (most, whole) in [(2, true), (1, false)] {
            for step in [1, 2, 3, 100] {
                let mut lines = NarrowLines::new(text.as_bytes(), b',', most);
                let (mut read, mut piece) = (Vec::new(), vec![0; step]);
                let end = loop {
                    match lines.read(&mut piece) {
                        Ok(0) => break Ok(()),
                        Ok(len) => read.extend_from_slice(&piece[..len]),
                        Err(error) => break Err(error),
                    }
                };
                assert_eq!(end.is_ok(), whole, "{step}");
                assert!(!whole || read == text.as_bytes());
            }
        }
    }
}
