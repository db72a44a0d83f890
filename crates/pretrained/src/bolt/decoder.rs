//! The decoder: one position of each context, which attends to the states of the encoder.
//!
//! Of one position, attention to itself is its value. And its scores with the keys of a context, q (K e) for states e, are (q K) e: the
//! product with K is one of each context, not one of each token; likewise with the values. So the decoder costs next to nothing.

use foretell_gemm::{Accum, Activation, MatMut, MatRef, Options, matmul};
use foretell_simd::softmax_rows;

use super::config::BoltConfig;
use super::encoder::Tokens;
use crate::error::PretrainedError;
use crate::linear::Linear;
use crate::t5::{LayerScratch, Norm, Perceptron};
use crate::weights::Weights;

/// A layer: attention to itself, to the encoder's states, and a perceptron.
#[derive(Debug)]
struct DecoderLayer {
    own_norm: Norm,
    own_value: Linear,
    own_out: Linear,
    norm: Norm,
    query: Linear,
    /// `[inner, d_model]`.
    keys: Vec<f32>,
    values: Vec<f32>,
    out: Linear,
    perceptron: Perceptron,
}

/// The decoder.
#[derive(Debug)]
pub(super) struct Decoder {
    start: Vec<f32>,
    layers: Vec<DecoderLayer>,
    norm: Norm,
    heads: usize,
    inner: usize,
}

/// What the decoder takes memory for.
#[derive(Debug, Default)]
pub(super) struct DecoderScratch {
    states: Vec<f32>,
    queries: Vec<f32>,
    attended: Vec<f32>,
    /// `[contexts, heads, d_model]`.
    reading: Vec<f32>,
    scores: Vec<f32>,
    shares: Vec<f32>,
}

impl Decoder {
    /// `start` is the token of its one position.
    pub(super) fn take(
        weights: &mut Weights,
        config: &BoltConfig,
        start: Vec<f32>,
    ) -> Result<Self, PretrainedError> {
        let (d, inner) = (config.d_model, config.inner());
        let layer = |weights: &mut Weights, i: usize| {
            let name = format!("decoder.block.{i}.layer");
            let own = format!("{name}.0.SelfAttention");
            let cross = format!("{name}.1.EncDecAttention");
            Ok::<_, PretrainedError>(DecoderLayer {
                own_norm: Norm::take(weights, &format!("{name}.0.layer_norm"), config.layers())?,
                own_value: Linear::take_unbiased(weights, &format!("{own}.v"), [inner, d])?,
                own_out: Linear::take_unbiased(weights, &format!("{own}.o"), [d, inner])?,
                norm: Norm::take(weights, &format!("{name}.1.layer_norm"), config.layers())?,
                query: Linear::take_unbiased(weights, &format!("{cross}.q"), [inner, d])?,
                keys: weights.take(&format!("{cross}.k.weight"), &[inner, d])?,
                values: weights.take(&format!("{cross}.v.weight"), &[inner, d])?,
                out: Linear::take_unbiased(weights, &format!("{cross}.o"), [d, inner])?,
                perceptron: Perceptron::take(
                    weights,
                    &format!("{name}.2"),
                    "DenseReluDense",
                    config.layers(),
                )?,
            })
        };
        let layers = (0..config.decoder_layers())
            .map(|i| layer(weights, i))
            .collect::<Result<_, PretrainedError>>()?;
        let norm = Norm::take(weights, "decoder.final_layer_norm", config.layers())?;
        Ok(Self { start, layers, norm, heads: config.num_heads, inner })
    }

    /// The state of the position of each context, `[contexts, d_model]`.
    pub(super) fn apply<'s>(
        &self,
        tokens: &Tokens,
        scratch: &mut DecoderScratch,
        layer_scratch: &'s mut LayerScratch,
    ) -> &'s [f32] {
        let DecoderScratch { states, queries, attended, .. } = scratch;
        let contexts = tokens.contexts.len();
        states.clear();
        states.extend((0..contexts).flat_map(|_| &self.start));
        queries.resize(contexts * self.inner, 0.0);
        attended.resize(contexts * self.inner, 0.0);
        for layer in &self.layers {
            let DecoderScratch { states, queries, attended, .. } = scratch;
            layer.own_norm.apply(states, &mut layer_scratch.normed, &mut layer_scratch.roots);
            layer.own_value.apply(&layer_scratch.normed, attended, Accum::Replace, Activation::Identity);
            layer.own_out.apply(attended, states, Accum::Add, Activation::Identity);
            layer.norm.apply(states, &mut layer_scratch.normed, &mut layer_scratch.roots);
            layer.query.apply(&layer_scratch.normed, queries, Accum::Replace, Activation::Identity);
            self.attend(layer, tokens, scratch);
            layer.out.apply(&scratch.attended, &mut scratch.states, Accum::Add, Activation::Identity);
            layer.perceptron.apply(&mut scratch.states, layer_scratch);
        }
        self.norm.apply(&scratch.states, &mut layer_scratch.normed, &mut layer_scratch.roots);
        &layer_scratch.normed
    }

    /// From `queries` to `attended`, both `[contexts, inner]`.
    fn attend(&self, layer: &DecoderLayer, tokens: &Tokens, scratch: &mut DecoderScratch) {
        let DecoderScratch { queries, attended, reading, scores, shares, .. } = scratch;
        let (contexts, inner, heads) = (tokens.contexts.len(), self.inner, self.heads);
        let (width, d) = (inner / heads, self.start.len());
        reading.resize(contexts * heads * d, 0.0);
        let rows = |head: usize| head * width..(head + 1) * width;
        for head in 0..heads {
            matmul(
                MatMut::new(&mut reading[head * d..], contexts, d, heads * d, 1),
                MatRef::new(&queries[head * width..], contexts, width, inner, 1),
                MatRef::row_major(&layer.keys, inner, d).rows(rows(head)),
                Options::default(),
            );
        }
        for (context, reading) in tokens.contexts.iter().zip(reading.chunks_exact_mut(heads * d)) {
            let keys = context.len();
            let states = MatRef::row_major(&tokens.states[context.start * d..context.end * d], keys, d);
            scores.resize(heads * keys, 0.0);
            shares.resize(heads * keys, 0.0);
            let scored = MatMut::row_major(scores, heads, keys);
            matmul(scored, MatRef::row_major(reading, heads, d), states.t(), Options::default());
            softmax_rows(scores, keys, shares);
            let shares = MatRef::row_major(shares, heads, keys);
            matmul(MatMut::row_major(reading, heads, d), shares, states, Options::default());
        }
        for head in 0..heads {
            matmul(
                MatMut::new(&mut attended[head * width..], contexts, width, inner, 1),
                MatRef::new(&reading[head * d..], contexts, d, heads * d, 1),
                MatRef::row_major(&layer.values, inner, d).rows(rows(head)).t(),
                Options::default(),
            );
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        let of = |layer: &DecoderLayer| {
            let linears = [&layer.own_value, &layer.own_out, &layer.query, &layer.out];
            let attention = size_of_val(&*layer.keys) + size_of_val(&*layer.values);
            linears.iter().map(|linear| linear.bytes()).sum::<u64>()
                + attention as u64
                + layer.perceptron.bytes()
        };
        self.layers.iter().map(of).sum()
    }
}
