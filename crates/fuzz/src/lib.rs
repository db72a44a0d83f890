//! Hostile input for readers: damaged files for as long as asked, and the memory that each takes.
//!
//! A reader's test gives sound files to [`fuzz`], which damages them at random, has them read, and keeps those
//! that are refused (or read) with an error or an amount of memory not met before, to damage them further. Whatever the bytes, the reader
//! may not panic, and may take no more memory than a constant and a multiple of the file's size.
//!
//! Each test runs for a moment only. `FUZZ_SECONDS=600 cargo test -p CRATE --test it -- --nocapture fuzz::NAME`
//! looks longer and tells what it has seen; `FUZZ_SEED=2` looks elsewhere.
#![forbid(unsafe_code)]

mod mutate;
mod own_process;

use std::collections::HashSet;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{env, fs, process};

use peak_alloc::PeakAlloc;

use crate::mutate::{Dice, damage};

pub use crate::own_process::in_own_process;

/// Counts what the process has allocated.
#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// One fuzz or test that measures at a time: the memory of two could not be told apart.
static RUNNING: Mutex<()> = Mutex::new(());

/// How long a test looks unless `FUZZ_SECONDS` says otherwise.
const MOMENT: Duration = Duration::from_millis(700);

/// How long a file may take to be read.
const PATIENCE: Duration = Duration::from_secs(20);

/// Files that are kept to be damaged further.
const CORPUS: usize = 1000;

/// Files of which the memory is compared with the size: those of smaller ones is that of buffers.
const LARGE: usize = 4096;

/// Files to damage, and the memory that reading them may take.
pub struct FuzzTarget<'a> {
    /// The name of the files, for the report.
    pub name: &'a str,
    /// Sound files.
    pub seeds: Vec<Vec<u8>>,
    /// Pieces that mean something to the reader; at least one.
    pub words: &'a [&'a str],
    /// Bytes that may be allocated at a time, whatever the size of a file,
    pub always: usize,
    /// and this many times its size beside.
    pub factor: usize,
}

/// Has damaged files read until the time is over, and prints what was seen. `read` gets the bytes and a random
/// number, to choose options by: 0 with a sound file, which it must accept.
///
/// # Panics
/// If the reader panics, takes too much memory or too long. The file is then kept, and the message says where.
pub fn fuzz<E: Debug>(target: &FuzzTarget<'_>, mut read: impl FnMut(&[u8], u64) -> Result<(), E>) {
    /// How often a case that took too much memory is read again.
    const AGAIN: usize = 20;
    let _alone = Alone::new();
    let number = |name| env::var(name).ok().and_then(|text| text.parse().ok());
    let time = number("FUZZ_SECONDS").map_or(MOMENT, Duration::from_secs);
    let mut dice = Dice(number("FUZZ_SEED").unwrap_or(1));
    for seed in &target.seeds {
        if let Err(reason) = read(seed, 0) {
            panic!("{}: what is damaged must be sound before: {reason:?}", target.name);
        }
    }
    let largest = target.seeds.iter().map(Vec::len).max().unwrap_or(0);
    let (mut corpus, mut known) = (target.seeds.clone(), HashSet::new());
    let (mut cases, mut accepted, mut peak, mut factor) = (0_u64, 0_u64, 0, 0.0_f64);
    let (start, mut slowest) = (Instant::now(), Duration::ZERO);
    while start.elapsed() < time {
        // Half of the files have been sound until now: the others are refused early.
        let parents = if dice.below(2) == 0 { corpus.len() } else { target.seeds.len() };
        let mut bytes = corpus[dice.below(parents)].clone();
        damage(&mut bytes, target.words, &corpus[dice.below(corpus.len())], &mut dice);
        bytes.truncate(4 * largest + LARGE);
        let choice = dice.next();

        let limit = target.always + target.factor * bytes.len();
        let mut measure = || {
            MEMORY.reset_peak_usage();
            let (before, begun) = (MEMORY.current_usage(), Instant::now());
            let outcome = catch_unwind(AssertUnwindSafe(|| read(&bytes, choice)));
            (outcome, MEMORY.peak_usage().saturating_sub(before), begun.elapsed())
        };
        let (outcome, mut taken, lasted) = measure();
        // Other tests of the program take memory at the same time: a reader that takes too much does so each time.
        let mut again = 0;
        while taken > limit && outcome.is_ok() && again < AGAIN {
            (taken, again) = (taken.min(measure().1), again + 1);
        }

        let outcome = outcome.unwrap_or_else(|panic| {
            eprintln!("{}: the reader panicked on {}, choice {choice}", target.name, keep(&bytes).display());
            resume_unwind(panic)
        });
        if taken > limit || lasted > PATIENCE {
            let (file, size) = (keep(&bytes).display().to_string(), bytes.len());
            panic!(
                "{}: {file}, choice {choice}, of {size} bytes took {taken} bytes of memory (at most {limit} are \
                 allowed) and {lasted:?}: {outcome:?}",
                target.name
            );
        }
        cases += 1;
        accepted += u64::from(outcome.is_ok());
        (peak, slowest) = (peak.max(taken), slowest.max(lasted));
        if bytes.len() >= LARGE {
            factor = factor.max(taken as f64 / bytes.len() as f64);
        }
        if known.insert((variants(&outcome), taken.max(1).ilog2())) {
            match corpus.len() {
                CORPUS.. => corpus[target.seeds.len() + dice.below(CORPUS - target.seeds.len())] = bytes,
                _ => corpus.push(bytes),
            }
        }
    }
    println!(
        "{}: {:.0} s, {cases} cases, {accepted} read, {} kinds of outcome and memory; at most {:.1} MB and {factor:.0} times a \
         file's size at a time; slowest {:.1} ms",
        target.name,
        start.elapsed().as_secs_f64(),
        known.len(),
        peak as f64 / 1e6,
        slowest.as_secs_f64() * 1e3
    );
}

/// Held by a test from its first line to its last, so that others of its program that hold one too wait meanwhile:
/// memory is counted for the whole process, and what a neighbour takes or gives back would be counted with it.
#[must_use]
pub struct Alone {
    _lock: MutexGuard<'static, ()>,
}

impl Alone {
    /// Waits until no other test holds one. A thread that does waits for ever, also in [`fuzz`], which holds its own.
    #[expect(clippy::new_without_default, reason = "a lock is taken, not made")]
    pub fn new() -> Self {
        Self { _lock: RUNNING.lock().unwrap_or_else(PoisonError::into_inner) }
    }

    /// The result of `work`, and the most bytes that were allocated meanwhile, beyond those before.
    pub fn peak_memory<T>(&self, work: impl FnOnce() -> T) -> (T, usize) {
        MEMORY.reset_peak_usage();
        let before = MEMORY.current_usage();
        let result = work();
        (result, MEMORY.peak_usage().saturating_sub(before))
    }
}

/// The names of an error's variants, without what depends on the very bytes.
fn variants<E: Debug>(outcome: &Result<(), E>) -> String {
    let Err(error) = outcome else { return String::new() };
    let text = format!("{error:?}").replace(r"\\", "").replace(r#"\""#, "");
    // Between quotation marks, every second piece is quoted.
    let outside = text.split('"').step_by(2);
    let words: Vec<&str> = outside.flat_map(|piece| piece.split(|c: char| !c.is_alphanumeric())).collect();
    words.into_iter().filter(|word| word.starts_with(|c: char| c.is_ascii_uppercase())).collect()
}

/// Writes the file to where temporary ones are.
fn keep(bytes: &[u8]) -> PathBuf {
    let path = env::temp_dir().join(format!("hostile-{}", process::id()));
    match fs::write(&path, bytes) {
        Ok(()) => path,
        Err(error) => PathBuf::from(format!("a file that cannot be kept ({error})")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(factor: usize) -> FuzzTarget<'static> {
        FuzzTarget { name: "numbers", seeds: vec![b"1,2,3".to_vec()], words: &["4"], always: 10_000, factor }
    }

    fn caught(read: impl FnMut(&[u8], u64) -> Result<(), std::string::FromUtf8Error>) -> bool {
        catch_unwind(AssertUnwindSafe(|| fuzz(&target(1), read))).is_err()
    }

    #[test]
    fn panics_and_memory_out_of_proportion_are_found() {
        assert!(!caught(|bytes, _| String::from_utf8(bytes.to_vec()).map(drop)));
        assert!(caught(|bytes, _| {
            assert!(bytes.len() < 7, "a reader for short files");
            Ok(())
        }));
        assert!(caught(|bytes, _| {
            let wanted = bytes.iter().filter(|byte| **byte == b'4').count() * 6_000;
            drop(std::hint::black_box(vec![1_u8; wanted]));
            Ok(())
        }));
    }

    #[test]
    fn outcomes_are_told_apart_by_their_variants() {
        let text = |error: &dyn Debug| variants(&Err(error));
        assert_eq!(text(&Some(Err::<(), _>(r#"a "B" C\"#))), "SomeErr");
        assert_eq!(text(&Duration::ZERO), "");
    }
}
