//! Who may depend on whom: our own crates by the table of the house, some third parties by owner.

use cargo_metadata::{Dependency, DependencyKind, Package};

use super::{
    house::{FIXTURES, MEASURES, OWNED, ROOMS, Room},
    manifest,
    source::Source,
    violation::Violation,
};

pub(super) fn check(package: &Package, manifest: &Source) -> Vec<Violation> {
    let broken = |dependency: &Dependency| {
        let for_tests = dependency.kind == DependencyKind::Development;
        // A dependency with a path is one of ours.
        let (what, remedy) = if dependency.path.is_some() {
            own_edge(&package.name, &dependency.name, for_tests)
        } else {
            third_party_edge(&package.name, &dependency.name)
        }?;
        Some(manifest.violation(manifest::line_of(manifest, &dependency.name), what, remedy))
    };
    let unknown = ROOMS.iter().all(|room| room.name != package.name.as_str()).then(|| {
        let what = format!("{} has no floor", package.name);
        manifest.violation(1, what, "give it a row of ROOMS in xtask/src/tidy/house.rs")
    });
    unknown.into_iter().chain(package.dependencies.iter().filter_map(broken)).collect()
}

/// Uses that a row lists and the crate does not make: a later one of them would pass unseen. What measures may get any suite.
pub(super) fn unused(members: &[Package]) -> Vec<Violation> {
    let rooms = ROOMS.iter().filter(|room| room.name != MEASURES);
    let idle = rooms.flat_map(|room| {
        let package = members.iter().find(|package| package.name == room.name);
        let dependencies = package.map_or(&[][..], |package| &package.dependencies);
        idle(room, move |used| dependencies.iter().any(|dependency| dependency.name == used))
    });
    let violation = |(name, used): (&str, String)| Violation {
        path: "xtask/src/tidy/house.rs".to_owned(),
        line: 1,
        what: format!("{name} may use {used} and does not"),
        remedy: "take it out of the row in ROOMS".to_owned(),
    };
    idle.map(violation).collect()
}

fn idle(room: &Room, depends_on: impl Fn(&str) -> bool) -> impl Iterator<Item = (&str, String)> {
    room.uses().filter(move |used| !depends_on(used)).map(|used| (room.name, used))
}

/// The violation of one of our crates that uses another, and its remedy; `None` if the use is allowed.
///
/// Code uses the crates of its row; its tests also those on lower floors, and the fixtures' reader.
fn own_edge(from: &str, to: &str, for_tests: bool) -> Option<(String, String)> {
    let row = ROOMS.iter().find(|room| room.name == from)?;
    let below = ROOMS.iter().any(|room| room.name == to && room.floor < row.floor);
    let uses: Vec<String> = row.uses().collect();
    if uses.iter().any(|used| used == to) || for_tests && (below || to == FIXTURES) {
        return None;
    }
    let user = if for_tests { "its tests" } else { "its code" };
    let remedy = if uses.is_empty() {
        "it may use none of ours; move what it needs to the crate where it belongs".to_owned()
    } else {
        format!("it may use {}; move what it needs to one of these", uses.join(", "))
    };
    Some((format!("{from} may not use {to} in {user}"), remedy))
}

/// The same for a third party.
fn third_party_edge(from: &str, to: &str) -> Option<(String, String)> {
    let owned = OWNED.iter().find(|owned| owned.third_party == to)?;
    if from == owned.owner || from == MEASURES {
        return None;
    }
    let what = format!("only {} may name {to}: {}", owned.owner, owned.reason);
    Some((what, format!("use it through {}", owned.owner)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_uses_what_its_row_lists() {
        assert_eq!(own_edge("foretell-gemm", "foretell-simd", false), None);
        assert_eq!(own_edge("foretell", "foretell-neural", false), None);
        assert_eq!(own_edge("foretell-cli", "foretell", false), None);
    }

    #[test]
    fn code_does_not_reach_up_aside_or_past_its_row() {
        let (what, remedy) = own_edge("foretell-tensor", "foretell-autograd", false).unwrap();
        assert_eq!(what, "foretell-tensor may not use foretell-autograd in its code");
        assert!(remedy.contains("foretell-simd, foretell-pool, foretell-threads, foretell-gemm"), "{remedy}");
        assert!(own_edge("foretell-simd", "foretell-pool", false).is_some());
        assert!(own_edge("foretell-data", "foretell-tensor", false).is_some());
        assert!(own_edge("foretell-models", "foretell-checkpoint", false).is_some());
        assert!(own_edge("foretell-cli", "foretell-simd", false).is_some());
        // The facade speaks the traits of the seam: it knows no layers, no parameters, no training loop.
        assert!(own_edge("foretell", "foretell-nn", false).is_some());
        assert!(own_edge("foretell", "foretell-train", false).is_some());
        assert!(own_edge("xtask", "foretell-simd", false).is_some());
    }

    #[test]
    fn tests_also_use_lower_floors_and_the_fixtures() {
        assert_eq!(own_edge("foretell-models", "foretell-checkpoint", true), None);
        assert_eq!(own_edge("foretell-models", "foretell-kernels", true), None);
        assert!(own_edge("foretell-models", "foretell-train", true).is_some());
        assert!(own_edge("foretell-tensor", "foretell-kernels", true).is_some());
    }

    #[test]
    fn a_row_lists_no_more_than_is_used() {
        let nn = ROOMS.iter().find(|room| room.name == "foretell-nn").unwrap();
        assert_eq!(idle(nn, |_| true).count(), 0);
        let idle_edges: Vec<_> = idle(nn, |used| used != "foretell-pool").collect();
        assert_eq!(idle_edges, [("foretell-nn", "foretell-pool".to_owned())]);
    }

    #[test]
    fn third_parties_have_owners() {
        assert_eq!(third_party_edge("foretell-gemm", "faer"), None);
        assert_eq!(third_party_edge("foretell-benches", "faer"), None);
        assert_eq!(third_party_edge("foretell-nn", "serde"), None);
        for (from, to) in [
            ("foretell-tensor", "faer"),
            ("foretell-gemm", "pulp"),
            ("foretell-nn", "safetensors"),
            ("foretell-checkpoint", "candle-core"),
        ] {
            let (what, _) = third_party_edge(from, to).unwrap();
            assert!(what.starts_with("only foretell-") && what.contains(to), "{what}");
        }
    }
}
