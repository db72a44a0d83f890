//! How long a training step takes by the number of threads: measured on the cores of this machine, computed for more.

use std::thread::available_parallelism;

use foretell_estimator::{MemoryLimit, StepSettings};
use foretell_train::shard_count;
use serde::Serialize;

use crate::bench::bench;
use crate::error::NetworkError;
use crate::spec::NetworkSpec;

/// The time of a training step of a network by threads, as [`thread_curve`] measures and computes it.
#[derive(Clone, Debug, Serialize)]
pub struct ThreadCurve {
    /// The model.
    pub model: String,
    /// How the step is computed: its fields are among the others.
    #[serde(flatten)]
    pub step: StepSettings,
    /// Windows of the step.
    pub batch: usize,
    /// Shards that the batch is cut into, each of which a thread runs.
    pub shards: usize,
    /// Numbers that training changes.
    pub parameters: usize,
    /// Milliseconds of the step on one thread that no other thread shortens: the optimiser as far as memory bounds it, waking and waiting. As
    /// concluded from the measured times; `None` where one thread alone was measured.
    pub alone_ms: Option<f64>,
    /// The numbers of threads that were asked for, upwards.
    pub points: Vec<ThreadPoint>,
}

/// The time of a step on a number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ThreadPoint {
    /// Threads.
    pub threads: usize,
    /// The median time of a step in milliseconds.
    pub step_ms: f64,
    /// The rate of steps beside that of one thread.
    pub gain: f64,
    /// Whether it was measured, or computed from what was.
    pub measured: bool,
}

/// Measures a training step of a network on `batch` synthetic windows with these numbers of threads, as far as the machine has
/// cores, and computes it for more.
///
/// What is computed is `alone + shared * rounds`: of a batch in `S` shards, `rounds` is `ceil(S / threads) / S`, the share of the shards
/// that a thread runs one after the other; of a batch that is one shard, `1 / threads`. Both parts follow from the times of one thread and
/// of the most that were measured. So further cores are assumed to be like these, with caches and a share of the memory's rate of
/// their own, and threads without a shard are assumed to bring nothing.
///
/// # Errors
/// Those of [`bench()`].
///
/// # Panics
/// If `batch` is 0.
pub fn thread_curve(
    spec: &NetworkSpec,
    batch: usize,
    threads: &[usize],
    step: StepSettings,
    limit: &MemoryLimit,
) -> Result<ThreadCurve, NetworkError> {
    let cores = available_parallelism().map_or(1, usize::from);
    let asked = counts(threads.iter().map(|&count| if count == 0 { cores } else { count }));
    let (mut parameters, mut measured) = (0, Vec::new());
    for threads in to_measure(&asked, cores) {
        let bench = bench(spec, batch, threads, step, limit)?;
        parameters = bench.parameters;
        measured.push((threads, bench.step_ms));
    }
    let shards = shard_count(batch, spec.network_needs(), step.low_memory);
    let parts = Parts::of(&measured, shards);
    Ok(ThreadCurve {
        model: spec.name().to_owned(),
        step,
        batch,
        shards,
        parameters,
        alone_ms: parts.as_ref().map(|parts| parts.alone),
        points: points(&asked, &measured, parts.as_ref(), shards),
    })
}

/// Upwards, each once.
fn counts(counts: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut counts: Vec<usize> = counts.collect();
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// The numbers of threads that are measured: those of the asked ones that have a core each; one, which the others are compared with;
/// and as many as there are cores, if more are to be computed from them.
fn to_measure(asked: &[usize], cores: usize) -> Vec<usize> {
    let most = asked.last().copied().unwrap_or(1);
    counts(asked.iter().copied().filter(|&threads| threads <= cores).chain([1, most.min(cores)]))
}

/// The times of the asked threads; without those that cannot be computed, as only one thread was measured.
fn points(
    asked: &[usize],
    measured: &[(usize, f64)],
    parts: Option<&Parts>,
    shards: usize,
) -> Vec<ThreadPoint> {
    let point = |&threads: &usize| {
        let known = measured.iter().find(|(count, _)| *count == threads).map(|(_, ms)| *ms);
        let step_ms = known.or_else(|| Some(parts?.on(threads, shards)))?;
        Some(ThreadPoint { threads, step_ms, gain: measured[0].1 / step_ms, measured: known.is_some() })
    };
    asked.iter().filter_map(point).collect()
}

/// The parts of a step's time on one thread.
struct Parts {
    /// What more threads do not shorten.
    alone: f64,
    /// What they share.
    shared: f64,
}

impl Parts {
    /// Those of a step by its times on one thread and on the most; `None` if there is no other.
    fn of(measured: &[(usize, f64)], shards: usize) -> Option<Self> {
        let [(1, one), .., (threads, ms)] = *measured else { return None };
        let shared = ((one - ms) / (1.0 - rounds(threads, shards))).clamp(0.0, one);
        // Threads that cost more than they bring go on costing it.
        Some(Self { alone: one.max(ms) - shared, shared })
    }

    fn on(&self, threads: usize, shards: usize) -> f64 {
        self.alone + self.shared * rounds(threads, shards)
    }
}

/// The share of what threads share that one of them does.
fn rounds(threads: usize, shards: usize) -> f64 {
    match shards {
        1 => 1.0 / threads as f64,
        _ => shards.div_ceil(threads) as f64 / shards as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_more_threads_take_follows_from_one_and_some() {
        let of = |ms, shards| Parts::of(&[(1, 100.0), (2, ms)], shards).expect("two times");
        let parts = of(60.0, 16);
        assert_eq!((parts.alone, parts.shared), (20.0, 80.0));
        let times = [4, 8, 16, 64].map(|threads| parts.on(threads, 16));
        assert_eq!(times, [40.0, 30.0, 25.0, 25.0], "no more than there are shards");
        // Of three threads one runs 6 of 16 shards, one after the other.
        assert_eq!(parts.on(3, 16), 20.0 + 80.0 * 6.0 / 16.0);
        assert_eq!([4, 8].map(|threads| of(60.0, 1).on(threads, 1)), [40.0, 30.0]);
        // Where threads bring nothing, more of them bring nothing either.
        assert_eq!(of(104.0, 16).on(8, 16), 104.0);
        assert!(Parts::of(&[(1, 100.0)], 16).is_none());
    }

    #[test]
    fn threads_beyond_the_cores_are_computed() {
        assert_eq!(to_measure(&[4, 16], 2), [1, 2]);
        assert_eq!(to_measure(&[2, 4], 8), [1, 2, 4]);
        assert_eq!(to_measure(&[4, 16], 1), [1]);
        let measured = [(1, 100.0), (2, 60.0)];
        let found = points(&[2, 4], &measured, Parts::of(&measured, 16).as_ref(), 16);
        assert_eq!(
            found,
            [
                ThreadPoint { threads: 2, step_ms: 60.0, gain: 100.0 / 60.0, measured: true },
                ThreadPoint { threads: 4, step_ms: 40.0, gain: 2.5, measured: false },
            ]
        );
        assert_eq!(points(&[1, 4], &measured[..1], None, 16).len(), 1, "nothing to compute from");
    }
}
