//! `cargo xtask models`: writes `docs/models.md`, the list of models as the command line tells it. A test
//! of the command line holds the committed file against it.

use std::{fs, process::Command};

use anyhow::{Context, bail};
use cargo_metadata::MetadataCommand;

use crate::programs;

pub(crate) fn run() -> anyhow::Result<()> {
    let metadata = MetadataCommand::new().no_deps().exec().context("cargo metadata failed")?;
    // The program that the tests have built: by itself it would be one of other features, and most crates built once more.
    let program = &programs::build()?.programs["foretell"];
    let output = Command::new(program)
        .args(["models", "--markdown"])
        .stderr(std::process::Stdio::inherit())
        .output()
        .with_context(|| format!("cannot start {}", program.display()))?;
    if !output.status.success() {
        bail!("`foretell models --markdown` failed ({})", output.status);
    }
    let path = metadata.workspace_root.join("docs/models.md");
    fs::write(&path, output.stdout).with_context(|| format!("cannot write {path}"))?;
    println!("{path}");
    Ok(())
}
