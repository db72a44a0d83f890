//! The layers of a block of N-BEATS and its relatives, from the block's view of the window to its
//! coefficients.

use foretell_nn::{Activation, Forward, Linear, Nonlinearity, Scope, Var};
use serde_json::{Value, json};

use crate::registry::ConfigError;

/// What the layers of every block of a model are like.
pub(crate) struct Layers<'a> {
    /// `[inputs, outputs]` of each hidden layer.
    pub(crate) mlp_units: &'a [[usize; 2]],
    /// Dropout behind each activation.
    pub(crate) dropout: f32,
    /// PyTorch's name of the activation behind each hidden layer.
    pub(crate) activation: &'a str,
}

impl Layers<'_> {
    /// Checks that they can be.
    pub(crate) fn check(&self, model: &'static str) -> Result<(), ConfigError> {
        let Self { mlp_units, dropout, activation } = *self;
        let chained = mlp_units.windows(2).all(|pair| pair[0][1] == pair[1][0]);
        let rules: [(_, _, _, Value); 3] = [
            (
                "mlp_units",
                !mlp_units.is_empty() && chained && !mlp_units.as_flattened().contains(&0),
                "a list of [inputs, outputs] of at least 1, each layer's inputs being the outputs before it",
                json!(mlp_units),
            ),
            ("dropout_prob_theta", (0.0..1.0).contains(&dropout), "at least 0 and below 1", json!(dropout)),
            (
                "activation",
                activation == "PReLU" || Nonlinearity::fixed(activation).is_some(),
                "ReLU, Softplus, Tanh, SELU, LeakyReLU, PReLU or Sigmoid",
                json!(activation),
            ),
        ];
        match rules.into_iter().find(|(_, holds, ..)| !holds) {
            None => Ok(()),
            Some((name, _, expected, found)) => Err(ConfigError {
                model,
                name: name.to_owned(),
                expected: expected.to_owned(),
                found: found.to_string(),
            }),
        }
    }
}

/// A linear layer without an activation, then hidden layers with one, then a linear layer.
#[derive(Clone)]
pub(crate) struct Perceptron {
    first: Linear,
    hidden: Vec<Linear>,
    activation: Nonlinearity,
    dropout: f32,
    last: Linear,
}

impl Perceptron {
    /// Registers the layers under the places that `torch.nn.Sequential` gives them: activations and
    /// dropouts count too.
    pub(crate) fn new(scope: &mut Scope<'_>, layers: &Layers<'_>, inputs: usize, outputs: usize) -> Self {
        let Layers { mlp_units, dropout, activation } = *layers;
        let per_layer = if dropout > 0.0 { 3 } else { 2 };
        let first = Linear::new(&mut scope.at(0), inputs, mlp_units[0][0]);
        let (mut hidden, mut place) = (Vec::new(), 1);
        let mut shared = None;
        for &[inputs, outputs] in mlp_units {
            hidden.push(Linear::new(&mut scope.at(place), inputs, outputs));
            // One module stands behind every layer of the block, so one slope serves them all.
            let mut scope = scope.at(place + 1);
            match shared {
                Some(Nonlinearity::PRelu(slope)) => scope.alias("weight", slope),
                Some(Nonlinearity::Fixed(_)) => {}
                None => {
                    let fixed = Nonlinearity::fixed(activation).map(Nonlinearity::Fixed);
                    shared = Some(fixed.unwrap_or_else(|| Nonlinearity::prelu(&mut scope)));
                }
            }
            place += per_layer;
        }
        let last = Linear::new(&mut scope.at(place), mlp_units[mlp_units.len() - 1][1], outputs);
        Self { first, hidden, activation: shared.expect("at least one hidden layer"), dropout, last }
    }

    /// `x [batch, inputs]` to `[batch, outputs]`.
    pub(crate) fn forward(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let mut x = self.first.forward(cx, x, Activation::Identity);
        for layer in &self.hidden {
            x = layer.forward(cx, &x, self.activation.fused());
            x = cx.dropout(self.activation.finish(cx, x), self.dropout);
        }
        self.last.forward(cx, &x, Activation::Identity)
    }
}
