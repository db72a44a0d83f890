//! Manifests: a description, the workspace's fields and lints, no version outside the workspace table.

use super::{Violation, house::INHERITED, source::Source};

/// `key = value` in `[section]`.
struct Entry<'a> {
    line: usize,
    section: &'a str,
    key: &'a str,
    value: String,
}

impl Entry<'_> {
    fn inherits(&self) -> bool {
        let value: String = self.value.split_whitespace().collect();
        self.key.ends_with(".workspace") && value == "true" || value.contains("workspace=true")
    }

    /// The key before its first dot.
    fn name(&self) -> &str {
        self.key.split('.').next().unwrap_or(self.key)
    }

    fn is_dependency(&self) -> bool {
        self.section.split('.').any(|part| part.ends_with("dependencies"))
    }
}

pub(super) fn check(manifest: &Source) -> Vec<Violation> {
    let entries = entries(&manifest.text);
    let package: Vec<&Entry<'_>> = entries.iter().filter(|entry| entry.section == "package").collect();
    let line = package.first().map_or(1, |entry| entry.line);
    let mut found = Vec::new();
    if !package.iter().any(|entry| entry.key == "description" && entry.value.trim_matches('"').trim() != "") {
        found.push(manifest.violation(line, "no description", "say in one line why the crate exists"));
    }
    for field in INHERITED {
        if !package.iter().any(|entry| entry.name() == *field && entry.inherits()) {
            let remedy = format!("write `{field}.workspace = true`");
            found.push(manifest.violation(line, format!("{field} is not the workspace's"), remedy));
        }
    }
    if !entries
        .iter()
        .any(|entry| entry.section == "lints" && entry.key == "workspace" && entry.value == "true")
    {
        found.push(manifest.violation(
            line,
            "the workspace's lints are not on",
            "add `[lints] workspace = true`",
        ));
    }
    for entry in entries.iter().filter(|entry| entry.is_dependency() && !entry.inherits()) {
        let what = format!("{} is not taken from the workspace", entry.name());
        let remedy = "put version or path in [workspace.dependencies] and write `NAME.workspace = true`";
        found.push(manifest.violation(entry.line, what, remedy));
    }
    found
}

/// The line that names a dependency; the first one where it cannot be told.
pub(super) fn line_of(manifest: &Source, dependency: &str) -> usize {
    entries(&manifest.text)
        .iter()
        .find(|entry| entry.is_dependency() && entry.name() == dependency)
        .map_or(1, |entry| entry.line)
}

/// The entries of a manifest as people write it; a value may span lines until its brackets close.
fn entries(text: &str) -> Vec<Entry<'_>> {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    let mut section = "";
    let mut depth = 0;
    for (i, row) in text.lines().enumerate() {
        let row = without_comment(row).trim();
        if depth > 0 {
            let entry = entries.last_mut().expect("a bracket opens in a value");
            entry.value.push_str(row);
        } else if row.starts_with('[') {
            section = row.trim_matches(['[', ']']).trim();
            continue;
        } else if let Some((key, value)) = row.split_once('=') {
            entries.push(Entry { line: i + 1, section, key: key.trim(), value: value.trim().to_owned() });
        }
        depth += brackets(row);
    }
    entries
}

fn without_comment(row: &str) -> &str {
    let mut quoted = false;
    let comment = row.find(|c| {
        quoted ^= c == '"';
        c == '#' && !quoted
    });
    comment.map_or(row, |at| &row[..at])
}

/// Opened brackets less closed ones, strings aside.
fn brackets(row: &str) -> i32 {
    let outside = row.split('"').step_by(2);
    outside
        .flat_map(str::chars)
        .map(|c| match c {
            '[' | '{' => 1,
            ']' | '}' => -1,
            _ => 0,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIDY: &str = r#"
[package]
name = "foretell-x"
description = "A crate [of] ours" # with a comment
version.workspace = true
edition.workspace = true
rust-version = { workspace = true }
license.workspace = true
authors.workspace = true

[lints]
workspace = true

[features]
default = ["simd"]

[dependencies]
faer = { workspace = true, optional = true }
serde.workspace = true

[target.'cfg(unix)'.dev-dependencies]
clap = { workspace = true, features = [
    "derive",
] }
"#;

    fn whats(text: &str) -> Vec<String> {
        check(&Source::new("crates/x/Cargo.toml", text))
            .into_iter()
            .map(|v| format!("{}: {}", v.line, v.what))
            .collect()
    }

    #[test]
    fn a_tidy_manifest_passes() {
        assert_eq!(whats(TIDY), [""; 0]);
    }

    #[test]
    fn a_description_is_needed() {
        assert_eq!(whats(&TIDY.replace("A crate [of] ours", "")), ["3: no description"]);
        assert_eq!(whats(&TIDY.replace("description", "homepage")), ["3: no description"]);
    }

    #[test]
    fn fields_and_lints_are_the_workspaces() {
        let text = TIDY.replace("version.workspace = true\nedition", "version = \"1.0.0\"\nedition");
        assert_eq!(whats(&text), ["3: version is not the workspace's"]);
        assert_eq!(whats(&TIDY.replace("[lints]", "[badges]")), ["3: the workspace's lints are not on"]);
    }

    #[test]
    fn versions_and_paths_stand_in_the_workspace_table() {
        for (written, line) in [
            ("serde = \"1.0\"", 19),
            ("serde = { version = \"1.0\", features = [\"derive\"] }", 19),
            ("serde = { path = \"../serde\" }", 19),
            ("serde.version = \"1.0\"", 19),
            ("[dependencies.serde]\nversion = \"1.0\"", 20),
        ] {
            let found = check(&Source::new("Cargo.toml", &TIDY.replace("serde.workspace = true", written)));
            assert_eq!(found.len(), 1, "{written}: {found:?}");
            assert_eq!(found[0].line, line, "{written}");
        }
    }

    #[test]
    fn a_dependency_is_found_by_its_line() {
        let manifest = Source::new("Cargo.toml", TIDY);
        assert_eq!(line_of(&manifest, "faer"), 18);
        assert_eq!(line_of(&manifest, "clap"), 22);
        assert_eq!(line_of(&manifest, "absent"), 1);
    }
}
