//! Max and average pooling over the last dimension.

use foretell_tensor::Tensor;

use crate::{Pooling, Var, pooled_len};

impl Var {
    /// Pools the last dimension by windows of `kernel` steps: `[..., t]` to `[..., ceil(t / kernel)]`.
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
        let edge = self.edge();
        Self::operation(value, &[self], move |grad, gradients| {
            gradients
                .accumulate(&edge, x.shape(), |dx| kind.backward(x.values(), len, kernel, grad.values(), dx));
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::Pooling;
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;

    #[test]
    fn gradients_with_a_rest() {
        for kind in [Pooling::Max, Pooling::Average] {
            gradients(&[random([2, 3, 7], 1)], |v| v[0].pool(kind, 3));
            gradients(&[random([2, 4], 1)], |v| v[0].pool(kind, 1));
        }
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::agrees("max_pool", |x, a| x[0].pool(Pooling::Max, a.number("kernel")));
        torch::agrees("avg_pool", |x, a| x[0].pool(Pooling::Average, a.number("kernel")));
    }
}
