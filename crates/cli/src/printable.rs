//! Text from files on its way to people: names from hostile files must not speak to the terminal.

use std::borrow::Cow;
use std::io::{self, Write};

/// The text with its control characters escaped.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return text.into();
    }
    let mut printable = String::new();
    for character in text.chars() {
        match character.is_control() {
            true => printable.extend(character.escape_default()),
            false => printable.push(character),
        }
    }
    printable.into()
}

/// The byte that begins the control characters U+0080 to U+009F, and others.
const LEAD: u8 = 0xc2;

/// Writes text to a terminal, its control characters but for ends of lines and tabs escaped, as in JSON. Programs read the bytes of
/// files and pipes, which stay.
pub(crate) struct TerminalText<W> {
    out: W,
    /// Whether the last byte was a [`LEAD`], which waits for the next.
    is_led: bool,
}

impl<W: Write> TerminalText<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, is_led: false }
    }
}

impl<W: Write> Write for TerminalText<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut text = Vec::with_capacity(bytes.len());
        for &byte in bytes {
            match (std::mem::replace(&mut self.is_led, byte == LEAD), byte) {
                (true, 0x80..=0x9f) => write!(text, "\\u{byte:04x}")?,
                (is_led, _) => {
                    if is_led {
                        text.push(LEAD);
                    }
                    match byte {
                        LEAD => {}
                        0..0x20 | 0x7f if !matches!(byte, b'\n' | b'\t') => write!(text, "\\u{byte:04x}")?,
                        _ => text.push(byte),
                    }
                }
            }
        }
        self.out.write_all(&text)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_no_control_characters_however_text_is_cut() {
        let text = "a\u{1b}]0;x\u{7},1\nb\u{9b}31m,\u{7f}\u{85}\n£5 \u{c2}\tÄ\r\n";
        let expected = "a\\u001b]0;x\\u0007,1\nb\\u009b31m,\\u007f\\u0085\n£5 \u{c2}\tÄ\\u000d\n";
        for len in [1, 2, 3, text.len()] {
            let mut shown = Vec::new();
            let mut terminal = TerminalText::new(&mut shown);
            text.as_bytes().chunks(len).for_each(|part| terminal.write_all(part).unwrap());
            assert_eq!(String::from_utf8(shown).unwrap(), expected, "parts of {len} bytes");
        }
    }
}
