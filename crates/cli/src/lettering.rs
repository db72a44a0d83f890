//! The room that texts take in pictures, of any script.

use ab_glyph::{Font as _, FontRef};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// About as wide as a Latin letter is, in font sizes; letters of Chinese, Japanese and Korean are twice as wide.
pub(crate) const CHARACTER: f64 = 0.56;

/// The pixels that a text takes.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    text.width() as f64 * CHARACTER * size
}

/// A text broken into lines of at most `room` pixels, at blanks where it has some. If there would be more than `most` lines, the middle
/// of the text is left out.
pub(crate) fn fitted(text: &str, size: f64, room: f64, most: usize) -> Vec<String> {
    let columns = ((room / (CHARACTER * size)) as usize).max(4);
    let lines = wrapped(text, columns);
    if lines.len() <= most {
        return lines;
    }
    wrapped(&shortened(text, columns * most - most), columns).into_iter().take(most).collect()
}

/// A text of at most this number of columns of a terminal, a mark in place of its middle if it is longer.
pub(crate) fn shortened(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let half = columns.saturating_sub(1) / 2;
    let start: String = beginning(text.chars(), half).collect();
    let end: Vec<char> = beginning(text.chars().rev(), half).collect();
    format!("{}…{}", start.trim_end(), end.into_iter().rev().collect::<String>().trim_start())
}

/// The first characters that together take at most this number of columns.
fn beginning(characters: impl Iterator<Item = char>, columns: usize) -> impl Iterator<Item = char> {
    let mut room = columns;
    characters.take_while(move |character| {
        let left = room.checked_sub(character.width().unwrap_or(0));
        room = left.unwrap_or(room);
        left.is_some()
    })
}

fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let (mut lines, mut line) = (Vec::new(), String::new());
    for word in text.split_inclusive(' ') {
        if line.width() + word.trim_end().width() > columns && !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        for character in word.chars() {
            if line.width() + character.width().unwrap_or(0) > columns && character != ' ' {
                lines.push(std::mem::take(&mut line));
            }
            line.push(character);
        }
    }
    lines.push(line);
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
}

/// The letters of texts that a font does not have, each once.
pub(crate) fn missing_letters<'a>(font: &[u8], texts: impl Iterator<Item = &'a str>) -> Vec<char> {
    let Ok(font) = FontRef::try_from_slice(font) else { return Vec::new() };
    let mut missing: Vec<char> = Vec::new();
    for character in texts.flat_map(str::chars) {
        let is_drawn = !character.is_whitespace() && !character.is_control();
        if is_drawn && font.glyph_id(character).0 == 0 && !missing.contains(&character) {
            missing.push(character);
        }
    }
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_broken_at_blanks_and_shortened_in_the_middle() {
        let room = 10.0 * CHARACTER * 10.0 + 0.1;
        assert_eq!(fitted("north shop of the town", 10.0, room, 3), ["north shop", "of the", "town"]);
        assert_eq!(fitted("abcdefghijklmno", 10.0, room, 2), ["abcdefghij", "klmno"]);
        let cut = fitted(&format!("first{}last", "x".repeat(90)), 10.0, room, 2);
        assert!(cut.len() == 2 && cut[0].starts_with("first") && cut[1].ends_with("last"), "{cut:?}");
        assert_eq!(shortened("price of everything@-3", 11), "price…ng@-3");
        assert_eq!(shortened("short", 11), "short");
        assert_eq!(fitted("", 10.0, room, 2), [""]);
    }

    #[test]
    fn letters_of_chinese_are_twice_as_wide() {
        assert_eq!(text_width("東京", 10.0), text_width("abcd", 10.0));
        assert_eq!(fitted("東京都東京都", 10.0, 6.0 * CHARACTER * 10.0 + 0.1, 2), ["東京都", "東京都"]);
    }

    #[test]
    fn letters_that_a_font_lacks_are_told_once() {
        let font = include_bytes!("../assets/dejavu-sans.ttf");
        assert_eq!(missing_letters(font, ["Ärger Ω", "日日本"].into_iter()), ['日', '本']);
    }
}
