//! What MLP and MLPMultivariate have in common: hidden layers of one size on a long row.

use foretell_nn::{Activation, Dims, Forward, Linear, Scope, Var};

use crate::hyper::hyper_parameters;
use crate::registry::{ConfigError, MAX_LAYERS};

hyper_parameters! {
    DenseSizes {
        /// Hidden layers.
        num_layers: usize = 2,
        /// Units of each hidden layer.
        hidden_size: usize = 1024,
    }
}

/// Hidden layers with rectified units, and a linear one.
pub(crate) struct DenseLayers {
    hidden: Vec<Linear>,
    out: Linear,
}

impl DenseSizes {
    /// Registers the layers of `model` on rows of `inputs` numbers.
    ///
    /// # Errors
    /// If there are no layers or units, or too many.
    pub(crate) fn layers(
        &self,
        model: &'static str,
        scope: &mut Scope<'_>,
        inputs: usize,
        outputs: usize,
    ) -> Result<DenseLayers, ConfigError> {
        for (name, value, most) in
            [("num_layers", self.num_layers, MAX_LAYERS), ("hidden_size", self.hidden_size, 1_000_000)]
        {
            if !(1..=most).contains(&value) {
                let (name, expected) = (name.to_owned(), format!("between 1 and {most}"));
                return Err(ConfigError { model, name, expected, found: value.to_string() });
            }
        }
        let mut layers = scope.at("mlp");
        let inputs_of = |layer| if layer == 0 { inputs } else { self.hidden_size };
        let hidden = (0..self.num_layers)
            .map(|i| Linear::new(&mut layers.at(i), inputs_of(i), self.hidden_size))
            .collect();
        Ok(DenseLayers { hidden, out: Linear::new(&mut scope.at("out"), self.hidden_size, outputs) })
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

/// The numbers of a window of one series as one row.
pub(crate) fn row_of_window(dims: &Dims) -> usize {
    dims.input_size * (1 + dims.hist_exog)
        + (dims.input_size + dims.horizon) * dims.futr_exog
        + dims.stat_exog
}
