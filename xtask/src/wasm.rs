//! `cargo xtask wasm`: the module for browsers and Node, the npm package around it, and its tests in Node.
//!
//! The package is put together in `target/npm/foretell`, and in `target/page` the page of the server as files that need none.

pub(crate) mod addon;
mod package;
mod toolchain;

use std::{env, path::Path, process::Command};

use anyhow::{Context, ensure};
use cargo_metadata::MetadataCommand;

use self::toolchain::TARGET;
use crate::{outcome::Outcome, programs, system::is_installed};

/// The crate of the modules.
const MODULE: [&str; 6] =
    ["--package", "foretell-wasm", "--target", TARGET, "--no-default-features", "--features"];

/// Files of the package that are modules, and the features of each that a browser can have: one thread, tables of text and workbooks.
/// Products have kernels of their own at its level, so that faer would serve nothing.
const MODULES: [(&str, &str); 2] = [
    ("foretell.wasm", "foretell/excel,foretell/flash,foretell/networks,foretell/pool,foretell/simd"),
    ("foretell-slim.wasm", "foretell/pool,foretell/simd"),
];

/// Crates that build or link C, beside those whose name ends in `-sys`.
const BUILDS_C: &[&str] = &["cc", "cmake", "pkg-config", "bindgen"];

/// Arguments of `cargo xtask wasm`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Build the package and leave out its tests.
    #[arg(long)]
    build_only: bool,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Outcome> {
    check_no_c()?;
    let metadata = MetadataCommand::new().no_deps().exec().context("cargo metadata failed")?;
    let (root, target) = (metadata.workspace_root.as_std_path(), metadata.target_directory.as_std_path());
    let flags = match toolchain::flags()? {
        Ok(flags) => flags,
        Err(why) => return Ok(Outcome::PassedOver(format!("not compiled: {why}"))),
    };
    let directory = package::assemble(root, target)?;
    for (name, features) in MODULES {
        package::place(root, &build(target, &flags, features)?, &directory.join("src").join(name))?;
    }
    package::finish(root, target, &directory)?;
    if options.build_only {
        return Ok(Outcome::Done);
    }
    if !is_installed("node") {
        return Ok(Outcome::PassedOver("built, not tested: no node is installed".to_owned()));
    }
    // The addon with them: beside the package, where Node finds it.
    let library = programs::build()?.libraries.remove("foretell_node");
    let library = library.context("the tests of the workspace build no addon for Node")?;
    addon::assemble(root, &library, &target.join("npm/node_modules").join(addon::PACKAGE))?;
    package::test(root, target, &directory, &target.join("debug"))?;
    Ok(Outcome::Done)
}

fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // The features of other packages are none of the module's.
    cargo.env_remove("CARGO_RESOLVER_FEATURE_UNIFICATION").env_remove("RUSTFLAGS");
    cargo
}

/// An error if a crate of the module needs a compiler of C.
fn check_no_c() -> anyhow::Result<()> {
    let tree = cargo()
        .args(["tree", "--edges", "normal,build", "--prefix", "none", "--format", "{p}"])
        .args(MODULE)
        .arg(MODULES[0].1)
        .output()
        .context("cannot start cargo")?;
    ensure!(tree.status.success(), "cargo tree failed: {}", String::from_utf8_lossy(&tree.stderr));
    let foreign = foreign(&String::from_utf8_lossy(&tree.stdout));
    ensure!(
        foreign.is_empty(),
        "foretell-wasm needs a C compiler for {TARGET}, because of {}; put what needs them behind a feature",
        foreign.join(", ")
    );
    println!("no crate of {} builds C for {TARGET}", String::from_utf8_lossy(&tree.stdout).lines().count());
    Ok(())
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

/// The module with these features, built.
fn build(target: &Path, flags: &str, features: &str) -> anyhow::Result<std::path::PathBuf> {
    let directory = target.join("wasm");
    let status = cargo()
        .arg("build")
        .args(MODULE)
        .args([features, "--profile", "wasm"])
        .env("CARGO_TARGET_DIR", &directory)
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", flags)
        .status()
        .context("cannot start cargo")?;
    ensure!(status.success(), "the module does not compile for {TARGET} ({status})");
    Ok(directory.join(TARGET).join("wasm/foretell_wasm.wasm"))
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
