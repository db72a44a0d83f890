//! `cargo xtask python`: the package, tested in a virtual environment with the library that the workspace's tests build, or as a wheel.
//!
//! The first run of an environment needs the index of packages; later ones use what it installed. Where there is neither Python nor
//! the index, nothing is tested, and the step says so.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail, ensure};
use cargo_metadata::MetadataCommand;
use clap::{Args, ValueEnum};

use crate::{outcome::Outcome, programs, system::remove};

/// The extras of the package that its tests need, and what builds it.
const PACKAGES: [&str; 9] =
    ["maturin>=1.9,<2", "mypy", "numpy", "pandas", "polars", "pyarrow", "pytest", "tqdm", "utilsforecast"];
/// The library of `crates/python`, as cargo calls it and as Python finds it in the package.
const LIBRARY: [&str; 2] = ["_foretell", "_foretell.abi3.so"];
/// The profile of a wheel that is handed out.
const HANDED_OUT: &str = "dist";

/// The tests that need engines, and the packages of these: an environment of its own, since they want older tables.
const ENGINE_TESTS: &str = "test_distributed.py";

/// Engines whose tables the package takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Engine {
    Ray,
    Dask,
    Spark,
}

impl Engine {
    fn packages(self) -> &'static [&'static str] {
        match self {
            Self::Ray => &["ray[data]"],
            Self::Dask => &["fugue[dask]"],
            Self::Spark => &["fugue[spark]"],
        }
    }
}

/// Arguments of `cargo xtask python`.
#[derive(Args)]
pub(crate) struct Options {
    /// Test tables of these engines alone (comma-separated).
    #[arg(long, value_name = "ENGINE", value_delimiter = ',')]
    engines: Vec<Engine>,
    /// Build a wheel by maturin with this profile of cargo, and install and test that; `dist` is what is handed out.
    #[arg(long, value_name = "PROFILE")]
    wheel: Option<String>,
    /// Arguments for pytest, such as `-- -k frames`.
    #[arg(last = true, value_name = "ARGUMENTS")]
    arguments: Vec<String>,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Outcome> {
    let Some(interpreter) = interpreter() else {
        return Ok(Outcome::PassedOver("no Python from 3.10 on with venv is installed".to_owned()));
    };
    let metadata = MetadataCommand::new().no_deps().exec().context("cargo metadata failed")?;
    let home = metadata.target_directory.join("python").into_std_path_buf();
    let package = metadata.workspace_root.join("python").into_std_path_buf();
    let (mut packages, mut place) = (PACKAGES.to_vec(), "environment".to_owned());
    if options.wheel.as_deref() == Some(HANDED_OUT) && cfg!(target_os = "linux") {
        packages.push("ziglang");
        place += "-zig";
    }
    for engine in &options.engines {
        packages.extend(engine.packages());
        place += &format!("-{engine:?}").to_lowercase();
    }
    let Some(python) = environment(&interpreter, &home.join(place), &packages)? else {
        return Ok(Outcome::PassedOver("the packages of its tests could not be installed".to_owned()));
    };
    // Where Python finds the package; a wheel is found in the environment.
    let site = home.join("site");
    remove(&site)?;
    match &options.wheel {
        Some(profile) => {
            let wheel = wheel(&python, &package, &home.join("wheels"), profile)?;
            let bytes = fs::metadata(&wheel)?.len();
            println!("{}: {:.1} MB", wheel.display(), bytes as f64 / 1e6);
            check_wheel(&python, &wheel)?;
            let pip = ["-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps", "--no-index"];
            done(Command::new(&python).args(pip).arg(&wheel), "installing the wheel")?;
        }
        None => {
            let library = programs::build()?.libraries.remove(LIBRARY[0]);
            let library = library.context("the tests of the workspace build no library for Python")?;
            copy(&package.join("foretell"), &site.join("foretell"))?;
            fs::copy(&library, site.join("foretell").join(LIBRARY[1]))?;
        }
    }
    // From elsewhere: in the package's own folder Python would import the files beside the tests, which have no engine.
    let mut tests = package.join("tests");
    match options.engines.is_empty() {
        true => done(
            Command::new(&python).args(["-m", "mypy", "--config-file", "mypy.ini"]).current_dir(&package),
            "mypy",
        )?,
        false => tests.push(ENGINE_TESTS),
    }
    let pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--durations=10"];
    done(
        Command::new(&python)
            .args(pytest)
            .arg(&tests)
            .args(&options.arguments)
            .env("PYTHONPATH", &site)
            .current_dir(&home),
        "the tests of python/tests",
    )?;
    Ok(Outcome::Done)
}

/// Copies a folder of the package's sources.
fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot list {}", from.display()))? {
        let (entry, name) = entry.map(|entry| (entry.path(), entry.file_name()))?;
        match entry.is_dir() {
            true if name == "__pycache__" => {}
            true => copy(&entry, &to.join(name))?,
            false => _ = fs::copy(&entry, to.join(name))?,
        }
    }
    Ok(())
}

/// A Python that can make virtual environments: `$PYTHON`, or what the system calls python3.
fn interpreter() -> Option<PathBuf> {
    let name = env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    let check = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))";
    let output = Command::new(&name).args(["-c", check]).output().ok()?;
    output.status.success().then(|| name.into())
}

/// The interpreter of a virtual environment of this name with these packages; none if they, or Python, cannot be had.
pub(crate) fn environment_of(
    target: &Path,
    name: &str,
    packages: &[&str],
) -> anyhow::Result<Option<PathBuf>> {
    match interpreter() {
        Some(interpreter) => environment(&interpreter, &target.join("python").join(name), packages),
        None => Ok(None),
    }
}

/// The interpreter of the virtual environment, with all packages that are needed; none if they cannot be had.
fn environment(interpreter: &Path, home: &Path, packages: &[&str]) -> anyhow::Result<Option<PathBuf>> {
    let python = home.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let list = home.join("packages.txt");
    let wanted = packages.join("\n");
    if fs::read_to_string(&list).is_ok_and(|installed| installed == wanted) && python.exists() {
        return Ok(Some(python));
    }
    done(
        Command::new(interpreter).args(["-m", "venv", "--clear"]).arg(home),
        "making a virtual environment",
    )?;
    let pip = Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(packages).status()?;
    if !pip.success() {
        return Ok(None);
    }
    fs::write(&list, wanted)?;
    Ok(Some(python))
}

/// Fails if a wheel lacks a licence, or would not install where docs/python.md says that it does.
fn check_wheel(python: &Path, wheel: &Path) -> anyhow::Result<()> {
    let list = Command::new(python).args(["-m", "zipfile", "-l"]).arg(wheel).output()?;
    let name = wheel.file_name().unwrap_or_default().to_string_lossy();
    let wrong = wrong_wheel(&name, &String::from_utf8_lossy(&list.stdout));
    ensure!(wrong.is_empty(), "{name}: {}", wrong.join("; "));
    // Tags say it of a wheel that is handed out; a build for tests is linked with the C library of this machine.
    let module = Command::new(python).args(["-c", NEWEST_SYMBOL]).arg(wheel).output()?;
    let newest = String::from_utf8_lossy(&module.stdout);
    let minor = newest.trim().parse().unwrap_or(0);
    ensure!(
        minor <= NEWEST_GLIBC,
        "{name} calls functions of glibc 2.{minor}, and machines with 2.{NEWEST_GLIBC} are to take it: objdump -T names them"
    );
    Ok(())
}

/// The newest glibc, 2.x, whose functions may be called. Linking with a C library of a version moves symbols to that version, which an older
/// one undoes ([`WHEEL_GLIBC`]); what is newer than 2.34 is a function that we call and that has changed since.
const NEWEST_GLIBC: u32 = 34;

/// The oldest glibc that a wheel which is handed out runs with.
const WHEEL_GLIBC: u32 = 28;

/// Prints the minor version of the newest glibc that the module of a wheel asks for.
const NEWEST_SYMBOL: &str = "import re, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
modules = (wheel.read(name) for name in wheel.namelist() if name.endswith('.so'))
print(max((int(minor) for module in modules for minor in re.findall(rb'GLIBC_2\\.(\\d+)', module)), default=0))";

/// What is wrong with a wheel of this name that holds the files of a list.
fn wrong_wheel(name: &str, list: &str) -> Vec<String> {
    let licences = ["LICENSE-MIT", "LICENSE-APACHE"].map(|licence| format!(".dist-info/licenses/{licence}"));
    let missing = licences.iter().filter(|file| !list.contains(file.as_str()));
    let mut wrong: Vec<String> = missing.map(|file| format!("no {file}")).collect();
    if let Some(newer) = oldest_glibc(name).filter(|oldest| *oldest > NEWEST_GLIBC) {
        wrong.push(format!("it is for glibc 2.{newer} and newer"));
    }
    wrong
}

/// The oldest glibc, 2.x, that the tags in a text are for.
pub(crate) fn oldest_glibc(tags: &str) -> Option<u32> {
    let versions = tags.split("manylinux_2_").skip(1);
    versions.filter_map(|rest| rest.split('_').next()?.parse().ok()).min()
}

/// Builds the wheel.
fn wheel(python: &Path, package: &Path, out: &Path, profile: &str) -> anyhow::Result<PathBuf> {
    remove(out)?;
    let build = ["-m", "maturin", "build", "--profile", profile, "--out"];
    let mut command = Command::new(python);
    command.args(build).arg(out).current_dir(package);
    if profile == HANDED_OUT && cfg!(target_os = "linux") {
        // Linked by zig with the symbols of that version. What links asks the interpreter in the path for it.
        finds_programs_of(&mut command, python)?;
        command.args(["--zig", "--compatibility", &format!("manylinux_2_{WHEEL_GLIBC}")]);
    }
    done(&mut command, "building the wheel")?;
    let mut wheels: Vec<PathBuf> =
        fs::read_dir(out)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    ensure!(wheels.len() == 1, "expected one wheel in {}, found {}", out.display(), wheels.len());
    Ok(wheels.remove(0))
}

/// Lets a command find the programs that packages brought into an interpreter's environment, and the interpreter, before those of the system.
pub(crate) fn finds_programs_of(command: &mut Command, python: &Path) -> anyhow::Result<()> {
    let own = python.parent().context("an interpreter lies in no folder")?.to_owned();
    let paths = env::var_os("PATH").unwrap_or_default();
    command.env("PATH", env::join_paths([own].into_iter().chain(env::split_paths(&paths)))?);
    Ok(())
}

fn done(command: &mut Command, what: &str) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("{what}: cannot start {command:?}"))?;
    if !status.success() {
        bail!("{what} failed ({status}): {command:?}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::wrong_wheel;

    #[test]
    fn a_wheel_has_licences_and_runs_with_an_older_libc() {
        let list = "foretell-0.1.0.dist-info/licenses/LICENSE-MIT\nforetell-0.1.0.dist-info/licenses/LICENSE-APACHE\n";
        let name = |platform: &str| format!("foretell-0.1.0-cp310-abi3-{platform}.whl");
        for platform in [
            "manylinux_2_28_x86_64",
            "manylinux_2_17_x86_64.manylinux2014_x86_64",
            "win_amd64",
            "linux_x86_64",
        ] {
            assert!(wrong_wheel(&name(platform), list).is_empty(), "{platform}");
        }
        let newer = name("manylinux_2_35_x86_64");
        assert_eq!(wrong_wheel(&newer, list), ["it is for glibc 2.35 and newer"]);
        let missing = wrong_wheel(&newer, "LICENSE-MIT");
        assert_eq!(missing.len(), 3, "{missing:?}");
    }
}
