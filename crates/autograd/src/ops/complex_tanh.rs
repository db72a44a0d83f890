//! The hyperbolic tangent of complex numbers, whose slope is `1 - tanh²`.

use foretell_simd as simd;
use foretell_tensor::Tensor;
use foretell_threads as threads;

use crate::Var;

/// The cost of a number, relative to that of a number in a plain pass over memory.
const COST: usize = 12;

impl Var {
    /// The conjugate of the hyperbolic tangent of rows of complex numbers, `[..., 2 n]`: n real parts, then n imaginary
    /// ones.
    ///
    /// # Panics
    /// If rows are of an odd length.
    #[track_caller]
    pub fn complex_tanh_conjugate(&self) -> Self {
        let shape = self.shape();
        let width = shape.last().copied().unwrap_or(1);
        assert!(width.is_multiple_of(2), "complex_tanh_conjugate of shape {shape:?}");
        let (n, rows) = (width / 2, shape.numel().checked_div(width).unwrap_or(0));
        // tanh of a conjugate is the conjugate of tanh.
        let conjugate = move |parts: &mut [f32]| parts.iter_mut().for_each(|part| *part = -*part);
        let mut value = self.value().contiguous();
        threads::rows(rows, COST * width, [value.values_mut()], |_, [out]| {
            for row in out.chunks_exact_mut(width.max(1)) {
                let (re, im) = row.split_at_mut(n);
                conjugate(im);
                simd::complex_tanh_in_place(re, im);
            }
        });
        let (edge, output) = (self.edge(), value.clone());
        Self::operation(value, &[self], move |mut grad, gradients| {
            let output: &Tensor = &output;
            threads::rows(rows, COST * width, [grad.values_mut()], |range, [grad]| {
                let output = output.values()[range.start * width..].chunks_exact(width.max(1));
                for (grad, output) in grad.chunks_exact_mut(width.max(1)).zip(output) {
                    let (re, im) = output.split_at(n);
                    let (grad_re, grad_im) = grad.split_at_mut(n);
                    simd::complex_tanh_backward(re, im, grad_re, grad_im);
                    conjugate(grad_im);
                }
            });
            gradients.add_gradient(&edge, grad);
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::Var;
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;

    #[test]
    fn gradients_of_both_parts() {
        gradients(&[random([3, 4], 1)], |v| v[0].scale(0.5).complex_tanh_conjugate());
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("complex_tanh_conjugate", |x, _| x[0].complex_tanh_conjugate());
    }

    #[test]
    #[should_panic(expected = "complex_tanh_conjugate of shape [2, 3]")]
    fn parts_come_in_pairs() {
        Var::constant(random([2, 3], 1)).complex_tanh_conjugate();
    }
}
