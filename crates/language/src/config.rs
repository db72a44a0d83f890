//! The sizes of a GPT-2, from its `config.json`.

use foretell_autograd::Activation;
use serde::Deserialize;

use crate::error::LanguageModelError;

/// The fields of `config.json` for the forward pass; dropout is for training, which a frozen model has not.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Config {
    model_type: String,
    pub(crate) vocab_size: usize,
    /// The most tokens and vectors in a row.
    pub(crate) n_positions: usize,
    /// Width of the states.
    pub(crate) n_embd: usize,
    pub(crate) n_layer: usize,
    pub(crate) n_head: usize,
    #[serde(default)]
    n_inner: Option<usize>,
    #[serde(default = "gelu")]
    activation_function: String,
    #[serde(default = "epsilon")]
    pub(crate) layer_norm_epsilon: f32,
    #[serde(default = "yes")]
    scale_attn_weights: bool,
    #[serde(default)]
    scale_attn_by_inverse_layer_idx: bool,
}

fn gelu() -> String {
    "gelu_new".to_owned()
}

fn epsilon() -> f32 {
    1e-5
}

fn yes() -> bool {
    true
}

impl Config {
    pub(crate) fn parse(text: &[u8]) -> Result<Self, LanguageModelError> {
        let damaged = |error: serde_json::Error| LanguageModelError::Damaged {
            file: "config.json",
            reason: error.to_string(),
        };
        let config: Self = serde_json::from_slice(text).map_err(damaged)?;
        config.check().map(|()| config)
    }

    fn check(&self) -> Result<(), LanguageModelError> {
        let require = |holds: bool, name, expected: &str, found: &dyn ToString| match holds {
            true => Ok(()),
            false => Err(LanguageModelError::Setting {
                name,
                expected: expected.to_owned(),
                found: found.to_string(),
            }),
        };
        require(self.model_type == "gpt2", "model_type", "gpt2", &self.model_type)?;
        for (name, size) in [
            ("vocab_size", self.vocab_size),
            ("n_positions", self.n_positions),
            ("n_embd", self.n_embd),
            ("n_layer", self.n_layer),
            ("n_head", self.n_head),
            ("n_inner", self.inner()),
        ] {
            require((1..=1 << 24).contains(&size), name, "a number from 1 to 16777216", &size)?;
        }
        let divides = self.n_embd.is_multiple_of(self.n_head);
        require(divides, "n_head", "a divisor of n_embd", &self.n_head)?;
        require(self.scale_attn_weights, "scale_attn_weights", "true", &self.scale_attn_weights)?;
        let by_layer = self.scale_attn_by_inverse_layer_idx;
        require(!by_layer, "scale_attn_by_inverse_layer_idx", "false", &by_layer)?;
        self.activation().map(|_| ())
    }

    /// Units of the perceptron in each block.
    pub(crate) fn inner(&self) -> usize {
        self.n_inner.unwrap_or(4 * self.n_embd)
    }

    /// The activation of the perceptrons.
    pub(crate) fn activation(&self) -> Result<Activation, LanguageModelError> {
        match self.activation_function.as_str() {
            "gelu_new" | "gelu_pytorch_tanh" => Ok(Activation::GeluTanh),
            "gelu" => Ok(Activation::Gelu),
            "relu" => Ok(Activation::Relu),
            "silu" | "swish" => Ok(Activation::Silu),
            "tanh" => Ok(Activation::Tanh),
            other => Err(LanguageModelError::Setting {
                name: "activation_function",
                expected: "gelu_new, gelu_pytorch_tanh, gelu, relu, silu, swish or tanh".to_owned(),
                found: other.to_owned(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(change: &str) -> String {
        let sizes = r#""vocab_size": 9, "n_positions": 8, "n_embd": 6, "n_layer": 1, "n_head": 2"#;
        let text = format!(r#"{{"model_type": "gpt2", {sizes}, {change}}}"#);
        Config::parse(text.as_bytes()).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn settings_that_change_the_forward_pass_are_supported_or_refused() {
        assert_eq!(refused(r#""n_inner": null, "activation_function": "relu""#), "");
        let other = refused(r#""activation_function": "mish""#);
        assert!(other.contains("activation_function = mish, where gelu_new"), "{other}");
        let by_layer = refused(r#""scale_attn_by_inverse_layer_idx": true"#);
        assert!(by_layer.contains("scale_attn_by_inverse_layer_idx = true, where false"), "{by_layer}");
        assert!(refused(r#""scale_attn_weights": false"#).contains("where true is expected"));
        assert!(refused(r#""n_inner": 0"#).contains("n_inner = 0, where a number from 1"));
    }

    #[test]
    fn models_of_other_kinds_are_refused() {
        let sizes = r#""vocab_size": 9, "n_positions": 8, "n_embd": 6, "n_layer": 1, "n_head": 4"#;
        let parse = |kind| {
            let text = format!(r#"{{"model_type": "{kind}", {sizes}}}"#);
            Config::parse(text.as_bytes()).expect_err("refused").to_string()
        };
        assert!(parse("llama").contains("model_type = llama, where gpt2 is expected"));
        assert!(parse("gpt2").contains("n_head = 4, where a divisor of n_embd is expected"));
        let torn = Config::parse(b"{").expect_err("no JSON").to_string();
        assert!(torn.starts_with("config.json in it that cannot be read: EOF"), "{torn}");
    }
}
