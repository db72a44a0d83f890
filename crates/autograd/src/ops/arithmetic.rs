//! Sum, difference, product with broadcasting, and scaling by a number.

use crate::Var;

impl Var {
    /// `self + other`; shapes broadcast by NumPy's rule.
    ///
    /// # Panics
    /// If the shapes do not broadcast to each other.
    #[track_caller]
    pub fn add(&self, other: &Self) -> Self {
        let (a, b) = (self.edge(), other.edge());
        let (a_shape, b_shape) = (self.shape(), other.shape());
        Self::operation(self.value().add(other.value()), &[self, other], move |grad, gradients| {
            if a.is_wanted() {
                gradients.add_gradient(&a, grad.sum_to(a_shape));
            }
            if b.is_wanted() {
                gradients.add_gradient(&b, grad.sum_to(b_shape));
            }
        })
    }

    /// `self - other`; shapes broadcast by NumPy's rule.
    ///
    /// # Panics
    /// If the shapes do not broadcast to each other.
    #[track_caller]
    pub fn sub(&self, other: &Self) -> Self {
        let (a, b) = (self.edge(), other.edge());
        let (a_shape, b_shape) = (self.shape(), other.shape());
        Self::operation(self.value().sub(other.value()), &[self, other], move |grad, gradients| {
            if a.is_wanted() {
                gradients.add_gradient(&a, grad.sum_to(a_shape));
            }
            if b.is_wanted() {
                gradients.add_gradient(&b, grad.sum_to(b_shape).scale(-1.0));
            }
        })
    }

    /// `self * other`, element by element; shapes broadcast by NumPy's rule.
    ///
    /// # Panics
    /// If the shapes do not broadcast to each other.
    #[track_caller]
    pub fn mul(&self, other: &Self) -> Self {
        let (a, b) = (self.edge(), other.edge());
        let (x, y) = (self.value().clone(), other.value().clone());
        let (value, rounding) = (x.mul(&y), self.rounding().or(other.rounding()));
        let (x, y) = (self.save_for_backward(&x, rounding), other.save_for_backward(&y, rounding));
        Self::operation(value, &[self, other], move |grad, gradients| {
            let (x, y) = (x.into_tensor(), y.into_tensor());
            if a.is_wanted() {
                gradients.add_gradient(&a, grad.mul(&y).sum_to(x.shape()));
            }
            if b.is_wanted() {
                gradients.add_gradient(&b, grad.mul(&x).sum_to(y.shape()));
            }
        })
    }

    /// `self * factor`.
    pub fn scale(&self, factor: f32) -> Self {
        let x = self.edge();
        Self::operation(self.value().scale(factor), &[self], move |grad, gradients| {
            gradients.add_gradient(&x, grad.scale(factor));
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;

    #[test]
    fn gradients_with_every_kind_of_stretching() {
        for (a, b) in [([3, 4], [3, 4]), ([3, 4], [1, 4]), ([3, 1], [3, 4]), ([1, 1], [3, 4])] {
            let inputs = [random(a, 1), random(b, 2)];
            gradients(&inputs, |v| v[0].add(&v[1]));
            gradients(&inputs, |v| v[0].sub(&v[1]));
            gradients(&inputs, |v| v[0].mul(&v[1]));
        }
        gradients(&[random([2, 3], 1), random([3], 2)], |v| v[0].mul(&v[1]));
        gradients(&[random([5], 3)], |v| v[0].scale(-1.5));
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("add", |x, _| x[0].add(&x[1]));
        torch::assert_matches_pytorch("sub", |x, _| x[0].sub(&x[1]));
        torch::assert_matches_pytorch("mul", |x, _| x[0].mul(&x[1]));
        torch::assert_matches_pytorch("scale", |x, a| x[0].scale(a.real("factor")));
    }
}
