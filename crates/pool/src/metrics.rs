//! Counters, kept by each thread for itself and added up on request.

use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::shelf;

/// Counters of the pool since the process began, over all threads.
///
/// Sizes are those of size classes, that is, of the memory in truth held. The figures are exact when
/// no other thread uses the pool at the same moment, except `peak_bytes`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolMetrics {
    /// Buffers served from the pool.
    pub hits: u64,
    /// Calls to the system allocator for buffers.
    pub misses: u64,
    /// Buffers taken back into the pool.
    pub returned: u64,
    /// Blocks given back to the system: over a limit, by [`trim`](crate::trim), or all of them
    /// without the feature `pool`. `misses - dropped` blocks exist, in use or idle.
    pub dropped: u64,
    /// Bytes in use.
    pub live_bytes: usize,
    /// The most bytes ever in use at one time, within 64 KiB per thread.
    pub peak_bytes: usize,
    /// Bytes kept for the next owner.
    pub idle_bytes: usize,
}

/// Counters of one thread: only their owner writes them, so an update is a plain store.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) hits: AtomicU64,
    pub(crate) misses: AtomicU64,
    pub(crate) returned: AtomicU64,
    pub(crate) dropped: AtomicU64,
    /// Bytes acquired less bytes released by this thread: negative where others' buffers end.
    pub(crate) live: AtomicI64,
    pub(crate) idle: AtomicUsize,
}

/// Adds to a counter that only this thread writes.
pub(crate) fn bump(counter: &AtomicU64, by: u64) {
    counter.store(counter.load(Relaxed) + by, Relaxed);
}

/// The threads at work, and the sums of those that have ended.
struct Registry {
    threads: Vec<Arc<Counters>>,
    ended: PoolMetrics,
    ended_live: i64,
}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry {
    threads: Vec::new(),
    ended: PoolMetrics {
        hits: 0,
        misses: 0,
        returned: 0,
        dropped: 0,
        live_bytes: 0,
        peak_bytes: 0,
        idle_bytes: 0,
    },
    ended_live: 0,
});

/// Bytes in use as far as the threads have told, and their maximum.
static LIVE: AtomicI64 = AtomicI64::new(0);
static PEAK: AtomicI64 = AtomicI64::new(0);

fn registry() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counters for a thread that begins to use the pool.
pub(crate) fn enlist() -> Arc<Counters> {
    let counters = Arc::new(Counters::default());
    registry().threads.push(Arc::clone(&counters));
    counters
}

impl Registry {
    fn absorb(&mut self, counters: &Counters) {
        self.ended.hits += counters.hits.load(Relaxed);
        self.ended.misses += counters.misses.load(Relaxed);
        self.ended.returned += counters.returned.load(Relaxed);
        self.ended.dropped += counters.dropped.load(Relaxed);
        self.ended.idle_bytes += counters.idle.load(Relaxed);
        self.ended_live += counters.live.load(Relaxed);
    }
}

/// Moves the counters of a thread that ends into the sums.
pub(crate) fn retire(counters: &Arc<Counters>) {
    let mut registry = registry();
    registry.threads.retain(|other| !Arc::ptr_eq(other, counters));
    registry.absorb(counters);
}

/// Adds up counters that belong to no thread: the pool was used while its thread was ending.
pub(crate) fn absorb(counters: &Counters) {
    report_live(counters.live.load(Relaxed));
    registry().absorb(counters);
}

/// Adds a thread's change of bytes in use to the common figure, and keeps its maximum.
pub(crate) fn report_live(change: i64) {
    let live = LIVE.fetch_add(change, Relaxed) + change;
    if change > 0 {
        PEAK.fetch_max(live, Relaxed);
    }
}

/// The counters of the pool so far, over all threads.
pub fn metrics() -> PoolMetrics {
    let registry = registry();
    let mut sum = Registry { threads: Vec::new(), ended: registry.ended, ended_live: registry.ended_live };
    registry.threads.iter().for_each(|thread| sum.absorb(thread));
    let live_bytes = sum.ended_live.max(0) as usize;
    PoolMetrics {
        live_bytes,
        peak_bytes: live_bytes.max(PEAK.load(Relaxed).max(0) as usize),
        idle_bytes: sum.ended.idle_bytes + shelf::bytes(),
        ..sum.ended
    }
}
