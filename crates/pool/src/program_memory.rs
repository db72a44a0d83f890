//! The allocator of a program that ends with an error where the system has no memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{self, Write as _};
use std::process;

/// The system's allocator for a program's `#[global_allocator]`: where the system refuses memory for a table or a text, the process ends
/// with exit code 1 and a line that says so, in place of an abort. A refused [`Buffer`](crate::Buffer) remains a panic with
/// [`OutOfMemory`](crate::OutOfMemory).
///
/// ```
/// use foretell_pool::ProgramMemory;
///
/// #[global_allocator]
/// static MEMORY: ProgramMemory = ProgramMemory;
/// # fn main() {}
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ProgramMemory;

thread_local! {
    /// Whether this thread asks for memory that may be refused.
    static MAY_BE_REFUSED: Cell<bool> = const { Cell::new(false) };
}

/// The result of a request that deals with a refusal by itself.
pub(crate) fn refusable<T>(request: impl FnOnce() -> T) -> T {
    MAY_BE_REFUSED.set(true);
    let result = request();
    MAY_BE_REFUSED.set(false);
    result
}

/// The memory that a request got, if it got some or can do without.
fn granted(start: *mut u8, bytes: usize) -> *mut u8 {
    if start.is_null() && !MAY_BE_REFUSED.get() {
        end(bytes);
    }
    start
}

#[cold]
fn end(bytes: usize) -> ! {
    // What is told must not ask for memory itself: standard error has no buffer, and the text is written piece by piece.
    let _ = writeln!(
        io::stderr(),
        "error: out of memory: the system refused {bytes} bytes; leave columns or series out, or close other programs"
    );
    process::exit(1)
}

// SAFETY: every request goes to the system's allocator as it is, and its answer is returned; a process that ends returns nothing.
unsafe impl GlobalAlloc for ProgramMemory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the promises of this trait, which are those of the system's allocator.
        granted(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in `alloc`.
        granted(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as in `alloc`; all memory comes from the system's allocator.
        granted(unsafe { System.realloc(start, layout, size) }, size)
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: as in `realloc`.
        unsafe { System.dealloc(start, layout) }
    }
}
