//! Sums and means along a dimension.

use foretell_tensor::trace::{self, Record};

use crate::Var;

impl Var {
    /// The sum along `axis`, which disappears from the shape.
    ///
    /// # Panics
    /// If there is no such axis.
    #[track_caller]
    pub fn sum(&self, axis: usize) -> Self {
        let (edge, shape) = (self.edge(), self.shape());
        Self::operation(self.value().sum(axis), &[self], move |grad, gradients| {
            gradients.add_gradient(&edge, grad.unsqueeze(axis).broadcast_to(shape));
        })
    }

    /// The mean along `axis`, which disappears from the shape.
    ///
    /// # Panics
    /// If there is no such axis.
    #[track_caller]
    pub fn mean(&self, axis: usize) -> Self {
        let len = self.shape()[axis];
        let mean = self.sum(axis).scale(1.0 / len as f32);
        // A mean over the batch has another factor for each batch.
        trace::record(|| Record::new("mean").input(self.value()).output(mean.value()).size("axis", axis));
        mean
    }
}

#[cfg(test)]
mod tests {
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;

    #[test]
    fn gradients_along_each_axis() {
        for axis in 0..3 {
            gradients(&[random([2, 3, 4], 1)], |v| v[0].sum(axis));
            gradients(&[random([2, 3, 4], 1)], |v| v[0].mean(axis));
        }
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("sum", |x, a| x[0].sum(a.axis(&x[0])));
        torch::assert_matches_pytorch("mean", |x, a| x[0].mean(a.axis(&x[0])));
    }
}
