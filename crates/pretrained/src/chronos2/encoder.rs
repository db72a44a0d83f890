//! The encoder: layers of attention over time, of attention over the series of a group, and of a perceptron.

use foretell_gemm::{Accum, Activation, MatMut, MatRef, Options, matmul};
use foretell_simd::add_assign;

use super::config::Chronos2Config;
use super::tokens::Tokens;
use crate::attention::{AttentionScratch, Span, attend};
use crate::error::PretrainedError;
use crate::linear::Linear;
use crate::rotary::Rotary;
use crate::t5::{LayerScratch, Norm, Perceptron};
use crate::weights::Weights;

/// Attention behind a norm.
#[derive(Debug)]
struct Attention {
    norm: Norm,
    queries: Linear,
    keys_values: Linear,
    out: Linear,
}

/// A layer.
#[derive(Debug)]
struct EncoderLayer {
    time: Attention,
    group: Attention,
    /// What the attention of a group does to a series that is alone in its group.
    alone: Linear,
    perceptron: Perceptron,
}

/// The encoder.
#[derive(Debug)]
pub(super) struct Encoder {
    layers: Vec<EncoderLayer>,
    rotary: Rotary,
    norm: Norm,
    heads: usize,
    inner: usize,
    d_model: usize,
}

/// What the encoder takes memory for.
#[derive(Debug, Default)]
pub(super) struct EncoderScratch {
    pub(super) layer: LayerScratch,
    queries: Vec<f32>,
    /// `[tokens, 2 inner]`.
    keys_values: Vec<f32>,
    attended: Vec<f32>,
    attention: AttentionScratch,
    /// Rows of tokens in another order.
    gathered: Vec<f32>,
}

impl Attention {
    /// One, with the numbers of its values `[inner, d_model]` and of its output `[d_model, inner]`.
    fn take(
        weights: &mut Weights,
        layer: &str,
        config: &Chronos2Config,
    ) -> Result<(Self, [Vec<f32>; 2]), PretrainedError> {
        let (d, inner) = (config.d_model, config.inner());
        let mut take = |part: &str, shape: [usize; 2]| {
            weights.take(&format!("{layer}.self_attention.{part}.weight"), &shape)
        };
        let queries = Linear::new(&take("q", [inner, d])?, Vec::new(), [inner, d]);
        let mut keys_values = take("k", [inner, d])?;
        let values = take("v", [inner, d])?;
        keys_values.extend(&values);
        let out = take("o", [d, inner])?;
        let attention = Self {
            norm: Norm::take(weights, &format!("{layer}.layer_norm"), config.layers())?,
            queries,
            keys_values: Linear::new(&keys_values, Vec::new(), [2 * inner, d]),
            out: Linear::new(&out, Vec::new(), [d, inner]),
        };
        Ok((attention, [values, out]))
    }

    fn bytes(&self) -> u64 {
        self.queries.bytes() + self.keys_values.bytes() + self.out.bytes()
    }
}

impl Encoder {
    pub(super) fn take(weights: &mut Weights, config: &Chronos2Config) -> Result<Self, PretrainedError> {
        let layer = |weights: &mut Weights, i: usize| {
            let name = format!("encoder.block.{i}.layer");
            let (time, _) = Attention::take(weights, &format!("{name}.0"), config)?;
            let (group, [values, out]) = Attention::take(weights, &format!("{name}.1"), config)?;
            let alone = product(&out, &values, config.d_model);
            let perceptron = Perceptron::take(weights, &format!("{name}.2"), "mlp", config.layers())?;
            Ok::<_, PretrainedError>(EncoderLayer { time, group, alone, perceptron })
        };
        let layers =
            (0..config.num_layers).map(|i| layer(weights, i)).collect::<Result<_, PretrainedError>>()?;
        Ok(Self {
            layers,
            norm: Norm::take(weights, "encoder.final_layer_norm", config.layers())?,
            rotary: Rotary::new(config.d_kv, config.rope_theta, config.tokens()),
            heads: config.num_heads,
            inner: config.inner(),
            d_model: config.d_model,
        })
    }

    /// The states of the tokens of the future, in their order, `[tokens, d_model]`. The last layer makes those of no others.
    pub(super) fn apply<'s>(&self, tokens: &mut Tokens, scratch: &'s mut EncoderScratch) -> &'s [f32] {
        let spans: Vec<Span> = tokens.variates.iter().cloned().map(Span::of).collect();
        let groups = (!tokens.are_alone()).then(|| tokens.by_place(false));
        let last = self.layers.len() - 1;
        for layer in &self.layers[..last] {
            self.attend_over_time(&layer.time, tokens, &spans, None, scratch);
            self.attend_in_groups(layer, &mut tokens.states, groups.as_ref(), scratch);
            layer.perceptron.apply(&mut tokens.states, &mut scratch.layer);
        }
        let layer = &self.layers[last];
        let future: Vec<usize> = tokens.future().collect();
        let of = |(i, span): (usize, Span)| Span {
            queries: i * tokens.ahead..(i + 1) * tokens.ahead,
            keys: span.keys,
        };
        let spans: Vec<Span> = spans.into_iter().enumerate().map(of).collect();
        let groups = groups.map(|_| tokens.by_place(true));
        self.attend_over_time(&layer.time, tokens, &spans, Some(&future), scratch);
        self.attend_in_groups(layer, &mut tokens.states, groups.as_ref(), scratch);
        layer.perceptron.apply(&mut tokens.states, &mut scratch.layer);
        self.norm.apply(&tokens.states, &mut scratch.layer.normed, &mut scratch.layer.roots);
        &scratch.layer.normed
    }

    /// Adds to the states of the tokens what they attend to in their variate; of some alone, which are then the only ones that are kept.
    fn attend_over_time(
        &self,
        Attention { norm, queries: to_queries, keys_values: to_keys_values, out }: &Attention,
        tokens: &mut Tokens,
        spans: &[Span],
        kept: Option<&[usize]>,
        scratch: &mut EncoderScratch,
    ) {
        let EncoderScratch { layer, queries, keys_values, attended, attention, gathered } = scratch;
        let Tokens { states, places, .. } = tokens;
        let (inner, d, rows) = (self.inner, self.d_model, places.len());
        norm.apply(states, &mut layer.normed, &mut layer.roots);
        keys_values.resize(rows * 2 * inner, 0.0);
        to_keys_values.apply(&layer.normed, keys_values, Accum::Replace, Activation::Identity);
        self.rotary.turn(keys_values, 2 * inner, inner, places);
        let asking = match kept {
            None => &layer.normed,
            Some(kept) => {
                gather(states, kept, d, gathered);
                states.clone_from(gathered);
                gather(&layer.normed, kept, d, gathered);
                *places = kept.iter().map(|token| places[*token]).collect();
                &*gathered
            }
        };
        queries.resize(places.len() * inner, 0.0);
        to_queries.apply(asking, queries, Accum::Replace, Activation::Identity);
        self.rotary.turn(queries, inner, inner, places);
        attended.resize(queries.len(), 0.0);
        let part = |i: usize| MatRef::new(&keys_values[i * inner..], rows, inner, 2 * inner, 1);
        let all = [MatRef::row_major(queries, places.len(), inner), part(0), part(1)];
        attend(all, spans, self.heads, attended, attention, |_, _, _| Accum::Replace);
        out.apply(attended, states, Accum::Add, Activation::Identity);
    }

    /// Adds to the states of tokens what they attend to in their group at their place: an order in which those stand together, and their
    /// spans, or nothing where each is alone.
    fn attend_in_groups(
        &self,
        layer: &EncoderLayer,
        states: &mut [f32],
        groups: Option<&(Vec<usize>, Vec<Span>)>,
        scratch: &mut EncoderScratch,
    ) {
        let EncoderScratch { layer: layer_scratch, queries, keys_values, attended, attention, gathered } =
            scratch;
        let LayerScratch { normed, roots, .. } = layer_scratch;
        layer.group.norm.apply(states, normed, roots);
        let Some((order, spans)) = groups else {
            return layer.alone.apply(normed, states, Accum::Add, Activation::Identity);
        };
        let Attention { queries: to_queries, keys_values: to_keys_values, out, .. } = &layer.group;
        let (inner, d, rows) = (self.inner, self.d_model, order.len());
        gather(normed, order, d, gathered);
        queries.resize(rows * inner, 0.0);
        keys_values.resize(rows * 2 * inner, 0.0);
        attended.resize(rows * inner, 0.0);
        to_queries.apply(gathered, queries, Accum::Replace, Activation::Identity);
        to_keys_values.apply(gathered, keys_values, Accum::Replace, Activation::Identity);
        let part = |i: usize| MatRef::new(&keys_values[i * inner..], rows, inner, 2 * inner, 1);
        let all = [MatRef::row_major(queries, rows, inner), part(0), part(1)];
        attend(all, spans, self.heads, attended, attention, |_, _, _| Accum::Replace);
        out.apply(attended, gathered, Accum::Replace, Activation::Identity);
        for (token, more) in order.iter().zip(gathered.chunks_exact(d)) {
            add_assign(&mut states[token * d..][..d], more);
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        let of = |layer: &EncoderLayer| {
            layer.time.bytes() + layer.group.bytes() + layer.alone.bytes() + layer.perceptron.bytes()
        };
        self.rotary.bytes() + self.layers.iter().map(of).sum::<u64>()
    }
}

/// What attention does to a token that attends to itself alone: its share is 1, so that values `[inner, d]` and output `[d, inner]` are
/// one product.
fn product(out: &[f32], values: &[f32], d: usize) -> Linear {
    let inner = out.len() / d;
    let mut whole = vec![0.0; d * d];
    let [left, right] = [MatRef::row_major(out, d, inner), MatRef::row_major(values, inner, d)];
    matmul(MatMut::row_major(&mut whole, d, d), left, right, Options::default());
    Linear::new(&whole, Vec::new(), [d, d])
}

/// Some rows of `width` numbers, in this order.
fn gather(rows: &[f32], order: &[usize], width: usize, out: &mut Vec<f32>) {
    out.clear();
    order.iter().for_each(|row| out.extend(&rows[row * width..][..width]));
}
