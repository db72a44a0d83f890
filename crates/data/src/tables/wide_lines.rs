//! A reader that stops at lines of too many separators, before anything takes them apart.

use std::fmt;
use std::io::{self, Read};

/// Passes on what `input` gives, up to a line that holds more than `most` separators.
pub(crate) struct NarrowLines<R> {
    input: R,
    separator: u8,
    most: usize,
    /// Separators of the current line so far.
    found: usize,
}

/// A line holds too many separators.
#[derive(Debug)]
pub(crate) struct LineTooWide;

impl fmt::Display for LineTooWide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a line of too many columns")
    }
}

impl std::error::Error for LineTooWide {}

impl LineTooWide {
    /// Whether a reader of CSV failed for this reason.
    pub(crate) fn is_cause_of(error: &csv::Error) -> bool {
        match error.kind() {
            csv::ErrorKind::Io(error) => error.get_ref().is_some_and(|cause| cause.is::<Self>()),
            _ => false,
        }
    }
}

impl<R> NarrowLines<R> {
    pub(crate) fn get_ref(&self) -> &R {
        &self.input
    }

    pub(crate) fn new(input: R, separator: u8, most: usize) -> Self {
        Self { input, separator, most, found: 0 }
    }
}

impl<R: Read> Read for NarrowLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.input.read(buffer)?;
        let read = &buffer[..len];
        let separators = |bytes: &[u8]| bytes.iter().filter(|&&byte| byte == self.separator).count();
        let before = self.found + separators(read);
        let last = read.iter().rposition(|&byte| byte == b'\n');
        if before > self.most {
            let mut lines = read.split(|&byte| byte == b'\n').map(separators);
            let first = self.found + lines.next().unwrap_or(0);
            if lines.chain([first]).any(|found| found > self.most) {
                return Err(io::Error::other(LineTooWide));
            }
        }
        self.found = last.map_or(before, |last| separators(&read[last + 1..]));
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
