//! No flags of a command line in the messages of libraries: which settings a host offers, and under which names, it alone
//! knows.

use super::{source::Source, violation::Violation};

/// Where flags may be named: the program, and what is only run by developers.
const HOSTS: &[&str] = &["crates/cli/", "xtask/", "benches/", "crates/fuzz/"];

pub(super) fn check(source: &Source) -> Vec<Violation> {
    if HOSTS.iter().any(|host| source.path.starts_with(host)) {
        return Vec::new();
    }
    let violation = |(line, text)| {
        let what = format!("a message of a library names the flag `{}`", flag_in_text(text)?);
        let remedy =
            "show a `Setting` of foretell-messages; the command line has the words in setting_words.rs";
        Some(source.violation(line, what, remedy))
    };
    source.lines_of_library().filter_map(violation).collect()
}

/// The first `--word` of the line that a quote, a blank, a bracket or a backtick stands before.
fn flag_in_text(line: &str) -> Option<&str> {
    let line = line.split("//").next().unwrap_or_default();
    line.match_indices("--").map(|(at, _)| at).find_map(|at| {
        let length =
            line[at + 2..].bytes().take_while(|byte| byte.is_ascii_lowercase() || *byte == b'-').count();
        let begins = line[..at].ends_with([' ', '`', '(', '"']);
        (begins && length > 1 && line.as_bytes()[at + 2] != b'-').then(|| &line[at..at + 2 + length])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(path: &str, text: &str) -> Vec<String> {
        check(&Source::new(path, text)).into_iter().map(|v| format!("{} {}", v.line, v.what)).collect()
    }

    #[test]
    fn a_flag_in_a_message_is_found() {
        let text = "const REMEDY: &str =\n    \"leave it out (`--drop-short`)\";";
        assert_eq!(
            broken("crates/data/src/a.rs", text),
            ["2 a message of a library names the flag `--drop-short`"]
        );
        assert_eq!(broken("crates/cli/src/a.rs", text), [""; 0]);
    }

    #[test]
    fn comments_tests_and_dashes_are_none() {
        for text in [
            "//! As `--drop-short` says.\nfn f() {} // --not this",
            "#[cfg(test)]\nmod tests {\n    const A: &str = \"--drop\";\n}",
            "const RULE: &str = \"-----\";\nfn f(i: i32) -> i32 { 1 - -i }",
        ] {
            assert_eq!(broken("crates/data/src/a.rs", text), [""; 0], "{text}");
        }
    }
}
