//! What a change must pass, as a table.

/// When a step runs.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum When {
    /// For every change.
    Always,
    /// If a change concerns its paths, which `.ci/proofs.toml` names: it takes long and shows what few changes can break.
    Changed,
    /// Only where it is named, and in a run of everything, before a release: it builds all crates anew, or needs what few machines have.
    Asked,
}

/// What a step does.
#[derive(Clone, Copy)]
pub(super) enum Action {
    /// The arguments of `cargo`.
    Cargo(&'static str),
    /// The arguments of `cargo xtask`.
    Chore(&'static str),
    /// `cargo test --workspace`, each of its programs timed.
    Tests,
    /// Those of its programs that compute, with kernels in scalar code.
    Scalar,
    /// Those of its programs that have a panel to train on, with the panels.
    Panels,
}

pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) when: When,
    /// `NAME=value`, or empty.
    pub(super) environment: &'static str,
    pub(super) actions: &'static [Action],
}

use Action::{Cargo, Chore, Panels, Scalar, Tests};
use When::{Always, Asked, Changed};

const fn step(name: &'static str, when: When, actions: &'static [Action]) -> Step {
    Step { name, when, environment: "", actions }
}

/// In the order they run: first what shows a slip within a minute, then what fails most often.
pub(super) const STEPS: &[Step] = &[
    step("fmt", Always, &[Cargo("fmt --all -- --check")]),
    step("tidy", Always, &[Chore("tidy")]),
    step("clippy", Always, &[Cargo("clippy --workspace --all-targets -- -D warnings")]),
    step("test", Always, &[Tests]),
    step("python", Always, &[Chore("python")]),
    // The program bears the library's name and would overwrite its pages; its docs are its `--help`.
    Step {
        environment: "RUSTDOCFLAGS=-Dwarnings",
        ..step("docs", Always, &[Cargo("doc --workspace --exclude foretell-cli --no-deps")])
    },
    step("scalar", Changed, &[Scalar]),
    step("accuracy", Changed, &[Panels]),
    // Instructions, peak memory and allocations of a training step, with the program that the tests ran.
    step("counted", Changed, &[Chore("profile --counted --check NHITS")]),
    // The features' own code where they are off, and whether programs with nothing and with everything compute the same.
    step(
        "plain",
        Changed,
        &[
            Cargo(
                "clippy --workspace --exclude xtask --exclude foretell-benches --exclude foretell-matrix \
                 --no-default-features --lib --bins -- -D warnings",
            ),
            Cargo(
                "test --no-default-features -p foretell-simd -p foretell-pool -p foretell-threads -p foretell-gemm \
                 -p foretell-flash -p foretell-calendar -p foretell-tables -p foretell-language --lib",
            ),
            Chore("bench-matrix --quick"),
        ],
    ),
    step("engines", Changed, &[Chore("python --engines ray,dask")]),
    step("wheel", Changed, &[Chore("python --wheel dev -- -k readme")]),
    step("wasm", Changed, &[Chore("wasm")]),
    step("mpi", Changed, &[Chore("mpi")]),
    // Features of each crate as a program outside the workspace gets them.
    step("standalone", Asked, &[Chore("standalone")]),
    step("package", Asked, &[Chore("package")]),
    // Times depend on the machine: of no use beside other work.
    step("times", Asked, &[Chore("tests --check")]),
    step("spark", Asked, &[Chore("python --engines spark")]),
];

impl Action {
    /// As one would type it.
    fn shown(self) -> String {
        match self {
            Self::Cargo(arguments) => format!("cargo {arguments}"),
            Self::Chore(arguments) => format!("cargo xtask {arguments}"),
            Self::Tests => "cargo test --workspace".to_owned(),
            Self::Scalar => "FORETELL_SIMD=scalar cargo test --workspace, of what computes".to_owned(),
            Self::Panels => "FORETELL_DATA=... cargo test --workspace, of what trains on panels".to_owned(),
        }
    }
}

impl Step {
    /// As one would type it.
    pub(super) fn shown(&self) -> String {
        let actions: Vec<String> = self.actions.iter().map(|action| action.shown()).collect();
        format!("{} {}", self.environment, actions.join(" && ")).trim_start().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn step_names_are_unique() {
        let names: HashSet<_> = STEPS.iter().map(|step| step.name).collect();
        assert_eq!(names.len(), STEPS.len());
    }

    #[test]
    fn a_step_is_shown_as_one_would_type_it() {
        let find = |name| STEPS.iter().find(|step| step.name == name).unwrap();
        assert_eq!(find("test").shown(), "cargo test --workspace");
        assert_eq!(find("tidy").shown(), "cargo xtask tidy");
        assert_eq!(
            find("docs").shown(),
            "RUSTDOCFLAGS=-Dwarnings cargo doc --workspace --exclude foretell-cli --no-deps"
        );
        assert!(find("plain").shown().contains("--lib && cargo xtask bench-matrix --quick"));
    }
}
