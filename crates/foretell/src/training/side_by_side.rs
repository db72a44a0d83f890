//! Several pieces of work at a time.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;

/// Runs `work(0)`, `work(1)`, ... up to `count`, as many at a time as there are `threads`, each on a thread of its
/// own, or fewer where the system refuses to start one. They start in order, and once `stop` is set no further one does.
/// Returns their results, in order.
///
/// # Panics
/// If one of them panics.
pub(crate) fn side_by_side<R: Send + Sync>(
    count: usize,
    threads: usize,
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
    thread::scope(|scope| {
        for _ in 1..threads.min(count) {
            if thread::Builder::new().spawn_scoped(scope, take).is_err() {
                break;
            }
        }
        take();
    });
    results.into_iter().map_while(OnceLock::into_inner).collect()
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
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn all_is_done_once_and_given_in_order() {
        for threads in [1, 2, 5] {
            let calls = AtomicUsize::new(0);
            let results = side_by_side(7, threads, &AtomicBool::new(false), |i| {
                calls.fetch_add(1, Relaxed);
                i * i
            });
            assert_eq!((results, calls.into_inner()), (vec![0, 1, 4, 9, 16, 25, 36], 7));
        }
        assert!(side_by_side(0, 2, &AtomicBool::new(false), |i| i).is_empty());
    }

    #[test]
    fn work_that_was_started_ends_and_nothing_else_starts() {
        for threads in [1, 2, 3] {
            let stop = AtomicBool::new(false);
            let results = side_by_side(9, threads, &stop, |i| {
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
        let start = Instant::now();
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            side_by_side(9, 2, &stop, |i| {
                calls.fetch_add(1, Relaxed);
                assert!(i != 1, "the second fails");
                while !stop.load(Relaxed) && start.elapsed() < Duration::from_secs(20) {
                    thread::yield_now();
                }
            });
        }));
        assert!(panicked.is_err() && stop.into_inner());
        assert_eq!(calls.into_inner(), 2, "no third one starts");
    }
}
