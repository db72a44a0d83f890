//! Each crate has the features of the crates of ours that it uses, on by default, and passes them down under the
//! same names; some that are costly are on by default in programs alone. So a program that depends on any one of them gets all that it can do, and switching a feature off at
//! the top switches it off below: otherwise what is measured or tested as off is not.

use cargo_metadata::{Dependency, DependencyKind, Package};

use super::{
    house::{ASKED_FOR, LEFT_TO_USERS, MEASURES},
    manifest,
    source::Source,
    violation::Violation,
};

/// A violation and its remedy.
type Finding = (String, String);

pub(super) fn check(package: &Package, members: &[Package], manifest: &Source) -> Vec<Violation> {
    if package.name == MEASURES {
        return Vec::new();
    }
    let of_one = |dependency: &Dependency| {
        let Some(used) = members.iter().find(|member| member.name == dependency.name) else {
            return Vec::new();
        };
        let by_default = dependency.uses_default_features && !defaults(used).is_empty();
        let named = match dependency.kind {
            DependencyKind::Development => left_to_others(&dependency.features),
            _ => dependency.features.clone(),
        };
        let mut findings: Vec<Finding> =
            forced(&package.name, &used.name, by_default, &named).into_iter().collect();
        if dependency.kind == DependencyKind::Normal {
            let passed = |feature: &str| package.features.get(feature).map(Vec::as_slice);
            let features = used.features.keys().filter(|feature| *feature != "default");
            let features = features.map(|feature| (&**feature, is_default(package, used, feature)));
            findings.extend(not_passed(&package.name, &used.name, features, passed));
        }
        let line = manifest::line_of(manifest, &dependency.name);
        findings.into_iter().map(|(what, remedy)| manifest.violation(line, what, remedy)).collect()
    };
    let mixed = package.features.iter().flat_map(|(feature, parts)| {
        let parts = parts.iter().filter_map(|part| part.split_once('/'));
        parts.filter_map(move |(used, part)| mixed(&package.name, feature, used.trim_end_matches('?'), part))
    });
    let costly = defaults(package)
        .iter()
        .filter(|_| !is_program(package) && !is_module(package))
        .filter_map(|feature| costly(&package.name, feature));
    let alone = mixed.chain(costly).map(|(what, remedy)| manifest.violation(1, what, remedy));
    package.dependencies.iter().flat_map(of_one).chain(alone).collect()
}

/// The features that are on where nobody says otherwise.
fn defaults(package: &Package) -> &[String] {
    package.features.get("default").map_or(&[], Vec::as_slice)
}

fn is_program(package: &Package) -> bool {
    package.targets.iter().any(|target| target.is_bin())
}

/// Whether other languages load it: it is built whole, as a program is, and has of what is costly what it uses.
fn is_module(package: &Package) -> bool {
    package.targets.iter().any(|target| target.is_cdylib())
}

/// Whether `package` has a feature of `used` on by default, as it should.
fn is_default(package: &Package, used: &Package, feature: &str) -> bool {
    match LEFT_TO_USERS.contains(&feature) {
        true => is_program(package),
        false if ASKED_FOR.contains(&feature) => false,
        false => defaults(used).iter().any(|name| name == feature),
    }
}

/// The features that tests may not name, of those that they do.
fn left_to_others(named: &[String]) -> Vec<String> {
    named.iter().filter(|name| !ASKED_FOR.contains(&name.as_str())).cloned().collect()
}

/// A feature that a library has on by default and should not.
fn costly(from: &str, feature: &str) -> Option<Finding> {
    [LEFT_TO_USERS, ASKED_FOR].concat().contains(&feature).then(|| {
        let what = format!("{from} has `{feature}` on by default");
        (what, "take it out of `default`; it costs those who do not need it a long build".to_owned())
    })
}

/// A dependency that leaves whoever stands above no choice.
fn forced(from: &str, used: &str, by_default: bool, named: &[String]) -> Option<Finding> {
    if by_default {
        let what = format!("{from} switches on the default features of {used}");
        Some((what, "say `default-features = false` in [workspace.dependencies]".to_owned()))
    } else if !named.is_empty() {
        let what = format!("{from} names features of {used}");
        Some((what, "pass them down from [features], so that they can be switched off".to_owned()))
    } else {
        None
    }
}

/// The features of `used` that `from` does not pass down, or not by default although it should: each with whether it
/// should. `passed` gives what a feature of `from` consists of.
fn not_passed<'a>(
    from: &str,
    used: &str,
    features: impl IntoIterator<Item = (&'a str, bool)>,
    passed: impl Fn(&str) -> Option<&'a [String]>,
) -> Vec<Finding> {
    let missing = |&(feature, by_default): &(&str, bool)| {
        let parts = [format!("{used}/{feature}"), format!("{used}?/{feature}")];
        let passes = passed(feature).is_some_and(|passed| passed.iter().any(|part| parts.contains(part)));
        let is_default =
            || passed("default").is_some_and(|defaults| defaults.iter().any(|name| name == feature));
        !passes || by_default && !is_default()
    };
    let finding = |(feature, by_default): (&str, bool)| {
        let write = format!("write `{feature} = [\"{used}/{feature}\"]` in [features]");
        match by_default {
            true => (
                format!("{from} does not pass `{feature}` down to {used} by default"),
                format!("{write} and add it to `default`"),
            ),
            false => (format!("{from} does not pass `{feature}` down to {used}"), write),
        }
    };
    features.into_iter().filter(missing).map(finding).collect()
}

/// A feature that switches on another one of a crate of ours: it could not be switched off alone.
fn mixed(from: &str, feature: &str, used: &str, part: &str) -> Option<Finding> {
    let ours = used == "foretell" || used.starts_with("foretell-");
    (ours && feature != part).then(|| {
        let what = format!("`{feature}` of {from} switches on `{part}` of {used}");
        (what, format!("let `{part}` of {from} do so"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn features_are_left_to_whoever_stands_above() {
        assert_eq!(forced("foretell-nn", "foretell-simd", false, &[]), None);
        let (_, remedy) = forced("foretell-nn", "foretell-simd", true, &[]).unwrap();
        assert!(remedy.contains("default-features = false"));
        let (_, remedy) = forced("foretell-nn", "foretell-simd", false, &owned(&["simd"])).unwrap();
        assert!(remedy.contains("[features]"));
    }

    #[test]
    fn default_features_are_passed_down_by_default() {
        let missing = |default: &[&str], simd: &[&str]| {
            let table = [("default", owned(default)), ("simd", owned(simd))];
            let passed = |name: &str| table.iter().find(|(key, _)| *key == name).map(|(_, parts)| &parts[..]);
            let missing = not_passed("foretell-x", "foretell-gemm", [("simd", true), ("faer", true)], passed);
            missing.into_iter().map(|(what, _)| what).collect::<Vec<_>>()
        };
        let simd = "foretell-x does not pass `simd` down to foretell-gemm by default";
        let faer = "foretell-x does not pass `faer` down to foretell-gemm by default";
        assert_eq!(missing(&["simd"], &["foretell-gemm/simd"]), [faer]);
        assert_eq!(missing(&["simd"], &["foretell-gemm?/simd"]), [faer]);
        assert_eq!(missing(&[], &["foretell-gemm/simd"]), [simd, faer]);
        assert_eq!(missing(&["simd"], &["foretell-simd/simd"]), [simd, faer]);
    }

    #[test]
    fn other_features_are_passed_down_too() {
        let missing = |parts: &[&str]| {
            let parts = owned(parts);
            let passed = |name: &str| (name == "parquet").then_some(&parts[..]);
            not_passed("foretell-x", "foretell-data", [("parquet", false)], passed)
        };
        assert_eq!(missing(&["foretell-data/parquet"]), []);
        assert_eq!(missing(&[])[0].0, "foretell-x does not pass `parquet` down to foretell-data");
    }

    #[test]
    fn libraries_leave_costly_features_to_their_users() {
        assert_eq!(costly("foretell-x", "simd"), None);
        assert_eq!(costly("foretell-x", "parquet").unwrap().0, "foretell-x has `parquet` on by default");
    }

    #[test]
    fn a_feature_switches_on_its_namesakes_only() {
        assert_eq!(mixed("foretell", "simd", "foretell-gemm", "simd"), None);
        assert_eq!(mixed("foretell-data", "parquet", "parquet", "arrow"), None);
        let (what, _) = mixed("foretell", "faer", "foretell-gemm", "simd").unwrap();
        assert_eq!(what, "`faer` of foretell switches on `simd` of foretell-gemm");
    }
}
