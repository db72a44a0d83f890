//! The sizes of a Chronos-Bolt network.

use serde::Deserialize;

use crate::config::{Checks, epsilon, relu, size};
use crate::error::PretrainedError;
use crate::t5::LayerSizes;

/// The content of `config.json`, a T5's with an entry of its own.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct BoltConfig {
    pub(crate) chronos_config: Chronos,
    pub(crate) d_model: usize,
    /// Width of a head.
    pub(crate) d_kv: usize,
    pub(crate) d_ff: usize,
    pub(crate) num_layers: usize,
    #[serde(default)]
    num_decoder_layers: Option<usize>,
    pub(crate) num_heads: usize,
    #[serde(default = "size::<32>")]
    pub(crate) relative_attention_num_buckets: usize,
    #[serde(default = "size::<128>")]
    pub(crate) relative_attention_max_distance: usize,
    #[serde(default = "epsilon")]
    pub(crate) layer_norm_epsilon: f32,
    #[serde(default)]
    pub(crate) decoder_start_token_id: usize,
    #[serde(default = "relu")]
    feed_forward_proj: String,
}

/// What is no T5's.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Chronos {
    pub(crate) context_length: usize,
    pub(crate) prediction_length: usize,
    pub(crate) input_patch_size: usize,
    input_patch_stride: usize,
    pub(crate) quantiles: Vec<f64>,
    #[serde(default)]
    pub(crate) use_reg_token: bool,
}

impl BoltConfig {
    /// Whether the network can be computed with these.
    pub(crate) fn check(&self, checks: &Checks<'_>) -> Result<(), PretrainedError> {
        let own = &self.chronos_config;
        for (name, size, [least, most]) in [
            ("d_model", self.d_model, [1, 1 << 14]),
            ("d_kv", self.d_kv, [1, 1 << 12]),
            ("d_ff", self.d_ff, [1, 1 << 16]),
            ("num_heads", self.num_heads, [1, 1 << 10]),
            ("num_layers", self.num_layers, [1, 256]),
            ("num_decoder_layers", self.decoder_layers(), [1, 256]),
            ("relative_attention_num_buckets", self.relative_attention_num_buckets, [4, 1 << 12]),
            ("relative_attention_max_distance", self.relative_attention_max_distance, [2, 1 << 20]),
            ("decoder_start_token_id", self.decoder_start_token_id, [0, usize::from(own.use_reg_token)]),
            ("chronos_config.context_length", own.context_length, [1, 1 << 16]),
            ("chronos_config.prediction_length", own.prediction_length, [1, 1 << 12]),
            ("chronos_config.input_patch_size", own.input_patch_size, [1, 1 << 12]),
        ] {
            checks.within(name, size, least..=most)?;
        }
        checks.levels("chronos_config.quantiles", &own.quantiles)?;
        let paths = own.quantiles.len().pow(2) * own.prediction_length;
        let expected = "so short that the square of the number of quantiles times it is at most 16777216";
        checks.require(
            paths <= 1 << 24,
            "chronos_config.prediction_length",
            expected,
            &own.prediction_length,
        )?;
        let stride = own.input_patch_stride;
        let expected = "chronos_config.input_patch_size";
        checks.require(
            stride == own.input_patch_size,
            "chronos_config.input_patch_stride",
            expected,
            &stride,
        )?;
        checks.patches("chronos_config.context_length", own.context_length, own.input_patch_size)?;
        let (distance, buckets) = (self.relative_attention_max_distance, self.relative_attention_num_buckets);
        let wide = distance > buckets / 4 && buckets.is_multiple_of(4);
        checks.require(
            wide,
            "relative_attention_max_distance",
            "above a quarter of the buckets, four at a time",
            &distance,
        )?;
        checks.is_relu(&self.feed_forward_proj)?;
        checks.epsilon("layer_norm_epsilon", self.layer_norm_epsilon)
    }

    pub(crate) fn decoder_layers(&self) -> usize {
        self.num_decoder_layers.unwrap_or(self.num_layers)
    }

    /// Sizes of the layers.
    pub(crate) fn layers(&self) -> LayerSizes {
        LayerSizes { d_model: self.d_model, d_ff: self.d_ff, epsilon: self.layer_norm_epsilon }
    }

    /// Width of all heads.
    pub(crate) fn inner(&self) -> usize {
        self.num_heads * self.d_kv
    }

    /// Tokens of a context, at most.
    pub(crate) fn tokens(&self) -> usize {
        let Chronos { context_length, input_patch_size, use_reg_token, .. } = self.chronos_config;
        context_length.div_ceil(input_patch_size) + usize::from(use_reg_token)
    }
}
