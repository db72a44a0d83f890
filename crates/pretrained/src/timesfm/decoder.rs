//! The decoder: layers whose tokens attend to those before.

use std::f64::consts::LOG2_E;
use std::ops::Range;

use foretell_gemm::{Accum, Activation, MatRef};
use foretell_simd::{add_assign, rms_norm_rows};

use super::config::TimesFmConfig;
use crate::attention::{AttentionScratch, Span, attend};
use crate::error::PretrainedError;
use crate::linear::Linear;
use crate::rotary::Rotary;
use crate::t5::{LayerSizes, Norm};
use crate::weights::Weights;

/// A layer: attention and perceptron, each with a norm before and behind it.
#[derive(Debug)]
struct DecoderLayer {
    norms: [Norm; 4],
    queries: Linear,
    keys: Linear,
    values: Linear,
    out: Linear,
    /// Of each number of a head, the norm's weight; of queries times their scale.
    query_gamma: Vec<f32>,
    key_gamma: Vec<f32>,
    wide: Linear,
    narrow: Linear,
}

/// The decoder.
#[derive(Debug)]
pub(super) struct Decoder {
    layers: Vec<DecoderLayer>,
    rotary: Rotary,
    heads: usize,
    inner: usize,
    d: usize,
    epsilon: f32,
}

/// Keys and values of the tokens so far, of each layer and stream.
pub(super) type Cache = Vec<Vec<[Vec<f32>; 2]>>;

/// What the decoder takes memory for.
#[derive(Debug, Default)]
pub(super) struct DecoderScratch {
    normed: Vec<f32>,
    roots: Vec<f32>,
    queries: Vec<f32>,
    keys: Vec<f32>,
    values: Vec<f32>,
    turned: Vec<f32>,
    attended: Vec<f32>,
    more: Vec<f32>,
    hidden: Vec<f32>,
    attention: AttentionScratch,
}

impl Decoder {
    pub(super) fn take(weights: &mut Weights, config: &TimesFmConfig) -> Result<Self, PretrainedError> {
        let (d, inner, head, wide) =
            (config.hidden_size, config.inner(), config.head_dim, config.intermediate_size);
        let sizes = LayerSizes { d_model: d, d_ff: wide, epsilon: config.rms_norm_eps };
        let layer = |weights: &mut Weights, i: usize| {
            let name = format!("model.layers.{i}");
            let attention = format!("{name}.self_attn");
            let norm =
                |weights: &mut Weights, norm: &str| Norm::take(weights, &format!("{name}.{norm}"), sizes);
            let norms = [
                norm(weights, "input_layernorm")?,
                norm(weights, "post_attention_layernorm")?,
                norm(weights, "pre_feedforward_layernorm")?,
                norm(weights, "post_feedforward_layernorm")?,
            ];
            let mut query_gamma = weights.take(&format!("{attention}.q_norm.weight"), &[head])?;
            let scales = weights.take(&format!("{attention}.scaling"), &[head])?;
            let scale = |x: f32| LOG2_E / (head as f64).sqrt() * f64::from(x).exp().ln_1p();
            query_gamma
                .iter_mut()
                .zip(scales)
                .for_each(|(gamma, x)| *gamma = (f64::from(*gamma) * scale(x)) as f32);
            let mut linear = |part: &str, sizes: [usize; 2]| {
                Linear::take_unbiased(weights, &format!("{name}.{part}"), sizes)
            };
            Ok::<_, PretrainedError>(DecoderLayer {
                queries: linear("self_attn.q_proj", [inner, d])?,
                keys: linear("self_attn.k_proj", [inner, d])?,
                values: linear("self_attn.v_proj", [inner, d])?,
                out: linear("self_attn.o_proj", [d, inner])?,
                wide: linear("mlp.fc1", [wide, d])?,
                narrow: linear("mlp.fc2", [d, wide])?,
                key_gamma: weights.take(&format!("{attention}.k_norm.weight"), &[head])?,
                query_gamma,
                norms,
            })
        };
        let layers = (0..config.num_hidden_layers)
            .map(|i| layer(weights, i))
            .collect::<Result<_, PretrainedError>>()?;
        let rotary = Rotary::new(head, config.theta(), config.places());
        let (heads, epsilon) = (config.num_attention_heads, config.rms_norm_eps);
        Ok(Self { layers, rotary, heads, inner, d, epsilon })
    }

    /// The states of the last token of each stream, `[streams, hidden]`, of the states of new tokens, `[tokens, hidden]`, at these
    /// places. Those that came before, if any, are in the cache, and new ones are put there.
    pub(super) fn apply(
        &self,
        states: &mut Vec<f32>,
        places: &[usize],
        streams: &[Range<usize>],
        mut cache: Option<&mut Cache>,
        scratch: &mut DecoderScratch,
    ) {
        let (d, inner, rows) = (self.d, self.inner, places.len());
        let ends: Vec<usize> = streams.iter().map(|stream| stream.end - 1).collect();
        let end_places: Vec<usize> = ends.iter().map(|end| places[*end]).collect();
        for (i, layer) in self.layers.iter().enumerate() {
            let DecoderScratch { normed, roots, queries, keys, values, turned, attended, attention, .. } =
                &mut *scratch;
            layer.norms[0].apply(states, normed, roots);
            keys.resize(rows * inner, 0.0);
            values.resize(rows * inner, 0.0);
            layer.keys.apply(normed, keys, Accum::Replace, Activation::Identity);
            layer.values.apply(normed, values, Accum::Replace, Activation::Identity);
            self.turn(keys, places, &layer.key_gamma, turned, roots);
            // The last layer's other states have no readers.
            let is_last = i + 1 == self.layers.len();
            if is_last {
                for rows in [&mut *states, &mut *normed] {
                    let kept: Vec<f32> = ends.iter().flat_map(|end| &rows[end * d..][..d]).copied().collect();
                    *rows = kept;
                }
            }
            let asking = states.len() / d;
            queries.resize(asking * inner, 0.0);
            attended.resize(asking * inner, 0.0);
            layer.queries.apply(normed, queries, Accum::Replace, Activation::Identity);
            let query_places = if is_last { &end_places[..] } else { places };
            self.turn(queries, query_places, &layer.query_gamma, turned, roots);
            for (s, stream) in streams.iter().enumerate() {
                let asking = if is_last { s..s + 1 } else { stream.clone() };
                let new = stream.start * inner..stream.end * inner;
                let [keys, values] = match cache.as_deref_mut() {
                    None => [&keys[new.clone()], &values[new]],
                    Some(cache) => {
                        let [all_keys, all_values] = &mut cache[i][s];
                        all_keys.extend(&keys[new.clone()]);
                        all_values.extend(&values[new]);
                        [&all_keys[..], &all_values[..]]
                    }
                };
                let known = keys.len() / inner;
                let span = Span { queries: 0..asking.len(), keys: 0..known };
                let numbers = asking.start * inner..asking.end * inner;
                let all = [
                    MatRef::row_major(&queries[numbers.clone()], asking.len(), inner),
                    MatRef::row_major(keys, known, inner),
                    MatRef::row_major(values, known, inner),
                ];
                attend(all, &[span], self.heads, &mut attended[numbers], attention, |_, span, scores| {
                    let first = known - span.queries.len();
                    for (query, row) in scores.chunks_exact_mut(known).enumerate() {
                        let (before, behind) = row.split_at_mut(first + query + 1);
                        before.fill(0.0);
                        behind.fill(f32::NEG_INFINITY);
                    }
                    Accum::Add
                });
            }
            self.finish(layer, states, scratch);
        }
    }

    /// Turns the heads of rows, then scales each to a root mean square of these numbers.
    fn turn(
        &self,
        rows: &mut Vec<f32>,
        places: &[usize],
        gamma: &[f32],
        turned: &mut Vec<f32>,
        roots: &mut Vec<f32>,
    ) {
        self.rotary.turn(rows, self.inner, self.inner, places);
        std::mem::swap(rows, turned);
        rows.resize(turned.len(), 0.0);
        roots.resize(turned.len() / gamma.len(), 0.0);
        rms_norm_rows(turned, Some(gamma), self.epsilon, rows, roots);
    }

    /// What stands behind the attention of a layer.
    fn finish(&self, layer: &DecoderLayer, states: &mut [f32], scratch: &mut DecoderScratch) {
        let DecoderScratch { normed, roots, attended, more, hidden, .. } = scratch;
        more.resize(states.len(), 0.0);
        layer.out.apply(attended, more, Accum::Replace, Activation::Identity);
        layer.norms[1].apply(more, normed, roots);
        add_assign(states, normed);
        layer.norms[2].apply(states, normed, roots);
        hidden.resize(states.len() / self.d * layer.wide.outputs(), 0.0);
        layer.wide.apply(normed, hidden, Accum::Replace, Activation::Silu);
        layer.narrow.apply(hidden, more, Accum::Replace, Activation::Identity);
        layer.norms[3].apply(more, normed, roots);
        add_assign(states, normed);
    }

    /// An empty cache of this many streams.
    pub(super) fn cache(&self, streams: usize) -> Cache {
        self.layers.iter().map(|_| (0..streams).map(|_| <[Vec<f32>; 2]>::default()).collect()).collect()
    }

    pub(super) fn bytes(&self) -> u64 {
        let of = |layer: &DecoderLayer| {
            let DecoderLayer { queries, keys, values, out, wide, narrow, .. } = layer;
            [queries, keys, values, out, wide, narrow].map(Linear::bytes).iter().sum::<u64>()
        };
        self.rotary.bytes() + self.layers.iter().map(of).sum::<u64>()
    }
}
