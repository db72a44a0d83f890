//! Text from files on its way to people: names from hostile files must not speak to the terminal.

use std::borrow::Cow;

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
