//! Stages one behind the other, each of which reads what the one before it wrote.

#[cfg(feature = "parallel")]
use std::{
    mem,
    ops::Range,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering::*},
};

use crate::scope::count;
#[cfg(feature = "parallel")]
use crate::{
    indices::for_each,
    rows::Rows,
    spin_wait::{SPINS, SpinWait},
};

/// The work of a chunk of a stage from which sharing it pays, in the same numbers as that of [`rows`](crate::rows()): some
/// microseconds.
const CHUNK_WORTH_SHARING: usize = 1 << 12;

/// Runs stages over a sequence, in chunks of `chunk` of its `steps`: a chunk of a stage after the same chunk of the stage before
/// it and after its own chunk before, on the threads that [`share`](crate::share) allows.
///
/// The first stage reads `x [steps, _]`. A stage is a value of its own and the rows that it writes, `[steps + 1, _]`, the first
/// of which the caller has filled. `work(own, input, before, after)` gets the value, the steps of the chunk as the stage before
/// left them (or of `x`), the stage's own row before them, and its rows to write. `cost` is the work of a chunk as for
/// [`rows`](crate::rows()). A thread that comes late, or that the system has taken off its core, is not waited for unless it is
/// within a chunk.
///
/// # Panics
/// If the chunks are of no steps, the rows are not whole, or a call panics.
#[track_caller]
pub fn pipeline<S: Send>(
    x: &[f32],
    [steps, chunk]: [usize; 2],
    cost: usize,
    stages: &mut [(S, &mut [f32])],
    work: impl Fn(&mut S, &[f32], &[f32], &mut [f32]) + Sync,
) {
    assert!(chunk > 0, "chunks of no steps");
    if steps == 0 {
        return;
    }
    assert!(x.len().is_multiple_of(steps), "{} values in {steps} steps", x.len());
    for (_, rows) in &*stages {
        assert!(
            rows.len().is_multiple_of(steps + 1),
            "{} values in {steps} rows and the one before",
            rows.len()
        );
    }
    #[cfg(feature = "parallel")]
    {
        let threads = count().min(stages.len());
        if threads > 1 && cost >= CHUNK_WORTH_SHARING && steps > chunk {
            return Pipeline::new(x, [steps, chunk], stages).run(threads, &work);
        }
    }
    let _ = (cost, CHUNK_WORTH_SHARING, count);
    let mut input = x;
    for (own, rows) in stages {
        let (width, input_width) = (rows.len() / (steps + 1), input.len() / steps);
        for start in (0..steps).step_by(chunk) {
            let end = steps.min(start + chunk);
            let (before, after) = rows.split_at_mut((start + 1) * width);
            let after = &mut after[..(end - start) * width];
            work(own, &input[start * input_width..end * input_width], &before[start * width..], after);
        }
        input = &rows[width..];
    }
}

/// A pipeline that several threads work on.
#[cfg(feature = "parallel")]
struct Pipeline<'a, S> {
    x: &'a [f32],
    steps: usize,
    chunk: usize,
    stages: Vec<Stage<'a, S>>,
    /// A call panicked: nothing more is begun.
    ended: AtomicBool,
}

#[cfg(feature = "parallel")]
struct Stage<'a, S> {
    own: Rows<'a, S>,
    /// One value a row, so that parts of rows can be taken.
    rows: Rows<'a, f32>,
    width: usize,
    /// Chunks that a thread has begun, and those that are done; one of a stage at a time.
    begun: AtomicUsize,
    done: AtomicUsize,
}

#[cfg(feature = "parallel")]
impl<'a, S: Send> Pipeline<'a, S> {
    fn new(x: &'a [f32], [steps, chunk]: [usize; 2], stages: &'a mut [(S, &mut [f32])]) -> Self {
        let stages = stages.iter_mut().map(|(own, rows)| Stage {
            width: rows.len() / (steps + 1),
            own: Rows::of(std::slice::from_mut(own), 1),
            rows: Rows::of(rows, 1),
            begun: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
        });
        Self { x, steps, chunk, stages: stages.collect(), ended: AtomicBool::new(false) }
    }

    /// The first index is the caller's.
    fn run(&self, threads: usize, work: &(impl Fn(&mut S, &[f32], &[f32], &mut [f32]) + Sync)) {
        for_each(threads, 1, |thread| {
            while let Some((stage, chunk)) = self.take(thread == 0) {
                let end = EndOnPanic(&self.ended);
                let steps = chunk * self.chunk..self.steps.min((chunk + 1) * self.chunk);
                let Stage { own, rows, width, done, .. } = &self.stages[stage];
                let part = |steps: Range<usize>, width: usize| steps.start * width..steps.end * width;
                // SAFETY: a stage is with one thread at a time, which alone has its value and writes its rows of this chunk;
                // the row before them was written before, and so were the rows of the stage below, and neither is written
                // again.
                unsafe {
                    let input = match stage.checked_sub(1).map(|below| &self.stages[below]) {
                        Some(below) => {
                            below.rows.shared_part(part(steps.start + 1..steps.end + 1, below.width))
                        }
                        None => &self.x[part(steps.clone(), self.x.len() / self.steps)],
                    };
                    let before = rows.shared_part(part(steps.start..steps.start + 1, *width));
                    let after = rows.part(part(steps.start + 1..steps.end + 1, *width));
                    work(&mut own.part(0..1)[0], input, before, after);
                }
                mem::forget(end);
                done.store(chunk + 1, Release);
            }
        });
    }

    /// The next stage and chunk: of those whose input is there the earliest, so that no stage waits for long; of several the
    /// caller takes the first stage and others take the last, whose weights their caches have from the chunk before. Nothing
    /// where all is done.
    fn take(&self, from_first: bool) -> Option<(usize, usize)> {
        let (count, chunks) = (self.stages.len(), self.steps.div_ceil(self.chunk));
        let mut spin = SpinWait(SPINS);
        while !self.ended.load(Relaxed) {
            let mut first = None;
            let mut waits = false;
            for place in 0..count {
                let index = if from_first { place } else { count - 1 - place };
                // What the thread before had of the stage, and wrote in it and in the one below, is seen from here on.
                let done = self.stages[index].done.load(Acquire);
                waits |= done < chunks;
                let ready = done < chunks && (index == 0 || self.stages[index - 1].done.load(Acquire) > done);
                let free = ready && self.stages[index].begun.load(Relaxed) == done;
                if free && first.is_none_or(|(_, least)| done < least) {
                    first = Some((index, done));
                }
            }
            if let Some((index, done)) = first {
                let begun = &self.stages[index].begun;
                if begun.compare_exchange(done, done + 1, Relaxed, Relaxed).is_ok() {
                    return Some((index, done));
                }
                continue;
            }
            if !waits {
                return None;
            }
            spin.wait();
        }
        None
    }
}

/// Ends the pipeline for all threads when it is dropped: a chunk that panicked is never done.
#[cfg(feature = "parallel")]
struct EndOnPanic<'a>(&'a AtomicBool);

#[cfg(feature = "parallel")]
impl Drop for EndOnPanic<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
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

    /// Each number follows from the one before it and the sum of its input's row; each stage counts its steps.
    fn run(threads: usize, [steps, chunk]: [usize; 2], widths: &[usize]) -> (Vec<Vec<f32>>, Vec<usize>) {
        let x: Vec<f32> = (0..3 * steps).map(|i| (i as f32).sin()).collect();
        let mut rows: Vec<_> = widths.iter().map(|width| vec![0.3; (steps + 1) * width]).collect();
        let mut stages: Vec<_> = rows.iter_mut().map(|rows| (0, &mut rows[..])).collect();
        on(threads, || {
            pipeline(&x, [steps, chunk], CHUNK_WORTH_SHARING, &mut stages, |ran, input, before, after| {
                let width = before.len();
                let count = after.len() / width;
                assert!(count == chunk || *ran + count == steps, "{count} steps");
                *ran += count;
                let mut before = before.to_vec();
                for (input, after) in input.chunks(input.len() / count).zip(after.chunks_mut(width)) {
                    let sum: f32 = input.iter().sum();
                    after.iter_mut().zip(&before).for_each(|(to, before)| *to = (sum + 0.9 * before).sin());
                    before.copy_from_slice(after);
                }
            });
        });
        let ran = stages.into_iter().map(|(ran, _)| ran).collect();
        (rows, ran)
    }

    #[test]
    fn threads_change_no_bit_and_every_stage_runs_every_step() {
        for (sizes, widths) in [
            ([0, 4], vec![2]),
            ([1, 4], vec![2, 3]),
            ([300, 1], vec![2, 3]),
            ([300, 7], vec![1, 5, 2, 4]),
            ([64, 16], vec![8, 8]),
            ([64, 16], vec![3]),
            ([5, 2], vec![]),
        ] {
            let alone = run(1, sizes, &widths);
            assert!(alone.1.iter().all(|&ran| ran == sizes[0]));
            // Whatever the chunks, the steps are the same.
            assert_eq!(alone.0, run(1, [sizes[0], 1000], &widths).0);
            for threads in [2, 3, 4] {
                assert_eq!(run(threads, sizes, &widths), alone, "{threads} threads, {sizes:?}, {widths:?}");
            }
        }
    }

    #[test]
    fn a_panic_ends_the_pipeline_and_reaches_the_caller() {
        for bad in [0, 1] {
            let (mut first, mut second) = ([0.0; 101], [0.0; 101]);
            let mut stages = [((0, 0), &mut first[..]), ((1, 0), &mut second[..])];
            let panicked = on(2, || {
                catch_unwind(AssertUnwindSafe(|| {
                    let x = [0.0; 100];
                    pipeline(&x, [100, 2], CHUNK_WORTH_SHARING, &mut stages, |(stage, chunk), _, _, _| {
                        *chunk += 1;
                        assert!(*chunk < 25 || *stage != bad, "stage {stage}");
                    });
                }))
                .map_err(|panic| *panic.downcast::<String>().unwrap())
            });
            assert_eq!(panicked.unwrap_err(), format!("stage {bad}"));
        }
    }

    #[test]
    #[should_panic(expected = "7 values in 2 rows and the one before")]
    fn rows_must_be_whole() {
        pipeline(&[0.0; 2], [2, 1], 1, &mut [((), &mut [0.0; 7][..])], |(), _, _, _| {});
    }
}
