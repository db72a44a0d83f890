//! A budget of lines per file, its tests aside: a longer file holds more than one idea.

use std::path::Path;

use super::{
    house::{FILE_LINES, LONG_FILES},
    source::{Line, Source, find_word},
    violation::Violation,
};

pub(super) fn check(source: &Source) -> Vec<Violation> {
    let listed = LONG_FILES.iter().find(|long| long.path == source.path);
    let budget = listed.map_or(FILE_LINES, |long| long.lines);
    let lines = if source.is_test() { 0 } else { code_lines(&source.lines) };
    let too_long = (lines > budget).then(|| {
        let what = format!("{lines} lines without tests, {budget} allowed");
        source.violation(budget + 1, what, "split it by meaning, one idea per file")
    });
    let needless = listed.filter(|_| lines <= FILE_LINES).map(|long| {
        let what = format!("excepted as long ({}), but it has {lines} lines", long.reason);
        source.violation(1, what, "take it off LONG_FILES in xtask/src/tidy/house.rs")
    });
    too_long.into_iter().chain(needless).collect()
}

/// Exceptions for files that are gone.
pub(super) fn stale_entries(root: &Path) -> impl Iterator<Item = Violation> {
    LONG_FILES.iter().filter(move |long| !root.join(long.path).exists()).map(|long| {
        let house = Source::new("xtask/src/tidy/house.rs", "");
        house.violation(1, format!("LONG_FILES names {}, which is gone", long.path), "take it off the list")
    })
}

/// The lines before the file's test module.
pub(super) fn code_lines(lines: &[Line]) -> usize {
    let opens_tests = |i: usize| {
        let code = lines[i].code.trim();
        let module = lines[i + 1..].iter().map(|line| line.code.trim()).find(|code| !code.starts_with("#["));
        code.starts_with("#[cfg(")
            && find_word(code, "test").is_some()
            && module.is_some_and(|code| find_word(code, "mod").is_some() && code.ends_with('{'))
    };
    (0..lines.len()).find(|&i| opens_tests(i)).unwrap_or(lines.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TESTS: &str = "#[cfg(test)]\nmod tests {\n    // many\n}\n";

    fn file(path: &str, code: usize, rest: &str) -> Source {
        Source::new(path, &("let x = 1;\n".repeat(code) + rest))
    }

    #[test]
    fn a_file_within_the_budget_passes_whatever_its_tests() {
        let tests = TESTS.to_owned() + &"// a line\n".repeat(FILE_LINES);
        assert_eq!(check(&file("crates/x/src/a.rs", FILE_LINES, &tests)), []);
    }

    #[test]
    fn a_file_above_the_budget_is_found() {
        let violations = check(&file("crates/x/src/a.rs", FILE_LINES + 1, TESTS));
        assert_eq!(violations.len(), 1);
        assert_eq!(violations[0].line, FILE_LINES + 1);
        assert!(violations[0].what.starts_with("501 lines"), "{}", violations[0].what);
    }

    #[test]
    fn test_files_have_no_budget() {
        assert_eq!(check(&file("crates/x/tests/a.rs", 2 * FILE_LINES, "")), []);
        assert_eq!(check(&file("crates/x/src/tests.rs", 2 * FILE_LINES, "")), []);
    }

    #[test]
    fn a_declared_test_module_does_not_end_the_count() {
        assert_eq!(code_lines(&Source::new("a.rs", "#[cfg(test)]\nmod tests;\nfn f() {}\n").lines), 3);
        assert_eq!(code_lines(&Source::new("a.rs", "#[cfg(test)]\nuse x;\nmod a {\n}\n").lines), 4);
        assert_eq!(
            code_lines(&Source::new("a.rs", "fn f() {}\n#[cfg(test)]\n#[allow(x)]\nmod t {\n}\n").lines),
            1
        );
    }

    #[test]
    fn every_exception_has_a_reason_and_is_above_the_budget() {
        assert!(LONG_FILES.iter().all(|long| !long.reason.is_empty() && long.lines > FILE_LINES));
    }
}
