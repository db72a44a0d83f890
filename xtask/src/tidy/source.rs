//! A file as lines of code and comment: enough of a lexer that no rule is fooled by a string.

use std::{fs, path::Path};

use anyhow::Context;

use super::Violation;

/// A file of the workspace.
pub(super) struct Source {
    /// Relative to the root of the workspace, with `/` between its parts.
    pub(super) path: String,
    pub(super) text: String,
    /// The text as Rust; of no meaning for a manifest.
    pub(super) lines: Vec<Line>,
}

/// One line of Rust.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    /// Without comments and without what stands in string and character literals.
    pub(super) code: String,
    /// With its slashes.
    pub(super) comment: String,
}

impl Source {
    pub(super) fn read(root: &Path, path: &Path) -> anyhow::Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let relative = path.strip_prefix(root).unwrap_or(path);
        let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
        Ok(Self::new(&parts.join("/"), &text))
    }

    pub(super) fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned(), lines: lines(text) }
    }

    /// `line` counts from 1.
    pub(super) fn violation(
        &self,
        line: usize,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Violation {
        Violation { path: self.path.clone(), line, what: what.into(), remedy: remedy.into() }
    }

    /// Test code as a whole: in a `tests` directory or a `tests.rs`.
    pub(super) fn is_test(&self) -> bool {
        self.path.split('/').any(|part| part == "tests" || part == "tests.rs")
    }
}

impl Line {
    /// Only a comment, or a part of one.
    pub(super) fn is_comment(&self) -> bool {
        self.code.trim().is_empty() && !self.comment.is_empty()
    }
}

#[derive(Clone, Copy)]
enum State {
    Code,
    /// Nested this deep.
    BlockComment(usize),
    String,
    /// Opened with so many `#`.
    RawString(usize),
}

fn lines(text: &str) -> Vec<Line> {
    let mut state = State::Code;
    text.lines().map(|row| line(row, &mut state)).collect()
}

fn line(row: &str, state: &mut State) -> Line {
    let mut line = Line::default();
    let mut rest = row;
    while let Some(first) = rest.chars().next() {
        let mut taken = first.len_utf8();
        match *state {
            State::Code if rest.starts_with("//") => {
                line.comment.push_str(rest);
                taken = rest.len();
            }
            State::Code if rest.starts_with("/*") => {
                *state = State::BlockComment(1);
                line.comment.push_str("/*");
                taken = 2;
            }
            State::Code => {
                if first == '"' {
                    *state = opened_string(&line.code);
                } else if first == '\'' {
                    taken = quote_length(rest);
                }
                line.code.push(first);
            }
            State::BlockComment(depth) => {
                if rest.starts_with("/*") {
                    *state = State::BlockComment(depth + 1);
                    taken = 2;
                } else if rest.starts_with("*/") {
                    *state = if depth == 1 { State::Code } else { State::BlockComment(depth - 1) };
                    taken = 2;
                }
                line.comment.push_str(&rest[..taken]);
            }
            State::String => match first {
                '\\' => taken += rest[1..].chars().next().map_or(0, char::len_utf8),
                '"' => *state = State::Code,
                _ => {}
            },
            State::RawString(hashes) => {
                if first == '"' && rest[1..].bytes().take_while(|&b| b == b'#').count() >= hashes {
                    *state = State::Code;
                    taken = 1 + hashes;
                }
            }
        }
        rest = &rest[taken..];
    }
    line
}

/// The state behind a `"` that follows `code`: `r#"` opens a raw string, anything else a plain one.
fn opened_string(code: &str) -> State {
    let prefix = code.trim_end_matches('#');
    if prefix.ends_with('r') { State::RawString(code.len() - prefix.len()) } else { State::String }
}

/// The bytes of a character literal at the start of `rest`; 1 where the quote belongs to a lifetime.
fn quote_length(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    match chars.next() {
        Some((_, '\\')) => chars.skip(1).find(|&(_, c)| c == '\'').map_or(rest.len(), |(at, _)| at + 1),
        Some(_) => chars.next().filter(|&(_, c)| c == '\'').map_or(1, |(at, _)| at + 1),
        None => 1,
    }
}

/// Where `word` stands in `text` with no letter, digit or underscore at its side.
pub(super) fn find_word(text: &str, word: &str) -> Option<usize> {
    let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word)
        .map(|(at, _)| at)
        .find(|&at| !text[..at].ends_with(part_of_word) && !text[at + word.len()..].starts_with(part_of_word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> Vec<String> {
        lines(text).into_iter().map(|line| line.code).collect()
    }

    #[test]
    fn strings_and_comments_are_no_code() {
        assert_eq!(code(r#"let a = "unsafe // {"; // unsafe"#), [r#"let a = "; "#]);
        assert_eq!(code(r#"let a = "\"unsafe"; b"#), [r#"let a = "; b"#]);
        assert_eq!(code("let a = r#\"x\" unsafe\"#; b"), ["let a = r#\"; b"]);
        assert_eq!(code("a /* unsafe /* nested */ still */ b"), ["a  b"]);
    }

    #[test]
    fn strings_and_comments_span_lines() {
        assert_eq!(code("a \"x\nunsafe\" b\n/* c\nd */ e"), ["a \"", " b", "", " e"]);
        assert_eq!(lines("/* c\nd */ e")[1].comment, "d */");
    }

    #[test]
    fn quotes_are_characters_or_lifetimes() {
        assert_eq!(code("let q = '\"'; unsafe"), ["let q = '; unsafe"]);
        assert_eq!(code(r"let q = '\''; unsafe"), ["let q = '; unsafe"]);
        assert_eq!(code(r"let q = '\u{7f}'; x"), ["let q = '; x"]);
        assert_eq!(code("fn f<'a>(x: &'a str)"), ["fn f<'a>(x: &'a str)"]);
    }

    #[test]
    fn words_stand_alone() {
        assert_eq!(find_word("let x = unsafe { y }", "unsafe"), Some(8));
        assert_eq!(find_word("deny(unsafe_code)", "unsafe"), None);
        assert_eq!(find_word("not_unsafe unsafe", "unsafe"), Some(11));
    }

    #[test]
    fn test_files_are_known_by_their_path() {
        assert!(Source::new("crates/x/src/tests.rs", "").is_test());
        assert!(Source::new("crates/x/tests/all.rs", "").is_test());
        assert!(!Source::new("crates/x/src/contests.rs", "").is_test());
    }
}
