//! The centred moving average over the last dimension, its ends repeated.

use foretell_kernels::moving_average;
use foretell_tensor::Tensor;
use foretell_tensor::trace::{self, Record};

use crate::Var;

impl Var {
    /// The mean over `kernel` (odd) steps around each step of the last dimension.
    ///
    /// # Panics
    /// If `kernel` is even, or there is no dimension.
    #[track_caller]
    pub fn moving_average(&self, kernel: usize) -> Self {
        let x = self.value().contiguous();
        let shape = x.shape();
        let len = *shape.last().expect("a moving average needs a dimension");
        let value = Tensor::build(shape, |out| moving_average::forward(x.values(), len, kernel, out));
        trace::record(|| Record::new("moving_average").input(&x).output(&value).size("kernel", kernel));
        let edge = self.edge();
        Self::operation(value, &[self], move |grad, gradients| {
            gradients.accumulate(&edge, shape, |dx| moving_average::backward(grad.values(), len, kernel, dx));
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;

    #[test]
    fn gradients_inside_and_at_the_ends() {
        gradients(&[random([2, 9], 1)], |v| v[0].moving_average(5));
        gradients(&[random([2, 3], 1)], |v| v[0].moving_average(7));
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("moving_average", |x, a| x[0].moving_average(a.number("kernel")));
    }
}
