//! Max and average pooling over the last dimension, and max pooling over steps whose channels are last.

use foretell_tensor::Tensor;
use foretell_tensor::trace::{self, Record};

use crate::{MaxOfSteps, Pooling, Var, pooled_len};

impl Var {
    /// Pools the last dimension by windows of `kernel` steps: `[..., t]` to `[..., ceil(t / kernel)]`.
    ///
    /// # Panics
    /// If `kernel` is 0, or there is no dimension.
    #[track_caller]
    pub fn pool(&self, kind: Pooling, kernel: usize) -> Self {
        if kernel == 1 {
            return self.clone();
        }
        let x = self.value().contiguous();
        let mut shape = x.shape();
        let len = *shape.last().expect("pooling needs a dimension");
        let last = shape.len() - 1;
        shape[last] = pooled_len(len, kernel);
        let value = Tensor::build(shape, |out| kind.forward(x.values(), len, kernel, out));
        trace::record(|| {
            let kind = match kind {
                Pooling::Max => "max",
                Pooling::Average => "average",
            };
            Record::new("pool").input(&x).output(&value).word("kind", kind).size("kernel", kernel)
        });
        let edge = self.edge();
        Self::operation(value, &[self], move |grad, gradients| {
            gradients
                .accumulate(&edge, x.shape(), |dx| kind.backward(x.values(), len, kernel, grad.values(), dx));
        })
    }

    /// The largest values of windows of steps: `[batch, steps, channels]` to `[batch, pool.output(steps), channels]`.
    ///
    /// # Panics
    /// If the shape is another, there are no steps, or a window is in the padding alone.
    #[track_caller]
    pub fn max_of_steps(&self, pool: MaxOfSteps) -> Self {
        let &[batch, steps, channels] = &*self.shape() else { panic!("max_of_steps of {:?}", self.shape()) };
        let sizes = [batch, steps, channels];
        let x = self.value().contiguous();
        let value = Tensor::build([batch, pool.output(steps), channels], |out| {
            pool.forward(x.values(), sizes, out);
        });
        trace::record(|| {
            let record = Record::new("max_of_steps").input(&x).output(&value).size("kernel", pool.kernel);
            record.size("stride", pool.stride).size("padding", pool.padding)
        });
        let (edge, y) = (self.edge(), value.clone());
        Self::operation(value, &[self], move |grad, gradients| {
            gradients.accumulate(&edge, sizes, |grad_x| {
                pool.backward([x.values(), y.values()], sizes, grad.values(), grad_x);
            });
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;
    use crate::{MaxOfSteps, Pooling};

    #[test]
    fn gradients_with_a_rest() {
        for kind in [Pooling::Max, Pooling::Average] {
            gradients(&[random([2, 3, 7], 1)], |v| v[0].pool(kind, 3));
            gradients(&[random([2, 4], 1)], |v| v[0].pool(kind, 1));
        }
    }

    #[test]
    fn gradients_of_windows_that_overlap() {
        let pool = MaxOfSteps { kernel: 3, stride: 2, padding: 1 };
        gradients(&[random([2, 6, 3], 1)], |v| v[0].max_of_steps(pool));
        gradients(&[random([2, 3, 5], 1)], |v| v[0].permute(&[0, 2, 1]).max_of_steps(pool));
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("max_pool", |x, a| x[0].pool(Pooling::Max, a.number("kernel")));
        torch::assert_matches_pytorch("avg_pool", |x, a| x[0].pool(Pooling::Average, a.number("kernel")));
        torch::assert_matches_pytorch("max_of_steps", |x, a| {
            let [kernel, stride, padding] = ["kernel", "stride", "padding"].map(|name| a.number(name));
            x[0].max_of_steps(MaxOfSteps { kernel, stride, padding })
        });
    }
}
