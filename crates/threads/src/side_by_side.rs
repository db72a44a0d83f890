//! Several pieces of work at a time, each of which may use threads by itself.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;

use crate::wanted::{question, within};
use crate::workers::Workers;

impl Workers {
    /// How many of `count` works are to run at a time on this many threads, each of them of `jobs` jobs that one thread does: as many as
    /// take the least time, and of those the fewest, for their memory. The best comes first, and worse ones follow that take less memory.
    ///
    /// ```
    /// use foretell_threads::Workers;
    ///
    /// // Works of one job each leave threads idle, and of four jobs each none.
    /// assert_eq!(Workers::at_a_time(6, 1, 4)[0], 3);
    /// assert_eq!(Workers::at_a_time(6, 4, 4)[0], 1);
    /// ```
    pub fn at_a_time(count: usize, jobs: usize, threads: usize) -> Vec<usize> {
        let rounds = |at_a_time: usize| {
            count.div_ceil(at_a_time).saturating_mul(jobs.max(1).div_ceil(threads / at_a_time))
        };
        let mut numbers: Vec<usize> = (1..=threads.min(count).max(1)).collect();
        numbers.sort_by_key(|&at_a_time| rounds(at_a_time));
        let best = numbers.first().copied().unwrap_or(1);
        numbers.retain(|number| *number <= best);
        numbers
    }

    /// Runs `work(0)`, `work(1)`, ... up to `count`, `at_a_time` of them at a time, each on a thread of its own, or fewer where the system
    /// refuses to start one. They start in order, and once `stop` is set no further one does. All of them are wanted as long as the
    /// caller's work is. Returns their results, in order.
    ///
    /// # Panics
    /// If one of them panics.
    pub fn side_by_side<R: Send + Sync>(
        count: usize,
        at_a_time: usize,
        stop: &AtomicBool,
        work: impl Fn(usize) -> R + Sync,
    ) -> Vec<R> {
        let results: Vec<OnceLock<R>> = (0..count).map(|_| OnceLock::new()).collect();
        let next = AtomicUsize::new(0);
        let take = || {
            let _stop = StopOnPanic(stop);
            while !stop.load(Relaxed) {
                let i = next.fetch_add(1, Relaxed);
                let Some(result) = results.get(i) else { break };
                result.get_or_init(|| work(i));
            }
        };
        let asked = question();
        thread::scope(|scope| {
            for _ in 1..at_a_time.min(count) {
                let take = || within(asked.clone(), take);
                if thread::Builder::new().spawn_scoped(scope, take).is_err() {
                    break;
                }
            }
            take();
        });
        results.into_iter().map_while(OnceLock::into_inner).collect()
    }
}

/// Stops the others where one panics.
struct StopOnPanic<'a>(&'a AtomicBool);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        self.0.fetch_or(thread::panicking(), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::wanted::{is_wanted, while_wanted};

    #[test]
    fn all_is_done_once_and_given_in_order() {
        for threads in [1, 2, 5] {
            let calls = AtomicUsize::new(0);
            let results = Workers::side_by_side(7, threads, &AtomicBool::new(false), |i| {
                calls.fetch_add(1, Relaxed);
                i * i
            });
            assert_eq!((results, calls.into_inner()), (vec![0, 1, 4, 9, 16, 25, 36], 7));
        }
        assert!(Workers::side_by_side(0, 2, &AtomicBool::new(false), |i| i).is_empty());
    }

    #[test]
    fn all_is_wanted_as_long_as_the_caller_is() {
        let sees = || Workers::side_by_side(3, 2, &AtomicBool::new(false), |_| is_wanted());
        assert_eq!(
            (sees(), while_wanted(std::sync::Arc::new(|| false), sees)),
            (vec![true; 3], vec![false; 3])
        );
    }

    #[test]
    fn work_that_was_started_ends_and_nothing_else_starts() {
        for threads in [1, 2, 3] {
            let stop = AtomicBool::new(false);
            let results = Workers::side_by_side(9, threads, &stop, |i| {
                stop.fetch_or(i == 4, Relaxed);
                // What began after it ends when it has stopped the others, however busy the machine is.
                while i > 4 && !stop.load(Relaxed) {
                    thread::yield_now();
                }
                i
            });
            assert!(results.len() >= 5 && results.len() < 5 + threads, "{threads} threads: {results:?}");
            assert!(results.iter().enumerate().all(|(i, &result)| i == result));
        }
    }

    #[test]
    fn a_panic_stops_the_others() {
        let (stop, calls) = (AtomicBool::new(false), AtomicUsize::new(0));
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            Workers::side_by_side(9, 2, &stop, |i| {
                calls.fetch_add(1, Relaxed);
                assert!(i != 1, "the second fails");
                // However busy the machine is: for ever if the panic stops no other work.
                while !stop.load(Relaxed) {
                    thread::yield_now();
                }
            });
        }));
        assert!(panicked.is_err() && stop.into_inner());
        assert_eq!(calls.into_inner(), 2, "no third one starts");
    }
}
