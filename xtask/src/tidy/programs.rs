//! Each program of tests is linked and started, and each feature multiplies what can be built: both are counted. What may be slow in
//! a program says why.

use std::collections::HashSet;

use cargo_metadata::{Package, Target};

use super::{source::Source, violation::Violation};
use crate::{
    programs::target_name,
    slow_tests::{FILE, Group},
};

/// Test programs of the workspace.
const MOST_PROGRAMS: usize = 55;
/// Features of all its packages together.
const MOST_FEATURES: usize = 87;

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

/// The violations of the list of slow tests: a program that is not there, or a group of all its tests, which gives no reason for any.
pub(super) fn check_slow(members: &[Package], groups: &[Group], file: &Source) -> Vec<Violation> {
    let of_package = |package: &Package| -> Vec<String> {
        let tested = package.targets.iter().filter(|target| is_tested(target));
        tested.map(|target| format!("{} {}", package.name, target_name(target))).collect()
    };
    let names: HashSet<String> = members.iter().flat_map(of_package).collect();
    let wrong = |group: &Group| {
        let what = match group {
            Group { program, .. } if !names.contains(program) => {
                format!("no test program is called {program}")
            }
            Group { tests, reason, .. }
                if tests.is_empty() || tests.contains(&String::new()) || reason.is_empty() =>
            {
                format!("{}: a reason holds for tests that it names", group.program)
            }
            _ => return None,
        };
        let line = file.text.lines().position(|line| line.contains(&group.program)).map_or(1, |at| at + 1);
        Some(file.violation(line, what, format!("keep {FILE} as the tests are")))
    };
    groups.iter().filter_map(wrong).collect()
}

/// Whether `cargo test` builds a program of it.
fn is_tested(target: &Target) -> bool {
    target.test
}
