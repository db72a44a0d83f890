//! The layers of a block of N-BEATS and its relatives, from the block's view of the window to its
//! coefficients.

use std::ops::Range;

use foretell_nn::{Activation, Forward, Linear, LinearPair, Nonlinearity, PairSizes, Scope, Var};

use crate::rules;

/// The layers of every block of a model.
pub(crate) struct Layers<'a> {
    /// `[inputs, outputs]` of each hidden layer; further numbers are not read.
    pub(crate) mlp_units: &'a [Vec<usize>],
    /// Dropout behind each activation.
    pub(crate) dropout: f32,
    /// PyTorch's name of the activation behind each hidden layer.
    pub(crate) activation: &'a str,
}

/// The rule of `mlp_units`: each layer has inputs and outputs, and reads the outputs of the one before it.
pub(crate) fn chained(mlp_units: &[Vec<usize>]) -> Result<(), String> {
    let sizes = mlp_units.iter().all(|layer| layer.len() >= 2 && !layer[..2].contains(&0));
    let chained = sizes && mlp_units.windows(2).all(|pair| pair[0][1] == pair[1][0]);
    rules::require(
        !mlp_units.is_empty() && chained,
        "a list of [inputs, outputs] of at least 1, each layer's inputs being the outputs before it",
    )
}

/// What of `mlp_units` is not read, in a sentence.
pub(crate) fn unread(mlp_units: &[Vec<usize>]) -> Option<String> {
    let layer = mlp_units.iter().find(|layer| layer.len() > 2)?;
    let found = layer.len();
    Some(format!(
        "mlp_units has {found} numbers for a layer: as in neuralforecast the first 2 are read, its inputs and outputs; a \
         further layer is a further list of 2"
    ))
}

/// The rule of `activation`: one of the names that are known.
pub(crate) fn activation(name: &str) -> Result<(), String> {
    rules::one_of(name, &["ReLU", "Softplus", "Tanh", "SELU", "LeakyReLU", "PReLU", "Sigmoid"])
}

/// A linear layer without an activation, then hidden layers with one, then a linear layer.
#[derive(Clone)]
pub(crate) struct Perceptron {
    first: LinearPair,
    hidden: Vec<Linear>,
    activation: Nonlinearity,
    dropout: f32,
    last: Linear,
}

impl Perceptron {
    /// Registers the layers under the indices that `torch.nn.Sequential` gives them, where activations and dropouts
    /// count too.
    pub(crate) fn new(scope: &mut Scope<'_>, layers: &Layers<'_>, inputs: usize, outputs: usize) -> Self {
        let Layers { mlp_units, dropout, activation } = *layers;
        let per_layer = if dropout > 0.0 { 3 } else { 2 };
        let pair = PairSizes { inputs, hidden: mlp_units[0][0], outputs: mlp_units[0][1] };
        let first = LinearPair::new(scope, [0, 1], pair);
        let (mut hidden, mut place) = (Vec::new(), 1);
        let mut shared = None;
        for (i, layer) in mlp_units.iter().enumerate() {
            if i > 0 {
                hidden.push(Linear::new(&mut scope.at(place), layer[0], layer[1]));
            }
            // One module is used behind every layer of the block, so all share its slope.
            let mut scope = scope.at(place + 1);
            match shared {
                Some(Nonlinearity::PRelu(slope)) => scope.alias("weight", slope),
                Some(_) => {}
                None => shared = Nonlinearity::named(activation, &mut scope),
            }
            place += per_layer;
        }
        let last = Linear::new(&mut scope.at(place), mlp_units[mlp_units.len() - 1][1], outputs);
        Self { first, hidden, activation: shared.expect("a known activation behind a layer"), dropout, last }
    }

    /// Maps parts `[batch, _]`, together `inputs` wide, to `[batch, outputs]`.
    pub(crate) fn forward(&self, cx: &Forward<'_>, parts: Vec<Var>) -> Var {
        self.last.forward(cx, &self.hidden(cx, parts), Activation::Identity)
    }

    /// [`Perceptron::forward`] for a range of the outputs only.
    pub(crate) fn part(&self, cx: &Forward<'_>, parts: Vec<Var>, outputs: Range<usize>) -> Var {
        self.last.rows(cx, &self.hidden(cx, parts), outputs)
    }

    fn hidden(&self, cx: &Forward<'_>, parts: Vec<Var>) -> Var {
        let finish = |x| cx.dropout(self.activation.finish(cx, x), self.dropout);
        let mut x = finish(self.first.forward(cx, parts, self.activation.fused()));
        for layer in &self.hidden {
            x = finish(layer.forward(cx, &x, self.activation.fused()));
        }
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layer_has_two_numbers_and_what_follows_is_not_read() {
        for (units, told) in
            [(vec![vec![8, 4], vec![4, 2]], None), (vec![vec![8, 4, 3], vec![4, 2]], Some("3 numbers"))]
        {
            chained(&units).unwrap();
            assert_eq!(unread(&units).is_some(), told.is_some());
            assert!(unread(&units).unwrap_or_default().contains(told.unwrap_or_default()), "{units:?}");
        }
        for refused in
            [vec![], vec![vec![8]], vec![vec![8, 4], vec![]], vec![vec![8, 0]], vec![vec![8, 4], vec![8, 4]]]
        {
            assert!(chained(&refused).is_err(), "{refused:?}");
        }
    }
}
