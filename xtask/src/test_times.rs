//! `cargo xtask tests`: the workspace's test programs, run often, beside other work, and each test timed.
//!
//! A test that takes longer than a moment belongs to a group of `.ci/slow-tests.toml`, with a reason: every change waits for all of them.
//! A test that fails sometimes depends on how busy the machine is, or on its neighbours: here it has both.

use std::{
    path::Path,
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use clap::Args;

use crate::{
    programs::{self, TestProgram},
    slow_tests::{self, Group, may_be_slow},
};

/// Arguments of `cargo xtask tests`.
#[derive(Args)]
pub(crate) struct Options {
    /// Only programs whose name, such as `foretell-cli it`, contains one of these.
    programs: Vec<String>,
    /// Run each program this many times.
    #[arg(long, value_name = "N", default_value_t = 1)]
    times: usize,
    /// Keep this many threads busy meanwhile.
    #[arg(long, value_name = "N", default_value_t = 0)]
    beside: usize,
    /// Run the programs with the least priority.
    #[arg(long)]
    nice: bool,
    /// Tell the tests that take longer, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 300)]
    slow: u64,
    /// Tell this many of them at most.
    #[arg(long, value_name = "N", default_value_t = 40)]
    most: usize,
    /// Fail if a test takes longer and has no reason to, which .ci/slow-tests.toml would give. For an idle machine.
    #[arg(long, conflicts_with_all = ["beside", "nice"])]
    check: bool,
}

/// How long one test took.
#[derive(Debug, PartialEq)]
struct Timed {
    program: String,
    test: String,
    seconds: f64,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let groups = slow_tests::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))?;
    let built = programs::build()?;
    let wanted = |program: &&TestProgram| {
        options.programs.is_empty() || options.programs.iter().any(|name| program.name().contains(name))
    };
    let chosen: Vec<&TestProgram> = built.tests.iter().filter(wanted).collect();
    if chosen.is_empty() {
        bail!("no test program has {} in its name", options.programs.join(" or "));
    }
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..options.beside {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let outcome = all(options, &chosen, &groups);
        done.store(true, Ordering::Relaxed);
        outcome
    })
}

fn all(options: &Options, programs: &[&TestProgram], groups: &[Group]) -> anyhow::Result<()> {
    let (mut tests, mut times, mut failures) = (Vec::new(), Vec::new(), Vec::new());
    for program in programs {
        let start = Instant::now();
        for turn in 1..=options.times {
            let (text, passed) = run_one(program, options.nice)?;
            if turn == 1 {
                tests.extend(timed(&program.name(), &text));
            }
            if !passed {
                println!("{text}");
                failures.push(format!("{}, turn {turn}", program.name()));
            }
        }
        times.push((program.name(), start.elapsed() / options.times.max(1) as u32));
    }
    times.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    println!("\n=== seconds of programs");
    for (name, time) in &times {
        println!("{:8.2} {name}", time.as_secs_f64());
    }
    println!("{:8.2} all", times.iter().map(|(_, time)| *time).sum::<Duration>().as_secs_f64());
    tests.retain(|test| test.seconds * 1e3 > options.slow as f64);
    tests.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    let (with_reason, without): (Vec<_>, Vec<_>) =
        tests.iter().partition(|test| may_be_slow(groups, &test.program, &test.test));
    for (tests, what) in [(&with_reason, "for a reason"), (&without, "without one")] {
        println!("\n=== {} tests above {} ms {what}", tests.len(), options.slow);
        for Timed { program, test, seconds } in tests.iter().take(options.most) {
            println!("{seconds:8.2} {program}: {test}");
        }
    }
    if options.check && !without.is_empty() {
        failures.push(format!("{} tests are slow, and {} gives no reason", without.len(), slow_tests::FILE));
    }
    if !failures.is_empty() {
        bail!("failed: {}", failures.join("; "));
    }
    Ok(())
}

/// What a program printed, and whether all of its tests passed.
fn run_one(program: &TestProgram, nice: bool) -> anyhow::Result<(String, bool)> {
    let mut command = program.command();
    if nice {
        let mut niced = Command::new("nice");
        niced.args(["-n", "19"]).arg(&program.path).current_dir(&program.folder);
        niced.env("CARGO_MANIFEST_DIR", &program.folder);
        command = niced;
    }
    // The time of each test is not a stable option of the harness yet; this makes it take the option.
    command.env("RUSTC_BOOTSTRAP", "1").args(["-Zunstable-options", "--report-time"]);
    let output = command.output().with_context(|| format!("cannot start {}", program.path.display()))?;
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    Ok((text, output.status.success()))
}

/// The times in what a program printed: `test name ... ok <1.234s>`.
fn timed(program: &str, text: &str) -> Vec<Timed> {
    let one = |line: &str| {
        let (test, rest) = line.strip_prefix("test ")?.split_once(" ... ")?;
        let seconds = rest.rsplit_once('<')?.1.strip_suffix("s>")?.parse().ok()?;
        Some(Timed { program: program.to_owned(), test: test.to_owned(), seconds })
    };
    text.lines().filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_from_what_the_harness_prints() {
        let text = "\nrunning 2 tests\ntest a::b ... ok <0.012s>\ntest c - should panic ... FAILED <1.500s>\n\
                    test d ... ignored, minutes\n\ntest result: FAILED. 1 passed; finished in 1.51s\n";
        let test = |test: &str, seconds| Timed { program: "x lib".into(), test: test.into(), seconds };
        assert_eq!(timed("x lib", text), [test("a::b", 0.012), test("c - should panic", 1.5)]);
    }
}
