//! The rate of large products of matrices: the measure of a training step.

use std::convert::Infallible;

use foretell_gemm::{MatMut, MatRef, Options, matmul};
use foretell_infer::Workers;

use crate::synthetic::median_seconds;

/// Rows, inner dimension and columns: enough tiles for many threads, and operands of 2 MB that stay in a second-level cache.
const SHAPE: [usize; 3] = [512, 512, 256];

/// For so long, and so often at least.
const SECONDS: f64 = 0.2;
const RUNS: usize = 9;

/// Floating-point operations of a product of `f32` matrices in a second, by all threads of `workers`: the median of several runs.
pub(crate) fn product_rate(workers: &Workers) -> f64 {
    let [m, k, n] = SHAPE;
    let (a, b, mut c) = (vec![0.5f32; m * k], vec![0.25f32; k * n], vec![0.0f32; m * n]);
    let threads = workers.threads();
    let seconds = workers.enter(|| {
        let mut product = || -> Result<(), Infallible> {
            let (a, b) = (MatRef::row_major(&a, m, k), MatRef::row_major(&b, k, n));
            let c = MatMut::row_major(&mut c, m, n);
            foretell_threads::share(threads, || matmul(c, a, b, Options::default()));
            Ok(())
        };
        let Ok(()) = product();
        let Ok((seconds, _)) = median_seconds(&mut product, RUNS, SECONDS);
        seconds
    });
    (2 * m * k * n) as f64 / seconds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_finite_and_beyond_that_of_an_abacus() {
        let rate = product_rate(&Workers::new(2).expect("two threads"));
        assert!(rate.is_finite() && rate > 1e6, "{rate}");
    }
}
