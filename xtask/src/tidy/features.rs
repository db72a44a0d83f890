//! Whoever ships a crate of ours switches its features on, not its neighbours: otherwise switching an
//! optimisation off at the top leaves it on below, and what is measured or tested as off is not.

use cargo_metadata::{Dependency, Package};

use super::{Violation, house::MEASURES, manifest, source::Source};

pub(super) fn check(package: &Package, members: &[Package], manifest: &Source) -> Vec<Violation> {
    if package.name == MEASURES {
        return Vec::new();
    }
    let broken = |dependency: &Dependency| {
        let used = members.iter().find(|member| member.name == dependency.name)?;
        let has_default = used.features.get("default").is_some_and(|features| !features.is_empty());
        let (what, remedy) = verdict(dependency.uses_default_features && has_default, &dependency.features)?;
        let what = format!("{} {what} {}", package.name, dependency.name);
        Some(manifest.violation(manifest::line_of(manifest, &dependency.name), what, remedy))
    };
    package.dependencies.iter().filter_map(broken).collect()
}

/// What a dependency on one of ours does to its features, and what to do; nothing if it leaves them alone.
fn verdict(by_default: bool, named: &[String]) -> Option<(&'static str, &'static str)> {
    if by_default {
        Some((
            "switches on the default features of",
            "say `default-features = false` in [workspace.dependencies]",
        ))
    } else if !named.is_empty() {
        Some(("names features of", "forward them from [features], so that they can be switched off"))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_left_to_whoever_ships() {
        assert_eq!(verdict(false, &[]), None);
        assert!(verdict(true, &[]).unwrap().1.contains("default-features = false"));
        assert!(verdict(false, &["simd".to_owned()]).unwrap().1.contains("[features]"));
    }
}
