//! The same values under another shape.

use foretell_tensor::Shape;

use crate::Var;

impl Var {
    /// The same values, row-major, under another shape.
    ///
    /// # Panics
    /// If the number of elements differs.
    #[track_caller]
    pub fn reshape(&self, shape: impl Into<Shape>) -> Self {
        let (edge, old) = (self.edge(), self.shape());
        Self::operation(self.value().reshape(shape), &[self], move |grad, gradients| {
            gradients.add_gradient(&edge, grad.reshape(old));
        })
    }
}

impl Var {
    /// The same values with a dimension of length 1 more, before this axis.
    #[track_caller]
    pub fn unsqueeze(&self, axis: usize) -> Self {
        let mut shape = self.shape().to_vec();
        shape.insert(axis, 1);
        self.reshape(&shape[..])
    }
}

#[cfg(test)]
mod tests {
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;

    #[test]
    fn gradient_takes_the_old_shape() {
        gradients(&[random([2, 6], 1)], |v| v[0].reshape([3, 4]));
        gradients(&[random([2, 6], 1)], |v| v[0].unsqueeze(1).mul(&v[0].unsqueeze(2)));
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("reshape", |x, a| x[0].reshape(&a.list("shape")[..]));
    }
}
