//! The npm package: its files, their sizes, its tests.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, ensure};

use crate::system::is_installed;

/// What the optimiser of modules is told: what the compiler emits may stay.
const OPTIMISER: [&str; 8] = [
    "-O3",
    "--enable-simd",
    "--enable-bulk-memory",
    "--enable-sign-ext",
    "--enable-nontrapping-float-to-int",
    "--enable-mutable-globals",
    "--enable-reference-types",
    "--enable-multivalue",
];

/// Puts the package together in `target/npm/foretell`, but for its modules.
pub(super) fn assemble(root: &Path, target: &Path) -> anyhow::Result<PathBuf> {
    let (source, directory) = (root.join("npm"), target.join("npm/foretell"));
    if directory.exists() {
        fs::remove_dir_all(&directory).context("cannot replace the package")?;
    }
    copy(&source, &directory)?;
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        fs::copy(root.join(licence), directory.join(licence)).context("cannot copy a licence")?;
    }
    Ok(directory)
}

/// Places a module in the package.
pub(super) fn place(root: &Path, module: &Path, placed: &Path) -> anyhow::Result<()> {
    match optimiser(&root.join("npm")) {
        Some(optimiser) => {
            let status = Command::new(optimiser).args(OPTIMISER).arg(module).arg("-o").arg(placed).status();
            ensure!(status.context("cannot start wasm-opt")?.success(), "wasm-opt failed");
        }
        None => {
            println!("not optimised further: there is no wasm-opt; `npm install binaryen` in npm/ has it");
            fs::copy(module, placed).context("cannot copy the module")?;
        }
    }
    Ok(())
}

/// Writes what is made of the modules: one of them as text, and in `target/page` the page that forecasts by itself.
pub(super) fn finish(root: &Path, target: &Path, directory: &Path) -> anyhow::Result<()> {
    if is_installed("node") {
        let script = root.join("npm/tests/inline.mjs");
        let status = Command::new("node").arg(script).arg(directory).status();
        ensure!(status.context("cannot start node")?.success(), "the module could not be written as text");
        let (script, frame) = (root.join("npm/page/build.mjs"), root.join("crates/server/src/page"));
        let status =
            Command::new("node").arg(script).arg(directory).arg(frame).arg(target.join("page")).status();
        ensure!(status.context("cannot start node")?.success(), "the page could not be put together");
    }
    println!("the package is {}", directory.display());
    Ok(())
}

/// Runs the package's tests, of which some compare it with the native program, and those of the page, which need a browser as well.
pub(super) fn test(root: &Path, target: &Path, directory: &Path, programs: &Path) -> anyhow::Result<()> {
    let tests = root.join("npm/tests");
    let mut files: Vec<PathBuf> = fs::read_dir(&tests)
        .context("npm/tests is not there")?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.to_string_lossy().ends_with(".test.js"))
        .collect();
    files.sort();
    let run = |files: &[PathBuf], entry: &str| {
        let status = Command::new("node")
            .arg("--expose-gc")
            .arg("--test")
            .args(files)
            .env("FORETELL_ENTRY", entry)
            .env("FORETELL_PACKAGE", directory)
            .env("FORETELL_PAGE", target.join("page"))
            .env("FORETELL_NATIVE", programs.join("examples/answer"))
            .env("FORETELL_PROGRAM", programs.join("foretell"))
            .status()
            .context("cannot start node")?;
        ensure!(status.success(), "the package's tests failed with {entry} ({status})");
        Ok(())
    };
    run(&files, "node.js")?;
    for entry in ["slim-node.js", "native-node.js"] {
        run(&["api.test.js", "models.test.js"].map(|file| tests.join(file)), entry)?;
    }
    Ok(())
}

/// `wasm-opt`, installed or npm's.
fn optimiser(source: &Path) -> Option<PathBuf> {
    let own = source.join("node_modules/.bin/wasm-opt");
    [PathBuf::from("wasm-opt"), own].into_iter().find(|path| is_installed(&path.to_string_lossy()))
}

/// Copies a folder without what belongs to development.
fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        let (name, place) = (entry.file_name(), to.join(entry.file_name()));
        if ["node_modules", "page", "tests", "package-lock.json"].iter().any(|other| name == *other) {
            continue;
        }
        match entry.file_type()?.is_dir() {
            true => copy(&entry.path(), &place)?,
            false => drop(fs::copy(entry.path(), place).context("cannot copy a file of the package")?),
        }
    }
    Ok(())
}
