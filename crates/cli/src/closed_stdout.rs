//! Whether standard output was closed when the process started, as by `foretell models >&-`.
//!
//! Rust's runtime opens /dev/null in the place of a closed descriptor before `main`, and what is written there is lost
//! without an error. Only what runs before the runtime can tell the two apart.
#![allow(unsafe_code)]

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

static CLOSED: AtomicBool = AtomicBool::new(false);

// SAFETY: it runs before the runtime is set up, so it calls nothing of it: a system call and an atomic store.
#[cfg(unix)]
#[ctor::ctor(unsafe)]
fn look() {
    let flags = rustix::io::fcntl_getfd(rustix::stdio::stdout());
    CLOSED.store(flags == Err(rustix::io::Errno::BADF), Ordering::Relaxed);
}

/// An error where standard output was closed.
pub(crate) fn check() -> io::Result<()> {
    match CLOSED.load(Ordering::Relaxed) {
        true => Err(io::Error::other("standard output is closed (send it to a file, or to /dev/null)")),
        false => Ok(()),
    }
}
