//! No words that admit a stub: all code in the tree is finished.
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
    }
    violations
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
    fn strings_and_longer_words_are_no_confession() {
        assert_eq!(broken("let what = \"todo!\";"), [""; 0]);
        assert_eq!(broken("// made for nowcasting"), [""; 0]);
        assert_eq!(broken("fn f() { unreachable!() }"), [""; 0]);
    }
}
