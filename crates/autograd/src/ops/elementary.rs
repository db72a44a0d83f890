//! Elementary functions of each element: exponential, logarithm, square root, square.
use foretell_tensor::trace::{self, Record};

use super::activation::ELEMENTARY_COST;
use crate::Var;
use foretell_simd::{self as simd, Saved};

impl Var {
    /// `e^x`, whose slope is its value.
    pub fn exp(&self) -> Self {
        self.elementary("exp", simd::exp, Saved::Output, |y, grad| simd::mul_assign(grad, y))
    }

    /// The natural logarithm, of slope `1 / x`; NaN below zero, minus infinity at zero.
    pub fn ln(&self) -> Self {
        self.elementary("ln", simd::ln, Saved::Input, |x, grad| simd::div_assign(grad, x))
    }

    /// The square root, of slope `1 / (2 sqrt(x))`, which is infinite at zero; NaN below.
    pub fn sqrt(&self) -> Self {
        self.elementary("sqrt", simd::sqrt, Saved::Output, |y, grad| {
            grad.iter_mut().zip(y).for_each(|(grad, y)| *grad *= 0.5 / y);
        })
    }

    /// `x * x`, of slope `2 x`.
    pub fn square(&self) -> Self {
        self.elementary(
            "square",
            |x, out| simd::mul(x, x, out),
            Saved::Input,
            |x, grad| grad.iter_mut().zip(x).for_each(|(grad, x)| *grad *= 2.0 * x),
        )
    }

    /// `pull` multiplies the gradient by the slope, computed from the saved tensor.
    fn elementary(
        &self,
        name: &'static str,
        forward: impl Fn(&[f32], &mut [f32]) + Sync,
        saves: Saved,
        pull: impl Fn(&[f32], &mut [f32]) + Sync + 'static,
    ) -> Self {
        let x = self.value().contiguous();
        let value = x.map(ELEMENTARY_COST, forward);
        trace::record(|| Record::new(name).input(&x).output(&value));
        let saved = match saves {
            Saved::Output => value.clone(),
            Saved::Input => x,
        };
        let edge = self.edge();
        Self::operation(value, &[self], move |mut grad, gradients| {
            grad.update(&saved, 1, |grad, saved| pull(saved, grad));
            gradients.add_gradient(&edge, grad);
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
    fn gradients_of_each_function() {
        gradients(&[random([3, 5], 1)], |v| v[0].exp());
        gradients(&[random([3, 5], 1)], |v| v[0].square());
        // Far enough from zero for differences over 0.01.
        let above = random([3, 5], 1).add(&Tensor::full([1], 2.5));
        gradients(std::slice::from_ref(&above), |v| v[0].ln());
        gradients(&[above], |v| v[0].sqrt());
    }

    #[test]
    fn views_and_empty_tensors_serve() {
        gradients(&[random([3, 5], 1)], |v| v[0].permute(&[1, 0]).square());
        assert_eq!(Var::constant(Tensor::zeros([0])).exp().value().numel(), 0);
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("exp", |x, _| x[0].exp());
        torch::assert_matches_pytorch("ln", |x, _| x[0].ln());
        torch::assert_matches_pytorch("sqrt", |x, _| x[0].sqrt());
        torch::assert_matches_pytorch("square", |x, _| x[0].square());
    }
}
