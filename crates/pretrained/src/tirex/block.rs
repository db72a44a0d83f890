//! A block: the memory of the cell over time, then a gated perceptron.

use foretell_gemm::{Accum, Activation, Bias, MatMut, MatRef, Options, WeightFormat, WeightMatrix, matmul};
use foretell_simd::{exp, layer_norm_rows, mul_add_assign, mul_assign, sigmoid, tanh_in_place};

use super::config::TiRexConfig;
use crate::error::PretrainedError;
use crate::linear::Linear;
use crate::t5::{LayerScratch, Norm};
use crate::weights::Weights;

/// Gates of a cell: of what comes in, of what stays, what comes in, and of what goes out.
const GATES: usize = 4;

/// What is added to the variance of the norm by head.
const EPSILON: f32 = 1e-5;

/// Beyond it what stays is 1 to 32 bits.
const LARGEST: f32 = 15.0;

/// A block.
#[derive(Debug)]
pub(super) struct Block {
    norm: Norm,
    heads: Vec<Head>,
    /// Factors behind the norm by head.
    gains: Vec<f32>,
    perceptron_norm: Norm,
    gate: Linear,
    up: Linear,
    down: Linear,
}

/// What a head makes of its part of a token, and of its own last output: its gates, one behind the other.
#[derive(Debug)]
struct Head {
    inputs: WeightMatrix,
    states: WeightMatrix,
    bias: Vec<f32>,
}

/// What a block takes memory for.
#[derive(Debug, Default)]
pub(super) struct BlockScratch {
    pub(super) layer: LayerScratch,
    /// `[tokens, heads, gates, width of a head]`.
    gates: Vec<f32>,
    /// What the cell gives, `[tokens, d]`.
    outputs: Vec<f32>,
    cell: Cell,
    means: Vec<f32>,
    factors: Vec<f32>,
    up: Vec<f32>,
}

/// The memory of a cell, `[series, d]` each, and room for a head.
#[derive(Debug, Default)]
struct Cell {
    values: Vec<f32>,
    weights: Vec<f32>,
    logarithms: Vec<f32>,
    kept: Vec<f32>,
    new: Vec<f32>,
}

impl Block {
    pub(super) fn take(
        weights: &mut Weights,
        name: &str,
        config: &TiRexConfig,
    ) -> Result<Self, PretrainedError> {
        let (d, heads, sizes) = (config.width(), config.heads(), config.layers());
        let width = d / heads;
        let layer = format!("{name}.slstm_layer");
        // The package calls the gate of what comes in `fgate`, and that of what stays `igate`.
        let mut inputs = Vec::with_capacity(GATES);
        for gate in ["fgate", "igate", "zgate", "ogate"] {
            inputs.push(weights.take(&format!("{layer}.{gate}.weight"), &[heads, width, width])?);
        }
        let cell = format!("{layer}.slstm_cell");
        let states = weights.take(&format!("{cell}._recurrent_kernel_"), &[heads, width, GATES * width])?;
        let bias = weights.take(&format!("{cell}._bias_"), &[GATES * d])?;
        let of_head = |head: usize| {
            let square = head * width * width..(head + 1) * width * width;
            let all: Vec<f32> = inputs.iter().flat_map(|gate| &gate[square.clone()]).copied().collect();
            let own = &states[head * GATES * width * width..][..GATES * width * width];
            Head {
                inputs: packed(MatRef::row_major(&all, GATES * width, width).t()),
                states: packed(MatRef::row_major(own, width, GATES * width)),
                bias: bias[head * GATES * width..][..GATES * width].to_vec(),
            }
        };
        let heads = (0..heads).map(of_head).collect();
        let gains = weights.take(&format!("{layer}.group_norm.weight"), &[d])?;
        let mut linear = |part: &str, shape: [usize; 2]| {
            Linear::take_unbiased(weights, &format!("{name}.ffn.{part}"), shape)
        };
        Ok(Self {
            gate: linear("proj_up_gate", [sizes.d_ff, d])?,
            up: linear("proj_up", [sizes.d_ff, d])?,
            down: linear("proj_down", [d, sizes.d_ff])?,
            norm: Norm::take(weights, &format!("{name}.norm_slstm"), sizes)?,
            heads,
            gains: gains.into_iter().map(|gain| 1.0 + gain).collect(),
            perceptron_norm: Norm::take(weights, &format!("{name}.norm_ffn"), sizes)?,
        })
    }

    /// Changes the states of tokens `[time, series, d]`, of which those of the last time alone are kept if `last` says so.
    pub(super) fn apply(&self, states: &mut Vec<f32>, series: usize, last: bool, scratch: &mut BlockScratch) {
        let BlockScratch { layer, gates, outputs, cell, means, factors, up } = scratch;
        let LayerScratch { normed, roots, hidden } = layer;
        let (d, heads) = (self.gains.len(), self.heads.len());
        let (width, rows) = (d / heads, states.len() / d);
        self.norm.apply(states, normed, roots);
        gates.resize(rows * GATES * d, 0.0);
        let of_gates = |head: usize| head * GATES * width..(head + 1) * GATES * width;
        for (i, head) in self.heads.iter().enumerate() {
            matmul(
                MatMut::row_major(gates, rows, GATES * d).cols(of_gates(i)),
                MatRef::row_major(normed, rows, d).cols(i * width..(i + 1) * width),
                &head.inputs,
                Options::default().bias(Some(Bias::PerColumn(&head.bias))),
            );
        }
        outputs.resize(rows * d, 0.0);
        cell.clear(series * d, width);
        for time in 0..rows / series {
            let gates = &mut gates[time * series * GATES * d..][..series * GATES * d];
            let (before, now) = outputs.split_at_mut(time * series * d);
            if time > 0 {
                let before = MatRef::row_major(&before[(time - 1) * series * d..], series, d);
                for (i, head) in self.heads.iter().enumerate() {
                    matmul(
                        MatMut::row_major(gates, series, GATES * d).cols(of_gates(i)),
                        before.cols(i * width..(i + 1) * width),
                        &head.states,
                        Options::default().accum(Accum::Add),
                    );
                }
            }
            let now = now[..series * d].chunks_exact_mut(width);
            for (head, (gates, now)) in gates.chunks_exact_mut(GATES * width).zip(now).enumerate() {
                cell.step(head, gates, now, time == 0);
            }
        }
        if last {
            states.drain(..(rows - series) * d);
            outputs.drain(..(rows - series) * d);
        }
        normed.resize(outputs.len(), 0.0);
        means.resize(outputs.len() / width, 0.0);
        factors.resize(outputs.len() / width, 0.0);
        layer_norm_rows(outputs, None, EPSILON, normed, means, factors);
        for (state, normed) in states.chunks_exact_mut(d).zip(normed.chunks_exact(d)) {
            mul_add_assign(normed, &self.gains, state);
        }
        self.perceptron_norm.apply(states, normed, roots);
        let wide = states.len() / d * self.gate.outputs();
        hidden.resize(wide, 0.0);
        up.resize(wide, 0.0);
        self.gate.apply(normed, hidden, Accum::Replace, Activation::Silu);
        self.up.apply(normed, up, Accum::Replace, Activation::Identity);
        mul_assign(hidden, up);
        self.down.apply(hidden, states, Accum::Add, Activation::Identity);
    }

    pub(super) fn bytes(&self) -> u64 {
        let of_head = |head: &Head| head.inputs.bytes() + head.states.bytes() + size_of_val(&*head.bias);
        let heads: usize = self.heads.iter().map(of_head).sum();
        (heads + size_of_val(&*self.gains)) as u64 + self.gate.bytes() + self.up.bytes() + self.down.bytes()
    }
}

fn packed(weights: MatRef<'_, f32>) -> WeightMatrix {
    WeightMatrix::new(weights, WeightFormat::F32)
}

impl Cell {
    /// Forgets all that it knows, of a number of values in heads of a width.
    fn clear(&mut self, len: usize, width: usize) {
        for numbers in [&mut self.values, &mut self.weights, &mut self.logarithms] {
            numbers.clear();
            numbers.resize(len, 0.0);
        }
        self.kept.resize(width, 0.0);
        self.new.resize(width, 0.0);
    }

    /// What a head gives at a time, of its gates before their functions: the place of the head is counted through all series.
    fn step(&mut self, head: usize, gates: &mut [f32], out: &mut [f32], first: bool) {
        let width = out.len();
        let own = head * width..(head + 1) * width;
        let [values, weights, logarithms] =
            [&mut self.values, &mut self.weights, &mut self.logarithms].map(|of| &mut of[own.clone()]);
        let (kept, new) = (&mut self.kept[..], &mut self.new[..]);
        let (inputs, gates) = gates.split_at_mut(width);
        let (stays, gates) = gates.split_at_mut(width);
        let (coming, going) = gates.split_at_mut(width);
        // The logarithm of a share is minus the softplus of its opposite.
        stays.iter_mut().for_each(|x| *x = -x.min(LARGEST));
        Activation::Softplus.forward(stays, kept);
        for ((kept, new), (input, logarithm)) in
            kept.iter_mut().zip(&mut *new).zip(inputs.iter().zip(&mut *logarithms))
        {
            let stays = *logarithm - *kept;
            *logarithm = if first { *input } else { input.max(stays) };
            *kept = (stays - *logarithm).min(0.0);
            *new = (input - *logarithm).min(0.0);
        }
        exp(kept, stays);
        exp(new, inputs);
        tanh_in_place(coming);
        sigmoid(going, new);
        let gates = stays.iter().zip(&*inputs).zip(coming.iter().zip(&*new));
        let memory = values.iter_mut().zip(weights);
        for ((out, (value, weight)), ((stays, input), (coming, going))) in
            out.iter_mut().zip(memory).zip(gates)
        {
            *value = stays * *value + input * coming;
            *weight = stays * *weight + input;
            *out = going * *value / *weight;
        }
    }
}
