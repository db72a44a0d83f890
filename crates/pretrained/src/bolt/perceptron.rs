//! Layers that encoder and decoder share.

use foretell_gemm::{Accum, Activation};
use foretell_simd::rms_norm_rows;

use super::config::BoltConfig;
use crate::error::PretrainedError;
use crate::linear::Linear;
use crate::weights::Weights;

/// T5's norm: the root of the mean square, without a shift.
#[derive(Debug)]
pub(super) struct Norm {
    gamma: Vec<f32>,
    epsilon: f32,
}

impl Norm {
    pub(super) fn take(
        weights: &mut Weights,
        name: &str,
        config: &BoltConfig,
    ) -> Result<Self, PretrainedError> {
        let gamma = weights.take(&format!("{name}.weight"), &[config.d_model])?;
        Ok(Self { gamma, epsilon: config.layer_norm_epsilon })
    }

    /// The rows of `x` normalised, into `out`, which becomes as long.
    pub(super) fn apply(&self, x: &[f32], out: &mut Vec<f32>, roots: &mut Vec<f32>) {
        out.resize(x.len(), 0.0);
        roots.resize(x.len() / self.gamma.len(), 0.0);
        rms_norm_rows(x, Some(&self.gamma), self.epsilon, out, roots);
    }
}

/// What the layers take memory for.
#[derive(Debug, Default)]
pub(super) struct LayerScratch {
    pub(super) normed: Vec<f32>,
    pub(super) roots: Vec<f32>,
    pub(super) hidden: Vec<f32>,
}

/// `x += wo(relu(wi(norm(x))))`.
#[derive(Debug)]
pub(super) struct Perceptron {
    norm: Norm,
    inner: Linear,
    outer: Linear,
}

impl Perceptron {
    pub(super) fn take(
        weights: &mut Weights,
        name: &str,
        config: &BoltConfig,
    ) -> Result<Self, PretrainedError> {
        let (d, ff) = (config.d_model, config.d_ff);
        Ok(Self {
            norm: Norm::take(weights, &format!("{name}.layer_norm"), config)?,
            inner: Linear::take_unbiased(weights, &format!("{name}.DenseReluDense.wi"), [ff, d])?,
            outer: Linear::take_unbiased(weights, &format!("{name}.DenseReluDense.wo"), [d, ff])?,
        })
    }

    pub(super) fn apply(&self, x: &mut [f32], scratch: &mut LayerScratch) {
        let LayerScratch { normed, roots, hidden } = scratch;
        self.norm.apply(x, normed, roots);
        hidden.resize(roots.len() * self.inner.outputs(), 0.0);
        self.inner.apply(normed, hidden, Accum::Replace, Activation::Relu);
        self.outer.apply(hidden, x, Accum::Add, Activation::Identity);
    }

    pub(super) fn bytes(&self) -> u64 {
        self.inner.bytes() + self.outer.bytes()
    }
}

/// `outer(relu(inner(x))) + skip(x)`.
#[derive(Debug)]
pub(super) struct ResidualBlock {
    inner: Linear,
    outer: Linear,
    skip: Linear,
}

impl ResidualBlock {
    pub(super) fn take(
        weights: &mut Weights,
        name: &str,
        [inputs, hidden, outputs]: [usize; 3],
    ) -> Result<Self, PretrainedError> {
        Ok(Self {
            inner: Linear::take(weights, &format!("{name}.hidden_layer"), [hidden, inputs])?,
            outer: Linear::take(weights, &format!("{name}.output_layer"), [outputs, hidden])?,
            skip: Linear::take(weights, &format!("{name}.residual_layer"), [outputs, inputs])?,
        })
    }

    pub(super) fn apply(&self, x: &[f32], out: &mut [f32], hidden: &mut Vec<f32>) {
        let rows = out.len() / self.outer.outputs();
        hidden.resize(rows * self.inner.outputs(), 0.0);
        self.inner.apply(x, hidden, Accum::Replace, Activation::Relu);
        self.outer.apply(hidden, out, Accum::Replace, Activation::Identity);
        self.skip.apply(x, out, Accum::Add, Activation::Identity);
    }

    pub(super) fn bytes(&self) -> u64 {
        self.inner.bytes() + self.outer.bytes() + self.skip.bytes()
    }
}
