//! `cargo xtask tidy`: the rules of the house that the compiler does not check.
//!
//! One file per rule in `tidy/`; the uses that they allow are data in `tidy/house.rs`, and the order of
//! modules in `tidy/floors.rs`. The rules run over
//! the members of the workspace, and as a test of this crate.

mod circles;
mod edges;
mod features;
mod flags;
mod floors;
mod folders;
mod house;
mod imports;
mod length;
mod manifest;
mod names;
mod packaging;
mod profiles;
mod programs;
mod proofs;
mod roots;
mod source;
mod suffixes;
mod type_names;
mod unsafety;
mod violation;
mod words;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use cargo_metadata::{MetadataCommand, Package};

use crate::slow_tests;
use source::Source;
use type_names::TypeNames;
use violation::Violation;

/// Whether a package may have `unsafe` code anywhere.
pub(crate) fn may_be_unsafe(package: &str) -> bool {
    !matches!(house::unsafe_in(package), house::Unsafe::Nowhere)
}

pub(crate) fn run() -> anyhow::Result<()> {
    let violations = check_workspace()?;
    for violation in &violations {
        println!("{violation}");
    }
    match violations.len() {
        0 => Ok(()),
        n => bail!("{n} rule(s) of the house broken"),
    }
}

/// Every violation in the workspace around the current directory, sorted by place.
fn check_workspace() -> anyhow::Result<Vec<Violation>> {
    let metadata = MetadataCommand::new().no_deps().exec().context("cargo metadata failed")?;
    let root = metadata.workspace_root.as_std_path();
    let mut violations = Vec::new();
    let mut names = TypeNames::default();
    let mut sources = Vec::new();
    for package in &metadata.packages {
        let (found, read) = check_package(root, package, &metadata.packages, &mut names)?;
        violations.extend(found);
        sources.extend(read);
    }
    violations.extend(proofs::check(root, &sources)?);
    violations.extend(programs::check(&metadata.packages));
    let slow = Source::read(root, &root.join(slow_tests::FILE))?;
    violations.extend(programs::check_slow(&metadata.packages, &slow_tests::read(root)?, &slow));
    violations.extend(length::stale_entries(root));
    violations.extend(edges::unused(&metadata.packages));
    for page in pages(root)? {
        let path = page.strip_prefix(root).unwrap_or(&page).display().to_string();
        let text = fs::read_to_string(&page).with_context(|| format!("cannot read {path}"))?;
        violations.extend(words::check_page(&path, &text));
    }
    violations.extend(profiles::check(&Source::read(root, &root.join("Cargo.toml"))?, &metadata.packages));
    violations.sort();
    Ok(violations)
}

fn check_package(
    root: &Path,
    package: &Package,
    members: &[Package],
    names: &mut TypeNames,
) -> anyhow::Result<(Vec<Violation>, Vec<Source>)> {
    let manifest = Source::read(root, package.manifest_path.as_std_path())?;
    let mut violations = manifest::check(&manifest);
    violations.extend(edges::check(package, &manifest));
    violations.extend(features::check(package, members, &manifest));
    violations.extend(packaging::check(package, members, &manifest));
    let directory = package.manifest_path.parent().expect("a manifest is in a directory");
    let mut sources = Vec::new();
    for path in rust_files(directory.as_std_path())? {
        let source = Source::read(root, &path)?;
        violations.extend(unsafety::check(&package.name, &source));
        violations.extend(length::check(&source));
        violations.extend(words::check(&source));
        violations.extend(flags::check(&source));
        violations.extend(suffixes::check(&source));
        violations.extend(names.add(&source));
        let is_root = |target: &cargo_metadata::Target| target.src_path.as_std_path() == path;
        if package.targets.iter().any(|target| (target.is_lib() || target.is_bin()) && is_root(target)) {
            violations.extend(roots::check(&package.name, &source));
        }
        sources.push(source);
    }
    violations.extend(folders::check(&sources));
    Ok((violations, sources))
}

/// The pages for readers: those of the root, without the list of what has changed, and of `docs`.
fn pages(root: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut pages = vec![root.join("README.md"), root.join("CONTRIBUTING.md")];
    let docs = root.join("docs");
    for entry in fs::read_dir(&docs).with_context(|| format!("cannot list {}", docs.display()))? {
        pages.push(entry?.path());
    }
    pages.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    Ok(pages)
}

/// The `.rs` files below `directory`, build output aside.
fn rust_files(directory: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).with_context(|| format!("cannot list {}", directory.display()))? {
        let path = entry?.path();
        if path.is_dir() && !path.ends_with("target") {
            files.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_is_tidy() {
        let violations = check_workspace().unwrap();
        let list: Vec<String> = violations.iter().map(Violation::to_string).collect();
        assert!(list.is_empty(), "rules of the house broken:\n{}", list.join("\n"));
    }

    #[test]
    fn a_violation_says_where_what_and_what_to_do() {
        let source = Source::new("crates/x/src/lib.rs", "");
        let violation = source.violation(7, "a sin", "repent");
        assert_eq!(violation.to_string(), "crates/x/src/lib.rs:7: a sin; repent");
    }

    #[test]
    fn this_file_is_found_among_the_sources() {
        let files = rust_files(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
        assert!(files.iter().any(|path| path.ends_with("src/tidy.rs")));
        assert!(files.iter().any(|path| path.ends_with("src/tidy/house.rs")));
    }
}
