//! Text from files on its way to people: names from hostile files must not speak to the terminal.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Whether a terminal acts on the character, or shows nothing of it: control characters, ends of lines of Unicode, marks of the direction
/// of text, which turn what stands around them, and others without a width. Joiners stay, which some scripts are written with.
fn is_hidden(character: char) -> bool {
    let is_format = matches!(
        character,
        '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
    );
    is_format || character.is_control()
}

/// The text with its hidden characters escaped.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return text.into();
    }
    let mut printable = String::new();
    for character in text.chars() {
        match is_hidden(character) {
            true => printable.extend(character.escape_default()),
            false => printable.push(character),
        }
    }
    printable.into()
}

/// The text with its hidden characters escaped as in JSON, but for those that are `kept`.
pub(crate) fn printable_as_json(text: &str, kept: &[char]) -> String {
    let mut printable = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_hidden(character) && !kept.contains(&character) {
            for unit in character.encode_utf16(&mut [0; 2]).iter() {
                let _ = write!(printable, "\\u{unit:04x}");
            }
        } else {
            printable.push(character);
        }
    }
    printable
}

/// Writes text to a terminal, its hidden characters but for ends of lines and tabs escaped, as in JSON. Programs read the bytes of
/// files and pipes, which stay.
pub(crate) struct TerminalText<W> {
    out: W,
    /// The first bytes of a character, which wait for the others.
    begun: Vec<u8>,
}

impl<W: Write> TerminalText<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, begun: Vec::new() }
    }
}

impl<W: Write> Write for TerminalText<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begun.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.begun) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.begun.len(),
        };
        let rest = self.begun.split_off(whole);
        let text = std::mem::replace(&mut self.begun, rest);
        let text = printable_as_json(&String::from_utf8_lossy(&text), &['\n', '\t']);
        self.out.write_all(text.as_bytes())?;
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
    fn names_do_not_turn_the_text_around_them() {
        for mark in ['\u{200e}', '\u{200f}', '\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}', '\u{feff}'] {
            assert_eq!(printable(&format!("a{mark}b")), format!("a\\u{{{:x}}}b", u32::from(mark)));
        }
        assert_eq!(printable("süd, שלום, می\u{200c}خواهم"), "süd, שלום, می\u{200c}خواهم");
    }

    #[test]
    fn a_terminal_gets_no_control_characters_however_text_is_cut() {
        let text = "a\u{1b}]0;x\u{7},1\nb\u{9b}31m,\u{7f}\u{85}\n£5 \u{c2}\tÄ\r\u{202e}x\u{e0041}\u{200d}\n";
        let expected = "a\\u001b]0;x\\u0007,1\nb\\u009b31m,\\u007f\\u0085\n£5 \u{c2}\tÄ\\u000d\\u202ex\\udb40\\udc41\u{200d}\n";
        for len in [1, 2, 3, text.len()] {
            let mut shown = Vec::new();
            let mut terminal = TerminalText::new(&mut shown);
            text.as_bytes().chunks(len).for_each(|part| terminal.write_all(part).unwrap());
            assert_eq!(String::from_utf8(shown).unwrap(), expected, "parts of {len} bytes");
        }
    }
}
