//! How much idle memory the pool may keep.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// How much idle memory the pool keeps, in bytes. Buffers in use are never limited.
///
/// A change takes effect as blocks come back; [`trim`](crate::trim) empties what is already kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Blocks of one size class in the cache of one thread (default 4 MiB). Larger blocks go
    /// straight to the shelf.
    pub cache_class_bytes: usize,
    /// All blocks in the cache of one thread (default 64 MiB).
    pub cache_bytes: usize,
    /// Blocks of one size class on the shared shelf (default 1 GiB).
    pub shelf_class_bytes: usize,
    /// All blocks on the shared shelf (default 2 GiB).
    pub shelf_bytes: usize,
}

const DEFAULT: Limits = Limits {
    cache_class_bytes: 4 << 20,
    cache_bytes: 64 << 20,
    shelf_class_bytes: 1 << 30,
    shelf_bytes: (1 << 31) - 1,
};

static CACHE_CLASS: AtomicUsize = AtomicUsize::new(DEFAULT.cache_class_bytes);
static CACHE: AtomicUsize = AtomicUsize::new(DEFAULT.cache_bytes);
static SHELF_CLASS: AtomicUsize = AtomicUsize::new(DEFAULT.shelf_class_bytes);
static SHELF: AtomicUsize = AtomicUsize::new(DEFAULT.shelf_bytes);

impl Default for Limits {
    fn default() -> Self {
        DEFAULT
    }
}

/// The limits in force.
pub fn limits() -> Limits {
    Limits {
        cache_class_bytes: CACHE_CLASS.load(Relaxed),
        cache_bytes: CACHE.load(Relaxed),
        shelf_class_bytes: SHELF_CLASS.load(Relaxed),
        shelf_bytes: SHELF.load(Relaxed),
    }
}

/// Sets the limits for all threads.
pub fn set_limits(limits: Limits) {
    CACHE_CLASS.store(limits.cache_class_bytes, Relaxed);
    CACHE.store(limits.cache_bytes, Relaxed);
    SHELF_CLASS.store(limits.shelf_class_bytes, Relaxed);
    SHELF.store(limits.shelf_bytes, Relaxed);
}
