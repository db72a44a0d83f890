//! The steps of a release, in the order they are taken.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, ensure};

use super::{basis::Release, licences, program};
use crate::{
    outcome::Outcome,
    python::{environment_of, oldest_glibc},
    system::{empty, in_path, output, run, write},
    wasm::addon,
};

/// A step: what it is called, what it makes, and how.
pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) makes: &'static str,
    pub(super) make: fn(&Release<'_>) -> anyhow::Result<Outcome>,
}

const fn step(
    name: &'static str,
    makes: &'static str,
    make: fn(&Release<'_>) -> anyhow::Result<Outcome>,
) -> Step {
    Step { name, makes, make }
}

/// What is looked at comes before what takes long to build; sums are of all that is there.
pub(super) const STEPS: &[Step] = &[
    step("licences", "the crates of others with their licences, THIRD-PARTY.txt", licences::list),
    step("advisories", "nothing; asks whether a crate has a known weakness", advisories),
    step("semver", "nothing; asks which public names changed since the last tag", semver),
    step("systems", "nothing; compiles all for Windows and macOS, without linking", program::check),
    step("crates", "the package of each crate, built alone", crates),
    step("linux", "the static program for Linux, with completions and manual pages", |release| {
        program::archive(release, &program::LINUX)
    }),
    step("deb", "a Debian package of it, installed into an empty root", |release| {
        program::debian(release, &program::LINUX)
    }),
    step("linux-arm", "the static program for Linux on ARM", |release| {
        program::archive(release, &program::LINUX_ARM)
    }),
    step("windows", "the program for Windows", |release| program::archive(release, &program::WINDOWS)),
    step("macos", "the program for macOS", macos),
    step("wheel", "the wheel for Python on Linux", wheel),
    step("npm", "the npm package, and the page that needs no server", npm),
    step("addon", "the npm package of the addon for Node on Linux", addon),
    step("coverage", "nothing; counts the lines that the tests run", coverage),
    step("sums", "SHA256SUMS of what was made", sums),
];

/// Asks the database of advisories by cargo-deny, which fetches it.
fn advisories(_: &Release<'_>) -> anyhow::Result<Outcome> {
    if in_path("cargo-deny").is_none() {
        return passed_over("`cargo install cargo-deny`; it fetches RustSec's database from GitHub");
    }
    run(Command::new("cargo-deny").args(["check", "advisories"]))?;
    Ok(Outcome::Done)
}

/// Sets public names beside those of the last tag.
fn semver(_: &Release<'_>) -> anyhow::Result<Outcome> {
    let tags = output(Command::new("git").args(["tag", "--list", "v*", "--sort=-version:refname"]))?;
    let Some(tag) = tags.lines().next() else {
        return passed_over(
            "no release has a tag yet (v0.1.0 will be the first), so there is nothing to compare with",
        );
    };
    if in_path("cargo-semver-checks").is_none() {
        return passed_over("`cargo install cargo-semver-checks`");
    }
    run(Command::new("cargo-semver-checks").args(["semver-checks", "--workspace", "--baseline-rev", tag]))?;
    Ok(Outcome::Done)
}

fn crates(release: &Release<'_>) -> anyhow::Result<Outcome> {
    let outcome = (release.chore)("package")?;
    let packed = release.target.join("outside/package");
    for package in fs::read_dir(&packed).context("no crates were packaged")? {
        let package = package?;
        let name = package.file_name();
        if name.to_string_lossy().ends_with(&format!("-{}.crate", release.version)) {
            let to = release.out.join("crates");
            fs::create_dir_all(&to)?;
            fs::copy(package.path(), to.join(name)).context("cannot copy a crate")?;
        }
    }
    Ok(outcome)
}

fn macos(_: &Release<'_>) -> anyhow::Result<Outcome> {
    passed_over(
        "programs for macOS are linked with Apple's libraries, on a Mac: \
         `cargo build --locked --profile dist --package foretell-cli --target aarch64-apple-darwin`",
    )
}

/// Builds the wheel, asks auditwheel for which systems it is, and has it installed and its README run.
fn wheel(release: &Release<'_>) -> anyhow::Result<Outcome> {
    let built = (release.chore)(&format!("python --wheel {} -- -k readme", release.profile))?;
    if built != Outcome::Done {
        return Ok(built);
    }
    let folder = release.target.join("python/wheels");
    let wheel = files(&folder)?.pop().context("no wheel was built")?;
    let Some(python) = environment_of(&release.target, "audit", &["auditwheel"])? else {
        return passed_over("made and tried; auditwheel could not be installed from PyPI");
    };
    let told = output(Command::new(python).args(["-m", "auditwheel", "show"]).arg(&wheel))?;
    let tag = told.split('"').find(|word| word.starts_with("manylinux"));
    println!("auditwheel: {}", tag.unwrap_or("no tag of manylinux"));
    let name = wheel.file_name().context("a wheel has a name")?.to_string_lossy().into_owned();
    fs::copy(&wheel, release.out.join(&name)).context("cannot copy the wheel")?;
    // A build for tests has the C library of this machine. What is handed out may run with an older one than its name says.
    let needs = tag.and_then(oldest_glibc).context("auditwheel finds no tag of manylinux for the wheel")?;
    ensure!(
        release.profile != "dist" || oldest_glibc(&name).is_some_and(|promised| needs <= promised),
        "{name} needs glibc 2.{needs}, by auditwheel"
    );
    Ok(Outcome::Done)
}

/// A forecast by the package, in an empty folder.
const FORECAST: &str = "const { forecast } = await import(process.argv[2]);
const values = Array.from({ length: 48 }, (_, month) => 100 + month + 10 * (month % 12));
const { mean, lower } = await forecast(values, { h: 12, season: 12, levels: [80] });
if (mean.length !== 12 || !(lower[80][0] < mean[0])) throw new Error(`${mean}`);
console.log(`a forecast of ${mean.length} steps`);
";

/// Packs the npm package, installs it into an empty folder without a registry, and forecasts there.
fn npm(release: &Release<'_>) -> anyhow::Result<Outcome> {
    if in_path("npm").is_none() {
        return passed_over("`npm` is not installed");
    }
    let built = (release.chore)("wasm --build-only")?;
    if built != Outcome::Done {
        return Ok(built);
    }
    let package = packed(release, "foretell")?;
    forecast_by(release, &[package], "foretell")?;
    let page = release.out.join(format!("foretell-page-{}.tar.gz", release.version));
    output(Command::new("tar").arg("-czf").arg(&page).arg("-C").arg(&release.target).arg("page"))?;
    Ok(Outcome::Done)
}

/// Packs the addon, which needs glibc 2.28 as the wheel does, installs it with the package, and forecasts by it.
fn addon(release: &Release<'_>) -> anyhow::Result<Outcome> {
    let package = release.out.join(format!("foretell-{}.tgz", release.version));
    if !package.is_file() {
        return passed_over("the npm package, which calls it, was not made");
    }
    let built = match program::by_zig(release, "foretell-node", "x86_64-unknown-linux-gnu", ".2.28")? {
        Ok(built) => built,
        Err(why) => return passed_over(&why),
    };
    let folder = release.target.join("npm").join(addon::PACKAGE);
    addon::assemble(&release.root, &built.join("libforetell_node.so"), &folder)?;
    let own = packed(release, addon::PACKAGE)?;
    forecast_by(release, &[package, own], "foretell/native")?;
    Ok(Outcome::Done)
}

/// Packs the package of a folder in `target/npm`.
fn packed(release: &Release<'_>, name: &str) -> anyhow::Result<PathBuf> {
    let pack = ["pack", "--silent", "--pack-destination"];
    let folder = release.target.join("npm").join(name);
    output(Command::new("npm").args(pack).arg(&release.out).current_dir(folder))?;
    Ok(release.out.join(format!("{name}-{}.tgz", release.version)))
}

/// Installs packages into an empty folder, and forecasts there by an entry.
fn forecast_by(release: &Release<'_>, packages: &[PathBuf], entry: &str) -> anyhow::Result<()> {
    let home = empty(release.target.join("release-tried/npm"))?;
    write(&home.join("package.json"), "{ \"private\": true, \"type\": \"module\" }\n")?;
    write(&home.join("forecast.js"), FORECAST)?;
    let install = ["install", "--silent", "--offline", "--no-audit", "--no-fund"];
    output(Command::new("npm").args(install).args(packages).current_dir(&home))?;
    let told = output(Command::new("node").args(["forecast.js", entry]).current_dir(&home))?;
    print!("{entry}: {told}");
    Ok(())
}

fn coverage(_: &Release<'_>) -> anyhow::Result<Outcome> {
    if in_path("cargo-llvm-cov").is_none() {
        return passed_over(
            "`cargo install cargo-llvm-cov`, and `rustup component add llvm-tools`: the tools of rustc's own LLVM",
        );
    }
    run(Command::new("cargo-llvm-cov").args(["llvm-cov", "--workspace", "--summary-only"]))?;
    Ok(Outcome::Done)
}

fn sums(release: &Release<'_>) -> anyhow::Result<Outcome> {
    let mut names = Vec::new();
    for folder in ["", "crates"] {
        let place = release.out.join(folder);
        if place.is_dir() {
            for file in files(&place)? {
                let name = file.strip_prefix(&release.out)?.to_owned();
                if name != Path::new("SHA256SUMS") {
                    names.push(name);
                }
            }
        }
    }
    ensure!(!names.is_empty(), "nothing was made yet");
    let sums = output(Command::new("sha256sum").args(&names).current_dir(&release.out))?;
    write(&release.out.join("SHA256SUMS"), &sums)?;
    print!("{sums}");
    Ok(Outcome::Done)
}

/// The files of a folder, in order.
fn files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<_>>()?;
    files.retain(|file| file.is_file());
    files.sort();
    Ok(files)
}

fn passed_over(why: &str) -> anyhow::Result<Outcome> {
    Ok(Outcome::PassedOver(why.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn step_names_are_unique_and_sums_come_last() {
        let names: HashSet<_> = STEPS.iter().map(|step| step.name).collect();
        assert_eq!(names.len(), STEPS.len());
        assert_eq!(STEPS.last().map(|step| step.name), Some("sums"));
    }
}
