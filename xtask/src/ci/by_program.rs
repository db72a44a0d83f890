//! Steps that run the test programs of the workspace, each timed.

use std::{
    io::{BufRead as _, BufReader, pipe},
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};

use super::times::Times;
use crate::{outcome::Outcome, programs, system::cargo};

/// A test program, and the arguments that choose its tests.
struct Chosen {
    package: &'static str,
    target: &'static str,
    arguments: &'static str,
}

const fn chosen(package: &'static str, target: &'static str, arguments: &'static str) -> Chosen {
    Chosen { package, target, arguments }
}

/// What computes, down from the kernels to a training: everything else calls these.
const SCALAR: &[Chosen] = &[
    chosen("foretell-simd", "lib", ""),
    chosen("foretell-gemm", "lib", ""),
    chosen("foretell-flash", "lib", ""),
    chosen("foretell-kernels", "lib", ""),
    chosen("foretell-optim", "lib", ""),
    chosen("foretell-amp", "lib", ""),
    chosen("foretell-models", "lib", ""),
    chosen("foretell-train", "lib", ""),
    chosen("foretell", "it", "conformance:: reproducible:: training::"),
];

/// Tests that train on panels.
const PANELS: &[Chosen] =
    &[chosen("foretell-classical", "lib", "tests::m4::"), chosen("foretell", "it", "etth1:: m4::")];

/// `cargo test --workspace`, its programs timed.
pub(super) fn tests(times: &mut Times) -> anyhow::Result<Outcome> {
    let start = Instant::now();
    let built = programs::build()?;
    times.add("test: build", start.elapsed());
    let name = |path: &str| {
        let program = built.tests.iter().find(|program| program.path.ends_with(path))?;
        Some(program.name())
    };
    // One pipe for both, so that the name of a program stands before its results.
    let (reader, writer) = pipe()?;
    let mut command = cargo();
    command.args(["test", "--workspace"]).stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn().context("cannot start cargo")?;
    // The command holds ends of the pipe, which would never end.
    drop(command);
    let mut running: Option<(String, Instant)> = None;
    for line in BufReader::new(reader).lines() {
        let line = line?;
        println!("{line}");
        if let Some(started) = started(&line) {
            let started = match started {
                Started::Program(path) => name(path).unwrap_or_else(|| path.to_owned()),
                Started::Docs(of) => format!("{} docs", of.replace('_', "-")),
            };
            if let Some((before, since)) = running.replace((started, Instant::now())) {
                times.add(format!("test: {before}"), since.elapsed());
            }
        }
    }
    if let Some((last, since)) = running {
        times.add(format!("test: {last}"), since.elapsed());
    }
    let status = child.wait()?;
    ensure!(status.success(), "`cargo test --workspace` failed ({status})");
    Ok(Outcome::Done)
}

#[derive(Debug, PartialEq)]
enum Started<'a> {
    /// The path of the program.
    Program(&'a str),
    /// The crate.
    Docs(&'a str),
}

/// What a line of `cargo test` says has been started.
fn started(line: &str) -> Option<Started<'_>> {
    let line = line.trim_start();
    if let Some(of) = line.strip_prefix("Doc-tests ") {
        return Some(Started::Docs(of));
    }
    let (_, path) = line.strip_prefix("Running ")?.split_once('(')?;
    Some(Started::Program(path.strip_suffix(')')?))
}

/// What computes, with kernels in scalar code: they are the fallback of every machine.
pub(super) fn scalar(times: &mut Times) -> anyhow::Result<Outcome> {
    run(times, "scalar", SCALAR, ("FORETELL_SIMD", Path::new("scalar")))
}

/// The tests of accuracy, with their panels.
pub(super) fn panels(times: &mut Times, folder: &Path) -> anyhow::Result<Outcome> {
    run(times, "accuracy", PANELS, ("FORETELL_DATA", folder))
}

fn run(
    times: &mut Times,
    step: &str,
    list: &[Chosen],
    (name, value): (&str, &Path),
) -> anyhow::Result<Outcome> {
    let built = programs::build()?;
    for Chosen { package, target, arguments } in list {
        let is = |program: &&programs::TestProgram| program.package == *package && program.target == *target;
        let program = built.tests.iter().find(is);
        let program = program.with_context(|| format!("there is no test program `{package} {target}`"))?;
        println!("{name}={} {} {arguments}", value.display(), program.name());
        let start = Instant::now();
        let mut command = program.command();
        let status = command.args(arguments.split_whitespace()).arg("--quiet").env(name, value).status();
        let time: Duration = start.elapsed();
        times.add(format!("{step}: {}", program.name()), time);
        let status = status.with_context(|| format!("cannot start {}", program.path.display()))?;
        ensure!(status.success(), "{} failed ({status})", program.name());
    }
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_cargo_say_what_is_started() {
        assert_eq!(
            started("     Running unittests src/lib.rs (target/debug/deps/foretell_amp-0123)"),
            Some(Started::Program("target/debug/deps/foretell_amp-0123"))
        );
        assert_eq!(started("   Doc-tests foretell_amp"), Some(Started::Docs("foretell_amp")));
        assert_eq!(started("running 3 tests"), None);
        assert_eq!(started("test result: ok. 3 passed; 0 failed"), None);
    }

    #[test]
    fn programs_that_are_chosen_exist() {
        let metadata = cargo_metadata::MetadataCommand::new().no_deps().exec().expect("metadata");
        for Chosen { package, target, .. } in SCALAR.iter().chain(PANELS) {
            let of_package = metadata.packages.iter().filter(|found| found.name.as_str() == *package);
            let mut targets = of_package.flat_map(|found| &found.targets).filter(|found| found.test);
            let is = |found: &cargo_metadata::Target| match *target {
                "lib" => found.is_lib(),
                name => found.name == name,
            };
            assert!(targets.any(is), "{package} {target}");
        }
    }
}
