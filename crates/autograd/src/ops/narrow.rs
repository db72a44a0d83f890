//! Ranges of one dimension, with a step or without.

use std::ops::Range;

use crate::Var;

impl Var {
    /// Elements `start..start + len` along `axis`.
    ///
    /// # Panics
    /// If the range reaches beyond the dimension.
    #[track_caller]
    pub fn narrow(&self, axis: usize, start: usize, len: usize) -> Self {
        self.slice(axis, start..start + len, 1)
    }

    /// The elements of `range` along `axis`, every `step`-th of them from the first on.
    ///
    /// The gradient is added into the range of the source's gradient, which is made once: so taking all `t` steps of
    /// a sequence apart costs as much as one pass over the sequence.
    ///
    /// # Panics
    /// If the range reaches beyond the dimension, or `step` is 0.
    #[track_caller]
    pub fn slice(&self, axis: usize, range: Range<usize>, step: usize) -> Self {
        let value = self.value().slice(axis, range.clone(), step);
        let (edge, shape) = (self.edge(), self.shape());
        Self::operation(value, &[self], move |grad, gradients| {
            gradients.accumulate(&edge, shape, |sum| grad.add_to_slice(sum, shape, axis, range.start, step));
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;

    #[test]
    fn gradient_is_zero_outside_the_range() {
        gradients(&[random([2, 5, 3], 1)], |v| v[0].narrow(1, 1, 3));
        gradients(&[random([4, 3], 1)], |v| v[0].narrow(0, 3, 1));
    }

    #[test]
    fn gradients_of_slices_that_overlap() {
        gradients(&[random([2, 5, 3], 1)], |v| {
            let (odd, last) = (v[0].slice(1, 1..5, 2), v[0].slice(1, 3..5, 1));
            odd.mul(&last).add(&v[0].slice(1, 0..3, 2))
        });
        gradients(&[random([7], 1)], |v| v[0].slice(0, 1..7, 3));
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("narrow", |x, a| {
            x[0].narrow(a.axis(&x[0]), a.number("start"), a.number("len"))
        });
        torch::assert_matches_pytorch("slice", |x, a| {
            x[0].slice(a.axis(&x[0]), a.number("start")..a.number("end"), a.number("step"))
        });
    }
}
