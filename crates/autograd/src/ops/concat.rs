//! Tensors joined along a dimension.

use std::borrow::Borrow;

use foretell_tensor::Tensor;

use crate::Var;

impl Var {
    /// The variables one after the other along `axis`; a single one unchanged, without a copy.
    ///
    /// # Panics
    /// If there are none, or their other dimensions differ.
    #[track_caller]
    pub fn concat<P: Borrow<Self>>(parts: &[P], axis: usize) -> Self {
        if let [only] = parts {
            return only.borrow().clone();
        }
        let parts: Vec<&Self> = parts.iter().map(Borrow::borrow).collect();
        let values: Vec<&Tensor> = parts.iter().map(|part| part.value()).collect();
        let value = Tensor::concat(&values, axis);
        let edges: Vec<_> = parts.iter().map(|part| (part.edge(), part.shape()[axis])).collect();
        Self::operation(value, &parts, move |grad, gradients| {
            let mut start = 0;
            for (edge, len) in edges {
                gradients.add_gradient(&edge, grad.narrow(axis, start, len));
                start += len;
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::Var;
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;

    #[test]
    fn each_part_gets_its_share() {
        gradients(&[random([2, 3], 1), random([2, 1], 2), random([2, 4], 3)], |v| {
            Var::concat(&[&v[0], &v[1], &v[2]], 1)
        });
        gradients(&[random([2, 3], 1)], |v| Var::concat(&v[..1], 1));
        gradients(&[random([2, 3], 1), random([1, 3], 2)], |v| Var::concat(&[&v[0], &v[1], &v[0]], 0));
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("concat", |x, a| Var::concat(x, a.axis(&x[0])));
    }
}
