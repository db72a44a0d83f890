//! The same values along a new dimension.

use crate::Var;

impl Var {
    /// A new dimension `axis`, along which the values are repeated `times` times.
    ///
    /// # Panics
    /// If `axis` exceeds the number of dimensions, or a shape has no room for another one.
    #[track_caller]
    pub fn repeat(&self, axis: usize, times: usize) -> Self {
        let value = self.value().unsqueeze(axis).broadcast_to(self.shape().with(axis, times));
        let edge = self.edge();
        Self::operation(value, &[self], move |grad, gradients| gradients.add_gradient(&edge, grad.sum(axis)))
    }
}

#[cfg(test)]
mod tests {
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;

    #[test]
    fn gradients_are_added_up_over_the_copies() {
        for axis in 0..3 {
            gradients(&[random([2, 3], 1)], |v| v[0].repeat(axis, 4));
        }
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("repeat", |x, a| x[0].repeat(a.axis(&x[0]), a.number("times")));
    }
}
