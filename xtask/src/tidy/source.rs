//! A file as lines of code and comment, so that no rule is fooled by a string. Comments are the text between the
//! tokens of Rust: parsers drop them.

use std::{fs, ops::Range, path::Path, str::FromStr as _};

use anyhow::{Context, anyhow};
use proc_macro2::{Delimiter, LexError, TokenStream, TokenTree};

use super::violation::Violation;

/// A file of the workspace.
pub(super) struct Source {
    /// Relative to the root of the workspace, with `/` between its parts.
    pub(super) path: String,
    pub(super) text: String,
    /// The text as Rust; none of a manifest.
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
        Self::of_text(&parts.join("/"), &text).map_err(|error| {
            let at = error.span().start();
            anyhow!("{}:{}: no Rust from column {} on", path.display(), at.line, at.column + 1)
        })
    }

    /// # Panics
    /// If the text of a file of Rust is none.
    pub(super) fn new(path: &str, text: &str) -> Self {
        Self::of_text(path, text).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    fn of_text(path: &str, text: &str) -> Result<Self, LexError> {
        let lines = if path.ends_with(".rs") { lines(text)? } else { Vec::new() };
        Ok(Self { path: path.to_owned(), text: text.to_owned(), lines })
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

impl Source {
    /// The lines of code that users of a crate run, with their numbers from 1: nothing of tests and examples.
    pub(super) fn lines_of_library(&self) -> impl Iterator<Item = (usize, &str)> {
        let is_library =
            !self.is_test() && !self.path.contains("/examples/") && !self.path.ends_with("_tests.rs");
        let lines = self.lines.iter().zip(self.text.lines()).zip(1..);
        // Unit tests end a file.
        let lines = lines.take_while(move |((line, _), _)| is_library && !line.code.contains("#[cfg(test)]"));
        lines.filter(|((line, _), _)| !line.is_comment()).map(|((_, text), number)| (number, text))
    }
}

impl Line {
    /// Only a comment, or a part of one.
    pub(super) fn is_comment(&self) -> bool {
        self.code.trim().is_empty() && !self.comment.is_empty()
    }
}

/// The text as lines of code and comment.
fn lines(text: &str) -> Result<Vec<Line>, LexError> {
    let mut tokens = Vec::new();
    flatten(TokenStream::from_str(text)?, &mut tokens);
    let mut lines = Lines(vec![Line::default()]);
    let mut end = 0;
    for token in tokens {
        // A doc comment is several tokens of one place.
        if token.start < end {
            continue;
        }
        lines.between_tokens(&text[end..token.start]);
        lines.token(&text[token.clone()]);
        end = token.end;
    }
    lines.between_tokens(&text[end..]);
    lines.0.truncate(text.lines().count());
    Ok(lines.0)
}

/// The places of all tokens, brackets included, in their order.
fn flatten(stream: TokenStream, places: &mut Vec<Range<usize>>) {
    for token in stream {
        match token {
            TokenTree::Group(group) if group.delimiter() != Delimiter::None => {
                let whole = group.span().byte_range();
                let [open, close] = [group.span_open(), group.span_close()].map(|span| span.byte_range());
                // The brackets of a doc comment stand where it does.
                if open == whole {
                    places.push(whole);
                    continue;
                }
                places.push(open);
                flatten(group.stream(), places);
                places.push(close);
            }
            TokenTree::Group(group) => flatten(group.stream(), places),
            token => places.push(token.span().byte_range()),
        }
    }
}

struct Lines(Vec<Line>);

impl Lines {
    fn last(&mut self) -> &mut Line {
        self.0.last_mut().expect("there is a first line")
    }

    /// Adds text by `add`, which gets each of its lines.
    fn add(&mut self, text: &str, add: impl Fn(&mut Line, &str)) {
        for (i, row) in text.split('\n').enumerate() {
            if i > 0 {
                self.0.push(Line::default());
            }
            add(self.last(), row.trim_end_matches('\r'));
        }
    }

    fn comment(&mut self, text: &str) {
        self.add(text, |line, row| line.comment.push_str(row));
    }

    fn code(&mut self, text: &str) {
        self.add(text, |line, row| line.code.push_str(row));
    }

    /// A token; of a literal of text what stands before it, and its first quote.
    fn token(&mut self, text: &str) {
        if text.starts_with("//") || text.starts_with("/*") {
            return self.comment(text);
        }
        let is_text = text.starts_with(['"', '\'']) && text.len() > 1
            || text.starts_with(['r', 'b', 'c']) && text.ends_with(['"', '#', '\'']);
        match text.find(['"', '\'']).filter(|_| is_text) {
            Some(quote) => {
                self.code(&text[..=quote]);
                self.add(&text[quote + 1..], |_, _| {});
            }
            None => self.code(text),
        }
    }

    /// Blanks and comments.
    fn between_tokens(&mut self, text: &str) {
        let mut rest = text;
        while let Some(at) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
            let (blanks, comment) = rest.split_at(at);
            self.code(blanks);
            let length =
                if comment.starts_with("//") { line_comment(comment) } else { block_comment(comment) };
            self.comment(&comment[..length]);
            rest = &comment[length..];
        }
        self.code(rest);
    }
}

fn line_comment(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

/// Block comments may stand within each other.
fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        let step = match &text.as_bytes()[at..] {
            [b'/', b'*', ..] => 1,
            [b'*', b'/', ..] => -1,
            _ => 0,
        };
        depth += step;
        at += if step == 0 { 1 } else { 2 };
        if depth == 0 {
            break;
        }
    }
    at
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
        lines(text).unwrap().into_iter().map(|line| line.code).collect()
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
        assert_eq!(lines("/* c\nd */ e").unwrap()[1].comment, "d */");
        assert_eq!(code("a /* b /* c */\n// d */ e"), ["a ", " e"]);
    }

    #[test]
    fn docs_are_comments() {
        let text = "//! of all\n\n/// of one\n/** block\n    of two */\nfn f() {} // after";
        let lines = lines(text).unwrap();
        let comments: Vec<&str> = lines.iter().map(|line| line.comment.as_str()).collect();
        assert_eq!(comments, ["//! of all", "", "/// of one", "/** block", "    of two */", "// after"]);
        assert_eq!(code(text), ["", "", "", "", "", "fn f() {} "]);
    }

    #[test]
    fn what_is_no_rust_is_an_error() {
        assert!(lines("fn f() {").is_err());
        assert!(lines("\"").is_err());
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
