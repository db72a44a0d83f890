//! Layers of T5 (Raffel et al. 2020), which the Chronos networks are made of.

use foretell_gemm::{Accum, Activation};
use foretell_simd::rms_norm_rows;

use crate::error::PretrainedError;
use crate::linear::Linear;
use crate::weights::Weights;

/// What the layers of a network have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LayerSizes {
    /// Width of a token.
    pub(crate) d_model: usize,
    /// Width within a perceptron.
    pub(crate) d_ff: usize,
    /// What is added to the mean square of a norm.
    pub(crate) epsilon: f32,
}

/// T5's norm: the root of the mean square, without a shift.
#[derive(Debug)]
pub(crate) struct Norm {
    gamma: Vec<f32>,
    epsilon: f32,
}

impl Norm {
    pub(crate) fn take(
        weights: &mut Weights,
        name: &str,
        sizes: LayerSizes,
    ) -> Result<Self, PretrainedError> {
        let gamma = weights.take(&format!("{name}.weight"), &[sizes.d_model])?;
        Ok(Self { gamma, epsilon: sizes.epsilon })
    }

    /// The rows of `x` normalised, into `out`, which becomes as long.
    pub(crate) fn apply(&self, x: &[f32], out: &mut Vec<f32>, roots: &mut Vec<f32>) {
        out.resize(x.len(), 0.0);
        roots.resize(x.len() / self.gamma.len(), 0.0);
        rms_norm_rows(x, Some(&self.gamma), self.epsilon, out, roots);
    }
}

/// What the layers take memory for.
#[derive(Debug, Default)]
pub(crate) struct LayerScratch {
    pub(crate) normed: Vec<f32>,
    pub(crate) roots: Vec<f32>,
    pub(crate) hidden: Vec<f32>,
}

/// `x += wo(relu(wi(norm(x))))`.
#[derive(Debug)]
pub(crate) struct Perceptron {
    norm: Norm,
    inner: Linear,
    outer: Linear,
}

impl Perceptron {
    /// The tensors `layer.layer_norm`, `layer.dense.wi` and `layer.dense.wo`.
    pub(crate) fn take(
        weights: &mut Weights,
        layer: &str,
        dense: &str,
        sizes: LayerSizes,
    ) -> Result<Self, PretrainedError> {
        let LayerSizes { d_model, d_ff, .. } = sizes;
        Ok(Self {
            norm: Norm::take(weights, &format!("{layer}.layer_norm"), sizes)?,
            inner: Linear::take_unbiased(weights, &format!("{layer}.{dense}.wi"), [d_ff, d_model])?,
            outer: Linear::take_unbiased(weights, &format!("{layer}.{dense}.wo"), [d_model, d_ff])?,
        })
    }

    pub(crate) fn apply(&self, x: &mut [f32], scratch: &mut LayerScratch) {
        let LayerScratch { normed, roots, hidden } = scratch;
        self.norm.apply(x, normed, roots);
        hidden.resize(roots.len() * self.inner.outputs(), 0.0);
        self.inner.apply(normed, hidden, Accum::Replace, Activation::Relu);
        self.outer.apply(hidden, x, Accum::Add, Activation::Identity);
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.inner.bytes() + self.outer.bytes()
    }
}

/// `outer(activation(inner(x))) + skip(x)`.
#[derive(Debug)]
pub(crate) struct ResidualBlock {
    inner: Linear,
    outer: Linear,
    skip: Linear,
    activation: Activation,
}

impl ResidualBlock {
    /// One with biases and a rectifier.
    pub(crate) fn take(
        weights: &mut Weights,
        name: &str,
        sizes: [usize; 3],
    ) -> Result<Self, PretrainedError> {
        Self::take_as(weights, name, "hidden_layer", sizes, true, Activation::Relu)
    }

    /// One of these inputs, hidden numbers and outputs, whose first layer is named so.
    pub(crate) fn take_as(
        weights: &mut Weights,
        name: &str,
        first: &str,
        [inputs, hidden, outputs]: [usize; 3],
        is_biased: bool,
        activation: Activation,
    ) -> Result<Self, PretrainedError> {
        let mut linear = |part: &str, sizes: [usize; 2]| {
            let name = format!("{name}.{part}");
            if is_biased {
                Linear::take(weights, &name, sizes)
            } else {
                Linear::take_unbiased(weights, &name, sizes)
            }
        };
        Ok(Self {
            inner: linear(first, [hidden, inputs])?,
            outer: linear("output_layer", [outputs, hidden])?,
            skip: linear("residual_layer", [outputs, inputs])?,
            activation,
        })
    }

    pub(crate) fn outputs(&self) -> usize {
        self.outer.outputs()
    }

    pub(crate) fn apply(&self, x: &[f32], out: &mut [f32], hidden: &mut Vec<f32>) {
        let rows = out.len() / self.outputs();
        hidden.resize(rows * self.inner.outputs(), 0.0);
        self.inner.apply(x, hidden, Accum::Replace, self.activation);
        self.outer.apply(hidden, out, Accum::Replace, Activation::Identity);
        self.skip.apply(x, out, Accum::Add, Activation::Identity);
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.inner.bytes() + self.outer.bytes() + self.skip.bytes()
    }
}
