//! Two linear layers with no activation between them.

use foretell_autograd::{Activation, Var};

use crate::layer_params::MultipliedId;
use crate::weights::side_by_side;
use crate::{Forward, Linear, PairSizes, Scope};

/// `y = activation(W₂ (W₁ x + b₁) + b₂)`, whose weights are multiplied with each other where the inputs are few.
#[derive(Clone, Debug)]
pub struct LinearPair {
    layers: [Linear; 2],
    multiplied: Option<MultipliedId>,
}

impl LinearPair {
    /// The layers, registered in the scopes of these names.
    pub fn new(scope: &mut Scope<'_>, names: [usize; 2], sizes: PairSizes) -> Self {
        let PairSizes { inputs, hidden, outputs } = sizes;
        let first = Linear::new(&mut scope.at(names[0]), inputs, hidden);
        let second = Linear::new(&mut scope.at(names[1]), hidden, outputs);
        let multiplied = scope.multiply([first.params, second.params], sizes);
        Self { layers: [first, second], multiplied }
    }

    /// Maps `parts` of `[batch, _]`, together `inputs` wide, to `[batch, outputs]`.
    ///
    /// # Panics
    /// If there are no parts, or the shapes do not fit.
    #[track_caller]
    pub fn forward(&self, cx: &Forward<'_>, parts: Vec<Var>, activation: Activation) -> Var {
        if let Some(id) = self.multiplied {
            return cx.linear_multiplied(id, parts, activation);
        }
        let [first, second] = &self.layers;
        let hidden = first.forward(cx, &side_by_side(&parts), Activation::Identity);
        second.forward(cx, &hidden, activation)
    }
}

#[cfg(test)]
mod tests {
    use foretell_tensor::Tensor;

    use super::*;
    use crate::{Init, Key, Table};

    /// The loss `Σ y²/2` of a pair, and its gradients by a run on a whole batch and on two parts of it.
    #[test]
    fn multiplied_layers_are_the_two_layers() {
        let (batch, [inputs, hidden, outputs]) = (6, [3, 8, 5]);
        let mut table = Table::default();
        let pair = LinearPair::new(&mut table.root(), [0, 1], PairSizes { inputs, hidden, outputs });
        let apart = LinearPair { multiplied: None, ..pair.clone() };
        assert!(pair.multiplied.is_some());
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
        let close = |gradients: &[f32]| {
            for (i, (gradient, expected)) in gradients.iter().zip(&expected[..table.arena_len()]).enumerate()
            {
                assert!((gradient - expected).abs() < 1e-5, "gradient {i}: {gradient}, apart {expected}");
            }
        };
        close(&whole(&pair));

        let product = table.multiplied()[0].compute(&Forward::training(&params, Key::new(2)));
        let mut gradients = vec![0.0; table.gradients_len()];
        for rows in [[0, 2], [2, batch]] {
            let values = [product.value().clone()];
            run(&pair, &Forward::part(&params, Key::new(2), &values), rows, &mut gradients);
        }
        let range = table.multiplied_range(&table.multiplied()[0]);
        let seed = Tensor::from_slice(&gradients[range], product.shape());
        product.backward_from(seed, &mut gradients);
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
    fn changed_parameters_change_the_product() {
        let mut table = Table::default();
        let pair = LinearPair::new(&mut table.root(), [0, 1], PairSizes { inputs: 2, hidden: 4, outputs: 3 });
        assert!(pair.multiplied.is_some());
        let mut params = table.initialise(3);
        let forecast = |params: &crate::Params| {
            let x = Var::constant(Tensor::full([1, 2], 1.0));
            pair.forward(&Forward::inference(params), vec![x], Activation::Identity).value().to_vec()
        };
        assert!(forecast(&params).iter().any(|&y| y != 0.0));
        params.arena_mut().fill(0.0);
        assert_eq!(forecast(&params), [0.0; 3]);
    }
}
