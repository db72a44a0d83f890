//! The pool as its users see it. Each test runs alone, on a thread of its own: the metrics are global.

mod buffers;
mod program_memory;
mod stress;

use std::sync::{Mutex, PoisonError};

use crate::{Limits, ProgramMemory, set_limits, trim};

/// As programs have it: what they are promised of refused memory is tried, too.
#[global_allocator]
static MEMORY: ProgramMemory = ProgramMemory;

static ALONE: Mutex<()> = Mutex::new(());

/// Runs a test with an empty pool. Joining waits for the thread's cache to reach the shelf.
fn alone(test: impl FnOnce() + Send + 'static) {
    let _guard = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let outcome = std::thread::spawn(|| {
        trim();
        test();
    })
    .join();
    set_limits(Limits::default());
    if let Err(panic) = outcome {
        std::panic::resume_unwind(panic);
    }
}
