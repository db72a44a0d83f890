//! `cargo xtask wasm`: the facade without its default features is fit for `wasm32-unknown-unknown`.

use std::{env, path::Path, process::Command};

use anyhow::{Context, bail, ensure};

use crate::outcome::Outcome;

const TARGET: &str = "wasm32-unknown-unknown";

/// The features that a browser can have: one thread, and no tables but text.
const FEATURES: &str = "simd,faer,pool";

/// Crates that build or link C, beside those whose name ends in `-sys`.
const BUILDS_C: &[&str] = &["cc", "cmake", "pkg-config", "bindgen"];

pub(crate) fn run() -> anyhow::Result<Outcome> {
    let cargo = || Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let facade =
        ["--package", "foretell", "--target", TARGET, "--no-default-features", "--features", FEATURES];
    let tree = cargo()
        .args(["tree", "--edges", "normal,build", "--prefix", "none", "--format", "{p}"])
        .args(facade)
        .output()
        .context("cannot start cargo")?;
    ensure!(tree.status.success(), "cargo tree failed: {}", String::from_utf8_lossy(&tree.stderr));
    let foreign = foreign(&String::from_utf8_lossy(&tree.stdout));
    ensure!(
        foreign.is_empty(),
        "foretell needs a C compiler for {TARGET}, because of {}; put what needs them behind a feature",
        foreign.join(", ")
    );
    println!("no crate of {} builds C for {TARGET}", String::from_utf8_lossy(&tree.stdout).lines().count());
    if !is_installed()? {
        let why = format!("not compiled: {TARGET} is not installed; `rustup target add {TARGET}`");
        return Ok(Outcome::PassedOver(why));
    }
    let status = cargo().arg("check").args(facade).status().context("cannot start cargo")?;
    if !status.success() {
        bail!("foretell does not compile for {TARGET} ({status})");
    }
    Ok(Outcome::Done)
}

/// The crates of a listing, one `name version` a line, that build or link C.
fn foreign(listing: &str) -> Vec<String> {
    let names = listing.lines().filter_map(|line| line.split_whitespace().next());
    let foreign = names.filter(|name| name.ends_with("-sys") || BUILDS_C.contains(name));
    let mut foreign: Vec<String> = foreign.map(str::to_owned).collect();
    foreign.sort();
    foreign.dedup();
    foreign
}

/// Whether this toolchain has the target's standard library.
fn is_installed() -> anyhow::Result<bool> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let sysroot =
        Command::new(rustc).args(["--print", "sysroot"]).output().context("cannot start rustc")?.stdout;
    let sysroot = String::from_utf8(sysroot).context("the sysroot's path is not UTF-8")?;
    Ok(Path::new(sysroot.trim()).join("lib/rustlib").join(TARGET).is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_builds_c_is_found() {
        let listing = "foretell v0.1.0 (/home)\nzstd-sys v2.0.1\ncc v1.2.0\ncc v1.2.0 (*)\nccc v1.0.0\n\n";
        assert_eq!(foreign(listing), ["cc", "zstd-sys"]);
        assert!(foreign("csv v1.4.0\njiff v0.2.43\n").is_empty());
    }
}
