//! `.ci/slow-tests.toml`: the tests that may take longer than a moment, by groups, each with its reason.

use std::{fs, path::Path};

use anyhow::{Context, bail};
use toml::de::{DeTable, DeValue};

/// Where it is in the workspace.
pub(crate) const FILE: &str = ".ci/slow-tests.toml";

/// Tests of a program, and why they are slow.
#[derive(Debug, PartialEq)]
pub(crate) struct Group {
    /// As `foretell-cli it`.
    pub(crate) program: String,
    /// How the names of the tests begin: those of modules end with `::`.
    pub(crate) tests: Vec<String>,
    pub(crate) reason: String,
}

/// Reads the groups.
pub(crate) fn read(workspace: &Path) -> anyhow::Result<Vec<Group>> {
    let path = workspace.join(FILE);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    parse(&text).with_context(|| format!("{FILE} is not as expected"))
}

/// Whether a test may be slow.
pub(crate) fn may_be_slow(groups: &[Group], program: &str, test: &str) -> bool {
    groups
        .iter()
        .any(|group| group.program == program && group.tests.iter().any(|name| test.starts_with(name)))
}

/// A table for each program, `["foretell-cli it"]`, with a line for each reason: `"it trains a model" = ["fit::", "report::"]`.
fn parse(text: &str) -> anyhow::Result<Vec<Group>> {
    let mut groups = Vec::new();
    for (program, table) in DeTable::parse(text)?.get_ref() {
        let (program, DeValue::Table(table)) = (program.get_ref(), table.get_ref()) else {
            bail!("{}: expected a table", program.get_ref());
        };
        for (reason, tests) in table {
            let reason = reason.get_ref().to_string();
            let DeValue::Array(tests) = tests.get_ref() else {
                bail!("{program}, {reason}: expected a list")
            };
            let name = |value: &toml::Spanned<DeValue<'_>>| value.get_ref().as_str().map(str::to_owned);
            let tests = tests.iter().map(name).collect::<Option<Vec<_>>>();
            let tests = tests.with_context(|| format!("{program}, {reason}: expected texts"))?;
            groups.push(Group { program: program.to_string(), tests, reason });
        }
    }
    Ok(groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_may_be_slow_for_a_reason_that_its_program_names() {
        let groups = parse("[\"a it\"]\n\"it trains\" = [\"fit::\", \"one::test\"]\n").unwrap();
        assert_eq!((groups.len(), groups[0].reason.as_str()), (1, "it trains"));
        assert!(may_be_slow(&groups, "a it", "fit::long"));
        assert!(may_be_slow(&groups, "a it", "one::test"));
        assert!(!may_be_slow(&groups, "a it", "two::test"));
        assert!(!may_be_slow(&groups, "b it", "fit::long"));
        for wrong in ["a = 1", "[a]\nb = 1", "[a]\nb = [1]"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
