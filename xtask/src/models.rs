//! `cargo xtask models`: writes `docs/models.md`, the list of models as the command line tells it. A test
//! of the command line holds the committed file against it.

use std::{env, fs, process::Command};

use anyhow::{Context, bail};
use cargo_metadata::MetadataCommand;

pub(crate) fn run() -> anyhow::Result<()> {
    let metadata = MetadataCommand::new().no_deps().exec().context("cargo metadata failed")?;
    let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["run", "--package", "foretell-cli", "--", "models", "--markdown"])
        .stderr(std::process::Stdio::inherit())
        .output()
        .context("cannot start cargo")?;
    if !output.status.success() {
        bail!("`foretell models --markdown` failed ({})", output.status);
    }
    let path = metadata.workspace_root.join("docs/models.md");
    fs::write(&path, output.stdout).with_context(|| format!("cannot write {path}"))?;
    println!("{path}");
    Ok(())
}
