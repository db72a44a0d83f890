//! `cargo xtask ci`: the checks that a change must pass, as a table of cargo commands.

use std::{
    env,
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use clap::{Args, builder::PossibleValuesParser};

/// Arguments of `cargo xtask ci`.
#[derive(Args)]
pub(crate) struct Options {
    /// Run only these steps (comma-separated).
    #[arg(long, value_name = "STEP", value_delimiter = ',', value_parser = step_names(), conflicts_with = "skip")]
    only: Vec<String>,
    /// Run all steps but these (comma-separated).
    #[arg(long, value_name = "STEP", value_delimiter = ',', value_parser = step_names())]
    skip: Vec<String>,
    /// Print the chosen steps and their commands, run nothing.
    #[arg(long)]
    list: bool,
}

struct Step {
    name: &'static str,
    /// `NAME=value`, or empty.
    environment: &'static str,
    /// The arguments of `cargo`.
    arguments: &'static str,
    /// Whether it runs only where it is named: it needs what few machines have.
    asked: bool,
}

/// Tests without any optional feature, of the packages whose code the features change and of the two that users see.
macro_rules! portable {
    ($tests:literal) => {
        concat!(
            "test --no-default-features -p foretell-simd -p foretell-pool -p foretell-gemm -p foretell-flash -p foretell-kernels \
             -p foretell-optim -p foretell-amp -p foretell-data -p foretell-models -p foretell-train -p foretell -p foretell-cli ",
            $tests
        )
    };
}

/// In the order they run: what fails soonest comes first.
const STEPS: &[Step] = &[
    step("fmt", "", "fmt --all -- --check"),
    step("tidy", "", "run --package xtask -- tidy"),
    step("clippy", "", "clippy --workspace --all-targets -- -D warnings"),
    step("test", "", "test --workspace"),
    // Instructions, peak memory and allocations of a training step, with the program that the tests ran.
    step("counted", "", "run --package xtask -- profile --counted --check NHITS"),
    // The program bears the library's name and would overwrite its pages; its docs are its `--help`.
    step("docs", "RUSTDOCFLAGS=-Dwarnings", "doc --workspace --exclude foretell-cli --no-deps"),
    // Features of each crate as a program outside the workspace gets them.
    step("standalone", "", "run --package xtask -- standalone"),
    step("package", "", "run --package xtask -- package"),
    step("wasm", "", "run --package xtask -- wasm"),
    step("python", "", "run --package xtask -- python"),
    step("mpi", "", "run --package xtask -- mpi"),
    step("engines", "", "run --package xtask -- python --engines ray,dask"),
    Step { asked: true, ..step("spark", "", "run --package xtask -- python --engines spark") },
    // Every optimisation feature off. The benches and xtask have none of their own, and a bench
    // switches on what it measures.
    step(
        "portable-clippy",
        "",
        "clippy --workspace --exclude xtask --exclude foretell-benches --no-default-features --all-targets -- -D warnings",
    ),
    // What the features change: the unit tests of the crates that have them, the models' comparison with PyTorch among
    // them, and of the tests of programs those that depend on a feature. All name the same packages, since Cargo unites
    // features over the packages that are named, and would build everything anew for others.
    // What dropout does to ten thousand passes is no matter of instructions, and takes 100 s in scalar ones.
    step("portable-unit", "", portable!("--lib -- --skip dropout_does_the_same")),
    step("portable-crates", "", portable!("--test pool --test stress --test torch --test attention")),
    step(
        "portable-program",
        "",
        portable!(
            "--test it -- border:: epilogue:: products:: conformance:: reproducible:: training:: the_bench \
             without_the_feature"
        ),
    ),
    // Whether programs with nothing and with everything compute the same.
    step("matrix", "", "run --package xtask -- bench-matrix --quick"),
];

const fn step(name: &'static str, environment: &'static str, arguments: &'static str) -> Step {
    Step { name, environment, arguments, asked: false }
}

fn step_names() -> PossibleValuesParser {
    PossibleValuesParser::new(STEPS.iter().map(|step| step.name))
}

impl Options {
    fn wants(&self, step: &Step) -> bool {
        let named = |list: &[String]| list.iter().any(|name| name == step.name);
        if self.only.is_empty() { !step.asked && !named(&self.skip) } else { named(&self.only) }
    }
}

impl Step {
    /// The step as one would type it.
    fn shown(&self) -> String {
        format!("{} cargo {}", self.environment, self.arguments).trim_start().to_owned()
    }

    fn run(&self) -> anyhow::Result<()> {
        let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(self.arguments.split_whitespace()).envs(self.environment.split_once('='));
        let status = command.status().with_context(|| format!("cannot start `{}`", self.shown()))?;
        if !status.success() {
            bail!(
                "`{}` failed ({status}); run it alone by `cargo xtask ci --only {}`",
                self.shown(),
                self.name
            );
        }
        Ok(())
    }
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let chosen: Vec<&Step> = STEPS.iter().filter(|step| options.wants(step)).collect();
    if options.list {
        for step in chosen {
            println!("{:16} {}", step.name, step.shown());
        }
        return Ok(());
    }
    let mut times = Vec::new();
    let mut outcome = Ok(());
    for step in &chosen {
        println!("\n=== {}: {}", step.name, step.shown());
        let start = Instant::now();
        outcome = step.run();
        times.push(start.elapsed());
        if outcome.is_err() {
            break;
        }
    }
    print!("{}", summary(&chosen, &times, outcome.is_ok()));
    outcome
}

/// One line a step. `times` holds the steps that ran; the last of them failed unless `passed`.
fn summary(chosen: &[&Step], times: &[Duration], passed: bool) -> String {
    let mut text = String::from("\n=== summary\n");
    for (i, step) in chosen.iter().enumerate() {
        let state = match times.get(i) {
            None => "not run".to_owned(),
            Some(time) => {
                let word = if passed || i + 1 < times.len() { "ok" } else { "FAILED" };
                format!("{word:7} {:6.1} s", time.as_secs_f64())
            }
        };
        text += &format!("{:16} {state}\n", step.name);
    }
    let total: Duration = times.iter().sum();
    text + &format!("{:16} {:14.1} s\n", "total", total.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn chosen(only: &[&str], skip: &[&str]) -> Vec<&'static str> {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let options = Options { only: owned(only), skip: owned(skip), list: false };
        STEPS.iter().filter(|step| options.wants(step)).map(|step| step.name).collect()
    }

    #[test]
    fn step_names_are_unique() {
        let names: HashSet<_> = STEPS.iter().map(|step| step.name).collect();
        assert_eq!(names.len(), STEPS.len());
    }

    #[test]
    fn portable_tests_share_one_build() {
        let portable = STEPS.iter().filter(|step| step.arguments.starts_with("test --no-default-features"));
        let packages = |step: &Step| -> Vec<&str> {
            step.arguments
                .split_whitespace()
                .skip(2)
                .take_while(|word| *word == "-p" || word.starts_with("foretell"))
                .collect()
        };
        let packages: HashSet<_> = portable.map(packages).collect();
        assert_eq!(packages.len(), 1, "{packages:?}");
    }

    #[test]
    fn only_and_skip_choose_steps() {
        let usual = STEPS.iter().filter(|step| !step.asked).count();
        assert_eq!(chosen(&[], &[]).len(), usual);
        assert_eq!(chosen(&["spark"], &[]), ["spark"]);
        assert_eq!(chosen(&["docs", "fmt"], &[]), ["fmt", "docs"]);
        let rest = chosen(&[], &["test"]);
        assert_eq!(rest.len(), usual - 1);
        assert!(!rest.contains(&"test"));
    }

    #[test]
    fn a_step_is_shown_as_one_would_type_it() {
        let find = |name| STEPS.iter().find(|step| step.name == name).unwrap();
        assert_eq!(find("test").shown(), "cargo test --workspace");
        assert_eq!(
            find("docs").shown(),
            "RUSTDOCFLAGS=-Dwarnings cargo doc --workspace --exclude foretell-cli --no-deps"
        );
    }

    #[test]
    fn the_summary_tells_ok_failed_and_not_run_apart() {
        let steps: Vec<&Step> = STEPS[..3].iter().collect();
        let text = summary(&steps, &[Duration::from_secs(2), Duration::from_millis(500)], false);
        let lines: Vec<&str> = text.trim().lines().collect();
        assert_eq!(lines[1], "fmt              ok         2.0 s");
        assert_eq!(lines[2], "tidy             FAILED     0.5 s");
        assert_eq!(lines[3], "clippy           not run");
        assert_eq!(lines[4], "total                       2.5 s");
    }
}
