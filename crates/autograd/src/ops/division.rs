//! The quotient, with broadcasting.

use crate::Var;

impl Var {
    /// `self / other`, element by element; shapes broadcast by NumPy's rule.
    ///
    /// With z = x / y and g its gradient: dx = g / y and dy = -(g / y) z.
    ///
    /// # Panics
    /// If the shapes do not broadcast to each other.
    #[track_caller]
    pub fn div(&self, other: &Self) -> Self {
        let (x, y) = (self.value().clone(), other.value().clone());
        let value = x.div(&y);
        let (x_edge, y_edge, x_shape, z) = (self.edge(), other.edge(), x.shape(), value.clone());
        Self::operation(value, &[self, other], move |grad, gradients| {
            let quotient = grad.div(&y);
            if y_edge.is_wanted() {
                let slope = quotient.zip(
                    &z,
                    |q, z, out| out.iter_mut().zip(q).zip(z).for_each(|((out, q), z)| *out = -(q * z)),
                    |q, z| -(q * z),
                );
                gradients.add_gradient(&y_edge, slope.sum_to(y.shape()));
            }
            gradients.add_gradient(&x_edge, quotient.sum_to(x_shape));
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::Var;
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;
    use foretell_tensor::Tensor;

    #[test]
    fn gradients_with_every_kind_of_stretching() {
        for (a, b) in [([3, 4], [3, 4]), ([3, 4], [1, 4]), ([3, 1], [3, 4]), ([1, 1], [3, 4])] {
            // Divided by numbers of at least 0.7, so that differences over 0.01 are close to the slope.
            let divisor = random(b, 2).mul(&random(b, 2)).add(&Tensor::full([1], 0.7));
            gradients(&[random(a, 1), divisor], |v| v[0].div(&v[1]));
        }
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("div", |x, _| x[0].div(&x[1]));
    }

    #[test]
    #[should_panic(expected = "shapes [2] and [3] do not broadcast")]
    fn incompatible_shapes_panic() {
        Var::constant(Tensor::zeros([2])).div(&Var::constant(Tensor::zeros([3])));
    }
}
