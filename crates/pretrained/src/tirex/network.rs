//! A TiRex network: windows of a series, each with one more unknown patch at its end.

use super::block::{Block, BlockScratch};
use super::config::TiRexConfig;
use crate::error::PretrainedError;
use crate::network::{PretrainedNetwork, SeriesContext};
use crate::scale::Scale;
use crate::scratch_pool::ScratchPool;
use crate::t5::{Norm, ResidualBlock};
use crate::weights::Weights;

/// Series that are forecast in one call: the cell multiplies one token of each at a time.
const TOGETHER: usize = 16;

/// A series without a deviation has that of its distance from 0, and of this much more.
const LEAST_DEVIATION: f64 = 1e-5;

/// A TiRex network.
#[derive(Debug)]
pub(crate) struct TiRex {
    config: TiRexConfig,
    input: ResidualBlock,
    blocks: Vec<Block>,
    norm: Norm,
    output: ResidualBlock,
    scratch: ScratchPool<Scratch>,
}

#[derive(Debug, Default)]
struct Scratch {
    /// `[time, series, 2 size]`: values, and marks of those that are known.
    patches: Vec<f32>,
    states: Vec<f32>,
    block: BlockScratch,
    output: Vec<f32>,
}

impl TiRex {
    pub(crate) fn new(config: TiRexConfig, weights: &mut Weights) -> Result<Self, PretrainedError> {
        let sizes = &config.model_config;
        let (d, ff, size) = (config.width(), sizes.input_ff_dim, config.size());
        let input = ResidualBlock::take(weights, "input_patch_embedding", [2 * size, ff, d])?;
        let output =
            ResidualBlock::take(weights, "output_patch_embedding", [d, ff, sizes.quantiles.len() * size])?;
        let blocks = (0..sizes.block_kwargs.num_blocks)
            .map(|i| Block::take(weights, &format!("blocks.{i}"), &config))
            .collect::<Result<_, PretrainedError>>()?;
        let norm = Norm::take(weights, "out_norm", config.layers())?;
        Ok(Self { config, input, blocks, norm, output, scratch: ScratchPool::default() })
    }

    /// The quantiles `[contexts, levels, size]` of the patch behind this many unknown ones.
    fn pass(
        &self,
        contexts: &[SeriesContext<'_>],
        unknown: usize,
        scratch: &mut Scratch,
        mut put: impl FnMut(usize, usize, usize, f64),
    ) {
        let Scratch { patches, states, block, output } = scratch;
        let (size, d, series) = (self.config.size(), self.config.width(), contexts.len());
        let (tokens, levels) = (self.config.tokens(), self.levels().len());
        patches.clear();
        patches.resize(tokens * series * 2 * size, 0.0);
        let mut scales = Vec::with_capacity(series);
        for (i, context) in contexts.iter().enumerate() {
            // The values that the window has, and where they end in it.
            let end = self.config.train_ctx_len.saturating_sub(unknown * size);
            let values = &context.values[context.values.len().saturating_sub(end)..];
            let scale = Scale::or(values, |mean| mean.abs() + LEAST_DEVIATION);
            for (place, y) in (end - values.len()..end).zip(values) {
                let row = &mut patches[(place / size * series + i) * 2 * size..][..2 * size];
                if !y.is_nan() {
                    (row[place % size], row[size + place % size]) = (scale.scaled(*y) as f32, 1.0);
                }
            }
            scales.push(scale);
        }
        states.resize(tokens * series * d, 0.0);
        self.input.apply(patches, states, &mut block.layer.hidden);
        for (i, layer) in self.blocks.iter().enumerate() {
            layer.apply(states, series, i + 1 == self.blocks.len(), block);
        }
        let layer = &mut block.layer;
        self.norm.apply(states, &mut layer.normed, &mut layer.roots);
        output.resize(series * levels * size, 0.0);
        self.output.apply(&layer.normed, output, &mut layer.hidden);
        for (i, (output, scale)) in output.chunks_exact(levels * size).zip(&scales).enumerate() {
            for (level, steps) in output.chunks_exact(size).enumerate() {
                steps
                    .iter()
                    .enumerate()
                    .for_each(|(step, &x)| put(i, level, step, scale.unscaled(f64::from(x))));
            }
        }
    }
}

impl PretrainedNetwork for TiRex {
    fn levels(&self) -> &[f64] {
        &self.config.model_config.quantiles
    }

    fn horizon(&self) -> usize {
        self.config.size()
    }

    fn context_length(&self) -> usize {
        self.config.train_ctx_len
    }

    /// Steps are places of the window: one that had no other place would be forecast from nothing.
    fn most_steps(&self) -> Option<usize> {
        Some(self.config.train_ctx_len)
    }

    fn together(&self) -> usize {
        TOGETHER
    }

    fn forecast(&self, contexts: &[SeriesContext<'_>], horizon: usize, out: &mut [f64]) {
        let (levels, size) = (self.levels().len(), self.config.size());
        assert_eq!(out.len(), contexts.len() * horizon * levels, "quantiles of {} contexts", contexts.len());
        if contexts.is_empty() {
            return;
        }
        let mut scratch = self.scratch.take();
        for patch in 0..horizon.div_ceil(size) {
            self.pass(contexts, patch, &mut scratch, |series, level, step, y| {
                let step = patch * size + step;
                if step < horizon {
                    out[(series * horizon + step) * levels + level] = y;
                }
            });
        }
        self.scratch.put_back(scratch);
    }

    fn held_bytes(&self) -> u64 {
        self.input.bytes() + self.blocks.iter().map(Block::bytes).sum::<u64>() + self.output.bytes()
    }

    fn working_bytes(&self, _: usize, _: usize, _: usize) -> u64 {
        let (d, size) = (self.config.width(), self.config.size());
        let wide = self.config.layers().d_ff.max(self.config.model_config.input_ff_dim);
        let token = 8 * d + 2 * wide + 2 * size;
        let series = self.config.tokens() * token + self.levels().len() * size;
        (4 * TOGETHER * series) as u64
    }
}
