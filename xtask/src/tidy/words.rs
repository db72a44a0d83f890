//! No words that admit a stub, as all code in the tree is finished, and none that readers trip over.
//!
//! The words stand here, and in the tests below, as the words to look for; nothing in this file is unfinished.

use super::{
    source::{Source, find_word},
    violation::Violation,
};

/// Macros that stand for missing code.
const MACROS: &[&str] = &["todo!", "unimplemented!"];

/// The words that people write beside unfinished code, in lower case.
const CONFESSIONS: &[&str] =
    &["fixme", "todo", "not implemented", "placeholder", "dummy", "simplified", "for now"];

/// Words that a comment says more plainly, in lower case, each with what to write.
const TURNS: &[(&str, &str)] = &[
    ("so many", "\"this many\", or the number by its name"),
    ("nobody", "\"no one\", or what does not happen"),
    ("anybody", "\"anyone\", or who it is"),
    ("whoever", "who it is: the caller, the thread, the user"),
];

/// A turn of the same kind where a sentence or a clause ends behind it: elsewhere a participle follows.
const UNCHANGED: &str = "as they are";

pub(super) fn check(source: &Source) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (i, line) in source.lines.iter().enumerate() {
        let comment = line.comment.to_lowercase();
        let in_code = MACROS.iter().filter(|word| find_word(&line.code, word).is_some());
        let in_comment = CONFESSIONS.iter().filter(|word| find_word(&comment, word).is_some());
        for word in in_code.chain(in_comment) {
            violations.push(source.violation(
                i + 1,
                format!("`{word}` admits a stub"),
                "finish it, or say what it is",
            ));
        }
        violations.extend(turns(&comment).map(|(word, instead)| {
            source.violation(i + 1, format!("`{word}` in a comment"), format!("write {instead}"))
        }));
    }
    violations
}

/// The same for a page in Markdown, all of which is text.
pub(super) fn check_page(path: &str, text: &str) -> Vec<Violation> {
    let of_line = |(i, line): (usize, &str)| {
        let found: Vec<_> = turns(&line.to_lowercase()).collect();
        found.into_iter().map(move |(word, instead)| Violation {
            path: path.to_owned(),
            line: i + 1,
            what: format!("`{word}` in a page"),
            remedy: format!("write {instead}"),
        })
    };
    text.lines().enumerate().flat_map(of_line).collect()
}

/// The turns in a line in lower case, with what to write.
fn turns(line: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let ends_clause = |(at, _): &(usize, &str)| {
        let rest = line[at + UNCHANGED.len()..].trim_start_matches(['`', '*', '"']);
        rest.starts_with(['.', ',', ';', ':', ')'])
    };
    let unchanged = line.match_indices(UNCHANGED).find(ends_clause).map(|_| (UNCHANGED, "\"unchanged\""));
    TURNS.iter().copied().filter(move |(word, _)| find_word(line, word).is_some()).chain(unchanged)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(text: &str) -> Vec<String> {
        check(&Source::new("a.rs", text)).into_iter().map(|v| format!("{} {}", v.line, v.what)).collect()
    }

    #[test]
    fn stubs_are_found_in_code_and_comments() {
        assert_eq!(broken("fn f() {\n    todo!()\n}"), ["2 `todo!` admits a stub"]);
        assert_eq!(broken("unimplemented!(\"x\")"), ["1 `unimplemented!` admits a stub"]);
        assert_eq!(broken("// FIXME: wrong"), ["1 `fixme` admits a stub"]);
        assert_eq!(broken("//! One level, for now."), ["1 `for now` admits a stub"]);
        assert_eq!(broken("/* not\nnot implemented */"), ["2 `not implemented` admits a stub"]);
    }

    #[test]
    fn turns_of_phrase_are_found_in_comments() {
        assert_eq!(broken("/// Nobody waits."), ["1 `nobody` in a comment"]);
        assert_eq!(
            broken("//! Reads so many\n//! rows, whoever asks."),
            ["1 `so many` in a comment", "2 `whoever` in a comment"]
        );
        assert_eq!(broken("// Left as they are, or as they are read."), ["1 `as they are` in a comment"]);
        assert_eq!(broken("let nobody = 1; // as they are read"), [""; 0]);
        let of_page = check_page("docs/a.md", "# A page\nAnybody may read it.");
        assert_eq!(
            of_page.iter().map(|v| (v.line, &*v.what)).collect::<Vec<_>>(),
            [(2, "`anybody` in a page")]
        );
    }

    #[test]
    fn strings_and_longer_words_are_no_confession() {
        assert_eq!(broken("let what = \"todo!\";"), [""; 0]);
        assert_eq!(broken("// made for nowcasting"), [""; 0]);
        assert_eq!(broken("fn f() { unreachable!() }"), [""; 0]);
    }
}
