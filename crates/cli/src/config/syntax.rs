//! What is wrong in a file that is no TOML, in the words of those who write such files.

use toml::de::Error;

/// How the messages of the parser begin, and what is said in their place; the first that fits.
const WORDS: &[(&str, &str)] = &[
    ("duplicate key", "it is there twice; keep one of both"),
    ("cannot extend", "it has a value already, and cannot be a table as well; keep one of both"),
    ("string values must be quoted", UNQUOTED),
    ("key with no value", "behind a key = and a value are expected, as h = 24"),
    ("missing value", NO_VALUE),
    ("extra `=`", "one = is too many; write a key, one = and a value, as h = 24"),
    ("missing key", "before = a key is expected, as h = 24"),
    ("missing assignment", "behind a key = and a value are expected, as { max_steps = 500 }"),
    ("extra assignment", "one = is too many; write a key, one = and a value, as { max_steps = 500 }"),
    ("unclosed array table", "]] is expected behind the name, as [[model]]"),
    ("unclosed array", "a list is not closed; write ] behind it, as [80, 95]"),
    ("unclosed table", "] is expected behind the name, as [set]"),
    ("unclosed inline table", "braces are not closed; write } behind them, as { max_steps = 500 }"),
    ("extra comma", "one comma is too many; take it out"),
    ("missing comma between array", "a comma is expected between the values of a list, as [80, 95]"),
    ("missing comma", "a comma is expected between the keys in braces, as { h = 24, seed = 7 }"),
    ("unexpected `=` in array", "a list holds values alone; write keys in braces, as { max_steps = 500 }"),
    ("invalid inline table element", "a key, = and a value are expected in braces, as { max_steps = 500 }"),
    ("missing inline table opening", "} closes braces that were not opened; write { before them"),
    ("missing array opening", "] closes a list that was not opened; write [ before it"),
    ("missing table open", "] closes a name that was not opened; write [ before it, as [set]"),
    (
        "unexpected key or value",
        "behind a value the end of the line is expected; write each key on a line of its own",
    ),
    ("unexpected content", "the end of the line is expected; write each key on a line of its own"),
    ("invalid multi-line", "a text between three quotes is not closed; write three of the same behind it"),
    ("invalid basic string", "a text is not closed on its line; write \" behind it"),
    ("invalid literal string", UNCLOSED),
    ("missing opening quote", "a quote is missing before the text; write the one that stands behind it"),
    ("missing escaped value", BACKSLASH),
    ("too few unicode", BACKSLASH),
    ("invalid value", BACKSLASH),
    ("unexpected leading zero", "a number begins with no 0; take it out, or write a text in quotes"),
    ("redundant", "a number has one sign or prefix at most; take the others out"),
    ("unexpected sign", "a number has one sign at most; take the others out"),
    ("`_` may only", "in numbers _ stands between digits alone; take it out"),
    ("radix must be", "0x, 0o and 0b are written in small letters"),
    ("integers with a radix", "a number that begins with 0x, 0o or 0b has no sign; take it out"),
    ("invalid integer", NUMBER),
    ("invalid float", NUMBER),
    ("invalid hexadecimal", NUMBER),
    ("invalid octal", NUMBER),
    ("invalid binary", NUMBER),
    ("invalid boolean", "true or false is expected, in small letters"),
    ("invalid unquoted key", KEY),
    ("invalid key", KEY),
    ("keys cannot be multi-line", KEY),
    ("cannot recurse", "there are too many lists and braces within each other"),
    ("recursion limit", "there are too many lists and braces within each other"),
    ("carriage return", "the line ends with a carriage return alone; save the file with usual line ends"),
];

const UNQUOTED: &str = "a text stands in quotes, as freq = \"D\"; without them stand numbers, true and false";
const NO_VALUE: &str = "behind = a value is expected, as h = 24 or freq = \"D\"";
const VALUE: &str =
    "behind = a number, a text in quotes, a list, true or false is expected, as h = 24 or freq = \"D\"";
const LIST: &str =
    "one number is expected; commas stand between those of a list, as [80, 95], and quotes around a text";
const END: &str = "behind one value the end of the line is expected, and quotes around a text; write each key on a line of its own";
const NAME: &str = "the name of a table is expected, as [set] or [model.NHITS]";
const NO_EQUALS: &str = "behind a key = and a value are expected, as { max_steps = 500 }";
const UNCLOSED: &str = "a text is not closed on its line; write ' behind it";
const CONTROL: &str = "a control character stands here; take it out";
const BACKSLASH: &str =
    "in double quotes \\ begins a special character; write the text in single ones, as 'C:\\data'";
const NUMBER: &str = "a number is expected, as 24 or 0.5; write a text in quotes";
const KEY: &str =
    "a key is expected, as h = 24: it has letters, digits, - and _; put any other name in quotes";

/// The place of a fault: its byte, its column from 1, and the line, which is no blank one.
pub(super) struct SyntaxFault<'t> {
    pub(super) at: usize,
    pub(super) column: usize,
    pub(super) line: &'t str,
    pub(super) words: &'static str,
}

impl<'t> SyntaxFault<'t> {
    /// What the parser refuses in a text.
    pub(super) fn of(error: &Error, text: &'t str) -> Self {
        let message = error.message();
        // What is not closed is missed behind the last line.
        let end = text.trim_end().len();
        let at = error.span().map_or(0, |span| span.start).min(end);
        let at = (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let line = text[start..].lines().next().unwrap_or_default();
        let (before, rest) = line.split_at_checked(at - start).unwrap_or((line, ""));
        let words = match WORDS.iter().find(|(begin, _)| message.starts_with(begin)).map(|(_, words)| *words)
        {
            _ if rest.starts_with(|c: char| c.is_control()) => CONTROL,
            Some(UNQUOTED) if rest.trim_start().is_empty() || rest.starts_with('#') => NO_VALUE,
            Some(UNQUOTED) if rest.starts_with(|c: char| c.is_ascii_digit()) => match before.contains('[') {
                true => LIST,
                false => END,
            },
            Some(UNCLOSED) if !line.contains('\'') => NO_EQUALS,
            Some(words) => words,
            None if before.contains('=') => VALUE,
            None if before.trim_start().starts_with('[') => NAME,
            None => KEY,
        };
        Self { at, column: 1 + text[start..at].chars().count(), line: line.trim(), words }
    }
}
