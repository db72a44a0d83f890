//! What a program takes: time by the clock, time of processors, memory.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

/// What a program took. What only Linux tells is 0 elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cost {
    pub(crate) seconds: f64,
    /// Seconds of all processors, those of its own children included.
    pub(crate) processor_seconds: f64,
    /// The largest memory of the program itself.
    pub(crate) bytes: u64,
}

impl Cost {
    /// That of one program after another.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            seconds: self.seconds + other.seconds,
            processor_seconds: self.processor_seconds + other.processor_seconds,
            bytes: self.bytes.max(other.bytes),
        }
    }
}

/// How long to wait before looking again.
const PAUSE: Duration = Duration::from_millis(5);

/// Ticks of a second in `/proc`, on all systems that Rust knows.
const TICKS: f64 = 100.0;

/// Runs a command to its end; its messages go to a file, whose last ones are told if it fails.
pub(crate) fn measured(command: &mut Command, messages: &Path) -> anyhow::Result<Cost> {
    let file = File::create(messages).with_context(|| format!("cannot write {}", messages.display()))?;
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
    let (begun, before) = (Instant::now(), children_seconds());
    let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
    let mut bytes = 0;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        let peak = fs::read_to_string(format!("/proc/{}/status", child.id())).ok();
        bytes = bytes.max(peak.and_then(|text| peak_bytes(&text)).unwrap_or(0));
        thread::sleep(PAUSE);
    };
    let cost = Cost {
        seconds: begun.elapsed().as_secs_f64(),
        processor_seconds: children_seconds() - before,
        bytes,
    };
    if !status.success() {
        let text = fs::read(messages)?;
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        bail!("{command:?} failed ({status}):\n{}", lines[lines.len().saturating_sub(8)..].join("\n"));
    }
    Ok(cost)
}

/// Seconds of processors that children of this program took, which have ended.
fn children_seconds() -> f64 {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    ticks_of_children(&text).map_or(0.0, |ticks| ticks as f64 / TICKS)
}

/// The ticks of children, of users and of the system, in a text like `/proc/self/stat`.
fn ticks_of_children(text: &str) -> Option<u64> {
    // The name of the program, in brackets, may hold anything.
    let (_, rest) = text.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    Some(fields.get(13)?.parse::<u64>().ok()? + fields.get(14)?.parse::<u64>().ok()?)
}

/// The largest memory in a text like `/proc/self/status`.
fn peak_bytes(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_the_system_are_read() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 1 2 3 4 50 60 700 80 20 0 1 0 9";
        assert_eq!(ticks_of_children(stat), Some(780));
        assert_eq!(ticks_of_children("7 (a"), None);
        assert_eq!(peak_bytes("VmPeak:\t 9 kB\nVmHWM:\t  2048 kB\n"), Some(2 << 20));
    }

    #[test]
    fn a_program_that_fails_tells_its_last_words() {
        let messages = std::env::temp_dir().join(format!("foretell-measured-{}", std::process::id()));
        let shell = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            measured(&mut command, &messages)
        };
        assert!(shell("exit 0").unwrap().seconds > 0.0);
        let error = shell("echo no such thing >&2; exit 3").unwrap_err().to_string();
        assert!(error.contains("no such thing"), "{error}");
        fs::remove_file(&messages).unwrap();
    }
}
