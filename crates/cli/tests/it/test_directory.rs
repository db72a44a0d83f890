//! A directory with data, and the binary at work in it.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// Days since 2024-01-01 as a date, within that year.
pub(crate) fn date(day: usize) -> String {
    const DAYS: [usize; 12] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut left = day;
    for (month, days) in DAYS.into_iter().enumerate() {
        if left < days {
            return format!("2024-{:02}-{:02}", month + 1, left + 1);
        }
        left -= days;
    }
    panic!("day {day} is not in 2024");
}

pub(crate) fn wave(day: usize, phase: f64) -> f64 {
    10.0 + (day as f64 * std::f64::consts::TAU / 7.0 + phase).sin() + 0.01 * day as f64
}

/// Two series of 120 days with a weekly season.
pub(crate) fn long_csv() -> String {
    let mut csv = "shop,day,sales,price\n".to_owned();
    for (id, phase) in [("north", 0.0), ("south", 1.0)] {
        for day in 0..120 {
            csv += &format!("{id},{},{:.4},{}\n", date(day), wave(day, phase), day % 3);
        }
    }
    csv
}

pub(crate) fn wide_csv() -> String {
    let mut csv = "date,a,b,c\n".to_owned();
    for day in 0..120 {
        let values = [0.0, 1.0, 2.0].map(|phase| format!("{:.4}", wave(day, phase)));
        csv += &format!("{},{}\n", date(day), values.join(","));
    }
    csv
}

pub(crate) struct TestDirectory(TempDir);

impl TestDirectory {
    pub(crate) fn new() -> Self {
        let dir = Self(TempDir::new().unwrap());
        dir.put("long.csv", &long_csv());
        dir.put("wide.csv", &wide_csv());
        dir
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn put(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_foretell"));
        command.current_dir(self.0.path()).args(line.split_whitespace());
        command
    }

    pub(crate) fn run(&self, line: &str) -> Output {
        self.command(line).stdin(Stdio::null()).output().unwrap()
    }

    /// Runs what must succeed; its standard output.
    pub(crate) fn ok(&self, line: &str) -> String {
        let output = self.run(line);
        assert!(output.status.success(), "{line}: {}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs what must fail with this exit code, one line on standard error and nothing on standard
    /// output; the message.
    pub(crate) fn fails(&self, code: i32, line: &str) -> String {
        let output = self.run(line);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{line}: {message}");
        assert!(output.stdout.is_empty(), "{line}");
        // Before the mistake stands what was inferred or filled, and what was not read.
        let told =
            |line: &&str| ["columns: ", "read ", "not read: "].iter().any(|start| line.starts_with(start));
        let message: String = message.split_inclusive('\n').skip_while(told).collect();
        assert!(message.starts_with("error: ") && !message.contains("panicked"), "{line}: {message}");
        message
    }
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

pub(crate) const LONG: &str = "--data long.csv --id-col shop --time-col day --target-col sales";
pub(crate) const SMALL: &str =
    "--h 7 --input-size 14 --threads 1 --set max_steps=3 --set windows_batch_size=16";

pub(crate) fn rows(csv: &str) -> Vec<Vec<&str>> {
    csv.lines().map(|line| line.split(',').collect()).collect()
}
