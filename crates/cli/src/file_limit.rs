//! The limit of a user on the size of files (`ulimit -f`).
//!
//! The signal that a write beyond it raises ends a process, and with it hours of training. Where it is caught the write
//! fails with an error, as on a full disk.

/// From now on a file that would become too large is an error of writing.
pub(crate) fn make_an_error() {
    #[cfg(unix)]
    {
        use std::sync::Arc;
        use std::sync::atomic::AtomicBool;
        // Where it cannot be caught, all is as it was.
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::new(AtomicBool::new(false)));
    }
}
