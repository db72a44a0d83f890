//! Element-wise activations on their own; [`Var::linear`] has them fused.

use foretell_gemm::Rounding;
use foretell_simd::{Activation, Saved};
use foretell_tensor::trace::{self, Record};
use foretell_tensor::{KeptTensor, Tensor};

use crate::Var;

/// The cost of an elementary function of a number, forwards or backwards, relative to a number in a plain pass over
/// memory.
pub(super) const ELEMENTARY_COST: usize = 8;

/// The cost of an activation, likewise.
pub(super) fn cost(activation: Activation) -> usize {
    match activation {
        Activation::Identity
        | Activation::Relu
        | Activation::LeakyRelu { .. }
        | Activation::Hardshrink
        | Activation::Softshrink
        | Activation::Hardtanh
        | Activation::Hardswish => 1,
        _ => ELEMENTARY_COST,
    }
}

/// The result of `product` under this activation, and what its slope is computed from: for most activations their
/// result, for the others their input.
pub(super) fn activated(activation: Activation, product: impl Fn(Activation) -> Tensor) -> (Tensor, Tensor) {
    match activation.saves() {
        Saved::Output => {
            let value = product(activation);
            (value.clone(), value)
        }
        Saved::Input => {
            let before = product(Activation::Identity);
            (before.map(cost(activation), |x, out| activation.forward(x, out)), before)
        }
    }
}

/// What the slope of an activation is computed from, kept for the backward pass; nothing for the identity.
pub(super) struct KeptSlope {
    activation: Activation,
    saved: Option<KeptTensor>,
}

impl KeptSlope {
    pub(super) fn new(activation: Activation, saved: Tensor, rounding: Rounding) -> Self {
        let saved = (activation != Activation::Identity).then(|| saved.keep(rounding));
        Self { activation, saved }
    }

    /// Makes the gradient behind the activation that before it. The gradient may be shared: it is copied only if the activation
    /// changes it.
    pub(super) fn pull_back(self, grad: &mut Tensor) {
        if let Self { activation, saved: Some(saved) } = self {
            let saved = saved.into_tensor();
            grad.update(&saved, cost(activation), |grad, saved| activation.backward(saved, grad));
        }
    }
}

/// The record of an operation that ends in this activation.
pub(super) fn noted(record: Record, activation: Activation) -> Record {
    let slope = match activation {
        Activation::LeakyRelu { slope } => slope,
        Activation::Elu { alpha } => alpha,
        _ => 0.0,
    };
    record.word("activation", activation.name()).number("slope", slope)
}

impl Var {
    /// `activation(self)`, element by element.
    pub fn activation(&self, activation: Activation) -> Self {
        let x = self.value().contiguous();
        let value = x.map(cost(activation), |x, out| activation.forward(x, out));
        trace::record(|| noted(Record::new("activation").input(&x).output(&value), activation));
        let saved = match activation.saves() {
            Saved::Output => value.clone(),
            Saved::Input => x,
        };
        let (edge, saved) = (self.edge(), self.save_for_backward(&saved, self.rounding()));
        Self::operation(value, &[self], move |mut grad, gradients| {
            let saved = saved.into_tensor();
            grad.update(&saved, cost(activation), |grad, saved| activation.backward(saved, grad));
            gradients.add_gradient(&edge, grad);
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::Activation;
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;

    #[test]
    fn gradients_of_every_activation() {
        let mut x = [random([4, 7], 1)];
        // Away from kinks, where there is no derivative to compare with.
        for x in x[0].values_mut() {
            if [0.5, 1.0].iter().any(|kink| (x.abs() - kink).abs() < 0.02) {
                *x += 0.05;
            }
        }
        for activation in Activation::ALL {
            gradients(&x, |v| v[0].activation(activation));
        }
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("activation", |x, a| x[0].activation(a.activation("kind")));
    }
}
