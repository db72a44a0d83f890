//! The hidden layers of MLP and MLPMultivariate: layers of one size on a long row.

use foretell_nn::{Activation, Dims, Forward, Linear, Scope, Var};

use crate::hyper::hyper_parameters;
use crate::rules;

hyper_parameters! {
    DenseSizes {
        /// Hidden layers.
        num_layers: usize = 2 => rules::layers,
        /// Units of each hidden layer.
        hidden_size: usize = 1024 => rules::units,
    }
}

/// Hidden layers with ReLU, then a linear layer.
pub(crate) struct DenseLayers {
    hidden: Vec<Linear>,
    out: Linear,
}

impl DenseSizes {
    /// Registers the layers on rows of `inputs` numbers.
    pub(crate) fn layers(&self, scope: &mut Scope<'_>, inputs: usize, outputs: usize) -> DenseLayers {
        let mut layers = scope.at("mlp");
        let inputs_of = |layer| if layer == 0 { inputs } else { self.hidden_size };
        let hidden = (0..self.num_layers)
            .map(|i| Linear::new(&mut layers.at(i), inputs_of(i), self.hidden_size))
            .collect();
        DenseLayers { hidden, out: Linear::new(&mut scope.at("out"), self.hidden_size, outputs) }
    }
}

impl DenseLayers {
    /// `x [rows, inputs]` to `[rows, outputs]`.
    pub(crate) fn forward(&self, cx: &Forward<'_>, mut x: Var) -> Var {
        for layer in &self.hidden {
            x = layer.forward(cx, &x, Activation::Relu);
        }
        self.out.forward(cx, &x, Activation::Identity)
    }
}

/// The length of a window of one series, flattened to one row.
pub(crate) fn row_of_window(dims: &Dims) -> usize {
    dims.input_size * (1 + dims.hist_exog)
        + (dims.input_size + dims.horizon) * dims.futr_exog
        + dims.stat_exog
}
