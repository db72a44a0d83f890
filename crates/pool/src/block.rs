//! A block of system memory: the only code that talks to the system allocator.

use std::alloc::{Layout, alloc, dealloc};
use std::ptr::NonNull;

use crate::class::{ALIGN, Class};
use crate::program_memory::refusable;

/// Blocks of at least this many bytes start at a multiple of it and ask the system for huge pages: passes over
/// large arrays then miss fewer address translations.
const HUGE_PAGE: usize = 2 << 20;

/// An aligned, initialised block that no one else refers to; dropping it frees the memory.
pub(crate) struct Block {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a block is the only owner of plain bytes.
unsafe impl Send for Block {}

impl Block {
    /// Zeroed memory from the system, if it has as much.
    pub(crate) fn from_system(class: Class) -> Option<Self> {
        let layout = layout(class.bytes);
        let start = NonNull::new(refusable(|| {
            // SAFETY: a class has at least 64 bytes, so the layout's size is not zero.
            unsafe { alloc(layout) }
        }))?;
        if layout.align() == HUGE_PAGE {
            prefer_huge_pages(start, class.bytes);
        }
        // SAFETY: the block is that large, and no one else knows it.
        unsafe { start.write_bytes(0, class.bytes) };
        Some(Self { start, bytes: class.bytes })
    }

    /// The inverse of [`Block::into_start`].
    ///
    /// # Safety
    ///
    /// `start` came from `into_start` of a block of this class and is used by no one else.
    pub(crate) unsafe fn from_start(start: NonNull<u8>, class: Class) -> Self {
        Self { start, bytes: class.bytes }
    }

    /// Gives up ownership: the caller must bring the block back.
    pub(crate) fn into_start(self) -> NonNull<u8> {
        let start = self.start;
        std::mem::forget(self);
        start
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: `start` was allocated with this layout and its only owner goes away here.
        unsafe { dealloc(self.start.as_ptr(), layout(self.bytes)) }
    }
}

/// A request that the system may refuse: then the pages are small, and all else is the same.
fn prefer_huge_pages(start: NonNull<u8>, bytes: usize) {
    #[cfg(all(target_os = "linux", not(miri)))]
    // SAFETY: the range was just allocated; the advice changes how it is mapped, not what it holds.
    unsafe {
        libc::madvise(start.as_ptr().cast(), bytes, libc::MADV_HUGEPAGE);
    }
    let _ = (start, bytes);
}

fn layout(bytes: usize) -> Layout {
    let align = if bytes >= HUGE_PAGE { HUGE_PAGE } else { ALIGN };
    Layout::from_size_align(bytes, align).expect("the size of a class fits the address space")
}
