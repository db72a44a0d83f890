//! The sizes of a TiRex network.

use serde::Deserialize;

use crate::config::{Checks, MOST_PATCHES, size};
use crate::error::PretrainedError;
use crate::t5::LayerSizes;

/// The content of `config.json`: the `hyper_parameters` of the original's checkpoint.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct TiRexConfig {
    pub(crate) model_config: Sizes,
    /// Values of a window.
    pub(crate) train_ctx_len: usize,
}

/// The sizes in it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Sizes {
    /// Steps of a patch.
    pub(crate) input_patch_size: usize,
    output_patch_size: usize,
    pub(crate) quantiles: Vec<f64>,
    /// Width within the perceptrons around the blocks.
    pub(crate) input_ff_dim: usize,
    pub(crate) block_kwargs: Blocks,
}

/// The sizes of the blocks.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Blocks {
    pub(crate) num_blocks: usize,
    pub(crate) embedding_dim: usize,
    pub(crate) num_heads: usize,
    #[serde(default = "factor")]
    ffn_proj_factor: f64,
    #[serde(default = "size::<4>")]
    num_states: usize,
    #[serde(default = "size::<4>")]
    num_gates: usize,
}

fn factor() -> f64 {
    2.6667
}

/// What is added to the mean square of a norm.
const EPSILON: f32 = 1e-6;

impl TiRexConfig {
    /// Whether the network can be computed with these.
    pub(crate) fn check(&self, checks: &Checks<'_>) -> Result<(), PretrainedError> {
        let Self { model_config: sizes, train_ctx_len: context } = self;
        let (patch, blocks) = (sizes.input_patch_size, &sizes.block_kwargs);
        for (name, size, [least, most]) in [
            ("train_ctx_len", *context, [1, 1 << 20]),
            ("model_config.input_patch_size", patch, [1, 1 << 12]),
            ("model_config.input_ff_dim", sizes.input_ff_dim, [1, 1 << 16]),
            ("model_config.block_kwargs.num_blocks", blocks.num_blocks, [1, 256]),
            ("model_config.block_kwargs.embedding_dim", blocks.embedding_dim, [1, 1 << 13]),
            ("model_config.block_kwargs.num_heads", blocks.num_heads, [1, 1 << 10]),
        ] {
            checks.within(name, size, least..=most)?;
        }
        for (name, found, expected) in [
            ("model_config.output_patch_size", sizes.output_patch_size, patch),
            ("model_config.block_kwargs.num_states", blocks.num_states, 4),
            ("model_config.block_kwargs.num_gates", blocks.num_gates, 4),
        ] {
            checks.require(found == expected, name, &expected.to_string(), &found)?;
        }
        let fits = context.is_multiple_of(patch) && context / patch <= MOST_PATCHES;
        let expected = format!("a multiple of model_config.input_patch_size, at most {MOST_PATCHES} patches");
        checks.require(fits, "train_ctx_len", &expected, context)?;
        let divides = blocks.embedding_dim.is_multiple_of(blocks.num_heads);
        let expected = "a multiple of num_heads";
        let width = &blocks.embedding_dim;
        checks.require(divides, "model_config.block_kwargs.embedding_dim", expected, width)?;
        let factor = blocks.ffn_proj_factor;
        let name = "model_config.block_kwargs.ffn_proj_factor";
        checks.require(factor > 0.0 && factor <= 64.0, name, "a factor up to 64", &factor)?;
        checks.levels("model_config.quantiles", &sizes.quantiles)
    }

    /// Steps of a patch.
    pub(crate) fn size(&self) -> usize {
        self.model_config.input_patch_size
    }

    /// Width of a token.
    pub(crate) fn width(&self) -> usize {
        self.model_config.block_kwargs.embedding_dim
    }

    pub(crate) fn heads(&self) -> usize {
        self.model_config.block_kwargs.num_heads
    }

    /// Tokens of a window.
    pub(crate) fn tokens(&self) -> usize {
        self.train_ctx_len / self.size()
    }

    /// Sizes of a block: its perceptron is as wide as the factor says, rounded up to a multiple of 64.
    pub(crate) fn layers(&self) -> LayerSizes {
        let wide = self.width() as f64 * self.model_config.block_kwargs.ffn_proj_factor;
        let d_ff = ((wide + 63.0) / 64.0).floor() as usize * 64;
        LayerSizes { d_model: self.width(), d_ff, epsilon: EPSILON }
    }
}
