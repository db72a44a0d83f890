//! Running totals along a dimension.

use foretell_kernels::cumulative_sum;
use foretell_tensor::Tensor;
use foretell_tensor::trace::{self, Record};

use crate::{Axis, Var};

impl Var {
    /// The cumulative sum along `axis`. An element is in all totals from its own on, so its gradient is the
    /// cumulative sum of theirs from the end.
    ///
    /// # Panics
    /// If there is no such axis.
    #[track_caller]
    pub fn cumulative_sum(&self, axis: usize) -> Self {
        let x = self.value().contiguous();
        let (shape, along) = (x.shape(), Axis::of(&x.shape(), axis));
        let value = Tensor::build(shape, |out| cumulative_sum::forward(x.values(), along, out));
        trace::record(|| Record::new("cumulative_sum").input(&x).output(&value).size("axis", axis));
        let edge = self.edge();
        Self::operation(value, &[self], move |grad, gradients| {
            gradients
                .write(&edge, shape, |dx, accum| cumulative_sum::backward(grad.values(), along, dx, accum));
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;

    #[test]
    fn gradients_along_each_axis() {
        for axis in 0..3 {
            gradients(&[random([2, 3, 4], 1)], |v| v[0].cumulative_sum(axis));
            gradients(&[random([2, 3, 4], 1)], |v| v[0].cumulative_sum(axis).mul(&v[0]));
        }
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("cumulative_sum", |x, a| x[0].cumulative_sum(a.axis(&x[0])));
    }
}
