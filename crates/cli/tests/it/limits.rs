//! Absurd sizes end in a message, at once and in little memory: never in a panic, an abort or a killed process.

use std::fs;
use std::process::{Command, Stdio};

use crate::test_directory::{LONG, SMALL, TestDirectory, date, stderr};

/// A process that takes more than this is refused memory by the system.
const MEMORY_KB: u64 = 3_000_000;

/// A user without files or processes.
#[cfg(target_os = "linux")]
const NOBODY: u32 = 54_321;

/// Seconds of the processor, however busy the machine is: input that is worked through instead of refused takes longer.
const PROCESSOR_SECONDS: u64 = 120;

/// Runs a command within little memory and time, at the end of which it is killed and has no exit code; its exit code and message.
fn run_within_limits(dir: &TestDirectory, line: &str) -> (Option<i32>, String) {
    let mut command = Command::new("sh");
    let limited = format!("ulimit -v {MEMORY_KB}; ulimit -t {PROCESSOR_SECONDS}; exec \"$0\" \"$@\"");
    command.args(["-c", &limited, env!("CARGO_BIN_EXE_foretell")]).args(line.split_whitespace());
    let output = command.current_dir(dir.path(".")).stdin(Stdio::null()).output().unwrap();
    (output.status.code(), stderr(&output))
}

/// A user who may have a single process trains all the same, on that one thread and without ears for Ctrl-C.
#[cfg(target_os = "linux")]
#[test]
fn a_limit_of_one_process_is_a_warning() {
    let dir = TestDirectory::new();
    std::os::unix::fs::chown(dir.path("."), Some(NOBODY), None).ok();
    let run = |line: &str| {
        // Root is not held to the limit, so another user has to run the command.
        let user = format!("prlimit --nproc=1 setpriv --reuid={NOBODY} --clear-groups");
        let mut words =
            user.split_whitespace().chain([env!("CARGO_BIN_EXE_foretell")]).chain(line.split_whitespace());
        let mut command = Command::new(words.next().unwrap());
        command.args(words).current_dir(dir.path(".")).stdin(Stdio::null()).output()
    };
    if !run("--version").is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: only root can start a command as another user, who needs to reach it");
        return;
    }
    let fit = format!("fit {LONG} {SMALL} --model NLinear --out");
    let output = run(&format!("{fit} limited")).unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("warning: cannot listen to Ctrl-C"), "{}", stderr(&output));
    dir.ok(&format!("{fit} free"));
    let weights = |model: &str| fs::read(dir.path(&format!("{model}/NLinear_0.safetensors"))).unwrap();
    assert_eq!(weights("limited"), weights("free"));
}

#[test]
fn absurd_sizes_are_errors_in_words() {
    let dir = TestDirectory::new();
    let limit = "--max-memory 2GB --threads 1";
    let unlimited = format!("fit {LONG} --out model --threads 1");
    let fit = format!("fit {LONG} --out model {limit}");
    let validate = format!("cross-validate {LONG} --model NLinear --h 7 --input-size 14 {limit}");
    for (line, says) in [
        (format!("{fit} --model NHITS --h 1000000 --input-size 96"), "training NHITS needs about"),
        (format!("{fit} --model MLP --h 1000000 --input-size 96"), "the limit is 2.0 GB, as set"),
        (format!("{fit} --model LSTM --h 1000000 --input-size 96"), "lower h"),
        (format!("{fit} --model NLinear --h 1000 --input-size 1000000"), "training NLinear needs about"),
        (format!("{fit} --model GRU --h 7 --input-size 1000000"), "activations"),
        (
            format!("{fit} --model RNN --h 7 --input-size 14 --set recurrent=true --set h_train=1000000"),
            "RNN",
        ),
        (format!("{fit} --model MLP --h 7 --input-size 14 --set hidden_size=1000000000"), "hidden_size"),
        (
            format!("{fit} --model MLP --h 7 --input-size 14 --set hidden_size=30000"),
            "training MLP needs about",
        ),
        (format!("{fit} --model NLinear --h 1000000 --input-size -1"), "NLinear"),
        (
            format!("{fit} --model NHITS --h 7 --input-size 14 --set max_steps=99999999999999999999"),
            "max_steps",
        ),
        (format!("{fit} --model NLinear --h 7 --input-size 14 --val-size 18446744073709551615"), "val_size"),
        (format!("{fit} --model NLinear --h 7 --input-size 14 --intervals 1000000"), "series north has 120"),
        (format!("{fit} --model NLinear --h 7 --input-size 14 --intervals 18446744073709551615"), "rows"),
        (format!("{validate} --n-windows 1000000 --step-size 1000000"), "rows"),
        (format!("{validate} --n-windows 1000000 --step-size 1"), "rows"),
        (format!("{validate} --season 1000000 --n-windows 200"), "rows"),
        (format!("bench --model MLP --h 1000000 --input-size 96 {limit}"), "the bench needs about"),
        (format!("bench --model NLinear --h 24 --input-size 96 --batch 1000000 {limit}"), "windows"),
        (format!("{unlimited} --model NLinear --h 7 --input-size 14 --max-memory 0"), "16GiB"),
        (format!("{unlimited} --model NLinear --h 7 --input-size 14 --max-memory much"), "8GB"),
    ] {
        let (code, message) = run_within_limits(&dir, &line);
        assert!(matches!(code, Some(1 | 2)), "{line}: {code:?} {message}");
        assert!(message.contains("error: ") && !message.contains("panicked"), "{line}: {message}");
        assert!(message.contains(says), "{line}: no {says:?} in {message}");
    }
}

/// Where more is allowed than the machine has, the system has the last word: it is said as any other error, and nothing is left of
/// the model that was not written.
#[cfg(target_os = "linux")]
#[test]
fn memory_that_the_system_refuses_is_an_error_in_words() {
    let dir = TestDirectory::new();
    let fit = format!(
        "fit {LONG} --model MLP --h 7 --input-size 14 --max-memory 1TB --out model --set max_steps=1"
    );
    // Of 11,000 times 11,000 weights of 4 bytes there is room for five times, and a training takes six: the threads are refused it.
    for (hidden, threads, log) in [(30_000, 1, "json"), (11_000, 2, "text")] {
        let line = format!("{fit} --threads {threads} --log {log} --set hidden_size={hidden}");
        let (code, message) = run_within_limits(&dir, &line);
        assert_eq!(code, Some(1), "{line}: {message}");
        let last = message.lines().last().unwrap_or_default();
        let event = serde_json::from_str::<serde_json::Value>(last).ok();
        let told = match &event {
            Some(event) => {
                event["message"].as_str().filter(|_| event["event"] == "error").unwrap_or_default()
            }
            None => last.strip_prefix("error: ").unwrap_or_default(),
        };
        assert_eq!(event.is_some(), log == "json", "{message}");
        assert!(told.starts_with("out of memory: choose smaller layers"), "{message}");
        assert!(told.contains("the system refused") && !message.contains("panicked"), "{message}");
        assert!(!dir.path("model").exists(), "{line}");
    }
}

#[test]
fn models_of_absurd_sizes_are_errors_in_words() {
    let dir = TestDirectory::new();
    dir.ok(&format!("fit {LONG} --model GRU {SMALL} --set recurrent=true --out model --log none"));
    let file = dir.path("model").join("GRU_0.safetensors");
    let sound = fs::read(&file).unwrap_or_else(|error| panic!("{error}: {:?}", dir.path("model").read_dir()));
    let predict = format!("predict --model model {LONG} --max-memory 2GB --threads 1 --out forecast.csv");
    for (name, size) in [
        ("input_size", 1_000_000),
        ("h", 1_000_000),
        ("encoder_n_layers", 1000),
        ("encoder_hidden_size", 1_000_000),
    ] {
        fs::write(&file, with_size(&sound, name, size)).unwrap();
        let (code, message) = run_within_limits(&dir, &predict);
        assert!(matches!(code, Some(1 | 2)), "{name}: {code:?} {message}");
        assert!(message.contains("error: ") && !message.contains("panicked"), "{name}: {message}");
    }
    fs::write(&file, sound).unwrap();
    dir.ok(&predict);
    // A horizon that is far beyond the models' own is forecast in parts that fit.
    let (code, message) = run_within_limits(&dir, &format!("{predict} --h 20000"));
    assert_eq!(code, Some(0), "{message}");
    assert_eq!(dir.read("forecast.csv").lines().count(), 1 + 2 * 20_000);
}

/// A model file with another value of a hyper-parameter: a text of JSON in the header, whose length stands in the
/// first eight bytes.
fn with_size(file: &[u8], name: &str, size: usize) -> Vec<u8> {
    let len = u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
    let header = std::str::from_utf8(&file[8..8 + len]).unwrap();
    let name = format!("\\\"{name}\\\":");
    let (before, after) = header.split_once(&name).unwrap_or_else(|| panic!("no {name} in {header}"));
    let rest = &after[after.find(',').unwrap()..];
    // Its checksum is that of the other value; a file without one is read all the same.
    let header = format!("{before}{name}{size}{rest}").replace("foretell_crc32", "none");
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &file[8 + len..]].concat()
}

#[test]
fn the_smallest_panels_are_read() {
    let dir = TestDirectory::new();
    dir.put("none.csv", "unique_id,ds,y\n");
    dir.put("one.csv", "unique_id,ds,y\na,1,2.5\n");
    let models = "--model NLinear --h 1 --input-size 1 --threads 1 --set max_steps=1 --log none";
    assert!(dir.fails(1, &format!("fit --data none.csv {models} --out model")).contains("no rows"));
    for (line, says) in [
        (format!("fit --data one.csv {models} --out model"), "frequency"),
        (format!("fit --data one.csv --freq 1 {models} --out model --val-size 1"), "a"),
        (format!("cross-validate --data one.csv --freq 1 {models}"), "rows"),
    ] {
        let (code, message) = run_within_limits(&dir, &line);
        assert!(matches!(code, Some(1 | 2)) && !message.contains("panicked"), "{line}: {message}");
        assert!(message.contains(says), "{line}: {message}");
    }
}

#[test]
fn forecasts_are_written_block_by_block() {
    let dir = TestDirectory::new();
    let mut csv = "unique_id,ds,y\n".to_owned();
    for series in 0..20_000 {
        (0..6).for_each(|day| csv += &format!("{series:05},{},{}\n", date(day), (series + day * day) % 11));
    }
    dir.put("many.csv", &csv);
    let model = "--model NLinear --h 2 --input-size 3 --set max_steps=1 --threads 1 --log none";
    dir.ok(&format!("fit --data many.csv {model} --out model"));
    let predict = "predict --model model --data many.csv --threads 1 --log none";
    for further in ["", "--insample --step-size 1"] {
        let text = dir.ok(&format!("{predict} {further}"));
        let rows = if further.is_empty() { 20_000 * 2 } else { 20_000 * 4 * 2 };
        assert_eq!(text.lines().count(), 1 + rows, "{further}");
        dir.ok(&format!("{predict} {further} --out forecast.csv"));
        assert_eq!(dir.read("forecast.csv"), text, "{further}");
        dir.ok(&format!("{predict} {further} --out forecast.parquet"));
        let frame = |name: &str| {
            let freq = foretell::Freq::parse("D").unwrap();
            foretell::ForecastTable::frame_from_file(dir.path(name), &foretell::ReadOptions::default(), freq)
                .unwrap()
        };
        let (parquet, csv) = (frame("forecast.parquet"), frame("forecast.csv"));
        assert_eq!(parquet.ids, csv.ids);
        assert_eq!((&parquet.times, &parquet.cutoffs), (&csv.times, &csv.cutoffs));
        assert_eq!(parquet.columns, csv.columns);
    }
}
