//! Indices shared out over rayon's current thread pool, where no one waits for a thread that comes late.
//!
//! A scope of rayon's ends when each of its jobs has run, those for which nothing was left to do
//! included, and a caller from outside the pool sleeps until then. Products take some tens of
//! microseconds, as long as it takes to wake a thread: so here the caller closes the door when all work
//! is taken, and waits, awake, only for the threads that are inside.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::scope::share;
use crate::spin_wait::SpinWait;

/// How long a helper looks out for the next product before it lets rayon put it to sleep: longer than what
/// stands between the products of a training step, shorter than anyone notices.
const LOOKOUT: Duration = Duration::from_micros(100);

/// Calls `one` with each index below `count`, once, on up to `threads` threads at a time, `group` indices in a row.
///
/// The caller takes the groups from the first on, helpers from the last on. So one operation after the other meets about
/// the same rows on the same thread, in whose cache they are.
///
/// # Panics
///
/// If a call panics, with what it panicked with.
pub(crate) fn for_each(count: usize, group: usize, threads: usize, one: &(dyn Fn(usize) + Sync)) {
    // SAFETY: the pointer forgets the lifetime and nothing else; `Work::take` says when it may be used.
    let one: *const (dyn Fn(usize) + Sync) = unsafe { std::mem::transmute(one) };
    let work = Arc::new(Work {
        one,
        count,
        group,
        taken: AtomicUsize::new(0),
        front: AtomicUsize::new(0),
        back: AtomicUsize::new(0),
        inside: AtomicUsize::new(0),
        panic: Mutex::new(None),
    });
    {
        let _door = Door(&work);
        for _ in 1..threads.min(work.groups()) {
            let work = Arc::clone(&work);
            rayon::spawn(move || {
                if work.help() {
                    drop(work);
                    look_out();
                }
            });
        }
        // SAFETY: `one` is borrowed here.
        unsafe { work.take(&work.front, |group| group) };
    }
    let panic = work.panic.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(panic) = panic {
        resume_unwind(panic);
    }
}

struct Work {
    one: *const (dyn Fn(usize) + Sync),
    count: usize,
    group: usize,
    /// Groups that were taken in all, by the caller, and by the helpers.
    taken: AtomicUsize,
    front: AtomicUsize,
    back: AtomicUsize,
    /// Helpers inside; [`CLOSED`] when no more may enter.
    inside: AtomicUsize,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

// SAFETY: `one` may be called from any thread, and the rest is made for it.
unsafe impl Send for Work {}
// SAFETY: as above.
unsafe impl Sync for Work {}

const CLOSED: usize = 1 << (usize::BITS - 1);

impl Work {
    /// Takes groups until there are none left: from one side, on which `side` have been taken, in the order that `place`
    /// makes of that. As no more are taken of both sides together than there are, the sides never meet.
    ///
    /// # Safety
    ///
    /// `one` must still be there: for its owner it is, for others while they are inside, since [`Door`]
    /// keeps the owner until they have left, whether it returns or panics.
    unsafe fn take(&self, side: &AtomicUsize, place: impl Fn(usize) -> usize) {
        // SAFETY: the caller's contract.
        let one = unsafe { &*self.one };
        // What is shared out is not shared out again within.
        share(1, || {
            while self.taken.fetch_add(1, Relaxed) < self.groups() {
                let first = place(side.fetch_add(1, Relaxed)) * self.group;
                (first..self.count.min(first + self.group)).for_each(one);
            }
        });
    }

    fn groups(&self) -> usize {
        self.count.div_ceil(self.group)
    }

    /// Whether there was still something to help with.
    fn help(&self) -> bool {
        let enter = |inside| (inside & CLOSED == 0).then_some(inside + 1);
        if self.inside.fetch_update(Acquire, Relaxed, enter).is_err() {
            return false;
        }
        // SAFETY: inside.
        let help = || unsafe { self.take(&self.back, |group| self.groups() - 1 - group) };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(help)) {
            *self.panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic);
        }
        self.inside.fetch_sub(1, Release);
        true
    }
}

/// Keeps a thread of the pool awake, doing what work there is, until there has been none for a while.
///
/// Waking a thread takes as long as a product, and a step makes dozens of them, with little between.
fn look_out() {
    thread_local!(static LOOKING: Cell<bool> = const { Cell::new(false) });
    if LOOKING.replace(true) {
        return; // Called from the work of an outer lookout, which continues.
    }
    let mut since = Instant::now();
    while since.elapsed() < LOOKOUT {
        match rayon::yield_now() {
            Some(rayon::Yield::Executed) => since = Instant::now(),
            _ => std::thread::yield_now(),
        }
    }
    LOOKING.set(false);
}

/// Closed when it is dropped, which waits until no one is inside.
struct Door<'a>(&'a Work);

impl Drop for Door<'_> {
    fn drop(&mut self) {
        self.0.inside.fetch_or(CLOSED, AcqRel);
        // They are at their last group: soon done, unless the machine is busy with something else.
        let mut spin = SpinWait(10_000);
        while self.0.inside.load(Acquire) != CLOSED {
            spin.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_index_once() {
        for (count, group, threads) in [(0, 1, 2), (1, 1, 2), (7, 3, 2), (1000, 1, 3), (1000, 64, 8)] {
            let seen: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
            for_each(count, group, threads, &|i| _ = seen[i].fetch_add(1, Relaxed));
            assert!(seen.iter().all(|times| times.load(Relaxed) == 1), "{count} {group} {threads}");
        }
    }

    #[test]
    fn within_itself_and_from_the_pool() {
        let sum = AtomicUsize::new(0);
        rayon::join(
            || for_each(9, 1, 4, &|i| for_each(9, 2, 4, &|j| _ = sum.fetch_add(i * j, Relaxed))),
            || for_each(9, 1, 4, &|i| _ = sum.fetch_add(i, Relaxed)),
        );
        assert_eq!(sum.into_inner(), 36 * 36 + 36);
    }

    #[test]
    fn a_panic_reaches_the_caller_and_nobody_stays_inside() {
        for bad in [0, 37, 99] {
            let calls = AtomicUsize::new(0);
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                for_each(100, 1, 4, &|i| {
                    calls.fetch_add(1, Relaxed);
                    assert!(i != bad, "index {i}");
                });
            }));
            let message = panicked.unwrap_err().downcast::<String>().unwrap();
            assert_eq!(*message, format!("index {bad}"));
            assert!(calls.into_inner() <= 100);
        }
    }
}
