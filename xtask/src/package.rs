//! `cargo xtask package`: packages every crate that users may depend on, and builds each from its package.

use std::{
    collections::HashSet,
    env, fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, ensure};
use cargo_metadata::{Metadata, MetadataCommand, Package};

/// A package larger than this has something in it that users do not need;
const MOST_BYTES: u64 = 500_000;

/// but for that of the networks, which has the weights of Foretell0 (870 kB).
const WITH_WEIGHTS: (&str, u64) = ("foretell-pretrained", 1_000_000);

/// The target directory, below the workspace's, of what is built outside the workspace: one for all, so that what they
/// have in common is built once.
const OUTSIDE: &str = "outside";

/// The files of each package besides its sources.
const FILES: &[&str] = &["README.md", "LICENSE-MIT", "LICENSE-APACHE"];

pub(crate) fn run() -> anyhow::Result<()> {
    let metadata = MetadataCommand::new().no_deps().exec().context("cargo metadata failed")?;
    let packages: Vec<&Package> = published(&metadata).collect();
    let target = metadata.target_directory.join(OUTSIDE);
    forget_earlier(&metadata, &packages)?;
    let mut command = cargo_outside(&metadata);
    // Cargo builds each from its package, taking those of the others from the packages as well.
    command.args(["package", "--quiet", "--allow-dirty"]);
    packages.iter().for_each(|package| _ = command.args(["--package", &package.name]));
    let status = command.status().context("cannot start cargo")?;
    ensure!(status.success(), "cargo package failed ({status})");
    for package in packages {
        let list = cargo_outside(&metadata)
            .args(["package", "--quiet", "--allow-dirty", "--list", "--package", &package.name])
            .output()
            .context("cannot start cargo")?;
        ensure!(list.status.success(), "cargo package --list failed for {}", package.name);
        let list = String::from_utf8_lossy(&list.stdout);
        let wrong = wrong_files(&list);
        ensure!(wrong.is_empty(), "the package of {}: {}", package.name, wrong.join(", "));
        let file = format!("package/{}-{}.crate", package.name, package.version);
        let bytes = size(target.join(file).as_std_path())?;
        let most = if package.name == WITH_WEIGHTS.0 { WITH_WEIGHTS.1 } else { MOST_BYTES };
        ensure!(bytes <= most, "the package of {} takes {bytes} bytes; see its `include`", package.name);
        println!("{:20} {:3} files, {bytes:6} bytes", package.name, list.lines().count());
    }
    Ok(())
}

/// Removes what an earlier run unpacked and built of our packages: Cargo takes a package of the same name and version for the
/// same, and would build the others against old sources.
fn forget_earlier(metadata: &Metadata, packages: &[&Package]) -> anyhow::Result<()> {
    let cargo_home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let cargo_home =
        cargo_home.or_else(|| Some(env::home_dir()?.join(".cargo"))).context("there is no home")?;
    for kind in ["src", "cache"] {
        let registries = fs::read_dir(cargo_home.join("registry").join(kind));
        // The registry of a run is a directory, so its name begins with the dash that follows other registries' hosts.
        let local = registries.into_iter().flatten().flatten();
        let local = local.filter(|entry| entry.file_name().to_string_lossy().starts_with('-'));
        for (registry, package) in
            local.flat_map(|entry| packages.iter().map(move |package| (entry.path(), package)))
        {
            let name = format!("{}-{}", package.name, package.version);
            let archive = registry.join(format!("{name}.crate"));
            for place in [registry.join(name), archive] {
                let removed =
                    if place.is_dir() { fs::remove_dir_all(&place) } else { fs::remove_file(&place) };
                match removed {
                    Err(error) if error.kind() != ErrorKind::NotFound => {
                        return Err(error).with_context(|| format!("cannot remove {}", place.display()));
                    }
                    _ => {}
                }
            }
        }
    }
    let mut clean = cargo_outside(metadata);
    clean.args(["clean", "--quiet"]);
    packages.iter().for_each(|package| _ = clean.args(["--package", &package.name]));
    let status = clean.status().context("cannot start cargo")?;
    ensure!(status.success(), "cargo clean failed ({status})");
    Ok(())
}

/// Cargo for what is built outside the workspace; without debug information, which would take gigabytes.
pub(crate) fn cargo_outside(metadata: &Metadata) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .env("CARGO_TARGET_DIR", metadata.target_directory.join(OUTSIDE))
        .env("CARGO_PROFILE_DEV_DEBUG", "false")
        .env("CARGO_INCREMENTAL", "0");
    command
}

fn size(path: &Path) -> anyhow::Result<u64> {
    let metadata = path.metadata().with_context(|| format!("there is no {}", path.display()))?;
    Ok(metadata.len())
}

/// The packages of the workspace that go to a registry.
pub(crate) fn published(metadata: &Metadata) -> impl Iterator<Item = &Package> {
    metadata.packages.iter().filter(|package| is_published(package))
}

/// Whether a package goes to a registry.
pub(crate) fn is_published(package: &Package) -> bool {
    package.publish.as_ref().is_none_or(|to| !to.is_empty())
}

/// Complaints about files that are missing in a package, and about those that should not be in it.
fn wrong_files(list: &str) -> Vec<String> {
    let files: HashSet<&str> = list.lines().collect();
    let missing = FILES.iter().filter(|file| !files.contains(*file)).map(|file| format!("no {file}"));
    let spare = files.iter().filter(|file| file.starts_with("tests/") || file.contains("fixtures"));
    missing.chain(spare.map(|file| format!("{file} is for tests"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_has_licences_and_a_readme_and_no_fixtures() {
        let list = "Cargo.toml\nLICENSE-APACHE\nLICENSE-MIT\nREADME.md\nsrc/lib.rs\n";
        assert!(wrong_files(list).is_empty());
        assert_eq!(wrong_files(&list.replace("README.md\n", "")), ["no README.md"]);
        let wrong = wrong_files(&format!("{list}tests/fixtures/a.json\n"));
        assert_eq!(wrong, ["tests/fixtures/a.json is for tests"]);
    }
}
