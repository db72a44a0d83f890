//! Processes that are killed while they write, that write to one place at a time, and that read what others write.
//!
//! Each runs for about a second here. `FORETELL_ROUNDS=10000 cargo test -p foretell-cli --test it kills -- --nocapture`
//! continues for as many kills, reads and races.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use foretell::{Fitted, Forecaster, Freq, ModelSpec, Panel};

use crate::test_directory::{LONG, SMALL, TestDirectory, stderr};

/// This many rounds, or as many as asked for.
fn rounds(short: u64) -> u64 {
    env::var("FORETELL_ROUNDS").map_or(short, |rounds| rounds.parse().expect("a number of rounds"))
}

/// Two trained models of a seed.
fn fitted(seed: u64) -> Fitted {
    let y: Vec<f32> = (0..60).map(|t| (t as f32 * 0.9).sin()).collect();
    let panel = Panel::from_series(Freq::parse("D").unwrap(), [("a", 0, y)]).unwrap();
    let spec = |name| {
        ModelSpec::new(name, 4, 8).unwrap().set("max_steps", 1).unwrap().set("random_seed", seed).unwrap()
    };
    let mlp = spec("MLP").set("hidden_size", 8).unwrap();
    Forecaster::new([spec("NLinear"), mlp]).unwrap().threads(1).fit(&panel).unwrap()
}

/// All weights, as bits.
fn bits(fitted: &Fitted) -> Vec<Vec<u32>> {
    let weights =
        |model: &foretell::FittedModel| model.parameters_in_order().map(|value| value.to_bits()).collect();
    fitted.models().iter().map(weights).collect()
}

/// The names of all that is in a directory.
fn names(dir: &Path) -> BTreeSet<String> {
    fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Saves two models in turn until it is killed. Another process of this suite starts it.
#[test]
#[ignore = "no check but a process: the tests of kills, readers and races start it with FORETELL_WRITE_TO, and kill it"]
fn writer() {
    let Ok(dir) = env::var("FORETELL_WRITE_TO") else { return };
    let models = [fitted(1), fitted(2)];
    for model in models.iter().cycle() {
        model.save(&dir, true).unwrap();
        eprintln!("saved");
    }
}

/// Starts a writer.
fn start_writer(dir: &Path) -> (Child, BufReader<ChildStderr>) {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "kills::writer", "--ignored", "--nocapture"]).env("FORETELL_WRITE_TO", dir);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let log = BufReader::new(child.stderr.take().unwrap());
    (child, log)
}

/// Numbers below `below` that look random.
fn random(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % below
}

#[test]
fn a_kill_at_any_moment_leaves_a_whole_model() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("model");
    let whole = [fitted(1), fitted(2)].map(|fitted| bits(&fitted));
    fitted(1).save(&dir, false).unwrap();
    let (mut state, mut seen) = (1, [0; 2]);
    for round in 0..rounds(20) {
        let (mut child, mut log) = start_writer(&dir);
        let mut line = String::new();
        while !line.contains("saved") {
            line.clear();
            assert_ne!(log.read_line(&mut line).unwrap(), 0, "the writer of round {round} ended");
        }
        // It writes its lines to a pipe that holds thousands of them.
        thread::sleep(Duration::from_micros(random(&mut state, 60_000)));
        child.kill().unwrap();
        child.wait().unwrap();
        let found = Fitted::load(&dir).unwrap_or_else(|error| panic!("round {round}: {error}"));
        let found = bits(&found);
        let which = whole.iter().position(|whole| *whole == found);
        seen[which.unwrap_or_else(|| panic!("round {round}: neither of the two models"))] += 1;
        // Of the killed one at most a lock and a directory are left: each writer removes those of the one before.
        let left = names(home.path());
        assert!(left.len() <= 3, "round {round}: {left:?}");
    }
    println!("kills: {seen:?} of the two models");
    fitted(1).save(&dir, true).unwrap();
    assert_eq!(names(home.path()), BTreeSet::from(["model".to_owned()]));
}

#[test]
fn a_kill_of_the_command_line_leaves_the_old_forecast_and_model_or_the_new_ones() {
    let dir = TestDirectory::new();
    let fit = format!("fit {LONG} --model NLinear {SMALL} --log none --overwrite --out model");
    dir.ok(&fit);
    let predict = "predict --model model --data long.csv --h 700 --out f.csv";
    dir.ok(predict);
    let whole = dir.read("f.csv");
    let start = Instant::now();
    dir.ok(predict);
    let lasts = start.elapsed().as_micros() as u64;
    let mut state = 2;
    for round in 0..rounds(10).min(1000) {
        for line in [predict, &fit] {
            let mut child = dir.command(line).stderr(Stdio::null()).spawn().unwrap();
            thread::sleep(Duration::from_micros(random(&mut state, 2 * lasts)));
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert!(dir.read("f.csv") == whole, "round {round}");
        Fitted::load(dir.path("model")).unwrap_or_else(|error| panic!("round {round}: {error}"));
    }
    dir.ok(predict);
    dir.ok(&fit);
    let left = ["f.csv", "long.csv", "model", "wide.csv"].map(str::to_owned);
    assert_eq!(names(&dir.path("")), BTreeSet::from(left));
}

#[test]
fn a_reader_beside_a_writer_sees_one_model_or_the_other() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("model");
    let whole = [fitted(1), fitted(2)].map(|fitted| bits(&fitted));
    fitted(1).save(&dir, false).unwrap();
    let (mut child, log) = start_writer(&dir);
    // A full pipe would stop it.
    let drain = thread::spawn(move || {
        log.lines().map_while(Result::ok).filter(|line| line.contains("saved")).count()
    });
    let (mut seen, mut last, mut changes) = ([0; 2], 0, 0);
    while seen[0] + seen[1] < rounds(200) || changes < 10 {
        let read = seen[0] + seen[1];
        let found = Fitted::load(&dir).unwrap_or_else(|error| panic!("read {read}: {error}"));
        let found = bits(&found);
        let which = whole.iter().position(|whole| *whole == found);
        let which = which.unwrap_or_else(|| panic!("read {read}: a mixture of the two"));
        seen[which] += 1;
        changes += usize::from(which != last);
        last = which;
    }
    child.kill().unwrap();
    child.wait().unwrap();
    println!("reads: {seen:?} of the two models, beside {} saves", drain.join().unwrap());
}

/// Starts a command, and waits until it has logged a step of training.
fn start(dir: &TestDirectory, line: &str) -> (Child, BufReader<ChildStderr>) {
    let mut child = dir.command(line).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("\"step\"") {
        line.clear();
        assert_ne!(log.read_line(&mut line).unwrap(), 0, "it ended before its first step");
    }
    (child, log)
}

/// Trained for as long as no one reads what it tells.
fn long_training(command: &str) -> String {
    let small = SMALL.replace("--set max_steps=3", "--set max_steps=100000");
    format!("{command} {LONG} --model NLinear {small} --log json")
}

#[test]
fn of_two_processes_at_one_place_the_second_is_refused() {
    let dir = TestDirectory::new();
    let short = |command: &str| format!("{command} {LONG} --model NLinear {SMALL} --log none");
    for (command, place, further) in [
        ("fit", "--out model", "--overwrite"),
        ("cross-validate", "--out cv.csv", ""),
        ("fit", "--checkpoint state", "--out one"),
        ("cross-validate", "--checkpoint state", ""),
    ] {
        let (mut child, _told) = start(&dir, &format!("{} {place} {further}", long_training(command)));
        let further = further.replace("one", "other");
        let message = dir.fails(1, &format!("{} {place} {further}", short(command)));
        let id = format!("by another process ({})", child.id());
        assert!(message.contains(&id), "{place}: {message}");
        child.kill().unwrap();
        child.wait().unwrap();
        // The state of the killed training is that of another one.
        if place.contains("state") {
            fs::remove_dir_all(dir.path("state")).unwrap();
        }
        dir.ok(&format!("{} {place} {further}", short(command)));
    }
}

#[test]
fn processes_that_race_for_one_place_leave_one_whole_model() {
    let dir = TestDirectory::new();
    let fit = format!("fit {LONG} --model NLinear {SMALL} --log none --overwrite --out model");
    for round in 0..rounds(3).min(300) {
        let start = |_| dir.command(&fit).stderr(Stdio::piped()).spawn().unwrap();
        let racers: Vec<Child> = (0..4).map(start).collect();
        let mut done = 0;
        for racer in racers {
            let output = racer.wait_with_output().unwrap();
            let message = stderr(&output);
            done += usize::from(output.status.success());
            assert!(
                output.status.success() || message.contains("by another process"),
                "round {round}: {message}"
            );
        }
        assert!(done > 0, "round {round}");
        Fitted::load(dir.path("model")).unwrap();
    }
    let left = ["long.csv", "model", "wide.csv"].map(str::to_owned);
    assert_eq!(names(&dir.path("")), BTreeSet::from(left));
}

#[test]
fn ctrl_c_keeps_the_models_that_were_to_be_replaced() {
    let dir = TestDirectory::new();
    // Of another seed: the training that is interrupted may have made as many steps.
    dir.ok(&format!("fit {LONG} --model NLinear {SMALL} --set random_seed=2 --log none --out model"));
    let before = bits(&Fitted::load(dir.path("model")).unwrap());
    // The second time, models of the first one are replaced.
    for _ in 0..2 {
        let line = format!("{} --out model --overwrite", long_training("fit"));
        let (mut child, mut log) = start(&dir, &line);
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let mut rest = String::new();
        log.read_to_string(&mut rest).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{rest}");
        assert!(rest.contains("model.interrupted holds the partly trained models"), "{rest}");
        assert_eq!(bits(&Fitted::load(dir.path("model")).unwrap()), before);
        assert_ne!(bits(&Fitted::load(dir.path("model.interrupted")).unwrap()), before);
    }
    let left = ["long.csv", "model", "model.interrupted", "wide.csv"].map(str::to_owned);
    assert_eq!(names(&dir.path("")), BTreeSet::from(left));
}
