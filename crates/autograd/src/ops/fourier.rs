//! The discrete Fourier transform of real numbers and its inverse, along the last dimension of the values;
//! [`foretell_kernels::fourier`] has the derivation of the gradients.

use foretell_kernels::fourier;
use foretell_tensor::Tensor;
use foretell_tensor::trace::{self, Record};

use crate::Var;

impl Var {
    /// The frequencies of the last dimension: `[..., len]` to `[..., len / 2 + 1, 2]`, real and imaginary parts, as
    /// `torch.fft.rfft` under `torch.view_as_real`.
    ///
    /// # Panics
    /// If there is no dimension, or the last one is empty.
    #[track_caller]
    pub fn rfft(&self) -> Self {
        let x = self.value().contiguous();
        let shape = x.shape();
        let Some((&len, outer)) = shape.split_last() else { panic!("rfft of shape {shape:?}") };
        assert!(len > 0, "rfft of shape {shape:?}");
        let mut spectrum = shape;
        spectrum[outer.len()] = fourier::frequencies(len);
        let value =
            Tensor::build(spectrum.with(shape.len(), 2), |out| fourier::forward(x.values(), len, out));
        trace::record(|| Record::new("rfft").input(&x).output(&value));
        let edge = self.edge();
        Self::operation(value, &[self], move |grad, gradients| {
            gradients.write(&edge, shape, |dx, accum| fourier::backward(grad.values(), len, dx, accum));
        })
    }

    /// The inverse of [`Var::rfft`]: `[..., len / 2 + 1, 2]` to `[..., len]`, as `torch.fft.irfft`. The imaginary parts of
    /// the first frequency and, of an even `len`, of the last do not count.
    ///
    /// # Panics
    /// If there are not as many frequencies as `len` numbers have.
    #[track_caller]
    pub fn irfft(&self, len: usize) -> Self {
        let x = self.value().contiguous();
        let shape = x.shape();
        let [outer @ .., count, 2] = &*shape else { panic!("irfft of shape {shape:?}, which has no pairs") };
        let fits = len > 0 && *count == fourier::frequencies(len);
        assert!(fits, "irfft of shape {shape:?} to {len} numbers");
        let mut row = shape.without(shape.len() - 1);
        row[outer.len()] = len;
        let value = Tensor::build(row, |out| fourier::inverse(x.values(), len, out));
        trace::record(|| Record::new("irfft").input(&x).output(&value));
        let edge = self.edge();
        Self::operation(value, &[self], move |grad, gradients| {
            gradients.write(&edge, shape, |dx, accum| {
                fourier::inverse_backward(grad.values(), len, dx, accum);
            });
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::Var;
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;

    #[test]
    fn gradients_of_even_and_odd_lengths() {
        for len in [1, 2, 5, 8] {
            gradients(&[random([2, len], 1)], |v| v[0].rfft());
            gradients(&[random([2, len / 2 + 1, 2], 1)], |v| v[0].irfft(len));
            gradients(&[random([2, len], 1)], |v| v[0].rfft().square().irfft(len).add(&v[0]));
        }
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("rfft", |x, _| x[0].rfft());
        torch::assert_matches_pytorch("irfft", |x, a| x[0].irfft(a.number("len")));
    }

    #[test]
    #[should_panic(expected = "irfft of shape [3, 2] to 6 numbers")]
    fn there_must_be_as_many_frequencies() {
        Var::constant(random([3, 2], 1)).irfft(6);
    }
}
