//! How many threads the operations of a thread may share their work with.

use std::cell::Cell;

thread_local! {
    static THREADS: Cell<usize> = const { Cell::new(1) };
}

/// Runs `work` on this thread; the operations within may share theirs with up to `threads` threads of rayon's current
/// pool, this one included. Outside of any such scope, and on the threads that help, there is no sharing.
///
/// ```
/// use foretell_threads::{count, share};
///
/// assert_eq!(count(), 1);
/// assert_eq!(share(1, || share(1, count)), 1);
/// ```
pub fn share<R>(threads: usize, work: impl FnOnce() -> R) -> R {
    struct Restore(usize);
    impl Drop for Restore {
        fn drop(&mut self) {
            THREADS.set(self.0);
        }
    }
    let _restore = Restore(THREADS.replace(threads));
    work()
}

/// How many threads an operation on this thread may use now: as many as [`share`] says and rayon's current pool has.
pub fn count() -> usize {
    let asked = THREADS.get();
    #[cfg(feature = "parallel")]
    if asked > 1 {
        return asked.min(rayon::current_num_threads());
    }
    let _ = asked;
    1
}
