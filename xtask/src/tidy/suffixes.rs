//! No look at the end of a column's name for what the column holds: `data`'s grammar alone reads and writes such names.

use super::{source::Source, violation::Violation};

/// Who writes such names: the grammar, and the losses, whose names are neuralforecast's and which know no tables.
const WRITERS: &[&str] = &[
    "crates/tables/src/frames/forecast_column.rs",
    "crates/nn/src/loss/",
    "crates/neural/src/import/loss.rs",
    "xtask/",
];

/// Ends of names, as they begin a text or follow a model's name in one.
const ENDS: &[&str] = &["-lo-", "-hi-", "-median", "_ql", "-ql", "-anomaly"];

pub(super) fn check(source: &Source) -> Vec<Violation> {
    if WRITERS.iter().any(|writer| source.path.starts_with(writer)) {
        return Vec::new();
    }
    let violation = |(line, text)| {
        let what = format!("`{}` is the end of a column's name", end_in_text(text)?);
        Some(source.violation(line, what, "ask `Frame::models`, `ForecastTable::models` or `ForecastColumn`"))
    };
    source.lines_of_library().filter_map(violation).collect()
}

/// The first end of a name that begins a text, or follows a value in one.
fn end_in_text(line: &str) -> Option<&'static str> {
    let line = line.split("//").next().unwrap_or_default();
    let follows = |end: &str| line.match_indices(end).any(|(at, _)| line[..at].ends_with(['"', '}']));
    ENDS.iter().copied().find(|end| follows(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(path: &str, text: &str) -> Vec<String> {
        check(&Source::new(path, text)).into_iter().map(|v| format!("{} {}", v.line, v.what)).collect()
    }

    #[test]
    fn looks_at_ends_of_names_are_found() {
        for (text, end) in [
            ("fn f(name: &str) -> bool {\n    name.contains(\"-lo-\")\n}", "-lo-"),
            ("fn f(name: &str) -> Option<&str> {\n    name.strip_suffix(\"-median\")\n}", "-median"),
            ("fn f(model: &str) -> String {\n    format!(\"{model}_ql0.1\")\n}", "_ql"),
        ] {
            assert_eq!(
                broken("crates/cli/src/a.rs", text),
                [format!("2 `{end}` is the end of a column's name")]
            );
        }
    }

    #[test]
    fn words_to_readers_and_the_grammar_are_none() {
        let example = "const HELP: &str = \"columns MODEL-lo-80, MODEL-hi-80\"; // \"-lo-\"";
        assert_eq!(broken("crates/cli/src/a.rs", example), [""; 0]);
        let read = "const LOW: &str = \"-lo-\";";
        assert_eq!(broken("crates/tables/src/frames/forecast_column.rs", read), [""; 0]);
        assert_eq!(broken("crates/cli/src/a.rs", &format!("#[cfg(test)]\nmod tests {{ {read} }}")), [""; 0]);
    }
}
