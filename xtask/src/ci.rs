//! `cargo xtask ci`: the checks that a change must pass. `.ci/run` is this; docs/checks.md says what shows what.

mod by_program;
mod steps;
mod times;

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::ensure;
use clap::{Args, builder::PossibleValuesParser};

use crate::{
    outcome::Outcome,
    proofs::{FILE, Proofs, Verdict},
    system::{cargo, machine, run as run_command, target},
};

use steps::{Action, STEPS, Step, When};
use times::Times;

/// Lines of the table of times.
const SLOWEST: usize = 30;

/// Arguments of `cargo xtask ci`.
#[derive(Args)]
pub(crate) struct Options {
    /// Run only these steps (comma-separated).
    #[arg(long, value_name = "STEP", value_delimiter = ',', value_parser = step_names(), conflicts_with_all = ["skip", "all"])]
    only: Vec<String>,
    /// Run all steps but these (comma-separated).
    #[arg(long, value_name = "STEP", value_delimiter = ',', value_parser = step_names())]
    skip: Vec<String>,
    /// Run those as well that no change since they last passed concerns, and write down what passed: before a release.
    #[arg(long)]
    all: bool,
    /// Print the chosen steps with their commands, and why others are left out; run nothing.
    #[arg(long)]
    list: bool,
}

fn step_names() -> PossibleValuesParser {
    PossibleValuesParser::new(STEPS.iter().map(|step| step.name))
}

/// How a step ended, or why it has not begun.
#[derive(Debug, PartialEq)]
enum End {
    Passed(Duration),
    PassedOver(Duration, String),
    Failed(Duration),
    LeftOut(String),
    NotRun,
}

impl Options {
    /// Whether a step runs, and why.
    fn verdict(&self, step: &Step, proofs: &Proofs) -> Verdict {
        let named = |list: &[String]| list.iter().any(|name| name == step.name);
        let run = |why: &str| Verdict::Run(why.to_owned());
        let leave_out = |why: &str| Verdict::LeaveOut(why.to_owned());
        match step.when {
            _ if named(&self.only) => run("it is asked for"),
            _ if !self.only.is_empty() => leave_out("others are asked for"),
            _ if named(&self.skip) => leave_out("--skip names it"),
            _ if self.all => run("everything is asked for"),
            When::Always => run("every change needs it"),
            When::Changed => proofs.verdict(step.name),
            When::Asked => leave_out("it runs where it is asked for"),
        }
    }
}

/// The chores that are steps, as one would type their arguments.
#[cfg(test)]
pub(crate) fn chores() -> impl Iterator<Item = &'static str> {
    STEPS.iter().flat_map(|step| step.actions).filter_map(|action| match action {
        Action::Chore(arguments) => Some(*arguments),
        _ => None,
    })
}

/// Runs what `cargo xtask` would of these arguments.
type RunChore<'a> = &'a dyn Fn(&str) -> anyhow::Result<Outcome>;

/// The proofs of the workspace: an entry for each step that runs by change, and no other.
fn proofs() -> anyhow::Result<Proofs> {
    let proofs = Proofs::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))?;
    for proof in &proofs.proofs {
        let known = STEPS.iter().any(|step| step.name == proof.step && step.when == When::Changed);
        ensure!(known, "{FILE}: no step that runs by change is called {}", proof.step);
    }
    for step in STEPS.iter().filter(|step| step.when == When::Changed) {
        let known = proofs.proofs.iter().any(|proof| proof.step == step.name);
        ensure!(known, "{FILE} has no entry [{}], with what the step depends on", step.name);
    }
    Ok(proofs)
}

pub(crate) fn run(options: &Options, chore: RunChore<'_>) -> anyhow::Result<Outcome> {
    let mut proofs = proofs()?;
    let chosen: Vec<(&Step, Verdict)> =
        STEPS.iter().map(|step| (step, options.verdict(step, &proofs))).collect();
    if options.list {
        for (step, verdict) in &chosen {
            match verdict {
                Verdict::Run(why) => println!("{:10} {}\n{:10} since {why}", step.name, step.shown(), ""),
                Verdict::LeaveOut(why) => println!("{:10} left out: {why}", step.name),
            }
        }
        return Ok(Outcome::Done);
    }
    let file = target()?.join("ci-times.json");
    let mut times = Times::read(&file);
    let mut ends: Vec<(&str, End)> = Vec::new();
    let mut failure = None;
    for (step, verdict) in &chosen {
        let end = match verdict {
            Verdict::LeaveOut(why) => End::LeftOut(why.clone()),
            Verdict::Run(_) if failure.is_some() => End::NotRun,
            Verdict::Run(why) => {
                println!("\n=== {}: {}\n    since {why}", step.name, step.shown());
                let start = Instant::now();
                let outcome = step.run(&mut times, chore);
                let time = start.elapsed();
                times.add(step.name, time);
                match outcome {
                    Ok(Outcome::Done) => End::Passed(time),
                    Ok(Outcome::PassedOver(why)) => {
                        println!("passed over: {why}");
                        End::PassedOver(time, why)
                    }
                    Err(error) => {
                        failure = Some(error.context(format!(
                            "the step {0} failed; run it alone by `cargo xtask ci --only {0}`",
                            step.name
                        )));
                        End::Failed(time)
                    }
                }
            }
        };
        ends.push((step.name, end));
    }
    print!("{}{}", times.table(SLOWEST), summary(&ends));
    times.write(&file, &machine())?;
    if let Some(error) = failure {
        return Err(error);
    }
    if options.all {
        let passed = ends.iter().filter(|(name, end)| {
            let by_change = STEPS.iter().any(|step| step.name == *name && step.when == When::Changed);
            by_change && matches!(end, End::Passed(_))
        });
        let passed: Vec<&str> = passed.map(|(name, _)| *name).collect();
        println!("{}", proofs.write_passed(&passed)?);
    }
    Ok(Outcome::Done)
}

impl Step {
    /// Runs its actions one after the other; the first one that is passed over ends it.
    fn run(&self, times: &mut Times, chore: RunChore<'_>) -> anyhow::Result<Outcome> {
        for action in self.actions {
            let outcome = match action {
                Action::Cargo(arguments) => {
                    let mut command = cargo();
                    command.args(arguments.split_whitespace()).envs(self.environment.split_once('='));
                    run_command(&mut command)?;
                    Outcome::Done
                }
                Action::Chore(arguments) => chore(arguments)?,
                Action::Tests => by_program::tests(times)?,
                Action::Scalar => by_program::scalar(times)?,
                Action::Panels => match panels() {
                    Some(folder) => by_program::panels(times, &folder)?,
                    None => Outcome::PassedOver("no folder of panels is beside the checkout".to_owned()),
                },
            };
            if outcome != Outcome::Done {
                return Ok(outcome);
            }
        }
        Ok(Outcome::Done)
    }
}

/// The folder of the panels that the tests of accuracy train on: `FORETELL_DATA`, or beside the checkout.
fn panels() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let folder = std::env::var_os("FORETELL_DATA").map_or(beside, PathBuf::from);
    folder.canonicalize().ok().filter(|folder| folder.is_dir())
}

/// One line a step.
fn summary(ends: &[(&str, End)]) -> String {
    let mut text = String::from("\n=== summary\n");
    let mut total = Duration::ZERO;
    for (name, end) in ends {
        let (word, time, why) = match end {
            End::Passed(time) => ("ok", Some(time), ""),
            End::PassedOver(time, why) => ("nothing", Some(time), why.as_str()),
            End::Failed(time) => ("FAILED", Some(time), ""),
            End::LeftOut(why) => ("left out", None, why.as_str()),
            End::NotRun => ("not run", None, ""),
        };
        total += time.copied().unwrap_or_default();
        let time = time.map_or(String::new(), |time| format!("{:.1} s", time.as_secs_f64()));
        text += format!("{name:10} {word:8} {time:>9}  {why}").trim_end();
        text += "\n";
    }
    text + &format!("{:10} {:8} {:>9}\n", "total", "", format!("{:.1} s", total.as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(only: &[&str], skip: &[&str], all: bool) -> Vec<&'static str> {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let options = Options { only: owned(only), skip: owned(skip), all, list: false };
        let proofs = proofs().unwrap();
        let runs = |step: &&Step| matches!(options.verdict(step, &proofs), Verdict::Run(_));
        STEPS.iter().filter(runs).map(|step| step.name).collect()
    }

    #[test]
    fn only_skip_and_all_choose_steps() {
        assert_eq!(chosen(&["spark"], &[], false), ["spark"]);
        assert_eq!(chosen(&["docs", "fmt"], &[], false), ["fmt", "docs"]);
        assert_eq!(chosen(&[], &[], true).len(), STEPS.len());
        assert_eq!(chosen(&[], &["test"], true).len(), STEPS.len() - 1);
        let usual = chosen(&[], &[], false);
        assert!(usual.starts_with(&["fmt", "tidy"]) && !usual.contains(&"spark"), "{usual:?}");
    }

    #[test]
    fn the_summary_tells_the_ends_apart() {
        let ends = [
            ("fmt", End::Passed(Duration::from_secs(2))),
            ("mpi", End::PassedOver(Duration::from_millis(100), "no mpirun".to_owned())),
            ("test", End::Failed(Duration::from_millis(500))),
            ("wheel", End::LeftOut("nothing changed".to_owned())),
            ("docs", End::NotRun),
        ];
        let text = summary(&ends);
        let lines: Vec<&str> = text.trim().lines().collect();
        assert_eq!(lines[1], "fmt        ok           2.0 s");
        assert_eq!(lines[2], "mpi        nothing      0.1 s  no mpirun");
        assert_eq!(lines[3], "test       FAILED       0.5 s");
        assert_eq!(lines[4], "wheel      left out            nothing changed");
        assert_eq!(lines[5], "docs       not run");
        assert_eq!(lines[6], "total                   2.6 s");
    }
}
