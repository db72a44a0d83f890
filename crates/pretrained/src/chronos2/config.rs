//! The sizes of a Chronos-2 network.

use serde::Deserialize;

use super::unrolled::PATHS;
use crate::config::{Checks, epsilon, relu, size};
use crate::error::PretrainedError;
use crate::t5::LayerSizes;

/// The content of `config.json`, a T5's with an entry of its own.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Chronos2Config {
    pub(crate) chronos_config: Chronos,
    #[serde(default = "size::<512>")]
    pub(crate) d_model: usize,
    /// Width of a head.
    #[serde(default = "size::<64>")]
    pub(crate) d_kv: usize,
    #[serde(default = "size::<2048>")]
    pub(crate) d_ff: usize,
    #[serde(default = "size::<6>")]
    pub(crate) num_layers: usize,
    #[serde(default = "size::<8>")]
    pub(crate) num_heads: usize,
    #[serde(default = "epsilon")]
    layer_norm_epsilon: f32,
    #[serde(default = "theta")]
    pub(crate) rope_theta: f32,
    #[serde(default = "relu")]
    feed_forward_proj: String,
}

/// What is no T5's.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Chronos {
    pub(crate) context_length: usize,
    /// Steps of a patch.
    pub(crate) input_patch_size: usize,
    input_patch_stride: usize,
    output_patch_size: usize,
    pub(crate) quantiles: Vec<f64>,
    #[serde(default)]
    use_reg_token: bool,
    #[serde(default)]
    pub(crate) use_arcsinh: bool,
    /// Patches of one pass, at most.
    #[serde(default = "size::<1>")]
    pub(crate) max_output_patches: usize,
    time_encoding_scale: Option<usize>,
}

fn theta() -> f32 {
    10_000.0
}

impl Chronos2Config {
    /// Whether the network can be computed with these.
    pub(crate) fn check(&self, checks: &Checks<'_>) -> Result<(), PretrainedError> {
        let own = &self.chronos_config;
        let named = |name: &str| format!("chronos_config.{name}");
        for (name, size, [least, most]) in [
            ("d_model", self.d_model, [1, 1 << 14]),
            ("d_kv", self.d_kv, [2, 1 << 12]),
            ("d_ff", self.d_ff, [1, 1 << 16]),
            ("num_heads", self.num_heads, [1, 1 << 10]),
            ("num_layers", self.num_layers, [1, 256]),
            ("chronos_config.context_length", own.context_length, [1, 1 << 20]),
            ("chronos_config.input_patch_size", own.input_patch_size, [1, 1 << 12]),
            ("chronos_config.max_output_patches", own.max_output_patches, [1, 1 << 10]),
            ("chronos_config.time_encoding_scale", self.time_scale(), [1, 1 << 30]),
        ] {
            checks.within(name, size, least..=most)?;
        }
        checks.require(self.d_kv.is_multiple_of(2), "d_kv", "even", &self.d_kv)?;
        for (name, size) in
            [("input_patch_stride", own.input_patch_stride), ("output_patch_size", own.output_patch_size)]
        {
            let same = size == own.input_patch_size;
            checks.require(same, &named(name), "chronos_config.input_patch_size", &size)?;
        }
        checks.patches(&named("context_length"), own.context_length, own.input_patch_size)?;
        checks.levels(&named("quantiles"), &own.quantiles)?;
        let has_paths = PATHS.iter().all(|level| self.place_of(*level).is_some());
        let found = format!("{:?}", own.quantiles);
        checks.require(has_paths, &named("quantiles"), "probabilities with 0.1, 0.2, ..., 0.9", &found)?;
        let forecast = PATHS.len() * own.quantiles.len() * self.steps();
        let expected =
            "so small that 9 times the number of quantiles times the steps of a pass is at most 16777216";
        let most = &own.max_output_patches;
        checks.require(forecast <= 1 << 24, &named("max_output_patches"), expected, most)?;
        checks.require(own.use_reg_token, &named("use_reg_token"), "true", &own.use_reg_token)?;
        checks.is_relu(&self.feed_forward_proj)?;
        checks.epsilon("layer_norm_epsilon", self.layer_norm_epsilon)?;
        checks.theta("rope_theta", self.rope_theta)
    }

    /// The place of a level among the quantiles.
    pub(crate) fn place_of(&self, level: f64) -> Option<usize> {
        self.chronos_config.quantiles.iter().position(|own| (own - level).abs() < 1e-9)
    }

    /// Sizes of the layers.
    pub(crate) fn layers(&self) -> LayerSizes {
        LayerSizes { d_model: self.d_model, d_ff: self.d_ff, epsilon: self.layer_norm_epsilon }
    }

    /// Width of all heads.
    pub(crate) fn inner(&self) -> usize {
        self.num_heads * self.d_kv
    }

    /// Patches of a context, at most.
    pub(crate) fn context_patches(&self) -> usize {
        self.chronos_config.context_length.div_ceil(self.chronos_config.input_patch_size)
    }

    /// Tokens of a series, at most.
    pub(crate) fn tokens(&self) -> usize {
        self.context_patches() + 1 + self.chronos_config.max_output_patches
    }

    /// Steps of one pass, at most.
    pub(crate) fn steps(&self) -> usize {
        self.chronos_config.max_output_patches * self.chronos_config.input_patch_size
    }

    /// Steps that are the unit of time.
    pub(crate) fn time_scale(&self) -> usize {
        self.chronos_config.time_encoding_scale.unwrap_or(self.chronos_config.context_length)
    }
}
