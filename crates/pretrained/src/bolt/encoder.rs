//! The encoder: tokens of several contexts, which attend to those of their own.

use std::ops::Range;

use foretell_gemm::{Accum, Activation, MatRef};

use super::config::BoltConfig;
use super::positions::Positions;
use crate::attention::{AttentionScratch, Span, attend};
use crate::error::PretrainedError;
use crate::linear::Linear;
use crate::t5::{LayerScratch, Norm, Perceptron};
use crate::weights::Weights;

/// A layer: attention, then a perceptron.
#[derive(Debug)]
struct EncoderLayer {
    norm: Norm,
    /// Queries, keys and values in one product.
    heads: Linear,
    out: Linear,
    perceptron: Perceptron,
}

/// The encoder.
#[derive(Debug)]
pub(super) struct Encoder {
    layers: Vec<EncoderLayer>,
    positions: Positions,
    norm: Norm,
    heads: usize,
    inner: usize,
}

/// What the encoder takes memory for.
#[derive(Debug, Default)]
pub(super) struct EncoderScratch {
    pub(super) layer: LayerScratch,
    /// `[tokens, 3 inner]`.
    queries_keys_values: Vec<f32>,
    attended: Vec<f32>,
    attention: AttentionScratch,
}

/// Tokens of several contexts, one behind the other.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    /// `[tokens, d_model]`.
    pub(super) states: Vec<f32>,
    /// The place of each in its context.
    pub(super) places: Vec<usize>,
    /// Those of each context.
    pub(super) contexts: Vec<Range<usize>>,
}

impl Encoder {
    pub(super) fn take(weights: &mut Weights, config: &BoltConfig) -> Result<Self, PretrainedError> {
        let (d, inner) = (config.d_model, config.inner());
        let layer = |weights: &mut Weights, i: usize| {
            let name = format!("encoder.block.{i}.layer");
            let mut all = Vec::new();
            for part in ["q", "k", "v"] {
                all.extend(weights.take(&format!("{name}.0.SelfAttention.{part}.weight"), &[inner, d])?);
            }
            Ok::<_, PretrainedError>(EncoderLayer {
                norm: Norm::take(weights, &format!("{name}.0.layer_norm"), config.layers())?,
                heads: Linear::new(&all, Vec::new(), [3 * inner, d]),
                out: Linear::take_unbiased(weights, &format!("{name}.0.SelfAttention.o"), [d, inner])?,
                perceptron: Perceptron::take(
                    weights,
                    &format!("{name}.1"),
                    "DenseReluDense",
                    config.layers(),
                )?,
            })
        };
        let layers =
            (0..config.num_layers).map(|i| layer(weights, i)).collect::<Result<_, PretrainedError>>()?;
        Ok(Self {
            layers,
            positions: Positions::take(weights, config)?,
            norm: Norm::take(weights, "encoder.final_layer_norm", config.layers())?,
            heads: config.num_heads,
            inner,
        })
    }

    /// The states of the tokens, in their place.
    pub(super) fn apply(&self, tokens: &mut Tokens, scratch: &mut EncoderScratch) {
        let Tokens { states, places, contexts } = tokens;
        let EncoderScratch { layer: layer_scratch, queries_keys_values: all, attended, attention } = scratch;
        let spans: Vec<Span> = contexts.iter().cloned().map(Span::of).collect();
        let (inner, rows) = (self.inner, places.len());
        all.resize(rows * 3 * inner, 0.0);
        attended.resize(rows * inner, 0.0);
        for layer in &self.layers {
            layer.norm.apply(states, &mut layer_scratch.normed, &mut layer_scratch.roots);
            layer.heads.apply(&layer_scratch.normed, all, Accum::Replace, Activation::Identity);
            let part = |i: usize| MatRef::new(&all[i * inner..], rows, inner, 3 * inner, 1);
            attend([0, 1, 2].map(part), &spans, self.heads, attended, attention, |head, span, scores| {
                self.positions.write(head, &places[span.keys.clone()], scores);
                Accum::Add
            });
            layer.out.apply(attended, states, Accum::Add, Activation::Identity);
            layer.perceptron.apply(states, layer_scratch);
        }
        self.norm.apply(states, &mut layer_scratch.normed, &mut layer_scratch.roots);
        states.copy_from_slice(&layer_scratch.normed);
    }

    pub(super) fn bytes(&self) -> u64 {
        let of = |layer: &EncoderLayer| layer.heads.bytes() + layer.out.bytes() + layer.perceptron.bytes();
        self.positions.bytes() + self.layers.iter().map(of).sum::<u64>()
    }
}
