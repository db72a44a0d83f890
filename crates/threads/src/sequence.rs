//! Steps one after the other, each cut in blocks that threads share.

use std::ops::Range;
#[cfg(feature = "parallel")]
use std::{
    mem,
    sync::atomic::{AtomicU64, AtomicUsize, Ordering::*},
};

use crate::scope::count;
#[cfg(feature = "parallel")]
use crate::{
    indices::for_each,
    rows::Rows,
    spin_wait::{SPINS, SpinWait},
};

/// The work of a step from which sharing it pays, in the same numbers as that of [`rows`](crate::rows()): about a
/// microsecond. To hand a step over to the next takes some 0.2.
const STEP_WORTH_SHARING: usize = 1 << 12;

/// Runs the steps of a recurrence over `rows [steps + 1, width]`, of which the caller has filled the first: all blocks of a
/// step before any of the next, on the threads that [`share`](crate::share) allows.
///
/// A block is the columns that it writes in each row, and a value of its own: `work(t, own, before, after)` gets the
/// step's number, that value, row t as a whole, and the block's columns of row t + 1. `cost` is the work of a step as for
/// [`rows`](crate::rows()). A thread that comes late, or that the system has taken off its core, is not waited for unless it is
/// within a block.
///
/// # Panics
/// If the rows are not whole, the blocks' columns do not make up `0..width` in their order, or a call panics.
#[track_caller]
pub fn sequence<S: Send>(
    rows: &mut [f32],
    width: usize,
    cost: usize,
    blocks: &mut [(Range<usize>, S)],
    work: impl Fn(usize, &mut S, &[f32], &mut [f32]) + Sync,
) {
    let mut end = 0;
    for (columns, _) in &*blocks {
        assert!(columns.start == end && columns.end >= end, "a block of columns {columns:?} after {end}");
        end = columns.end;
    }
    assert!(end == width, "blocks of {end} columns for rows of {width}");
    if width == 0 {
        return;
    }
    assert!(rows.len().is_multiple_of(width) && !rows.is_empty(), "{} values in rows of {width}", rows.len());
    let steps = rows.len() / width - 1;
    #[cfg(feature = "parallel")]
    {
        let threads = count().min(blocks.len());
        if threads > 1 && cost >= STEP_WORTH_SHARING && steps > 1 {
            return Shared::new(rows, width, blocks).run(threads, &work);
        }
    }
    let _ = (cost, STEP_WORTH_SHARING, count);
    for t in 0..steps {
        let (before, after) = rows.split_at_mut((t + 1) * width);
        for (columns, own) in &mut *blocks {
            work(t, own, &before[t * width..], &mut after[columns.clone()]);
        }
    }
}

/// A sequence that several threads work on.
#[cfg(feature = "parallel")]
struct Shared<'a, S> {
    rows: Rows<'a, f32>,
    blocks: Rows<'a, (Range<usize>, S)>,
    width: usize,
    steps: usize,
    count: usize,
    turn: AtomicU64,
    /// Blocks of the current step that are done.
    done: AtomicUsize,
}

/// The next block to take: its step, and how many of the step's blocks were taken from the first on and from the last on. So a
/// thread has the same blocks step after step, whose weights its cache has.
#[cfg(feature = "parallel")]
#[derive(Clone, Copy)]
struct Turn {
    step: usize,
    front: usize,
    back: usize,
}

#[cfg(feature = "parallel")]
impl Turn {
    fn unpack(bits: u64) -> Self {
        let part = |shift: u32, size: u32| (bits >> shift & ((1 << size) - 1)) as usize;
        Self { step: part(32, 32), front: part(16, 16), back: part(0, 16) }
    }

    fn pack(self) -> u64 {
        (self.step as u64) << 32 | (self.front as u64) << 16 | self.back as u64
    }
}

#[cfg(feature = "parallel")]
impl<'a, S: Send> Shared<'a, S> {
    fn new(rows: &'a mut [f32], width: usize, blocks: &'a mut [(Range<usize>, S)]) -> Self {
        let (steps, count) = (rows.len() / width - 1, blocks.len());
        assert!(steps < 1 << 32 && count < 1 << 16, "{steps} steps of {count} blocks");
        let start = Turn { step: 0, front: 0, back: 0 };
        Self {
            rows: Rows::of(rows, 1),
            blocks: Rows::of(blocks, 1),
            width,
            steps,
            count,
            turn: AtomicU64::new(start.pack()),
            done: AtomicUsize::new(0),
        }
    }

    /// The first index is the caller's, which takes blocks from the first on, and again for those who came when all was done.
    fn run(&self, threads: usize, work: &(impl Fn(usize, &mut S, &[f32], &mut [f32]) + Sync)) {
        for_each(threads, 1, |thread| {
            while let Some((t, block)) = self.take(thread == 0) {
                let end = EndOnPanic(self);
                // SAFETY: blocks of a step are taken once, and their columns have nothing in common; rows up to this step's
                // are no more written, those after it not yet read.
                unsafe {
                    let (columns, own) = &mut self.blocks.part(block..block + 1)[0];
                    let before = self.rows.shared_part(t * self.width..(t + 1) * self.width);
                    let start = (t + 1) * self.width;
                    work(t, own, before, self.rows.part(start + columns.start..start + columns.end));
                }
                mem::forget(end);
                self.finish(t);
            }
        });
    }

    /// The next step and block, once all steps before are done; nothing where all steps are.
    fn take(&self, from_front: bool) -> Option<(usize, usize)> {
        let mut spin = SpinWait(SPINS);
        loop {
            // What was written in the steps before is seen from here on: the last to finish one has stored the turn.
            let bits = self.turn.load(Acquire);
            let Turn { step, front, back } = Turn::unpack(bits);
            if step >= self.steps {
                return None;
            }
            if front + back < self.count {
                let (next, block) = match from_front {
                    true => (Turn { step, front: front + 1, back }, front),
                    false => (Turn { step, front, back: back + 1 }, self.count - 1 - back),
                };
                if self.turn.compare_exchange_weak(bits, next.pack(), Acquire, Relaxed).is_ok() {
                    return Some((step, block));
                }
            } else {
                spin.wait();
            }
        }
    }

    fn finish(&self, step: usize) {
        if self.done.fetch_add(1, AcqRel) + 1 == self.count {
            self.done.store(0, Relaxed);
            self.turn.store(Turn { step: step + 1, front: 0, back: 0 }.pack(), Release);
        }
    }
}

/// Ends the sequence for all threads when it is dropped: a block that panicked is never done.
#[cfg(feature = "parallel")]
struct EndOnPanic<'a, S>(&'a Shared<'a, S>);

#[cfg(feature = "parallel")]
impl<S> Drop for EndOnPanic<'_, S> {
    fn drop(&mut self) {
        self.0.turn.store(Turn { step: self.0.steps, front: 0, back: 0 }.pack(), Release);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::{Workers, share};

    fn on<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
        Workers::new(threads).unwrap().enter(|| share(threads, work))
    }

    /// Each number is a sum over the row before, times its place, and of how often its block ran.
    fn run(threads: usize, steps: usize, cuts: &[usize]) -> (Vec<f32>, Vec<usize>) {
        let width = *cuts.last().unwrap();
        let mut rows = vec![0.5; (steps + 1) * width];
        let mut blocks: Vec<_> = cuts.windows(2).map(|cut| (cut[0]..cut[1], 0)).collect();
        on(threads, || {
            sequence(&mut rows, width, STEP_WORTH_SHARING, &mut blocks, |t, runs, before, after| {
                assert_eq!(*runs, t, "a block runs once in each step");
                *runs += 1;
                let sum = before.iter().fold(0.0, |sum, x| sum * 0.7 + x);
                after.iter_mut().enumerate().for_each(|(i, to)| *to = (sum * (i + 1) as f32).sin());
            });
        });
        (rows, blocks.into_iter().map(|(_, runs)| runs).collect())
    }

    #[test]
    fn threads_change_no_bit_and_every_block_runs_in_every_step() {
        for (steps, cuts) in [
            (0, vec![0, 3]),
            (1, vec![0, 2, 5]),
            (500, vec![0, 4, 9]),
            (300, vec![0, 1, 1, 7, 20, 64]),
            (2, vec![0, 0]),
        ] {
            let (alone, runs) = run(1, steps, &cuts);
            assert!(cuts.last() == Some(&0) || runs.iter().all(|&runs| runs == steps));
            for threads in [2, 3, 4] {
                assert_eq!(
                    run(threads, steps, &cuts),
                    (alone.clone(), runs.clone()),
                    "{threads} threads, {cuts:?}"
                );
            }
        }
    }

    #[test]
    fn a_panic_ends_the_sequence_and_reaches_the_caller() {
        for bad in [0, 1] {
            let mut rows = vec![0.0; 100 * 2];
            let mut blocks = [(0..1, 0), (1..2, 1)];
            let panicked = on(2, || {
                catch_unwind(AssertUnwindSafe(|| {
                    sequence(&mut rows, 2, STEP_WORTH_SHARING, &mut blocks, |t, block, _, _| {
                        assert!(t != 50 || *block != bad, "block {block}");
                    });
                }))
                .map_err(|panic| *panic.downcast::<String>().unwrap())
            });
            assert_eq!(panicked.unwrap_err(), format!("block {bad}"));
        }
    }

    #[test]
    #[should_panic(expected = "blocks of 3 columns for rows of 4")]
    fn blocks_make_up_the_rows() {
        sequence(&mut [0.0; 8], 4, 1, &mut [(0..3, ())], |_, (), _, _| {});
    }
}
