//! Hyper-parameters of transformers: checks against each other, those of models with an encoder and a decoder, and a
//! difference from neuralforecast.

use foretell_nn::{Activation, Dims, HyperParameterError, MAX_POSITIONS, TransformerSizes};
use serde_json::{Value, json};

use crate::hyper::{hyper_parameters, require};
use crate::rules::{self, MAX_LAYERS, MAX_UNITS};

/// A difference from neuralforecast.
pub(crate) const BIAS_OF_KEYS: &str = "The biases of keys, which softmax cancels, stay as they began; in neuralforecast rounding errors move them. No \
     forecast depends on them.";

/// The activation of a perceptron: ReLU for "relu", the exact GELU for "gelu", and an error for any other name.
pub(crate) fn activation(name: &str) -> Result<Activation, HyperParameterError> {
    require("activation", ["relu", "gelu"].contains(&name), "\"relu\" or \"gelu\"", json!(name))?;
    Ok(if name == "relu" { Activation::Relu } else { Activation::Gelu })
}

/// Checks the number of heads, a hyper-parameter of this name.
pub(crate) fn heads(name: &str, sizes: &TransformerSizes) -> Result<(), HyperParameterError> {
    let &TransformerSizes { hidden, heads, .. } = sizes;
    require(name, (1..=hidden).contains(&heads), "between 1 and hidden_size", json!(heads))
}

/// The units of a perceptron: `units`, or four times `hidden` if they are 0.
pub(crate) fn units_or_fourfold(units: usize, hidden: usize) -> usize {
    if units == 0 { hidden.saturating_mul(4) } else { units }
}

hyper_parameters! {
    /// Hyper-parameters of models whose decoder makes the horizon at once, from the end of the history and zeros.
    EncoderDecoder {
        /// The share of the history that the decoder sees, above 0 and below 1.
        decoder_input_size_multiplier: f64 = 0.5,
        /// Numbers of a step.
        hidden_size: usize = 128 => rules::units,
        /// Dropout of embeddings, of attention and behind each part of a layer.
        dropout: f64 = 0.05 => rules::dropout,
        /// Heads of each attention.
        n_head: usize = 4,
        /// Units of the perceptron in each layer; 0 for `4 * hidden_size`.
        conv_hidden_size: usize = 32 => |size| rules::within(size, 0..=MAX_UNITS),
        /// Their activation: "relu" or "gelu".
        activation: String = "gelu".to_owned() => |name| rules::one_of(name, &["relu", "gelu"]),
        /// Layers of the encoder.
        encoder_layers: usize = 2 => |count| rules::within(count, 0..=MAX_LAYERS),
        /// Layers of the decoder.
        decoder_layers: usize = 1 => |count| rules::within(count, 0..=MAX_LAYERS),
    }
}

impl EncoderDecoder {
    /// Small sizes, with dropout and without.
    pub(crate) fn small() -> Vec<Value> {
        vec![
            json!({ "hidden_size": 8, "n_head": 2, "conv_hidden_size": 6 }),
            json!({
                "hidden_size": 6, "n_head": 4, "conv_hidden_size": 0, "dropout": 0.0, "activation": "relu",
                "encoder_layers": 1, "decoder_layers": 2, "decoder_input_size_multiplier": 0.9,
            }),
        ]
    }

    /// Steps of the history that the decoder sees.
    pub(crate) fn label_len(&self, dims: &Dims) -> usize {
        (dims.input_size as f64 * self.decoder_input_size_multiplier).ceil() as usize
    }

    /// The sizes of a layer.
    ///
    /// # Errors
    /// If there are no heads or more than `hidden_size`, or the decoder sees nothing or all of the history.
    pub(crate) fn sizes(&self, dims: &Dims) -> Result<TransformerSizes, HyperParameterError> {
        let sizes = TransformerSizes {
            hidden: self.hidden_size,
            heads: self.n_head,
            units: units_or_fourfold(self.conv_hidden_size, self.hidden_size),
            activation: activation(&self.activation)?,
            dropout: self.dropout as f32,
        };
        heads("n_head", &sizes)?;
        let steps = dims.input_size;
        let holds = (1..steps).contains(&self.label_len(dims));
        let expected = format!(
            "such that the decoder sees at least 1 and less than all of the {steps} steps of history"
        );
        let share = json!(self.decoder_input_size_multiplier);
        require("decoder_input_size_multiplier", holds, expected, share)?;
        Ok(sizes)
    }

    /// The sizes of a layer and the steps of the history that the decoder sees, for a model that encodes positions.
    ///
    /// # Errors
    /// The errors of [`EncoderDecoder::sizes`]; or if `hidden_size` is odd, or there are more steps than encoded
    /// positions.
    pub(crate) fn check(&self, dims: &Dims) -> Result<(TransformerSizes, usize), HyperParameterError> {
        let (sizes, seen) = (self.sizes(dims)?, self.label_len(dims));
        let even = self.hidden_size.is_multiple_of(2);
        require("hidden_size", even, "even, a cosine beside each sine", json!(self.hidden_size))?;
        let longest = dims.input_size.max(seen + dims.horizon);
        let expected = "such that no more than 5000 steps are embedded";
        require("input_size", longest <= MAX_POSITIONS, expected, json!(dims.input_size))?;
        Ok((sizes, seen))
    }
}
