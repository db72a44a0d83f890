//! `cargo xtask mpi`: training by several processes, built on the system's MPI library and tested under its `mpirun`.
//!
//! Where there is none nothing is built, and the step says so.

use std::{
    env,
    process::{Command, Stdio},
};

use anyhow::{Context, ensure};

use crate::outcome::Outcome;

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
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        let status = cargo.args(check.split_whitespace()).status().context("cannot start cargo")?;
        ensure!(status.success(), "`cargo {check}` failed ({status})");
    }
    Ok(Outcome::Done)
}

/// Whether there is a program of this name. Each of them has this argument.
fn is_installed(program: &str) -> bool {
    let mut asked = Command::new(program);
    asked.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    asked.status().is_ok_and(|status| status.success())
}
