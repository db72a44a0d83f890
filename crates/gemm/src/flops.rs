//! Floating-point operations of products, counted on request.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// How many counts are running: while it is 0, a product reads this and nothing else.
static WATCHES: AtomicUsize = AtomicUsize::new(0);
static COUNTED: AtomicU64 = AtomicU64::new(0);

/// Counts the floating-point operations of all products of the process, on whatever thread, while it lives: two for each
/// multiplication with its addition. It follows from the shapes, so it is the same for every kernel and number of threads.
///
/// It costs a product one read of a word, and one atomic addition while there is a counter.
///
/// ```standalone_crate
/// use foretell_gemm::{FlopCounter, MatMut, MatRef, Options, matmul};
///
/// let counter = FlopCounter::start();
/// let (a, b, mut c) = ([1.0f32; 6], [1.0; 12], [0.0; 8]);
/// let (a, b) = (MatRef::row_major(&a, 2, 3), MatRef::row_major(&b, 3, 4));
/// matmul(MatMut::row_major(&mut c, 2, 4), a, b, Options::default());
/// assert_eq!(counter.flops(), 2 * 2 * 3 * 4);
/// ```
#[derive(Debug)]
pub struct FlopCounter {
    before: u64,
    _watch: Watch,
}

impl FlopCounter {
    /// Counts from now on.
    pub fn start() -> Self {
        Self { before: COUNTED.load(Relaxed), _watch: Watch::start() }
    }

    /// The operations since the start.
    pub fn flops(&self) -> u64 {
        COUNTED.load(Relaxed).wrapping_sub(self.before)
    }
}

/// Somebody who watches products, while it lives.
#[derive(Debug)]
pub(crate) struct Watch(());

impl Watch {
    pub(crate) fn start() -> Self {
        WATCHES.fetch_add(1, Relaxed);
        Self(())
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        WATCHES.fetch_sub(1, Relaxed);
    }
}

/// Whether somebody watches products.
#[inline(always)]
pub(crate) fn is_watched() -> bool {
    WATCHES.load(Relaxed) > 0
}

/// Adds `count` products of `[m, k]` and `[k, n]` to what is counted: for kernels that multiply outside of this
/// crate.
#[inline(always)]
pub fn count_products(count: usize, [m, k, n]: [usize; 3]) {
    if is_watched() {
        add(count, [m, k, n]);
    }
}

#[cold]
fn add(count: usize, [m, k, n]: [usize; 3]) {
    let flops = [m, k, n].into_iter().fold(2 * count as u64, |flops, size| flops.wrapping_mul(size as u64));
    COUNTED.fetch_add(flops, Relaxed);
}
