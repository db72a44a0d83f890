//! Manifests: a description, the workspace's fields and lints, no version outside the workspace table.

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{house::INHERITED, source::Source, violation::Violation};

pub(super) fn check(manifest: &Source) -> Vec<Violation> {
    let document = match DeTable::parse(&manifest.text) {
        Ok(document) => document.into_inner(),
        Err(error) => {
            let line = error.span().map_or(1, |span| line_at(&manifest.text, span.start));
            return vec![manifest.violation(
                line,
                format!("no TOML: {}", error.message()),
                "write it as TOML",
            )];
        }
    };
    let package = table(&document, "package");
    let line = package.and_then(first_line(&manifest.text)).unwrap_or(1);
    let mut violations = Vec::new();
    let description = package.and_then(|package| package.get("description")?.get_ref().as_str());
    if description.is_none_or(|description| description.trim().is_empty()) {
        violations.push(manifest.violation(line, "no description", "say in one line why the crate exists"));
    }
    for field in INHERITED {
        if !package.and_then(|package| package.get(*field)).is_some_and(inherits) {
            let remedy = format!("write `{field}.workspace = true`");
            violations.push(manifest.violation(line, format!("{field} is not the workspace's"), remedy));
        }
    }
    if !table(&document, "lints").is_some_and(says_workspace) {
        violations.push(manifest.violation(
            line,
            "the workspace's lints are not on",
            "add `[lints] workspace = true`",
        ));
    }
    for (name, _) in dependencies(&document).filter(|(_, value)| !inherits(value)) {
        let what = format!("{} is not taken from the workspace", name.get_ref());
        let remedy = "put version or path in [workspace.dependencies] and write `NAME.workspace = true`";
        violations.push(manifest.violation(line_at(&manifest.text, name.span().start), what, remedy));
    }
    violations
}

/// The line that names a dependency; the first one where it cannot be told.
pub(super) fn line_of(manifest: &Source, dependency: &str) -> usize {
    let Ok(document) = DeTable::parse(&manifest.text) else { return 1 };
    let mut dependencies = dependencies(document.get_ref());
    let named = dependencies.find(|(name, _)| name.get_ref() == dependency);
    named.map_or(1, |(name, _)| line_at(&manifest.text, name.span().start))
}

type Key<'a> = Spanned<std::borrow::Cow<'a, str>>;
type Value<'a> = Spanned<DeValue<'a>>;

/// All dependencies: for code, tests and builds, of all targets and of some.
fn dependencies<'a, 'i>(document: &'a DeTable<'i>) -> impl Iterator<Item = (&'a Key<'i>, &'a Value<'i>)> {
    let targets = table(document, "target").into_iter().flat_map(|targets| targets.values());
    let targets = targets.filter_map(|target| target.get_ref().as_table());
    let of_kinds = |table: &'a DeTable<'i>| {
        ["dependencies", "dev-dependencies", "build-dependencies"].map(|kind| self::table(table, kind))
    };
    std::iter::once(document).chain(targets).flat_map(of_kinds).flatten().flatten()
}

pub(super) fn table<'a, 'i>(outer: &'a DeTable<'i>, name: &str) -> Option<&'a DeTable<'i>> {
    outer.get(name)?.get_ref().as_table()
}

/// Whether it is `{ workspace = true }`, perhaps with more beside.
fn inherits(value: &Value<'_>) -> bool {
    value.get_ref().as_table().is_some_and(says_workspace)
}

fn says_workspace(table: &DeTable<'_>) -> bool {
    table.get("workspace").is_some_and(|value| value.get_ref().as_bool() == Some(true))
}

/// The line of the first key of a table.
fn first_line(text: &str) -> impl Fn(&DeTable<'_>) -> Option<usize> {
    move |table| table.keys().map(|key| line_at(text, key.span().start)).min()
}

/// The line that a byte is on, counted from 1.
pub(super) fn line_at(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
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
            ("[dependencies.serde]\nversion = \"1.0\"", 19),
        ] {
            let violations =
                check(&Source::new("Cargo.toml", &TIDY.replace("serde.workspace = true", written)));
            assert_eq!(violations.len(), 1, "{written}: {violations:?}");
            assert_eq!(violations[0].line, line, "{written}");
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
