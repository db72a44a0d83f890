//! A range of one dimension.

use foretell_tensor::Padding;

use crate::Var;

impl Var {
    /// Elements `start..start + len` along `axis`.
    #[track_caller]
    pub fn narrow(&self, axis: usize, start: usize, len: usize) -> Self {
        let value = self.value().narrow(axis, start, len);
        let (edge, rest) = (self.edge(), self.shape()[axis] - start - len);
        Self::operation(value, &[self], move |grad, gradients| {
            gradients.give(&edge, grad.pad(axis, start, rest, Padding::Zeros));
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::ops::check::{gradients, random};

    #[test]
    fn gradient_is_zero_outside_the_range() {
        gradients(&[random([2, 5, 3], 1)], |v| v[0].narrow(1, 1, 3));
        gradients(&[random([4, 3], 1)], |v| v[0].narrow(0, 3, 1));
    }
}
