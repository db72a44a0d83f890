//! Interpolation of the last dimension to another length.

use std::sync::Arc;

use foretell_tensor::Tensor;
use foretell_tensor::trace::{self, Record};

use crate::{Resampler, Var};

impl Var {
    /// Interpolates the last dimension: `[..., knots]` to `[..., len]`.
    ///
    /// # Panics
    /// If the last dimension is not as long as the resampler has knots.
    #[track_caller]
    pub fn interpolate(&self, resampler: &Arc<Resampler>) -> Self {
        let x = self.value().contiguous();
        let old = x.shape();
        let mut shape = old;
        let last = shape.len().checked_sub(1).expect("interpolation needs a dimension");
        shape[last] = resampler.output_len();
        let value = Tensor::build(shape, |out| resampler.forward(x.values(), out));
        trace::record(|| {
            let knots = resampler.knots();
            let eye: Vec<f32> = (0..knots * knots).map(|i| f32::from(i % (knots + 1) == 0)).collect();
            let matrix = Tensor::build([knots, resampler.output_len()], |out| resampler.forward(&eye, out));
            Record::new("interpolate").input(&x).input(&matrix).output(&value)
        });
        let (edge, resampler) = (self.edge(), resampler.clone());
        Self::operation(value, &[self], move |grad, gradients| {
            gradients.accumulate(&edge, old, |dx| resampler.backward(grad.values(), dx));
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::ops::check::{gradients, random};
    use crate::ops::torch;
    use crate::{Interpolation, Resampler};

    #[test]
    fn gradients_up_and_down() {
        for kind in [Interpolation::Nearest, Interpolation::Linear, Interpolation::Cubic] {
            for len in [3, 5, 11] {
                let resampler = Arc::new(Resampler::new(kind, 5, len));
                gradients(&[random([2, 3, 5], 1)], |v| v[0].interpolate(&resampler));
            }
        }
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("interpolate", |x, a| {
            let kind = match a.text("mode") {
                "nearest" => Interpolation::Nearest,
                "linear" => Interpolation::Linear,
                _ => Interpolation::Cubic,
            };
            let knots = *x[0].shape().last().expect("knots");
            x[0].interpolate(&Arc::new(Resampler::new(kind, knots, a.number("size"))))
        });
    }
}
