//! Products and their plans, recorded on request.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use foretell_simd::level;

use crate::flops::{self, Watch};
use crate::plan::{Plan, Request, plan};

/// The recorders that exist.
static RECORDERS: AtomicUsize = AtomicUsize::new(0);
static RECORDED: Mutex<Vec<RecordedProduct>> = Mutex::new(Vec::new());

/// Products of one shape that were made in one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedProduct {
    /// `[m, k, n]` of a product of `[m, k]` and `[k, n]`.
    pub shape: [usize; 3],
    /// The plan of each.
    pub plan: Plan,
    /// How many there were.
    pub count: usize,
}

/// Records the plans of all products of the process, on whatever thread, while it lives. Complex products, and products that other
/// crates multiply themselves, are not among them.
///
/// Without one a product reads the word that it reads for a [`FlopCounter`](crate::FlopCounter); what that costs tiny products stands in
/// `docs/performance.md`.
///
/// ```standalone_crate
/// use foretell_gemm::{MatMut, MatRef, Options, PlanRecorder, matmul};
///
/// let recorder = PlanRecorder::start();
/// let (a, b, mut c) = ([1.0f32; 6], [1.0; 12], [0.0; 8]);
/// let (a, b) = (MatRef::row_major(&a, 2, 3), MatRef::row_major(&b, 3, 4));
/// matmul(MatMut::row_major(&mut c, 2, 4), a, b, Options::default());
/// let products = recorder.finish();
/// assert_eq!((products[0].shape, products[0].count), ([2, 3, 4], 1));
/// assert!(products[0].plan.to_string().ends_with("one task"));
/// ```
#[derive(Debug)]
pub struct PlanRecorder {
    _watch: Watch,
}

impl PlanRecorder {
    /// Records from now on. There is one recorder at a time: another one begins the list anew.
    pub fn start() -> Self {
        recorded().clear();
        RECORDERS.fetch_add(1, Relaxed);
        Self { _watch: Watch::start() }
    }

    /// The products since the start, those with the most multiplications first.
    pub fn finish(self) -> Vec<RecordedProduct> {
        let mut products = std::mem::take(&mut *recorded());
        let work = |product: &RecordedProduct| {
            product.shape.iter().fold(product.count, |work, &size| work.saturating_mul(size))
        };
        products.sort_by_key(|product| (std::cmp::Reverse(work(product)), product.shape));
        products
    }
}

impl Drop for PlanRecorder {
    fn drop(&mut self) {
        RECORDERS.fetch_sub(1, Relaxed);
    }
}

fn recorded() -> std::sync::MutexGuard<'static, Vec<RecordedProduct>> {
    RECORDED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts a product, or each of a batch, and records its plan where somebody watches. `request` must own what it captures: operands
/// whose address it held would leave their registers for every product.
#[inline(always)]
pub(crate) fn note(count: usize, request: impl FnOnce() -> Request) {
    if flops::is_watched() {
        add(count, request);
    }
}

/// Out of the way of tiny products, and so is what the request is made of.
#[cold]
#[inline(never)]
fn add(count: usize, request: impl FnOnce() -> Request) {
    let request = request();
    let shape = request.operands.shape;
    flops::count_products(count, shape);
    if RECORDERS.load(Relaxed) == 0 {
        return;
    }
    let plan = plan(request, level());
    let mut all = recorded();
    match all.iter_mut().find(|product| product.shape == shape && product.plan == plan) {
        Some(product) => product.count += count,
        None => all.push(RecordedProduct { shape, plan, count }),
    }
}
