//! Dimensions in another order.

use foretell_tensor::MAX_RANK;

use crate::Var;

impl Var {
    /// Dimension `i` of the result is dimension `order[i]` of this one.
    ///
    /// # Panics
    /// If `order` is no permutation of the dimensions.
    #[track_caller]
    pub fn permute(&self, order: &[usize]) -> Self {
        let value = self.value().permute(order);
        let mut back = [0; MAX_RANK];
        order.iter().enumerate().for_each(|(i, &axis)| back[axis] = i);
        let (edge, rank) = (self.edge(), order.len());
        Self::operation(value, &[self], move |grad, gradients| {
            gradients.add_gradient(&edge, grad.permute(&back[..rank]));
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;

    #[test]
    fn gradient_goes_back_by_the_inverse_order() {
        gradients(&[random([2, 3, 4], 1)], |v| v[0].permute(&[2, 0, 1]));
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("permute", |x, a| x[0].permute(&a.list("dims")));
    }
}
