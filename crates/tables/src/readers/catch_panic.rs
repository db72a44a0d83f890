//! Panics of other people's code that are caught, without a word of them on standard error.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// The result of `work`, or nothing if it panics. The process's panic hook, whatever it is, does not hear of such a panic; it
/// hears of those of other threads as ever.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            // The thread may be at its end already.
            if !QUIET.try_with(Cell::get).unwrap_or(false) {
                others(panic);
            }
        }));
    });
    let before = QUIET.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    QUIET.set(before);
    outcome.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_are_caught_and_nothing_stays_quiet() {
        assert_eq!(caught(|| 7), Some(7));
        assert_eq!(caught(|| caught::<()>(|| panic!("within")).is_none() && QUIET.get()), Some(true));
        assert!(caught::<()>(|| panic!("without")).is_none());
        assert!(!QUIET.get());
    }
}
