//! Softmax along a dimension.

use candle_core::shape::Dim;
use candle_core::{CpuStorage, CustomOp1, Layout, Shape, Tensor};
use foretell_simd as simd;
use foretell_threads as threads;

use crate::error::Result;
use crate::operand::{check, contiguous, on_all_threads, read, tensor};

/// The work of a number, in numbers of a plain pass over memory.
const COST: usize = 8;

/// `e^x / sum(e^x)` along `dim`; x of any shape. The largest of a row is subtracted first, so that no `e^x` overflows.
///
/// # Errors
/// If `x` is not F32 on the CPU, or has no such dimension.
///
/// ```
/// use candle_core::{D, Device, Tensor};
///
/// let x = Tensor::new(&[[1000f32, 1000.0], [0.0, f32::NEG_INFINITY]], &Device::Cpu)?;
/// let y = foretell_candle::softmax(&x, D::Minus1)?;
/// assert_eq!(y.to_vec2::<f32>()?, [[0.5, 0.5], [1.0, 0.0]]);
/// # Ok::<(), candle_core::Error>(())
/// ```
pub fn softmax(x: &Tensor, dim: impl Dim) -> Result<Tensor> {
    check("softmax", "x", x)?;
    let axis = dim.to_index(x.shape(), "softmax")?;
    let (len, inner) = (x.dims()[axis], x.dims()[axis + 1..].iter().product());
    Ok(x.contiguous()?.apply_op1(Softmax { len, inner })?)
}

/// The softmax of x seen as `[outer, len, inner]`, along the middle.
struct Softmax {
    len: usize,
    inner: usize,
}

/// A kernel over `[rows, cols]` that reads one slice and writes another.
type Kernel = fn(&[f32], usize, &mut [f32]);

impl Softmax {
    /// Kernels by rows serve the last dimension, those by columns the others.
    fn run(&self, [by_rows, by_columns]: [Kernel; 2], from: &[f32], to: &mut [f32]) {
        let size = (self.len * self.inner).max(1);
        on_all_threads(|| {
            threads::rows(to.len() / size, COST * size, [to], |range, [to]| {
                let from = &from[range.start * size..range.end * size];
                if self.inner == 1 {
                    return by_rows(from, self.len, to);
                }
                for (from, to) in from.chunks_exact(size).zip(to.chunks_exact_mut(size)) {
                    by_columns(from, self.inner, to);
                }
            });
        });
    }
}

impl CustomOp1 for Softmax {
    fn name(&self) -> &'static str {
        "softmax"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> candle_core::Result<(CpuStorage, Shape)> {
        let x = contiguous(storage, layout)?;
        let mut out = vec![0.0; x.len()];
        self.run([simd::softmax_rows, simd::softmax_columns], x, &mut out);
        Ok((CpuStorage::F32(out), layout.shape().clone()))
    }

    /// With y the result and g its gradient, each element is in the sum of all: dx = y (g - sum(y g)).
    fn bwd(&self, _: &Tensor, res: &Tensor, grad: &Tensor) -> candle_core::Result<Option<Tensor>> {
        let grad = grad.contiguous()?;
        let dx = read([res, &grad], |[y, grad]| {
            let mut dx = contiguous(grad.0, grad.1)?.to_vec();
            let backward: [Kernel; 2] = [simd::softmax_rows_backward, simd::softmax_columns_backward];
            self.run(backward, contiguous(y.0, y.1)?, &mut dx);
            Ok(dx)
        })?;
        tensor(dx, res.shape()).map(Some)
    }
}
