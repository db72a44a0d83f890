//! From the states of the past to quantiles of the steps ahead.

use foretell_gemm::{Accum, Activation};
use foretell_kernels::column_sums::add_column_sums;
use foretell_simd::{add_assign, scale};

use super::block::{Block, BlockScratch, Depthwise, SwiGlu, TILE, norm};
use super::config::FracastConfig;
use super::features::{RECENCY, recency, seasonal_fill};
use crate::error::PretrainedError;
use crate::linear::Linear;
use crate::weights::Weights;

/// The head.
#[derive(Debug)]
pub(super) struct Head {
    /// What each step ahead starts from, whatever the past is: its query, biases and its distance.
    base: Vec<f32>,
    /// Of the mean and the last state.
    summary: Linear,
    decoders: Vec<(SwiGlu, Vec<f32>)>,
    convolutions: Vec<(Depthwise, Vec<f32>)>,
    /// Of the seasonal value of each step ahead; its bias and distance are in `future_base`.
    future_value: Vec<f32>,
    future_base: Vec<f32>,
    future_block: Block,
    future_layers: usize,
    future_seed: usize,
    future_dilation: usize,
    future_out: Linear,
    out: Linear,
    bins: usize,
    width: usize,
}

/// What the head takes memory for.
#[derive(Debug, Default)]
pub(super) struct HeadScratch {
    summary: Vec<f32>,
    context: Vec<f32>,
    x: Vec<f32>,
    state: Vec<f32>,
    fill: Vec<f32>,
    phase_sums: Vec<[f32; 2]>,
    future: Vec<f32>,
    roots: Vec<f32>,
}

/// The window that the states are of.
#[derive(Clone, Copy)]
pub(super) struct Seen<'a> {
    pub(super) values: &'a [f32],
    pub(super) known: &'a [f32],
    pub(super) period: usize,
}

impl Head {
    pub(super) fn take(weights: &mut Weights, config: &FracastConfig) -> Result<Self, PretrainedError> {
        let (d, h, w) = (config.d_model, config.horizon, config.window);
        let summary = weights.take("head.summary_proj.weight", &[d, RECENCY + 2 * d])?;
        let summary_bias = weights.take("head.summary_proj.bias", &[d])?;
        let queries = weights.take("head.queries", &[h, d])?;
        let future = weights.take("head.future_conv.in_proj.weight", &[d, 1 + RECENCY])?;
        let future_bias = weights.take("head.future_conv.in_proj.bias", &[d])?;
        let of_place = |weight: &[f32], row: usize, from: usize, step: usize| {
            let place = recency(w + step, w);
            weight[row + from..][..RECENCY].iter().zip(place).map(|(w, x)| w * x).sum::<f32>()
        };
        let cells = || (0..h).flat_map(|step| (0..d).map(move |i| (step, i)));
        let base = cells().map(|(step, i)| {
            queries[step * d + i] + summary_bias[i] + of_place(&summary, i * (RECENCY + 2 * d), 0, step)
        });
        let future_base =
            cells().map(|(step, i)| future_bias[i] + of_place(&future, i * (1 + RECENCY), 1, step));
        let rows = summary.chunks_exact(RECENCY + 2 * d).flat_map(|row| &row[RECENCY..]);
        let decoder = |weights: &mut Weights, i: usize| {
            let perceptron = SwiGlu::take(weights, &format!("head.decoder_ffns.{i}"), [d, config.head_d_ff])?;
            Ok::<_, PretrainedError>((
                perceptron,
                weights.take(&format!("head.decoder_norms.{i}.weight"), &[d])?,
            ))
        };
        let convolution = |weights: &mut Weights, i: usize| {
            let name = format!("head.fc_blocks.{i}");
            let taps = Depthwise::take(weights, &name, [d, config.head_fc_kernel])?;
            Ok::<_, PretrainedError>((taps, weights.take(&format!("{name}.norm.weight"), &[d])?))
        };
        Ok(Self {
            base: base.collect(),
            summary: Linear::new(&rows.copied().collect::<Vec<f32>>(), Vec::new(), [d, 2 * d]),
            future_value: future.iter().step_by(1 + RECENCY).copied().collect(),
            future_base: future_base.collect(),
            decoders: (0..config.head_layers)
                .map(|i| decoder(weights, i))
                .collect::<Result<_, PretrainedError>>()?,
            convolutions: (0..config.head_fc_layers)
                .map(|i| convolution(weights, i))
                .collect::<Result<_, PretrainedError>>()?,
            future_block: Block::take(weights, "head.future_conv.block", config)?,
            future_layers: config.head_future_conv_layers,
            future_seed: config.head_future_conv_seed.min(w),
            future_dilation: config.dilation_base,
            future_out: Linear::take(weights, "head.future_conv.out_proj", [d, d])?,
            out: Linear::take(weights, "head.out_proj", [config.quantiles.len(), d])?,
            bins: config.head_phase_bins,
            width: d,
        })
    }

    /// Quantiles `[horizon, levels]` of the steps after a window with the states `hidden [window, width]`.
    pub(super) fn apply(
        &self,
        hidden: &[f32],
        seen: Seen<'_>,
        quantiles: &mut Vec<f32>,
        (scratch, block): (&mut HeadScratch, &mut BlockScratch),
    ) {
        let d = self.width;
        let HeadScratch { summary, context, x, state, fill, phase_sums, future, roots } = scratch;
        summary.clear();
        summary.resize(d, 0.0);
        add_column_sums(hidden, summary);
        scale(summary, d as f32 / hidden.len() as f32);
        summary.extend_from_slice(&hidden[hidden.len() - d..]);
        context.resize(d, 0.0);
        self.summary.apply(summary, context, Accum::Replace, Activation::Identity);
        x.clear();
        x.extend_from_slice(&self.base);
        x.chunks_exact_mut(d).for_each(|row| add_assign(row, context));
        state.resize(x.len(), 0.0);
        for (perceptron, gamma) in &self.decoders {
            state.copy_from_slice(x);
            for (x, state) in x.chunks(TILE * d).zip(state.chunks_mut(TILE * d)) {
                perceptron.add_to(x, state, block);
            }
            norm(state, gamma, x, roots);
        }
        for (i, (convolution, gamma)) in self.convolutions.iter().enumerate() {
            let steps = x.len() / d;
            for first in (0..steps).step_by(TILE) {
                let rows = first..steps.min(first + TILE);
                convolution.apply(x, &rows, 1 << i, &mut state[rows.start * d..rows.end * d]);
            }
            add_assign(state, x);
            norm(state, gamma, x, roots);
        }
        fill.resize(x.len() / d, 0.0);
        seasonal_fill(seen.values, seen.known, seen.period, self.bins, phase_sums, fill);
        future.clear();
        future.extend_from_slice(&hidden[hidden.len() - self.future_seed * d..]);
        future.extend_from_slice(&self.future_base);
        for (row, &fill) in future[self.future_seed * d..].chunks_exact_mut(d).zip(&*fill) {
            row.iter_mut().zip(&self.future_value).for_each(|(x, w)| *x += w * fill);
        }
        let mut dilation = 1_usize;
        for _ in 0..self.future_layers {
            self.future_block.apply(future, dilation, block);
            dilation = dilation.saturating_mul(self.future_dilation);
        }
        self.future_out.apply(&future[self.future_seed * d..], x, Accum::Add, Activation::Identity);
        quantiles.resize(x.len() / d * self.out.outputs(), 0.0);
        self.out.apply(x, quantiles, Accum::Replace, Activation::Identity);
    }

    pub(super) fn bytes(&self) -> u64 {
        let kept = size_of_val(&*self.base) + size_of_val(&*self.future_base);
        kept as u64 + self.summary.bytes() + self.future_block.bytes() + self.future_out.bytes()
    }
}
