//! Each program of tests is linked and started, and each feature multiplies what can be built: both are counted.

use cargo_metadata::{Package, Target};

use super::{source::Source, violation::Violation};

/// Test programs of the workspace.
const MOST_PROGRAMS: usize = 55;
/// Features of all its packages together.
const MOST_FEATURES: usize = 90;

pub(super) fn check(members: &[Package]) -> Vec<Violation> {
    let targets = members.iter().flat_map(|package| &package.targets);
    let programs = targets.filter(|target| is_tested(target)).count();
    let features = members.iter().map(|package| package.features.len()).sum();
    let too_many = |count: usize, most: usize, what: &str, remedy: &str| {
        (count > most).then(|| {
            Source::new("Cargo.toml", "").violation(1, format!("{count} {what}, {most} at most"), remedy)
        })
    };
    let programs = too_many(
        programs,
        MOST_PROGRAMS,
        "test programs",
        "make a new file of tests a module of one that is there",
    );
    let features = too_many(
        features,
        MOST_FEATURES,
        "features",
        "declare a feature where it is used, and nowhere between",
    );
    programs.into_iter().chain(features).collect()
}

/// Whether `cargo test` builds a program of it.
fn is_tested(target: &Target) -> bool {
    target.test
}
