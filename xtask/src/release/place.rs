//! Empty places in which what is handed out is tried.

use std::{fs, path::Path, process::Command};

use anyhow::{Context, ensure};

use crate::system::{in_path, output};

/// A command that sees nothing but a folder: no library, no file and no variable of the system.
fn within(root: &Path) -> Option<Command> {
    let unshare = in_path("unshare")?;
    // Where names of users are not the system's to give, it is there for nothing.
    let lets = Command::new(&unshare).args(["--map-root-user", "true"]).output();
    lets.ok().filter(|tried| tried.status.success())?;
    let mut command = Command::new(unshare);
    // By unshare itself: without variables no path leads to `chroot`.
    command.args(["--map-root-user", "--root"]).arg(root).env_clear();
    Some(command)
}

/// Runs `foretell demo` with nothing but a folder, in which the program is at this path; what it says of itself. `None` where this system
/// lets none be alone.
pub(super) fn demo_alone(root: &Path, program: &str) -> anyhow::Result<Option<String>> {
    let Some(mut told) = within(root) else { return Ok(None) };
    let told = output(told.arg(program).arg("--version"))?;
    let mut demo = within(root).context("unshare is gone")?;
    output(demo.args([program, "demo", "--out", "/demo"]))?;
    forecast_is_there(&root.join("demo"))?;
    Ok(Some(told))
}

/// Runs `foretell demo` by a command, into a folder; what the program says of itself.
pub(super) fn demo(command: impl Fn() -> Command, home: &Path) -> anyhow::Result<String> {
    let told = output(command().arg("--version").current_dir(home))?;
    output(command().args(["demo", "--out", "demo"]).current_dir(home))?;
    forecast_is_there(&home.join("demo"))?;
    Ok(told)
}

fn forecast_is_there(folder: &Path) -> anyhow::Result<()> {
    let forecast = fs::read_to_string(folder.join("forecast.csv")).context("the demo wrote no forecast")?;
    let rows = forecast.lines().count();
    ensure!(rows == 13, "the demo forecast {} months in place of 12", rows.saturating_sub(1));
    Ok(())
}
