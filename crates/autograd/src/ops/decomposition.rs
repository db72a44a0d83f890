//! Sequences of vectors without their moving average over time, the seasonal part of Autoformer's decomposition;
//! [`foretell_kernels::decomposition`] has the sums.

use foretell_kernels::decomposition::Decomposition;
use foretell_tensor::Tensor;
use foretell_tensor::trace::{self, Record};

use crate::Var;

impl Var {
    /// `self [batch, time, channels]` minus its mean over `kernel` (odd) steps around each step, the ends being repeated.
    /// The trend that is subtracted is `self` minus the result.
    ///
    /// # Panics
    /// If the shape is another or empty, or `kernel` even.
    #[track_caller]
    pub fn season(&self, kernel: usize) -> Self {
        let x = self.value().contiguous();
        let shape = x.shape();
        let &[_, steps, width] = &*shape else { panic!("the season of shape {shape:?}") };
        let sizes = Decomposition { steps, width, kernel };
        let value = Tensor::build(shape, |out| sizes.season(x.values(), out));
        trace::record(|| Record::new("season").input(&x).output(&value).size("kernel", kernel));
        let edge = self.edge();
        Self::operation(value, &[self], move |grad, gradients| {
            gradients.accumulate(&edge, shape, |dx| sizes.add_gradient(grad.values(), dx));
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;

    #[test]
    fn gradients_inside_and_at_the_ends() {
        gradients(&[random([2, 9, 2], 1)], |v| v[0].season(5));
        gradients(&[random([2, 3, 3], 1)], |v| v[0].season(9));
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("season", |x, a| x[0].season(a.number("kernel")));
    }
}
