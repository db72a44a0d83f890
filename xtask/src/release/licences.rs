//! The licences of what the programs, the wheel and the modules are built of: a list with their texts, which most of them ask for.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::Path,
};

use anyhow::{Context, ensure};
use cargo_metadata::{CargoOpt, MetadataCommand, Package};

use super::basis::Release;
use crate::{
    outcome::Outcome,
    system::{cargo, output, write},
};

/// Licences under which code may be handed out with ours, as SPDX calls them.
const ALLOWED: &[&str] = &[
    "0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "ISC", "MIT", "MIT-0",
    "Unicode-3.0", "Unlicense", "Zlib",
];

/// How files with the text of a licence begin.
const TEXTS: &[&str] = &["LICENSE", "LICENCE", "COPYING", "NOTICE", "COPYRIGHT", "UNLICENSE"];

/// The file with the licences of others.
pub(super) const OTHERS: &str = "THIRD-PARTY.txt";

/// What is handed out.
const PACKAGES: [&str; 4] = ["foretell-cli", "foretell-python", "foretell-wasm", "foretell-node"];

/// Writes `THIRD-PARTY.txt`; fails where a licence is none of those that are allowed.
pub(super) fn list(release: &Release<'_>) -> anyhow::Result<Outcome> {
    let mut tree = cargo();
    tree.args([
        "tree", "--locked", "--edges", "normal", "--prefix", "none", "--format", "{p}", "--target", "all",
    ]);
    PACKAGES.iter().for_each(|package| _ = tree.args(["--package", package]));
    let tree = output(&mut tree)?;
    let used: BTreeSet<(&str, &str)> = tree.lines().filter_map(name_and_version).collect();
    let metadata = MetadataCommand::new()
        .features(CargoOpt::AllFeatures)
        .other_options(["--locked".to_owned()])
        .exec()
        .context("cargo metadata failed")?;
    let of_others = metadata.packages.iter().filter(|package| {
        package.source.is_some() && used.contains(&(package.name.as_str(), &*package.version.to_string()))
    });
    let of_others: Vec<&Package> = of_others.collect();
    let refused: Vec<String> = of_others
        .iter()
        .filter(|package| !package.license.as_deref().is_some_and(is_allowed))
        .map(|package| format!("{} ({})", package.name, package.license.as_deref().unwrap_or("none")))
        .collect();
    ensure!(refused.is_empty(), "these licences were not looked at yet: {}", refused.join(", "));
    let path = release.out.join(OTHERS);
    write(&path, text(&of_others)?)?;
    println!("{}: {} crates", path.display(), of_others.len());
    Ok(Outcome::Done)
}

/// Of a line `name v1.2.3 (*)`.
fn name_and_version(line: &str) -> Option<(&str, &str)> {
    let mut words = line.split_whitespace();
    Some((words.next()?, words.next()?.strip_prefix('v')?))
}

/// The list: crates with their licences, then each text once, with those that it is of.
fn text(packages: &[&Package]) -> anyhow::Result<String> {
    let mut text = "The programs of foretell hold code of these crates.\n\n".to_owned();
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in packages {
        let (name, licence) = (format!("{} {}", package.name, package.version), package.license.as_deref());
        let place = package.repository.as_deref().unwrap_or("https://crates.io");
        writeln!(text, "{name:36} {:36} {place}", licence.unwrap_or_default())?;
        let folder = package.manifest_path.parent().context("a manifest is in no folder")?;
        for found in licence_texts(folder.as_std_path())? {
            texts.entry(found).or_default().push(name.clone());
        }
    }
    for (licence, names) in texts {
        let line = "-".repeat(100);
        write!(text, "\n{line}\n{}\n{line}\n\n{}\n", names.join(", "), licence.trim_end())?;
    }
    Ok(text)
}

fn licence_texts(folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().to_uppercase();
        if TEXTS.iter().any(|text| name.starts_with(text)) && entry.path().is_file() {
            texts.push(fs::read_to_string(entry.path())?);
        }
    }
    Ok(texts)
}

/// Whether one may choose licences of an SPDX expression that are all allowed. A slash is the old spelling of OR.
fn is_allowed(expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = &words[..];
    any(&mut rest) && rest.is_empty() && !matches!(words.last(), Some(&"OR" | &"AND"))
}

fn any(words: &mut &[&str]) -> bool {
    let mut allowed = all(words);
    while words.first() == Some(&"OR") {
        *words = &words[1..];
        allowed |= all(words);
    }
    allowed
}

fn all(words: &mut &[&str]) -> bool {
    let mut allowed = one(words);
    while words.first() == Some(&"AND") {
        *words = &words[1..];
        allowed &= one(words);
    }
    allowed
}

fn one(words: &mut &[&str]) -> bool {
    let Some((first, rest)) = words.split_first() else { return false };
    *words = rest;
    if *first == "(" {
        let within = any(words);
        let closed = words.first() == Some(&")");
        *words = words.get(1..).unwrap_or_default();
        return within && closed;
    }
    // An exception to a licence allows more.
    if words.first() == Some(&"WITH") {
        *words = words.get(2..).unwrap_or_default();
    }
    ALLOWED.contains(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_allowed_by_what_one_may_choose() {
        for expression in [
            "MIT",
            "GPL-3.0 OR MIT",
            "Unlicense/MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-2.0",
            "GPL-2.0 AND ISC OR BSD-3-Clause",
        ] {
            assert!(is_allowed(expression), "{expression}");
        }
        for expression in [
            "GPL-3.0", "MIT AND GPL-3.0", "(MIT OR ISC) AND AGPL-3.0", "(MIT", "MIT MIT", "", "MIT OR",
            "MIT AND",
        ] {
            assert!(!is_allowed(expression), "{expression}");
        }
    }

    #[test]
    fn crates_are_told_by_name_and_version() {
        assert_eq!(name_and_version("csv v1.4.0 (*)"), Some(("csv", "1.4.0")));
        assert_eq!(name_and_version("foretell v0.1.0 (/home)"), Some(("foretell", "0.1.0")));
        assert_eq!(name_and_version(""), None);
    }
}
