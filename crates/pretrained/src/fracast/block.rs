//! The block that a Fracast network applies at each dilation.

use std::ops::Range;

use foretell_gemm::{Accum, Activation};
use foretell_simd::{add_assign, mul_add_assign, mul_assign, rms_norm_rows};

use super::config::FracastConfig;
use crate::error::PretrainedError;
use crate::linear::Linear;
use crate::weights::Weights;

/// Steps that pass through a block together: what is between its layers stays in a near cache.
pub(super) const TILE: usize = 128;

/// `torch.nn.RMSNorm`'s.
const EPSILON: f32 = f32::EPSILON;

/// A row as often as a tile has steps, so that kernels over slices take whole tiles.
pub(super) fn tiled(row: &[f32]) -> Vec<f32> {
    row.repeat(TILE)
}

/// A causal convolution of each channel by itself.
#[derive(Debug)]
pub(super) struct Depthwise {
    /// The taps, the oldest step's first, each tiled.
    taps: Vec<Vec<f32>>,
    bias: Vec<f32>,
    width: usize,
}

impl Depthwise {
    pub(super) fn take(
        weights: &mut Weights,
        name: &str,
        [width, kernel]: [usize; 2],
    ) -> Result<Self, PretrainedError> {
        let weight = weights.take(&format!("{name}.dw_weight"), &[width, 1, kernel])?;
        let bias = weights.take(&format!("{name}.dw_bias"), &[width])?;
        let tap = |k: usize| {
            let row: Vec<f32> = weight.iter().skip(k).step_by(kernel).copied().collect();
            tiled(&row)
        };
        Ok(Self { taps: (0..kernel).map(tap).collect(), bias: tiled(&bias), width })
    }

    /// Of the steps `rows` of `x [steps, width]`, at most a tile of them, into `out`; before the first step there are zeros.
    pub(super) fn apply(&self, x: &[f32], rows: &Range<usize>, dilation: usize, out: &mut [f32]) {
        let d = self.width;
        out.copy_from_slice(&self.bias[..rows.len() * d]);
        for (back, tap) in self.taps.iter().rev().enumerate() {
            let Some(back) = back.checked_mul(dilation).filter(|back| *back < rows.end) else { break };
            let first = rows.start.max(back);
            let reached = &x[(first - back) * d..(rows.end - back) * d];
            mul_add_assign(reached, &tap[..reached.len()], &mut out[(first - rows.start) * d..]);
        }
    }

    fn bytes(&self) -> u64 {
        ((self.taps.len() + 1) * size_of_val(&*self.bias)) as u64
    }
}

/// `down(silu(gate(x)) * value(x))`.
#[derive(Debug)]
pub(super) struct SwiGlu {
    gate: Linear,
    value: Linear,
    down: Linear,
}

impl SwiGlu {
    pub(super) fn take(
        weights: &mut Weights,
        name: &str,
        [width, hidden]: [usize; 2],
    ) -> Result<Self, PretrainedError> {
        let both = weights.take(&format!("{name}.up.weight"), &[2 * hidden, width])?;
        let bias = weights.take(&format!("{name}.up.bias"), &[2 * hidden])?;
        let half = |i: usize| {
            let weight = &both[i * hidden * width..(i + 1) * hidden * width];
            Linear::new(weight, bias[i * hidden..(i + 1) * hidden].to_vec(), [hidden, width])
        };
        let (gate, value) = (half(0), half(1));
        Ok(Self { gate, value, down: Linear::take(weights, &format!("{name}.down"), [width, hidden])? })
    }

    /// `out += swiglu(x)` for at most a tile of steps.
    pub(super) fn add_to(&self, x: &[f32], out: &mut [f32], scratch: &mut BlockScratch) {
        let rows = x.len() / self.down.outputs();
        let BlockScratch { gate, value, .. } = scratch;
        gate.resize(TILE * self.gate.outputs(), 0.0);
        value.resize(TILE * self.gate.outputs(), 0.0);
        let [gate, value] = [gate, value].map(|buffer| &mut buffer[..rows * self.gate.outputs()]);
        self.gate.apply(x, gate, Accum::Replace, Activation::Silu);
        self.value.apply(x, value, Accum::Replace, Activation::Identity);
        mul_assign(gate, value);
        self.down.apply(gate, out, Accum::Add, Activation::Identity);
    }

    fn bytes(&self) -> u64 {
        self.gate.bytes() + self.value.bytes() + self.down.bytes()
    }
}

/// What is between the layers of a block.
#[derive(Debug, Default)]
pub(super) struct BlockScratch {
    convolved: Vec<f32>,
    state: Vec<f32>,
    gate: Vec<f32>,
    value: Vec<f32>,
    roots: Vec<f32>,
}

/// The rows of `x` divided by the roots of their mean squares, times `gamma`, into `out`.
pub(super) fn norm(x: &[f32], gamma: &[f32], out: &mut [f32], roots: &mut Vec<f32>) {
    roots.resize(x.len() / gamma.len(), 0.0);
    rms_norm_rows(x, Some(gamma), EPSILON, out, roots);
}

/// The block: a convolution and a perceptron, a residual and a norm around each.
#[derive(Debug)]
pub(super) struct Block {
    convolution: Depthwise,
    point: Linear,
    perceptron: SwiGlu,
    norms: [Vec<f32>; 2],
}

impl Block {
    pub(super) fn take(
        weights: &mut Weights,
        name: &str,
        config: &FracastConfig,
    ) -> Result<Self, PretrainedError> {
        let d = config.d_model;
        Ok(Self {
            convolution: Depthwise::take(weights, name, [d, config.kernel_size])?,
            point: Linear::take(weights, &format!("{name}.pw"), [d, d])?,
            perceptron: SwiGlu::take(weights, &format!("{name}.ffn"), [d, config.hidden()])?,
            norms: [
                weights.take(&format!("{name}.norm1.weight"), &[d])?,
                weights.take(&format!("{name}.norm2.weight"), &[d])?,
            ],
        })
    }

    /// The block at a dilation, in place of `x [steps, width]`.
    ///
    /// Tile by tile from the end: a step reads those before it, which are then still those of the stage before.
    pub(super) fn apply(&self, x: &mut [f32], dilation: usize, scratch: &mut BlockScratch) {
        let d = self.norms[0].len();
        let steps = x.len() / d;
        let mut end = steps;
        while end > 0 {
            let rows = (end - 1) / TILE * TILE..end;
            let len = rows.len() * d;
            let BlockScratch { convolved, state, roots, .. } = scratch;
            convolved.resize(TILE * d, 0.0);
            state.resize(TILE * d, 0.0);
            self.convolution.apply(x, &rows, dilation, &mut convolved[..len]);
            let tile = &mut x[rows.start * d..rows.end * d];
            state[..len].copy_from_slice(tile);
            self.point.apply(&convolved[..len], &mut state[..len], Accum::Add, Activation::Identity);
            norm(&state[..len], &self.norms[0], &mut convolved[..len], roots);
            state[..len].copy_from_slice(&convolved[..len]);
            let mut state = std::mem::take(&mut scratch.state);
            let convolved = std::mem::take(&mut scratch.convolved);
            self.perceptron.add_to(&convolved[..len], &mut state[..len], scratch);
            norm(&state[..len], &self.norms[1], tile, &mut scratch.roots);
            (scratch.state, scratch.convolved) = (std::mem::take(&mut state), convolved);
            end = rows.start;
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.convolution.bytes() + self.point.bytes() + self.perceptron.bytes()
    }
}

/// A scale and a shift of each channel, tiled.
#[derive(Debug)]
pub(super) struct Film {
    scale: Vec<f32>,
    shift: Vec<f32>,
}

impl Film {
    /// Those of each stage's dilation: `x (1 + gamma) + beta`, both linear in sines and cosines of its logarithm.
    pub(super) fn take(weights: &mut Weights, config: &FracastConfig) -> Result<Vec<Self>, PretrainedError> {
        let (d, waves) = (config.d_model, config.scale_cond_dim / 2);
        let weight = weights.take("core.scale.to_gb.weight", &[2 * d, 2 * waves])?;
        let bias = weights.take("core.scale.to_gb.bias", &[2 * d])?;
        let of_stage = |stage: usize| {
            let dilation = (config.dilation_base as f64).powi(stage as i32);
            let angle = |k: usize| ((dilation.log2() / 2.0_f64.powi(k as i32)) as f32) * std::f32::consts::PI;
            let sines = (0..waves).map(|k| angle(k).sin());
            let waves: Vec<f32> = sines.chain((0..waves).map(|k| angle(k).cos())).collect();
            let products = weight
                .chunks_exact(waves.len())
                .zip(&bias)
                .map(|(row, bias)| row.iter().zip(&waves).map(|(w, x)| w * x).sum::<f32>() + bias);
            let both: Vec<f32> = products.collect();
            let scale: Vec<f32> = both[..d].iter().map(|gamma| 1.0 + gamma).collect();
            Self { scale: tiled(&scale), shift: tiled(&both[d..]) }
        };
        Ok((0..config.n_stages).map(of_stage).collect())
    }

    pub(super) fn apply(&self, x: &mut [f32]) {
        for tile in x.chunks_mut(self.scale.len()) {
            mul_assign(tile, &self.scale[..tile.len()]);
            add_assign(tile, &self.shift[..tile.len()]);
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        (size_of_val(&*self.scale) + size_of_val(&*self.shift)) as u64
    }
}
