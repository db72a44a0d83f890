//! The pages for beginners: each command in them runs, in the order in which it stands.
#![cfg(unix)]

use std::path::Path;
use std::process::{Command, Stdio};

use crate::test_directory::{TestDirectory, date, stderr, wave};

const GUIDE: &str = include_str!("../../../../docs/guide.md");
const COMING_FROM: &str = include_str!("../../../../docs/coming-from.md");

/// Runs lines of a shell that finds the program.
fn run(dir: &TestDirectory, script: &str) {
    let program = Path::new(env!("CARGO_BIN_EXE_foretell")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.args(["-ec", script]).current_dir(dir.path("")).env("PATH", path).stdin(Stdio::null());
    let output = shell.output().unwrap();
    assert!(output.status.success(), "{script}\n{}", stderr(&output));
}

/// The blocks of a page that are commands.
fn blocks(page: &str) -> impl Iterator<Item = &str> {
    page.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap())
}

#[test]
fn the_guide_works_from_beginning_to_end() {
    let dir = TestDirectory::new();
    // A tenth of the steps shows as well that the commands work.
    let [whole, tenth] = ["max_steps=300", "max_steps=30"];
    assert!(GUIDE.contains(whole));
    let scripts: Vec<String> = blocks(GUIDE).map(|script| script.replace(whole, tenth)).collect();
    assert!(scripts.len() > 8, "{} blocks", scripts.len());
    scripts.iter().for_each(|script| run(&dir, script));
    assert!(dir.read("scores.csv").lines().count() > 1);
    assert!(dir.read("report.html").contains("Airline passengers, 1960"));
    // The pages that it names, and its pictures, are there.
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    for link in GUIDE.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
        assert!(docs.join(link).exists(), "{link}");
    }
}

#[test]
fn commands_for_those_who_come_from_elsewhere_work() {
    let dir = TestDirectory::new();
    let (mut sales, mut future) = ("unique_id,ds,y,price\n".to_owned(), "unique_id,ds,price\n".to_owned());
    for (id, phase) in [("north", 0.0), ("south", 1.0)] {
        (0..120)
            .for_each(|day| sales += &format!("{id},{},{:.4},{}\n", date(day), wave(day, phase), day % 3));
        (120..150).for_each(|day| future += &format!("{id},{},{}\n", date(day), day % 3));
    }
    dir.put("sales.csv", &sales);
    dir.put("future.csv", &future);
    let commands: Vec<&str> =
        COMING_FROM.split('`').skip(1).step_by(2).filter(|code| code.starts_with("foretell ")).collect();
    assert!(commands.len() > 25, "{} commands", commands.len());
    commands.into_iter().filter(|command| command.contains(" --")).for_each(|command| run(&dir, command));
}
