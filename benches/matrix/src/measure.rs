//! Times and allocations of repeated work.

use std::error::Error;
use std::time::Instant;

use crate::{ALLOCATOR, Settings};

/// The measurements of a workload.
pub(crate) struct Measured {
    /// The time of each run.
    pub(crate) seconds: Vec<f64>,
    /// Calls to the system allocator in a run, the last one.
    pub(crate) allocations: usize,
    /// Numbers that do not depend on the features, within the bounds of rounding.
    pub(crate) outputs: Vec<f64>,
}

/// Runs that are worth a median.
const LEAST: usize = 5;

/// Above this a run is not repeated for its own sake: the least is two, the second of which has warm caches and buffers.
const LONG: f64 = 1.0;

/// Repeats `work`, which returns the workload's outputs: for this many seconds, at least five times; twice if a run is long. The
/// first run of a short one does not count.
pub(crate) fn repeat(
    settings: &Settings,
    mut work: impl FnMut() -> Result<Vec<f64>, Box<dyn Error>>,
) -> Result<Measured, Box<dyn Error>> {
    let mut seconds: Vec<f64> = Vec::new();
    let (start, mut warm) = (Instant::now(), false);
    loop {
        let (run, before) = (Instant::now(), calls());
        let outputs = work()?;
        let (time, allocations) = (run.elapsed().as_secs_f64(), calls() - before);
        if !warm && time < LONG {
            warm = true;
            continue;
        }
        seconds.push(time);
        let least = if time < LONG { LEAST } else { 2 };
        if seconds.len() >= least && start.elapsed().as_secs_f64() >= settings.seconds {
            return Ok(Measured { seconds, allocations, outputs });
        }
    }
}

/// Calls to the system allocator so far.
pub(crate) fn calls() -> usize {
    let stats = ALLOCATOR.stats();
    stats.allocations + stats.reallocations
}

/// The process's largest resident memory, where the system tells it as Linux does.
pub(crate) fn peak_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()? / 1024.0)
}
