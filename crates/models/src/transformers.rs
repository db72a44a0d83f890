//! What transformers have in common: checks of their sizes, the hyper-parameters of those of an encoder and a decoder, and a
//! difference from neuralforecast.

use foretell_nn::{Activation, Dims, MAX_POSITIONS, TransformerSizes};
use serde_json::{Value, json};

use crate::hyper::hyper_parameters;
use crate::registry::{ConfigError, MAX_LAYERS, MAX_UNITS};

/// A difference from neuralforecast.
pub(crate) const BIAS_OF_KEYS: &str = "The biases of keys, which no softmax feels, stay as they began; in neuralforecast rounding errors move them. No \
     forecast depends on them.";

/// Checks that a hyper-parameter of this name is what it must be.
pub(crate) fn require(
    model: &'static str,
    name: &str,
    holds: bool,
    expected: &str,
    found: Value,
) -> Result<(), ConfigError> {
    let fault = || ConfigError {
        model,
        name: name.to_owned(),
        expected: expected.to_owned(),
        found: found.to_string(),
    };
    if holds { Ok(()) } else { Err(fault()) }
}

/// The activation of a perceptron: the rectifier of "relu", the exact GELU of any other name, which must be "gelu".
pub(crate) fn activation(model: &'static str, name: &str) -> Result<Activation, ConfigError> {
    let known = ["relu", "gelu"].contains(&name);
    require(model, "activation", known, "\"relu\" or \"gelu\"", json!(name))?;
    Ok(if name == "relu" { Activation::Relu } else { Activation::Gelu })
}

/// Checks sizes; `names` are those of the hyper-parameters that say the numbers of a step, the heads, the units and the
/// rate of dropout.
pub(crate) fn sizes(
    model: &'static str,
    names: [&str; 4],
    sizes: &TransformerSizes,
) -> Result<(), ConfigError> {
    let &TransformerSizes { hidden, heads, units: width, dropout, .. } = sizes;
    let units = |name, count| {
        require(model, name, (1..=MAX_UNITS).contains(&count), "between 1 and 1000000", json!(count))
    };
    let [hidden_name, heads_name, width_name, dropout_name] = names;
    units(hidden_name, hidden)?;
    let expected = format!("between 1 and {hidden_name}");
    require(model, heads_name, (1..=hidden).contains(&heads), &expected, json!(heads))?;
    units(width_name, width)?;
    self::dropout(model, dropout_name, dropout.into())
}

/// Checks a rate of dropout.
pub(crate) fn dropout(model: &'static str, name: &str, rate: f64) -> Result<(), ConfigError> {
    require(model, name, (0.0..1.0).contains(&rate), "at least 0 and below 1", json!(rate))
}

/// Checks a number of layers.
pub(crate) fn layers(model: &'static str, name: &str, count: usize) -> Result<(), ConfigError> {
    require(model, name, count <= MAX_LAYERS, "at most 1000", json!(count))
}

hyper_parameters! {
    /// Of models whose decoder makes the horizon at once, from the end of the history and zeros.
    EncoderDecoder {
        /// The share of the history that the decoder sees, above 0 and below 1.
        decoder_input_size_multiplier: f64 = 0.5,
        /// Numbers of a step.
        hidden_size: usize = 128,
        /// Dropout of embeddings, of attention and behind each part of a layer.
        dropout: f64 = 0.05,
        /// Heads of each attention.
        n_head: usize = 4,
        /// Units of the perceptron in each layer; 0 for `4 * hidden_size`.
        conv_hidden_size: usize = 32,
        /// Their activation: "relu" or "gelu".
        activation: String = "gelu".to_owned(),
        /// Layers of the encoder.
        encoder_layers: usize = 2,
        /// Layers of the decoder.
        decoder_layers: usize = 1,
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

    /// The sizes of a layer, and the steps of the history that the decoder sees.
    pub(crate) fn check(
        &self,
        model: &'static str,
        dims: &Dims,
    ) -> Result<(TransformerSizes, usize), ConfigError> {
        let sizes = TransformerSizes {
            hidden: self.hidden_size,
            heads: self.n_head,
            units: match self.conv_hidden_size {
                0 => self.hidden_size.saturating_mul(4),
                units => units,
            },
            activation: activation(model, &self.activation)?,
            dropout: self.dropout as f32,
        };
        self::sizes(model, ["hidden_size", "n_head", "conv_hidden_size", "dropout"], &sizes)?;
        let even = self.hidden_size.is_multiple_of(2);
        require(model, "hidden_size", even, "even, a cosine beside each sine", json!(self.hidden_size))?;
        layers(model, "encoder_layers", self.encoder_layers)?;
        layers(model, "decoder_layers", self.decoder_layers)?;
        let share = self.decoder_input_size_multiplier;
        let seen = (dims.input_size as f64 * share).ceil();
        let expected = format!(
            "such that the decoder sees at least 1 and less than all of the {} steps of history",
            dims.input_size
        );
        let holds = seen >= 1.0 && seen < dims.input_size as f64;
        require(model, "decoder_input_size_multiplier", holds, &expected, json!(share))?;
        let longest = dims.input_size.max(seen as usize + dims.horizon);
        let expected = "such that no more than 5000 steps are embedded";
        require(model, "input_size", longest <= MAX_POSITIONS, expected, json!(dims.input_size))?;
        Ok((sizes, seen as usize))
    }

    /// Numbers that a training step keeps of a window whose last `seen` steps the decoder sees.
    pub(crate) fn kept_numbers(&self, sizes: &TransformerSizes, dims: &Dims, seen: usize) -> usize {
        let &Dims { input_size, horizon, outputs, .. } = dims;
        let embedded = sizes.hidden.saturating_mul(3);
        let encoder = sizes.kept_by_encoder_layer().saturating_mul(self.encoder_layers) + embedded;
        let decoder = sizes.kept_by_decoder_layer().saturating_mul(self.decoder_layers) + embedded;
        // Keys and values of what was encoded, for each layer of the decoder.
        let read = sizes.hidden.saturating_mul(2).saturating_mul(self.decoder_layers);
        let history = encoder.saturating_add(read).saturating_mul(input_size);
        history.saturating_add(decoder.saturating_mul(seen + horizon)).saturating_add(horizon * outputs)
    }
}
