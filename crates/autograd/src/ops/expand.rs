//! Values broadcast to a larger shape.

use foretell_tensor::Shape;

use crate::Var;

impl Var {
    /// The values under a larger shape, to which this one broadcasts by NumPy's rule, without a copy. The gradient is
    /// summed over the broadcast dimensions.
    ///
    /// # Panics
    /// If this shape does not broadcast to the other.
    #[track_caller]
    pub fn expand(&self, shape: impl Into<Shape>) -> Self {
        let (edge, old) = (self.edge(), self.shape());
        Self::operation(self.value().broadcast_to(shape), &[self], move |grad, gradients| {
            gradients.add_gradient(&edge, grad.sum_to(old));
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::Var;
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;

    #[test]
    fn gradients_are_summed_over_what_was_stretched() {
        gradients(&[random([2, 1, 3], 1)], |v| v[0].expand([2, 4, 3]));
        gradients(&[random([3], 1)], |v| v[0].expand([2, 2, 3]).square());
        gradients(&[random([], 1)], |v| v[0].expand([2, 2]));
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("expand", |x, a| x[0].expand(&a.list("shape")[..]));
    }

    #[test]
    #[should_panic(expected = "shape [2] does not broadcast to [3]")]
    fn wrong_shapes_panic() {
        Var::constant(random([2], 1)).expand([3]);
    }
}
