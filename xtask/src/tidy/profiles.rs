//! Profiles of the workspace: a program that we ship is stripped where its profile says so.
//!
//! Cargo lets a package's own table in a profile forget the profile's `strip`, even if the table says nothing of it: a program of
//! such a package carries the symbols of all that is linked into it.

use std::collections::BTreeMap;

use cargo_metadata::Package;
use toml::de::{DeTable, DeValue};

use super::{manifest, source::Source, violation::Violation};
use crate::package::is_published;

/// The violations of the profiles of the workspace's manifest for the programs among `members`.
pub(super) fn check(root: &Source, members: &[Package]) -> Vec<Violation> {
    let programs = members.iter().filter(|package| is_published(package));
    let programs = programs.filter(|package| package.targets.iter().any(|target| target.is_bin()));
    let names: Vec<&str> = programs.map(|package| package.name.as_str()).collect();
    let unstripped = unstripped(&root.text, &names).into_iter();
    let violation = |Unstripped { profile, package, line, strip }: Unstripped| {
        let what =
            format!("profile {profile} strips {strip}, but not {package}, which has a table of its own");
        root.violation(
            line,
            what,
            format!("write `{package}.strip = {strip}` in [profile.{profile}.package]"),
        )
    };
    unstripped.map(violation).collect()
}

/// A program that a profile does not strip as it says.
#[derive(Debug, PartialEq)]
struct Unstripped {
    profile: String,
    package: String,
    line: usize,
    /// The profile's `strip`, as TOML.
    strip: String,
}

/// The `strip` of one profile and of its packages, with those that it inherits.
#[derive(Clone, Default)]
struct Profile {
    /// `None` where the profile has none.
    strip: Option<String>,
    /// By package that has a table of its own: its `strip`, if any.
    packages: BTreeMap<String, Option<String>>,
}

fn unstripped(text: &str, programs: &[&str]) -> Vec<Unstripped> {
    let Ok(document) = DeTable::parse(text) else { return Vec::new() };
    let Some(profiles) = manifest::table(document.get_ref(), "profile") else { return Vec::new() };
    let mut unstripped = Vec::new();
    for (name, _) in profiles {
        let Profile { strip, packages } = profile(profiles, name.get_ref());
        let Some(strip) = strip else { continue };
        for (package, own) in packages {
            if programs.contains(&&*package) && own.as_ref() != Some(&strip) {
                let line = manifest::line_at(text, name.span().start);
                unstripped.push(Unstripped {
                    profile: name.get_ref().to_string(),
                    package,
                    line,
                    strip: strip.clone(),
                });
            }
        }
    }
    unstripped
}

/// A profile with the entries that it inherits, as Cargo joins the two: entry by entry, before tables of packages are looked at.
fn profile(profiles: &DeTable<'_>, name: &str) -> Profile {
    let Some(table) = manifest::table(profiles, name) else { return Profile::default() };
    let parent = table.get("inherits").and_then(|parent| parent.get_ref().as_str());
    let mut joined = parent.map_or_else(Profile::default, |parent| profile(profiles, parent));
    joined.strip = strip(table).or(joined.strip);
    for (package, own) in manifest::table(table, "package").into_iter().flatten() {
        let known = joined.packages.entry(package.get_ref().to_string()).or_default();
        if let Some(strip) = own.get_ref().as_table().and_then(strip) {
            *known = Some(strip);
        }
    }
    joined
}

fn strip(table: &DeTable<'_>) -> Option<String> {
    Some(match table.get("strip")?.get_ref() {
        DeValue::Boolean(strip) => strip.to_string(),
        DeValue::String(strip) => format!("{strip:?}"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unstripped_programs(text: &str) -> Vec<(String, usize)> {
        let programs = unstripped(text, &["foretell-cli"]);
        programs.into_iter().map(|unstripped| (unstripped.profile, unstripped.line)).collect()
    }

    #[test]
    fn a_table_of_its_own_says_strip_too() {
        let head = "[profile.release]\nstrip = \"symbols\"\n[profile.release.package]\n";
        assert_eq!(unstripped_programs(head), []);
        assert_eq!(unstripped_programs(&format!("{head}faer.opt-level = 0")), []);
        assert_eq!(
            unstripped_programs(&format!("{head}foretell-cli.opt-level = 1")),
            [("release".to_owned(), 1)]
        );
        let whole = "foretell-cli = { opt-level = 1, strip = \"symbols\" }";
        assert_eq!(unstripped_programs(&format!("{head}{whole}")), []);
        let other = "foretell-cli = { opt-level = 1, strip = \"debuginfo\" }";
        assert_eq!(unstripped_programs(&format!("{head}{other}")), [("release".to_owned(), 1)]);
    }

    #[test]
    fn a_profile_that_strips_nothing_asks_for_nothing() {
        assert_eq!(
            unstripped_programs(
                "[profile.dev]\nopt-level = 2\n[profile.dev.package]\nforetell-cli.opt-level = 0"
            ),
            []
        );
    }

    #[test]
    fn what_is_inherited_counts() {
        let release = "[profile.release]\nstrip = true\n[profile.release.package]\nforetell-cli = { opt-level = 1, strip = true }\n";
        let dist =
            "[profile.dist]\ninherits = \"release\"\n[profile.dist.package]\nforetell-cli.opt-level = 3\n";
        assert_eq!(unstripped_programs(&format!("{release}{dist}")), []);
        let unstripped = release.replace(", strip = true", "");
        let both = [("dist".to_owned(), 5), ("release".to_owned(), 1)];
        assert_eq!(unstripped_programs(&format!("{unstripped}{dist}")), both);
        let whole = "[profile.profiling]\ninherits = \"release\"\nstrip = false\n";
        assert_eq!(unstripped_programs(&format!("{release}{whole}")), [("profiling".to_owned(), 5)]);
    }
}
