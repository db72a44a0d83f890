//! The decoder of TCN and DilatedRNN: after an encoder of the history's steps, a linear layer over time makes a context for
//! each step of the horizon, and a perceptron forecasts each step from its context and its future columns.

use foretell_nn::{
    Dims, Forward, HyperParameterError, Inputs, Linear, Mlp, MlpSizes, Nonlinearity, Scope, Var,
};
use serde_json::json;

use crate::hyper::hyper_parameters;
use crate::rules;

/// The scope of the perceptron's parameters.
const DECODER: &str = "mlp_decoder";

hyper_parameters! {
    /// The hyper-parameters that the two have in common.
    Config {
        /// Has no effect, as in neuralforecast: the layer over time fits `input_size` alone.
        inference_input_size: Option<i64> = None,
        /// Has no effect, as in neuralforecast: the context has as many numbers as the encoder has units.
        context_size: Option<i64> = Some(10),
        /// Units of the hidden layers of the decoder.
        decoder_hidden_size: usize = 128 => rules::units,
        /// Layers of the decoder.
        decoder_layers: usize = 2 => rules::layers,
        /// The decoder's activation, by the name of PyTorch's module; ReLU where there is none.
        decoder_activation: Option<String> = None,
    }
}

/// The decoder.
pub(crate) struct ContextDecoder {
    dims: Dims,
    adapter: Linear,
    mlp: Mlp,
}

impl Config {
    /// Builds the decoder of an encoder with this many units.
    pub(crate) fn build(
        self,
        units: usize,
        dims: &Dims,
        scope: &mut Scope<'_>,
    ) -> Result<ContextDecoder, HyperParameterError> {
        let adapter = Linear::new(&mut scope.at("context_adapter"), dims.input_size, dims.horizon);
        let sizes = MlpSizes {
            inputs: units + dims.futr_exog,
            outputs: dims.outputs,
            hidden: self.decoder_hidden_size,
            layers: self.decoder_layers,
            dropout: 0.0,
        };
        let activation = self.decoder_activation.as_deref().unwrap_or("ReLU");
        let mlp = Mlp::new(&mut scope.at(DECODER), &sizes, activation).ok_or_else(|| {
            HyperParameterError::new("decoder_activation", Nonlinearity::NAMES, json!(activation))
        })?;
        Ok(ContextDecoder { dims: *dims, adapter, mlp })
    }
}

impl ContextDecoder {
    /// The forecast, `[batch, horizon, outputs]`, from the encoder's `states [input_size, batch, units]`.
    pub(crate) fn forward(&self, cx: &Forward<'_>, states: &Var, windows: &Inputs) -> Var {
        let Dims { input_size, horizon, .. } = self.dims;
        let mut contexts = self.adapter.forward_first_axis(cx, states);
        if let Some(columns) = &windows.futr_exog {
            let ahead = columns.narrow(1, input_size, horizon).permute(&[1, 0, 2]);
            contexts = Var::concat(&[&contexts, &ahead], 2);
        }
        self.mlp.forward(cx, &contexts).permute(&[1, 0, 2])
    }
}

#[cfg(test)]
mod tests {
    use foretell_nn::Table;
    use serde_json::{Map, Value};

    use super::*;
    use crate::{CategoricalColumns, find};

    fn error(model: &str, name: &str, value: Value) -> String {
        let own = Map::from_iter([(name.to_owned(), value)]);
        let dims = Dims::new(6, 4);
        let entry = find(model).expect("a registered model");
        let built = entry.build(&own, &dims, &CategoricalColumns::default(), &mut Table::default());
        built.err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn wrong_hyper_parameters_are_errors_that_say_what_is_right() {
        for (model, name, value, expected) in [
            ("TCN", "kernel_size", json!(0), "between 1 and 1000000"),
            ("TCN", "dilations", json!([]), "a list of 1 to 1000 numbers"),
            ("TCN", "dilations", json!([1, 0]), "between 1 and 1000000, found [1,0]"),
            ("TCN", "encoder_activation", json!("GLU"), "ReLU, Softplus"),
            ("TCN", "decoder_layers", json!(0), "between 1 and 1000"),
            ("DilatedRNN", "cell_type", json!("lstm"), "RNN, GRU, LSTM, ResLSTM or AttentiveLSTM"),
            ("DilatedRNN", "dilations", json!([]), "a list of lists"),
            ("DilatedRNN", "dilations", json!([[1], []]), "none of them empty"),
            ("DilatedRNN", "dilations", json!([[0]]), "between 1 and 1000000"),
            ("DilatedRNN", "dilations", json!([1, 2]), "like its default [[1,2],[4,8]]"),
            ("DilatedRNN", "decoder_activation", json!("GLU"), "ReLU, Softplus"),
        ] {
            let message = error(model, name, value);
            assert!(message.contains(name) && message.contains(expected), "{model} {name}: {message}");
        }
    }
}
