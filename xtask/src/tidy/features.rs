//! A feature is declared where its code is, and by the programs and libraries that offer a choice; whatever is between has `default` alone,
//! which switches on the defaults of the crates below. So a program that depends on any one crate gets all that it can do, without
//! `default` everything below is off, and no crate forwards what it does not have.

use cargo_metadata::{Dependency, DependencyKind, Package};

use super::{
    house::{ASKED_FOR, CHOICE, LEFT_TO_USERS, MEASURES},
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
        let by_default = dependency.uses_default_features && used.features.contains_key("default");
        let named = match dependency.kind {
            DependencyKind::Development => left_to_others(&dependency.features),
            _ => dependency.features.clone(),
        };
        let mut findings: Vec<Finding> =
            forced(&package.name, &used.name, by_default, &named).into_iter().collect();
        let has_features = used.features.contains_key("default");
        if dependency.kind == DependencyKind::Normal && has_features && !offers_a_choice(package) {
            findings.extend(not_by_default(&package.name, &used.name, defaults(package)));
        }
        let line = manifest::line_of(manifest, &dependency.name);
        findings.into_iter().map(|(what, remedy)| manifest.violation(line, what, remedy)).collect()
    };
    let forwarded = package.features.iter().filter_map(|(feature, parts)| {
        (!offers_a_choice(package)).then(|| forwarded(&package.name, feature, parts)).flatten()
    });
    let costly = defaults(package)
        .iter()
        .filter(|_| !offers_a_choice(package) || package.name == "foretell")
        .filter_map(|feature| costly(&package.name, feature));
    let alone = forwarded.chain(costly).map(|(what, remedy)| manifest.violation(1, what, remedy));
    package.dependencies.iter().flat_map(of_one).chain(alone).collect()
}

/// The features that are on where no one says otherwise.
fn defaults(package: &Package) -> &[String] {
    package.features.get("default").map_or(&[], Vec::as_slice)
}

/// Whether those who use it choose features by its names: a program, or a library of [`CHOICE`].
fn offers_a_choice(package: &Package) -> bool {
    let is_program = package.targets.iter().any(|target| target.is_bin() || target.is_cdylib());
    is_program || CHOICE.iter().any(|name| package.name == *name)
}

/// The features that tests may not name, of those that they do: they name what is off by default.
fn left_to_others(named: &[String]) -> Vec<String> {
    let off = [LEFT_TO_USERS, ASKED_FOR].concat();
    named.iter().filter(|name| !off.contains(&name.as_str())).cloned().collect()
}

/// A feature that a library has on by default and should not.
fn costly(from: &str, feature: &str) -> Option<Finding> {
    [LEFT_TO_USERS, ASKED_FOR].concat().contains(&feature).then(|| {
        let what = format!("{from} has `{feature}` on by default");
        (what, "take it out of `default`; it costs those who do not need it a long build".to_owned())
    })
}

/// A dependency that leaves the one who stands above no choice.
fn forced(from: &str, used: &str, by_default: bool, named: &[String]) -> Option<Finding> {
    if by_default {
        let what = format!("{from} switches on the default features of {used}");
        Some((what, "say `default-features = false` in [workspace.dependencies]".to_owned()))
    } else if !named.is_empty() {
        let what = format!("{from} names features of {used}");
        Some((what, "leave them to [features], so that they can be switched off".to_owned()))
    } else {
        None
    }
}

/// A crate that, used alone, would leave the defaults of one below it off.
fn not_by_default(from: &str, used: &str, defaults: &[String]) -> Option<Finding> {
    let part = format!("{used}/default");
    (!defaults.contains(&part)).then(|| {
        (
            format!("{from} alone does not have the defaults of {used}"),
            format!("add `{part}` to its `default`"),
        )
    })
}

/// A feature that only switches on others of our crates, where no one chooses by its name.
fn forwarded(from: &str, feature: &str, parts: &[String]) -> Option<Finding> {
    let ours = |part: &String| part.starts_with("foretell-") || part.starts_with("foretell/");
    (feature != "default" && !parts.is_empty() && parts.iter().all(ours)).then(|| {
        let what = format!("`{feature}` of {from} only forwards {}", parts.join(", "));
        (what, "leave it to the crate that has the code, and to the programs that choose".to_owned())
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
    fn a_crate_alone_has_the_defaults_below_it() {
        let defaults = owned(&["amp", "foretell-simd/default"]);
        assert_eq!(not_by_default("foretell-nn", "foretell-simd", &defaults), None);
        let (what, remedy) = not_by_default("foretell-nn", "foretell-pool", &defaults).unwrap();
        assert_eq!(what, "foretell-nn alone does not have the defaults of foretell-pool");
        assert_eq!(remedy, "add `foretell-pool/default` to its `default`");
    }

    #[test]
    fn no_crate_between_forwards_a_feature() {
        let found = |feature, parts: &[&str]| forwarded("foretell-x", feature, &owned(parts));
        assert!(found("simd", &["foretell-simd/simd", "foretell-gemm/simd"]).is_some());
        assert_eq!(found("default", &["foretell-simd/default"]), None);
        assert_eq!(found("simd", &["dep:pulp"]), None);
        assert_eq!(found("pool", &[]), None);
    }

    #[test]
    fn libraries_leave_costly_features_to_their_users() {
        assert_eq!(costly("foretell-x", "simd"), None);
        assert_eq!(costly("foretell-x", "parquet").unwrap().0, "foretell-x has `parquet` on by default");
    }
}
