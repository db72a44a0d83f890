//! The modulus of complex numbers, such as the amplitudes of frequencies.

use foretell_tensor::Tensor;
use foretell_tensor::trace::{self, Record};
use foretell_threads as threads;

use super::activation::ELEMENTARY_COST;
use crate::Var;

impl Var {
    /// `sqrt(re² + im²)` of pairs of real and imaginary part: `[..., 2]` to `[...]`.
    ///
    /// The derivative by the real part is its share `re / |z|` of the modulus, that by the imaginary part `im / |z|`; both are 0 at
    /// 0, as in PyTorch.
    ///
    /// # Panics
    /// If the last dimension is not 2.
    #[track_caller]
    pub fn modulus(&self) -> Self {
        let z = self.value().contiguous();
        let shape = z.shape();
        assert_eq!(shape.last(), Some(&2), "the modulus of pairs of shape {shape:?}");
        let value = Tensor::build(shape.without(shape.len() - 1), |out| {
            let numbers = z.values().as_chunks::<2>().0;
            threads::rows(numbers.len(), ELEMENTARY_COST, [out], |range, [out]| {
                for (out, [re, im]) in out.iter_mut().zip(&numbers[range]) {
                    *out = (re * re + im * im).sqrt();
                }
            });
        });
        trace::record(|| Record::new("modulus").input(&z).output(&value));
        let (edge, modulus) = (self.edge(), value.clone());
        Self::operation(value, &[self], move |grad, gradients| {
            let dz = Tensor::build(shape, |dz| {
                let (numbers, grads) = (z.values().as_chunks::<2>().0, grad.values());
                threads::rows(numbers.len(), ELEMENTARY_COST, [dz], |range, [dz]| {
                    let of_modulus = grads[range.clone()].iter().zip(&modulus.values()[range.clone()]);
                    let all = dz.as_chunks_mut::<2>().0.iter_mut().zip(&numbers[range]).zip(of_modulus);
                    for (([d_re, d_im], [re, im]), (grad, &modulus)) in all {
                        let rate = if modulus > 0.0 { grad / modulus } else { 0.0 };
                        (*d_re, *d_im) = (re * rate, im * rate);
                    }
                });
            });
            gradients.add_gradient(&edge, dz);
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;

    #[test]
    fn gradients_away_from_zero() {
        gradients(&[random([3, 4, 2], 1)], |v| v[0].modulus());
    }

    #[test]
    fn agrees_with_pytorch_at_zero_too() {
        torch::assert_matches_pytorch("modulus", |x, _| x[0].modulus());
    }
}
