//! The sizes of a TimesFM 2.5 network.

use serde::Deserialize;

use crate::config::Checks;
use crate::error::PretrainedError;

/// The content of `config.json`; what it lacks is as in the 200 million parameters' network.
#[derive(Clone, Debug, Deserialize)]
#[serde(default)]
pub(crate) struct TimesFmConfig {
    /// Steps of a patch.
    pub(crate) patch_length: usize,
    pub(crate) context_length: usize,
    /// Steps of a pass.
    pub(crate) horizon_length: usize,
    pub(crate) num_hidden_layers: usize,
    pub(crate) hidden_size: usize,
    pub(crate) intermediate_size: usize,
    pub(crate) head_dim: usize,
    pub(crate) num_attention_heads: usize,
    num_key_value_heads: Option<usize>,
    pub(crate) rms_norm_eps: f32,
    pub(crate) quantiles: Vec<f64>,
    /// Steps of the quantiles' distances.
    pub(crate) output_quantile_len: usize,
    /// The place of the median behind the mean.
    decode_index: usize,
    use_bias: bool,
    attention_bias: bool,
    activation: String,
    pub(crate) use_continuous_quantile_head: bool,
    pub(crate) force_flip_invariance: bool,
    pub(crate) infer_is_positive: bool,
    rope_parameters: Option<Rope>,
}

#[derive(Clone, Debug, Deserialize)]
struct Rope {
    #[serde(default = "plain")]
    rope_type: String,
    #[serde(default = "theta")]
    rope_theta: f32,
}

fn plain() -> String {
    "default".to_owned()
}
fn theta() -> f32 {
    10_000.0
}

impl Default for TimesFmConfig {
    fn default() -> Self {
        Self {
            patch_length: 32,
            context_length: 16_384,
            horizon_length: 128,
            num_hidden_layers: 20,
            hidden_size: 1280,
            intermediate_size: 1280,
            head_dim: 80,
            num_attention_heads: 16,
            num_key_value_heads: None,
            rms_norm_eps: 1e-6,
            quantiles: vec![0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9],
            output_quantile_len: 1024,
            decode_index: 5,
            use_bias: false,
            attention_bias: false,
            activation: "swish".to_owned(),
            use_continuous_quantile_head: true,
            force_flip_invariance: true,
            infer_is_positive: true,
            rope_parameters: None,
        }
    }
}

impl TimesFmConfig {
    /// Whether the network can be computed with these.
    pub(crate) fn check(&self, checks: &Checks<'_>) -> Result<(), PretrainedError> {
        for (name, size, [least, most]) in [
            ("patch_length", self.patch_length, [1, 1 << 12]),
            ("context_length", self.context_length, [1, 1 << 20]),
            ("horizon_length", self.horizon_length, [1, 1 << 14]),
            ("num_hidden_layers", self.num_hidden_layers, [1, 256]),
            ("hidden_size", self.hidden_size, [1, 1 << 14]),
            ("intermediate_size", self.intermediate_size, [1, 1 << 16]),
            ("head_dim", self.head_dim, [2, 1 << 12]),
            ("num_attention_heads", self.num_attention_heads, [1, 1 << 10]),
            ("output_quantile_len", self.output_quantile_len, [1, 1 << 16]),
        ] {
            checks.within(name, size, least..=most)?;
        }
        checks.require(self.head_dim.is_multiple_of(2), "head_dim", "even", &self.head_dim)?;
        let heads = self.num_key_value_heads.unwrap_or(self.num_attention_heads);
        let same = heads == self.num_attention_heads;
        checks.require(same, "num_key_value_heads", "num_attention_heads", &heads)?;
        checks.patches("context_length", self.context_length, self.patch_length)?;
        let whole = self.horizon_length.is_multiple_of(self.patch_length);
        checks.require(whole, "horizon_length", "a multiple of patch_length", &self.horizon_length)?;
        checks.levels("quantiles", &self.quantiles)?;
        let levels = &self.quantiles;
        let mirrored =
            levels.iter().zip(levels.iter().rev()).all(|(low, high)| (low + high - 1.0).abs() < 1e-9);
        checks.require(mirrored, "quantiles", "as far from 0 as from 1", &format!("{levels:?}"))?;
        let median = self.decode_index.checked_sub(1).and_then(|place| levels.get(place)) == Some(&0.5);
        checks.require(median, "decode_index", "the place of 0.5 among the quantiles", &self.decode_index)?;
        let biased = self.use_bias || self.attention_bias;
        checks.require(!biased, "use_bias and attention_bias", "false", &biased)?;
        let kind = &self.activation;
        checks.require(["swish", "silu"].contains(&&**kind), "activation", "swish", kind)?;
        checks.epsilon("rms_norm_eps", self.rms_norm_eps)?;
        let Some(Rope { rope_type, rope_theta }) = &self.rope_parameters else { return Ok(()) };
        checks.require(rope_type == "default", "rope_parameters.rope_type", "default", rope_type)?;
        checks.theta("rope_parameters.rope_theta", *rope_theta)
    }

    /// Width of all heads.
    pub(crate) fn inner(&self) -> usize {
        self.num_attention_heads * self.head_dim
    }

    pub(crate) fn theta(&self) -> f32 {
        self.rope_parameters.as_ref().map_or(theta(), |rope| rope.rope_theta)
    }

    /// The place of the median behind the mean.
    pub(crate) fn median(&self) -> usize {
        self.decode_index
    }

    /// Patches of a context, at most.
    pub(crate) fn context_patches(&self) -> usize {
        self.context_length.div_ceil(self.patch_length)
    }

    /// Numbers of a step: the mean, then quantiles.
    pub(crate) fn outputs(&self) -> usize {
        1 + self.quantiles.len()
    }

    /// Steps that are forecast from one context: whole passes, as many as a context has.
    pub(crate) fn farthest(&self) -> usize {
        (self.context_length / self.horizon_length).max(1) * self.horizon_length
    }

    /// Places of tokens, at most.
    pub(crate) fn places(&self) -> usize {
        self.context_patches() + self.farthest() / self.patch_length
    }
}
