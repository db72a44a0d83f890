//! Work that ends early where no one waits for it any more.

use std::cell::RefCell;
use std::sync::Arc;

/// Says whether anyone still waits for a piece of work. It is asked often, from several threads.
pub type StillWanted = Arc<dyn Fn() -> bool + Send + Sync>;

thread_local! {
    static ASKED: RefCell<Option<StillWanted>> = const { RefCell::new(None) };
}

/// Runs `work`. As soon as `question` says that no one waits for it any more, its long loops end, on all threads that work on it, and
/// their results are not to be used: the caller asks [`is_wanted`] before it reads them.
///
/// ```
/// use std::sync::Arc;
/// use foretell_threads::{is_wanted, while_wanted};
///
/// assert!(is_wanted());
/// assert!(!while_wanted(Arc::new(|| false), is_wanted));
/// ```
pub fn while_wanted<R>(question: StillWanted, work: impl FnOnce() -> R) -> R {
    within(Some(question), work)
}

/// Whether anyone waits for the work of this thread: always, outside of [`while_wanted`].
pub fn is_wanted() -> bool {
    ASKED.with_borrow(|asked| asked.as_ref().is_none_or(|question| question()))
}

/// The question of this thread's work, for threads that share it; nothing outside of [`while_wanted`].
pub fn question() -> Option<StillWanted> {
    ASKED.with_borrow(Clone::clone)
}

/// Runs `work` with this question in place of the thread's own.
pub(crate) fn within<R>(question: Option<StillWanted>, work: impl FnOnce() -> R) -> R {
    struct Restore(Option<StillWanted>);
    impl Drop for Restore {
        fn drop(&mut self) {
            ASKED.set(self.0.take());
        }
    }
    let _restore = Restore(ASKED.replace(question));
    work()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::Workers;

    #[test]
    fn items_that_nobody_waits_for_are_left_on_all_threads() {
        for threads in [1, 3] {
            let workers = Workers::new(threads).unwrap();
            let asked = Arc::new(AtomicUsize::new(0));
            let count = asked.clone();
            let mut items = vec![0; 100];
            let work = || {
                workers.enter(|| workers.each(&mut items, true, |_, item| *item = 1));
                is_wanted()
            };
            let question = Arc::new(move || count.fetch_add(1, Ordering::Relaxed) < 10);
            assert!(!while_wanted(question, work));
            assert_eq!(items.iter().sum::<usize>(), 10, "{threads} threads");
            assert!(is_wanted());
            workers.each(&mut items, true, |_, item| *item = 2);
            assert_eq!(items, [2; 100]);
        }
    }
}
