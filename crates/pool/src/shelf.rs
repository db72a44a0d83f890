//! The shelf behind the threads' caches: one lock per size class.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::block::Block;
use crate::class::{CLASSES, Class};
use crate::limits::limits;

static SHELF: [Mutex<Vec<Block>>; CLASSES] = [const { Mutex::new(Vec::new()) }; CLASSES];
static BYTES: AtomicUsize = AtomicUsize::new(0);

/// A panic elsewhere leaves the list of a class as whole as it was.
fn lock(index: usize) -> MutexGuard<'static, Vec<Block>> {
    SHELF[index].lock().unwrap_or_else(PoisonError::into_inner)
}

/// The block that came back last, the likeliest to be in cache.
pub(crate) fn take(class: Class) -> Option<Block> {
    // Nothing at all on the shelf is the common case of a warmed-up thread's first miss.
    if BYTES.load(Relaxed) == 0 {
        return None;
    }
    let block = lock(class.index).pop()?;
    BYTES.fetch_sub(class.bytes, Relaxed);
    Some(block)
}

/// Keeps a block, or hands it back when the limits are reached.
pub(crate) fn put(class: Class, block: Block) -> Option<Block> {
    let limits = limits();
    if BYTES.fetch_add(class.bytes, Relaxed) + class.bytes <= limits.shelf_bytes {
        let mut shelf = lock(class.index);
        if (shelf.len() + 1) * class.bytes <= limits.shelf_class_bytes {
            shelf.push(block);
            return None;
        }
    }
    BYTES.fetch_sub(class.bytes, Relaxed);
    Some(block)
}

/// Frees everything; returns the number of blocks.
pub(crate) fn clear() -> u64 {
    let mut freed = 0;
    for index in 0..CLASSES {
        let blocks = std::mem::take(&mut *lock(index));
        BYTES.fetch_sub(blocks.iter().map(Block::bytes).sum(), Relaxed);
        freed += blocks.len() as u64;
    }
    freed
}

/// Idle bytes on the shelf.
pub(crate) fn bytes() -> usize {
    BYTES.load(Relaxed)
}
