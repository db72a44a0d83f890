//! `cargo xtask mpi`: training by several processes, built on the system's MPI library and tested under its `mpirun`.
//!
//! Where there is none nothing is built, and the step says so.

use crate::{
    outcome::Outcome,
    system::{cargo, is_installed, run as run_command},
};

/// The programs that the library and the generation of its bindings need, and their packages in Debian and Ubuntu.
const NEEDS: [(&str, &str); 2] = [("mpirun", "openmpi-bin"), ("mpicc", "libopenmpi-dev libclang-dev")];

/// The commands of cargo. The whole workspace is named, so that all is built as its tests have it.
const CHECKS: [&str; 2] = [
    "clippy --workspace --features foretell-cli/mpi --lib --bins -- -D warnings",
    "test --workspace --features foretell-cli/mpi --test it -- several_machines::",
];

pub(crate) fn run() -> anyhow::Result<Outcome> {
    for (program, package) in NEEDS {
        if !is_installed(program) {
            return Ok(Outcome::PassedOver(format!("no {program} is installed ({package})")));
        }
    }
    for check in CHECKS {
        println!("cargo {check}");
        run_command(cargo().args(check.split_whitespace()))?;
    }
    Ok(Outcome::Done)
}
