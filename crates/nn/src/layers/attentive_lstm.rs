//! neuralforecast's `AttentiveLSTMLayer`: an LSTM that reads at each step a mean of all steps of its input, weighted by
//! additive attention from its state.

use foretell_autograd::{Activation, Tensor, Var};

use crate::{Forward, Init, Linear, ParamId, Scope};

/// One layer of `u` units and `n` inputs: `cell.weight_ih [4 u, n]`, `cell.weight_hh [4 u, u]` and a bias each as in
/// `torch.nn.LSTMCell`, but initially normal, and the two layers of the attention, `attn_layer.0` from `[x, h, c]` to
/// `u` numbers and `attn_layer.2` from these to one.
///
/// ```text
/// β = softmax over all steps s of v · tanh(W [x[s], h₋, c₋] + b)     h, c = LSTM(Σ_s β[s] x[s]; h₋, c₋)
/// ```
///
/// The bias of `attn_layer.2` adds the same number for all steps, which softmax cancels, so no gradient changes it.
#[derive(Clone, Debug)]
pub struct AttentiveLstm {
    inputs: usize,
    units: usize,
    weights: [ParamId; 2],
    biases: [ParamId; 2],
    compare: Linear,
    score: Linear,
}

impl AttentiveLstm {
    /// Registers the layer's parameters in `scope`.
    pub fn new(scope: &mut Scope<'_>, inputs: usize, units: usize) -> Self {
        let rows = units.saturating_mul(4);
        let mut cell = scope.at("cell");
        let mut normal = |name: &str, shape: &[usize]| cell.param(name, shape, Init::Normal);
        let weights = [("weight_ih", inputs), ("weight_hh", units)]
            .map(|(name, columns)| normal(name, &[rows, columns]));
        let biases = ["bias_ih", "bias_hh"].map(|name| normal(name, &[rows]));
        let read = units.saturating_mul(2).saturating_add(inputs);
        let compare = Linear::new(&mut scope.at("attn_layer.0"), read, units);
        let score = Linear::new(&mut scope.at("attn_layer.2"), units, 1);
        Self { inputs, units, weights, biases, compare, score }
    }

    /// `x [steps, batch, inputs]` to the states h of all steps, `[steps, batch, units]`.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn forward(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let &[steps, batch, _] = &*x.shape() else { panic!("AttentiveLSTM of shape {:?}", x.shape()) };
        let Self { inputs, units, .. } = *self;
        // In W [x, h, c] + b the part of x is computed once for all steps.
        let whole = cx.joined_weight(self.compare.weight());
        // Reshaping copies some of the columns to a matrix without gaps, once for all steps.
        let columns = |start, len| whole.narrow(1, start, len).reshape([units * len]).reshape([units, len]);
        let bias = self.compare.bias().map(|id| cx.param(id));
        let keys = x.linear(&columns(0, inputs), bias.as_ref(), Activation::Identity);
        let by_state = columns(inputs, 2 * units);
        let score = cx.joined_weight(self.score.weight()).reshape([units]);
        let [x_weight, h_weight] = self.weights.map(|id| cx.joined_weight(id));
        let weight = Var::concat(&[&x_weight, &h_weight], 1);
        let [x_bias, h_bias] = self.biases.map(|id| cx.param(id));
        let bias = x_bias.add(&h_bias);

        let mut state = [0, 1].map(|_| Var::constant(Tensor::zeros([batch, units])));
        let states: Vec<Var> = (0..steps)
            .map(|_| {
                let [h, c] = &state;
                let query = Var::concat(&[h, c], 1).linear(&by_state, None, Activation::Identity);
                let context = keys.additive_attention(&query, &score, x);
                let sums = Var::concat(&[&context, h], 1).linear(&weight, Some(&bias), Activation::Identity);
                state = sums.lstm_cell(c, None);
                state[0].clone()
            })
            .collect();
        Var::concat(&states.iter().collect::<Vec<_>>(), 0).reshape([steps, batch, units])
    }
}
