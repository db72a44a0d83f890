//! A block of system memory: the only code that talks to the system allocator.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;

use crate::class::{ALIGN, Class};

/// An aligned, initialised block that nobody else refers to; dropping it frees the memory.
pub(crate) struct Block {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a block is the only owner of plain bytes.
unsafe impl Send for Block {}

impl Block {
    /// Zeroed memory from the system.
    pub(crate) fn from_system(class: Class) -> Self {
        let layout = layout(class.bytes);
        // SAFETY: a class has at least 64 bytes, so the layout's size is not zero.
        let start = unsafe { alloc_zeroed(layout) };
        let Some(start) = NonNull::new(start) else { handle_alloc_error(layout) };
        Self { start, bytes: class.bytes }
    }

    /// The inverse of [`Block::into_start`].
    ///
    /// # Safety
    ///
    /// `start` came from `into_start` of a block of this class and is used by nobody else.
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

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, ALIGN).expect("the size of a class fits the address space")
}
