//! A dimension in reverse order.

use crate::Var;

impl Var {
    /// The elements along `axis` in reverse order.
    ///
    /// # Panics
    /// If there is no such axis.
    #[track_caller]
    pub fn flip(&self, axis: usize) -> Self {
        let edge = self.edge();
        Self::operation(self.value().flip(axis), &[self], move |grad, gradients| {
            gradients.add_gradient(&edge, grad.flip(axis));
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;

    #[test]
    fn gradient_is_flipped_back() {
        gradients(&[random([3, 4], 1)], |v| v[0].flip(1));
        gradients(&[random([3, 4], 1)], |v| v[0].flip(0));
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("flip", |x, a| x[0].flip(a.axis(&x[0])));
    }
}
