//! Waiting for another thread without sleeping.

use std::hint::spin_loop;

/// Spins of a thread whose next work comes within some microseconds.
pub(crate) const SPINS: usize = 1000;

/// Spins this often; then it yields at each wait, since the thread that is waited for may need the core.
pub(crate) struct SpinWait(pub(crate) usize);

impl SpinWait {
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
