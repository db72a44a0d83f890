//! Two linear layers with no activation between them.

use foretell_autograd::{Activation, Padding, Var};
use foretell_tensor::Tensor;

use crate::{DerivedId, Forward, Linear, Scope};

/// Up to so many inputs the layers are merged. Merging costs as much as `inputs` windows through the second
/// layer; a step of training has more windows as a rule.
const FEW_INPUTS: usize = 128;

/// `y = activation(W₂ (W₁ x + b₁) + b₂)`.
///
/// With few inputs it is computed as `activation([x, 1] P)`, where the rows of P are what the layers make of the
/// unit vectors, `[W₁, b₁]ᵀ W₂ᵀ + [0, b₂]ᵀ`, formed once per step: for `u` units the work per window falls from
/// `u (inputs + u)` to `u inputs`.
#[derive(Clone, Debug)]
pub struct LinearPair {
    first: Linear,
    second: Linear,
    merged: Option<DerivedId>,
}

impl LinearPair {
    /// The layers of `inputs` to `hidden` to `outputs` numbers, registered in the scopes of these names.
    pub fn new(scope: &mut Scope<'_>, names: [usize; 2], [inputs, hidden, outputs]: [usize; 3]) -> Self {
        let first = Linear::new(&mut scope.at(names[0]), inputs, hidden);
        let second = Linear::new(&mut scope.at(names[1]), hidden, outputs);
        let (w1, w2) = (first.weight(), second.weight());
        let [b1, b2] = [&first, &second].map(|layer| layer.bias().expect("layers of a pair have one"));
        let merged = (inputs <= FEW_INPUTS.min(hidden / 2)).then(|| {
            scope.derive([inputs + 1, outputs], move |cx| {
                let inner =
                    Var::concat(&[&cx.param(w1).permute(&[1, 0]), &cx.param(b1).reshape([1, hidden])], 0);
                let outer = cx.param(b2).reshape([1, outputs]).pad(0, inputs, 0, Padding::Zeros);
                inner.linear(&cx.param(w2), None, Activation::Identity).add(&outer)
            })
        });
        Self { first, second, merged }
    }

    /// `parts` of `[batch, _]`, `inputs` in all, to `[batch, outputs]`.
    pub fn forward(&self, cx: &Forward<'_>, mut parts: Vec<Var>, activation: Activation) -> Var {
        let join = |parts: Vec<Var>| match &parts[..] {
            [one] => one.clone(),
            _ => Var::concat(&parts.iter().collect::<Vec<_>>(), 1),
        };
        if let Some(merged) = self.merged {
            parts.push(Var::constant(Tensor::full([parts[0].shape()[0], 1], 1.0)));
            join(parts).linear_by_inputs(&cx.derived(merged), None, activation)
        } else {
            let hidden = self.first.forward(cx, &join(parts), Activation::Identity);
            self.second.forward(cx, &hidden, activation)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Init, Key, Table};

    /// The loss `Σ y²/2` of a pair, and its gradients by a run on a whole batch and on two parts of it.
    #[test]
    fn merged_layers_are_the_two_layers() {
        let (batch, [inputs, hidden, outputs]) = (6, [3, 8, 5]);
        let mut table = Table::default();
        let pair = LinearPair::new(&mut table.root(), [0, 1], [inputs, hidden, outputs]);
        let apart = LinearPair { merged: None, ..pair.clone() };
        assert!(pair.merged.is_some());
        let params = table.initialise(3);
        let table = params.table();
        let x = Tensor::build([batch, inputs], |out| Init::Uniform { bound: 1.0 }.fill(Key::new(1), out));

        let run = |pair: &LinearPair, cx: &Forward<'_>, rows: [usize; 2], gradients: &mut [f32]| {
            let x = Var::constant(x.narrow(0, rows[0], rows[1] - rows[0]));
            let y = pair.forward(cx, vec![x], Activation::Tanh);
            y.mul(&y).scale(0.5).sum(1).sum(0).backward(gradients);
        };
        let whole = |pair: &LinearPair| {
            let mut gradients = vec![0.0; table.gradients_len()];
            run(pair, &Forward::training(&params, Key::new(2)), [0, batch], &mut gradients);
            gradients
        };
        let expected = whole(&apart);
        let close = |found: &[f32]| {
            for (i, (found, expected)) in found.iter().zip(&expected[..table.arena_len()]).enumerate() {
                assert!((found - expected).abs() < 1e-5, "gradient {i}: {found}, apart {expected}");
            }
        };
        close(&whole(&pair));

        let derived = table.derived()[0].compute(&Forward::training(&params, Key::new(2)));
        let mut gradients = vec![0.0; table.gradients_len()];
        for rows in [[0, 2], [2, batch]] {
            let values = [derived.value().clone()];
            run(&pair, &Forward::part(&params, Key::new(2), &values), rows, &mut gradients);
        }
        let range = table.derived_range(&table.derived()[0]);
        let seed = Tensor::from_slice(&gradients[range], derived.shape());
        derived.backward_from(seed, &mut gradients);
        close(&gradients[..table.arena_len()]);

        let infer = |pair: &LinearPair| {
            let x = Var::constant(x.clone());
            pair.forward(&Forward::inference(&params), vec![x], Activation::Relu).value().to_vec()
        };
        for (found, expected) in infer(&pair).iter().zip(infer(&apart)) {
            assert!((found - expected).abs() < 1e-6);
        }
    }

    #[test]
    fn changed_parameters_change_what_is_derived() {
        let mut table = Table::default();
        let pair = LinearPair::new(&mut table.root(), [0, 1], [2, 4, 3]);
        let mut params = table.initialise(3);
        let id = pair.merged.expect("few inputs");
        assert!(params.derived(id).to_vec().iter().any(|&x| x != 0.0));
        params.arena_mut().fill(0.0);
        assert_eq!(params.derived(id).to_vec(), [0.0; 9]);
    }
}
