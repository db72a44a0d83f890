//! `cargo xtask asan`: the suites of the libraries that may have `unsafe` code, under AddressSanitizer.
//!
//! Sanitizers are an unstable option of the compiler, so a nightly one builds them, in a target directory of its own.

use std::{fs, path::Path, process::Command};

use anyhow::{Context, bail};
use cargo_metadata::{Metadata, MetadataCommand};
use clap::Args;

use crate::tidy;

const TOOLCHAIN: &str = "nightly";

/// Arguments of `cargo xtask asan`.
#[derive(Args)]
pub(crate) struct Options {
    /// The packages to test; by default all libraries that may have `unsafe` code.
    #[arg(value_name = "PACKAGE")]
    packages: Vec<String>,
    /// Arguments for `cargo test`, such as `-- --nocapture`.
    #[arg(last = true, value_name = "ARGUMENTS")]
    arguments: Vec<String>,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let host = host().map_err(|missing| anyhow::anyhow!("asan needs what is not installed: {missing}"))?;
    let metadata = MetadataCommand::new().no_deps().exec().context("cargo metadata failed")?;
    let all = libraries(&metadata);
    let chosen = if options.packages.is_empty() { &all } else { &options.packages };
    if let Some(other) = chosen.iter().find(|package| !all.contains(package)) {
        bail!("{other} is no library with `unsafe` code; these are: {}", all.join(", "));
    }
    let mut cargo = Command::new("rustup");
    // With a target named, build scripts and procedural macros are built without the sanitizer.
    cargo
        .args(["run", TOOLCHAIN, "cargo", "test", "--no-fail-fast", "--lib", "--tests", "--target", &host])
        .args(chosen.iter().flat_map(|package| ["--package", package]))
        .args(&options.arguments)
        .env("RUSTFLAGS", "-Zsanitizer=address")
        .env("CARGO_TARGET_DIR", metadata.target_directory.join("asan"));
    println!("{cargo:?}");
    let status = cargo.status().context("cannot start rustup")?;
    if !status.success() {
        bail!("the suites fail under AddressSanitizer ({status})");
    }
    Ok(())
}

/// The libraries of the workspace that may have `unsafe` code.
fn libraries(metadata: &Metadata) -> Vec<String> {
    let packages = metadata.packages.iter().filter(|package| tidy::may_be_unsafe(&package.name));
    let libraries = packages.filter(|package| package.targets.iter().any(|target| target.is_lib()));
    libraries.map(|package| package.name.to_string()).collect()
}

/// The target of this machine, if a compiler with AddressSanitizer for it is installed; what is missing otherwise.
fn host() -> Result<String, String> {
    let version = rustc(&["-vV"])?;
    let host = host_of(&version).ok_or_else(|| format!("no target in what `rustc -vV` says: {version}"))?;
    let libraries = Path::new(&rustc(&["--print", "sysroot"])?).join("lib/rustlib").join(host).join("lib");
    let mut files = fs::read_dir(&libraries).into_iter().flatten().flatten();
    if files.any(|file| file.file_name().to_string_lossy().ends_with("_rt.asan.a")) {
        Ok(host.to_owned())
    } else {
        let place = libraries.display();
        Err(format!("AddressSanitizer's library in {place}; rustup installs it where {host} has it"))
    }
}

/// The output of the nightly compiler, or how to get one.
fn rustc(arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("rustup").args(["run", TOOLCHAIN, "rustc"]).args(arguments).output();
    let output =
        output.map_err(|error| format!("rustup ({error}); https://rustup.rs says how to install it"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        let error = String::from_utf8_lossy(&output.stderr);
        Err(format!("a nightly compiler; `rustup toolchain install {TOOLCHAIN}` ({})", error.trim()))
    }
}

/// The target that `rustc -vV` names.
fn host_of(version: &str) -> Option<&str> {
    version.lines().find_map(|line| line.strip_prefix("host: "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_libraries_with_unsafe_code_are_tested() {
        let metadata = MetadataCommand::new().no_deps().exec().unwrap();
        let packages = libraries(&metadata);
        for package in ["foretell-simd", "foretell-pool", "foretell-gemm", "foretell-flash"] {
            assert!(packages.iter().any(|name| name == package), "{package}: {packages:?}");
        }
        assert!(!packages.iter().any(|name| name == "foretell-nn" || name == "foretell-cli"), "{packages:?}");
    }

    #[test]
    fn the_target_is_what_the_compiler_names() {
        let version =
            "rustc 1.97.0-nightly (e50aa6fba 2026-05-19)\nbinary: rustc\nhost: x86_64-unknown-linux-gnu\n";
        assert_eq!(host_of(version), Some("x86_64-unknown-linux-gnu"));
        assert_eq!(host_of("no compiler"), None);
    }
}
