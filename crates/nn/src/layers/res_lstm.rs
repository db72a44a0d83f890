//! neuralforecast's `ResLSTMLayer`: an LSTM whose gates see c, too, and whose output has the input added (Kim, El-Khamy
//! and Lee 2017, "Residual LSTM: design of a deep recurrent architecture for distant speech recognition").

use foretell_autograd::{Activation, Padding, Tensor, Var};

use crate::{Forward, Init, ParamId, Scope};

/// One layer of `u` units and `n` inputs: `weight_ii [3 u, n]`, `weight_ih` and `weight_ic [3 u, u]` with a bias each
/// for the gates i, f, o, `weight_hh [u, u]` with a bias for the candidate, and `weight_ir [u, n]` for the residual,
/// all initially normal. With as many inputs as units the input is added unchanged.
///
/// ```text
/// i, f, o = σ(W_ii x + W_ih h₋ + W_ic c₋ + b)     g = tanh(W_hh h₋ + b_hh)
/// c = f c₋ + i g                                  h = o (tanh(c) + W_ir x)
/// ```
///
/// Unlike in the paper, the candidate does not see the input.
#[derive(Clone, Debug)]
pub struct ResLstm {
    inputs: usize,
    units: usize,
    gates: [ParamId; 3],
    gate_biases: [ParamId; 3],
    candidate: ParamId,
    candidate_bias: ParamId,
    added: ParamId,
}

impl ResLstm {
    /// Registers the layer's parameters in `scope`, and beside them its sizes, which PyTorch's state dictionary lists.
    pub fn new(scope: &mut Scope<'_>, inputs: usize, units: usize) -> Self {
        let mut scope = scope.at("cell");
        for (name, size) in [("input_size", inputs), ("hidden_size", units)] {
            scope.constant(name, [1], move |value| value.fill(size as f32));
        }
        let rows = units.saturating_mul(3);
        let mut normal = |name: &str, shape: &[usize]| scope.param(name, shape, Init::Normal);
        Self {
            inputs,
            units,
            gates: [("weight_ii", inputs), ("weight_ih", units), ("weight_ic", units)]
                .map(|(name, columns)| normal(name, &[rows, columns])),
            gate_biases: ["bias_ii", "bias_ih", "bias_ic"].map(|name| normal(name, &[rows])),
            candidate: normal("weight_hh", &[units, units]),
            candidate_bias: normal("bias_hh", &[units]),
            added: normal("weight_ir", &[units, inputs]),
        }
    }

    /// `x [steps, batch, inputs]` to the states h of all steps, `[steps, batch, units]`.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn forward(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let &[steps, batch, _] = &*x.shape() else { panic!("ResLSTM of shape {:?}", x.shape()) };
        let Self { inputs, units, .. } = *self;
        // One matrix for [x, h, c], its rows in the order i, f, g, o.
        let in_order = |gates: &Var, candidate: &Var| {
            let (two, o) = (gates.narrow(0, 0, 2 * units), gates.narrow(0, 2 * units, units));
            Var::concat(&[&two, candidate, &o], 0)
        };
        let [x_weight, h_weight, c_weight] = self.gates.map(|id| cx.joined_weight(id));
        let candidate = cx.joined_weight(self.candidate).pad(1, inputs, units, Padding::Zeros);
        let weight = in_order(&Var::concat(&[&x_weight, &h_weight, &c_weight], 1), &candidate);
        let [x_bias, h_bias, c_bias] = self.gate_biases.map(|id| cx.param(id));
        let bias = in_order(&x_bias.add(&h_bias).add(&c_bias), &cx.param(self.candidate_bias));
        let added = match inputs == units {
            true => x.clone(),
            false => x.linear(&cx.joined_weight(self.added), None, Activation::Identity),
        };

        let step = |all: &Var, t: usize| all.narrow(0, t, 1).reshape([batch, all.shape()[2]]);
        let mut state = [0, 1].map(|_| Var::constant(Tensor::zeros([batch, units])));
        let states: Vec<Var> = (0..steps)
            .map(|t| {
                let [h, c] = &state;
                let sums =
                    Var::concat(&[&step(x, t), h, c], 1).linear(&weight, Some(&bias), Activation::Identity);
                state = sums.lstm_cell(c, Some(&step(&added, t)));
                state[0].clone()
            })
            .collect();
        Var::concat(&states.iter().collect::<Vec<_>>(), 0).reshape([steps, batch, units])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Table;

    #[test]
    fn the_input_is_added_as_it_is_where_it_has_the_size_of_the_state() {
        for (inputs, read) in [(3, false), (2, true)] {
            let mut table = Table::default();
            let layer = ResLstm::new(&mut table.root(), inputs, 3);
            let params = table.initialise(1);
            let x = Var::constant(Tensor::full([4, 2, inputs], 0.5));
            let y = layer.forward(&Forward::training(&params, crate::Key::new(1)), &x);
            assert_eq!(&*y.shape(), [4, 2, 3]);
            let mut gradients = vec![0.0; params.table().arena_len()];
            y.backward_from(Tensor::full([4, 2, 3], 1.0), &mut gradients);
            let entry = params.table().entry(layer.added);
            let own = &gradients[entry.offset..][..entry.shape.numel()];
            assert_eq!(own.iter().any(|&g| g != 0.0), read, "{inputs} inputs");
        }
    }
}
