//! A thread's own cache, and the way of a block: cache, shelf, system.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::block::Block;
use crate::class::{CLASSES, Class, POOLING};
use crate::limits::limits;
use crate::metrics::{self, Counters, bump};
use crate::out_of_memory::OutOfMemory;
use crate::shelf;

/// A thread reports to the common figure of bytes in use when its own has changed by this much.
const REPORT_BYTES: i64 = 64 << 10;

/// How often `trim` was called: a thread that sees a new number empties its cache.
static TRIMS: AtomicUsize = AtomicUsize::new(0);

struct ThreadCache {
    cache: [Vec<Block>; CLASSES],
    counters: Arc<Counters>,
    unreported: i64,
    trims: usize,
}

thread_local! {
    static LOCAL: RefCell<ThreadCache> = RefCell::new(ThreadCache {
        cache: [const { Vec::new() }; CLASSES],
        counters: metrics::enlist(),
        unreported: 0,
        trims: TRIMS.load(Relaxed),
    });
}

impl ThreadCache {
    /// The block, and whether it is fresh from the system, that is, all zeros; nothing where the system has no more.
    #[inline]
    fn acquire(&mut self, class: Class) -> Option<(Block, bool)> {
        self.heed_trim();
        let Some(block) = self.cache[class.index].pop() else { return self.acquire_behind(class) };
        bump(&self.counters.hits, 1);
        self.count_idle(self.idle() - class.bytes);
        self.count_live(class.bytes as i64);
        Some((block, false))
    }

    #[cold]
    fn acquire_behind(&mut self, class: Class) -> Option<(Block, bool)> {
        let kept = shelf::take(class);
        let fresh = kept.is_none();
        let block = kept.or_else(|| self.ask_system(class))?;
        bump(if fresh { &self.counters.misses } else { &self.counters.hits }, 1);
        self.count_live(class.bytes as i64);
        Some((block, fresh))
    }

    /// A system that has no more gets back what is idle, and is asked again.
    fn ask_system(&mut self, class: Class) -> Option<Block> {
        Block::from_system(class).or_else(|| {
            self.give_back();
            Block::from_system(class)
        })
    }

    /// Frees what this thread and the shelf keep.
    #[cold]
    fn give_back(&mut self) {
        self.clear();
        bump(&self.counters.dropped, shelf::clear());
    }

    #[inline]
    fn release(&mut self, class: Class, block: Block) {
        self.heed_trim();
        self.count_live(-(class.bytes as i64));
        let limits = limits();
        let cache = &mut self.cache[class.index];
        let idle = self.counters.idle.load(Relaxed) + class.bytes;
        let fits = (cache.len() + 1) * class.bytes <= limits.cache_class_bytes;
        if POOLING && fits && idle <= limits.cache_bytes {
            cache.push(block);
            bump(&self.counters.returned, 1);
            self.count_idle(idle);
        } else {
            self.release_behind(class, block);
        }
    }

    #[cold]
    fn release_behind(&mut self, class: Class, block: Block) {
        let refused = if POOLING { shelf::put(class, block) } else { Some(block) };
        let counter = if refused.is_none() { &self.counters.returned } else { &self.counters.dropped };
        bump(counter, 1);
    }

    #[inline]
    fn heed_trim(&mut self) {
        if self.trims != TRIMS.load(Relaxed) {
            self.clear();
        }
    }

    #[cold]
    fn clear(&mut self) {
        self.trims = TRIMS.load(Relaxed);
        let freed: usize = self.cache.iter_mut().map(|blocks| std::mem::take(blocks).len()).sum();
        bump(&self.counters.dropped, freed as u64);
        self.count_idle(0);
    }

    fn idle(&self) -> usize {
        self.counters.idle.load(Relaxed)
    }

    fn count_idle(&self, bytes: usize) {
        self.counters.idle.store(bytes, Relaxed);
    }

    #[inline]
    fn count_live(&mut self, change: i64) {
        let live = &self.counters.live;
        live.store(live.load(Relaxed) + change, Relaxed);
        self.unreported += change;
        if self.unreported.abs() >= REPORT_BYTES {
            metrics::report_live(std::mem::take(&mut self.unreported));
        }
    }
}

/// A thread that ends hands its cache to the shelf.
impl Drop for ThreadCache {
    fn drop(&mut self) {
        let kept = self.cache.iter_mut().flat_map(std::mem::take);
        let refused = kept.filter_map(|block| shelf::put(Class::of(block.bytes()), block)).count();
        bump(&self.counters.dropped, refused as u64);
        self.count_idle(0);
        metrics::report_live(self.unreported);
        metrics::retire(&self.counters);
    }
}

/// A block of this class, and whether it is fresh from the system, that is, all zeros.
///
/// # Panics
///
/// With [`OutOfMemory`], if the system has no more.
#[inline]
pub(crate) fn acquire(class: Class) -> (Block, bool) {
    let found = LOCAL.try_with(|local| local.borrow_mut().acquire(class));
    // The thread's cache is no longer borrowed, so a panic hook may use buffers.
    found.unwrap_or_else(|_| acquire_at_end(class)).unwrap_or_else(|| OutOfMemory::panic(class.bytes))
}

/// The thread is ending and its cache is gone: the shelf is still there.
#[cold]
fn acquire_at_end(class: Class) -> Option<(Block, bool)> {
    let kept = shelf::take(class);
    let fresh = kept.is_none();
    let block = kept.or_else(|| Block::from_system(class))?;
    let counters = Counters::default();
    bump(if fresh { &counters.misses } else { &counters.hits }, 1);
    counters.live.store(class.bytes as i64, Relaxed);
    metrics::absorb(&counters);
    Some((block, fresh))
}

/// Takes a block back.
#[inline]
pub(crate) fn release(class: Class, block: Block) {
    let mut block = Some(block);
    let done = LOCAL.try_with(|local| block.take().map(|block| local.borrow_mut().release(class, block)));
    // The thread is ending and its cache is gone: the shelf is still there.
    if let (Err(_), Some(block)) = (done, block) {
        let refused = if POOLING { shelf::put(class, block) } else { Some(block) };
        let counters = Counters::default();
        bump(if refused.is_none() { &counters.returned } else { &counters.dropped }, 1);
        counters.live.store(-(class.bytes as i64), Relaxed);
        metrics::absorb(&counters);
    }
}

/// The bytes that this thread has acquired less those that it has released, sizes being those of size classes: the difference
/// before and after a piece of work is what it leaves in use, whatever other threads do meanwhile.
///
/// ```
/// use foretell_pool::{Buffer, live_bytes_of_thread};
///
/// let before = live_bytes_of_thread();
/// let kept = Buffer::copied(&Buffer::<f32>::zeroed(4096)[..1024]);
/// assert_eq!(live_bytes_of_thread() - before, 4096);
/// drop(kept);
/// assert_eq!(live_bytes_of_thread(), before);
/// ```
pub fn live_bytes_of_thread() -> i64 {
    LOCAL.with(|local| local.borrow().counters.live.load(Relaxed))
}

/// Gives all idle memory back to the system: this thread's cache and the shelf at once, the cache of
/// any other thread when that thread next acquires or releases a buffer.
pub fn trim() {
    TRIMS.fetch_add(1, Relaxed);
    if LOCAL.try_with(|local| local.borrow_mut().give_back()).is_err() {
        shelf::clear();
    }
}
