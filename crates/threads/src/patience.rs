//! Waiting for another thread without sleeping.

use std::hint::spin_loop;

/// As often a thread looks for its next work of some microseconds.
pub(crate) const LOOKS: usize = 1000;

/// This many looks, one right after the other; then others may have the core in between, since the thread that is waited for may
/// need it.
pub(crate) struct Patience(pub(crate) usize);

impl Patience {
    /// Waits until the next look.
    pub(crate) fn wait(&mut self) {
        match self.0.checked_sub(1) {
            Some(rest) => {
                self.0 = rest;
                spin_loop();
            }
            None => std::thread::yield_now(),
        }
    }
}
