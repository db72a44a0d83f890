//! The network: an encoder over patches of history and masked patches of the future.
//!
//! Tokens of [`FEATURES`] numbers become vectors through a residual block; layers of attention with rotary positions and a gated
//! feed-forward part (Shazeer 2020, arXiv 2002.05202), each behind a root-mean-square normalisation (Zhang and Sennrich 2019); every token
//! sees every other that is not hidden. Tokens of the future give, through a residual block, how much each simple method counts, and
//! the distance of nine quantiles of each step from that mixture, in units of how far values so far apart differ.

use foretell_autograd::AttentionOptions;
use foretell_nn::{Activation, Forward, Init, Linear, ParamId, Scope, Table, Tensor, Var};

use super::window::{FEATURES, METHODS, PATCH, WindowShape};

/// The probabilities of the quantiles.
pub const QUANTILES: [f32; 9] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/// Patches of history that the network was trained with at most.
pub const PAST: usize = 32;

/// Patches of the future that it was trained with at most.
pub const FUTURE: usize = 16;

const WIDTH: usize = 128;
const HEADS: usize = 4;
const LAYERS: usize = 4;
const INNER: usize = 256;
const HALF_DIM: usize = WIDTH / HEADS / 2;

/// The base of the rotary positions' wavelengths: the longest is about ten windows.
const BASE: f32 = 500.0;

/// The layers of the network.
#[derive(Clone, Debug)]
pub struct PatchNetwork {
    embed: ResidualBlock,
    layers: Vec<EncoderLayer>,
    norm: ParamId,
    mix: Linear,
    head: ResidualBlock,
}

/// A batch of windows as the network reads it.
#[derive(Clone, Debug)]
pub struct Tokens<'a> {
    /// `[batch, tokens, FEATURES]`.
    pub tokens: Var,
    /// `[batch, tokens]`.
    pub hidden: &'a [bool],
    /// `[batch * future, METHODS, PATCH]`.
    pub methods: Var,
    /// `[batch * future]`.
    pub spreads: Var,
    /// The tokens of each window.
    pub shape: WindowShape,
}

impl PatchNetwork {
    /// The network, and the table of its parameters.
    pub fn new() -> (Self, Table) {
        let mut table = Table::default();
        let mut root = table.root();
        let embed = ResidualBlock::new(&mut root.at("embed"), [FEATURES, INNER, WIDTH], 1.0);
        let layers = (0..LAYERS).map(|i| EncoderLayer::new(&mut root.at("layers").at(i))).collect();
        let norm = root.param("norm.weight", [WIDTH], Init::Constant(1.0));
        let mix = Linear::new(&mut root.at("mix"), WIDTH, METHODS);
        let head = ResidualBlock::new(&mut root.at("head"), [WIDTH, INNER, PATCH * QUANTILES.len()], 0.2);
        (Self { embed, layers, norm, mix, head }, table)
    }

    /// Quantiles of the steps of the future on the windows' scales, `[batch, future * PATCH, 9]`, not sorted.
    pub fn forward(&self, cx: &Forward<'_>, batch: &Tokens<'_>) -> Var {
        let WindowShape { past, future } = batch.shape;
        let windows = batch.tokens.shape()[0];
        let [cosines, sines] = rotary_table(past + future);
        let mut x = self.embed.forward(cx, &batch.tokens);
        let positions = [&cosines, &sines];
        for layer in &self.layers {
            x = layer.forward(cx, x, positions, batch.hidden);
        }
        let x = x.narrow(1, past, future).rms_norm(Some(&cx.param(self.norm)), EPS);
        let shares = self.mix.forward(cx, &x, Activation::Identity).softmax(2);
        let base = shares.reshape([windows * future, 1, METHODS]).matmul(&batch.methods);
        let base = base.reshape([windows, future * PATCH, 1]);
        let steps = [windows, future * PATCH, QUANTILES.len()];
        let unit = batch.spreads.reshape([windows, future, 1]);
        let distance = self.head.forward(cx, &x).mul(&unit).reshape(steps);
        distance.add(&base.expand(steps))
    }
}

/// Added to the mean square of a row.
const EPS: f32 = 1e-6;

/// Cosines and sines `[tokens, HALF_DIM]` of the angles of each token.
fn rotary_table(tokens: usize) -> [Tensor; 2] {
    let angle = |i: usize| (i / HALF_DIM) as f32 * BASE.powf(-((i % HALF_DIM) as f32) / HALF_DIM as f32);
    [f32::cos, f32::sin].map(|of| {
        Tensor::build([tokens, HALF_DIM], |out| {
            out.iter_mut().enumerate().for_each(|(i, value)| *value = of(angle(i)));
        })
    })
}

/// `W2 silu(W1 x) + W3 x`.
#[derive(Clone, Debug)]
struct ResidualBlock {
    inner: Linear,
    outer: Linear,
    skip: Linear,
}

impl ResidualBlock {
    fn new(scope: &mut Scope<'_>, [inputs, inner, outputs]: [usize; 3], size: f32) -> Self {
        let linear = |scope: &mut Scope<'_>, inputs: usize, outputs: usize| {
            let bound = size / (inputs as f32).sqrt();
            Linear::with(scope, [inputs, outputs], Init::Uniform { bound }, Some(Init::Constant(0.0)))
        };
        Self {
            inner: Linear::new(&mut scope.at("inner"), inputs, inner),
            outer: linear(&mut scope.at("outer"), inner, outputs),
            skip: linear(&mut scope.at("skip"), inputs, outputs),
        }
    }

    fn forward(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let inner = self.inner.forward(cx, x, Activation::Silu);
        self.outer.forward(cx, &inner, Activation::Identity).add(&self.skip.forward(
            cx,
            x,
            Activation::Identity,
        ))
    }
}

/// Attention, then a gated feed-forward part, each added to what it reads.
#[derive(Clone, Debug)]
struct EncoderLayer {
    attention_norm: ParamId,
    queries: Linear,
    keys: Linear,
    values: Linear,
    out: Linear,
    feed_norm: ParamId,
    gate: Linear,
    up: Linear,
    down: Linear,
}

impl EncoderLayer {
    fn new(scope: &mut Scope<'_>) -> Self {
        let ones = Init::Constant(1.0);
        Self {
            attention_norm: scope.param("attention_norm.weight", [WIDTH], ones),
            queries: Linear::without_bias(&mut scope.at("queries"), WIDTH, WIDTH),
            keys: Linear::without_bias(&mut scope.at("keys"), WIDTH, WIDTH),
            values: Linear::without_bias(&mut scope.at("values"), WIDTH, WIDTH),
            out: Linear::without_bias(&mut scope.at("out"), WIDTH, WIDTH),
            feed_norm: scope.param("feed_norm.weight", [WIDTH], ones),
            gate: Linear::without_bias(&mut scope.at("gate"), WIDTH, INNER),
            up: Linear::without_bias(&mut scope.at("up"), WIDTH, INNER),
            down: Linear::without_bias(&mut scope.at("down"), INNER, WIDTH),
        }
    }

    fn forward(&self, cx: &Forward<'_>, x: Var, [cosines, sines]: [&Tensor; 2], hidden: &[bool]) -> Var {
        let linear = |layer: &Linear, x: &Var| layer.forward(cx, x, Activation::Identity);
        let y = x.rms_norm(Some(&cx.param(self.attention_norm)), EPS);
        let queries = linear(&self.queries, &y).rotary(cosines, sines);
        let keys = linear(&self.keys, &y).rotary(cosines, sines);
        let options = AttentionOptions { key_padding: Some(hidden), ..AttentionOptions::new(HEADS) };
        let seen = queries.attention(&keys, &linear(&self.values, &y), &options);
        let x = x.add(&linear(&self.out, &seen));
        let y = x.rms_norm(Some(&cx.param(self.feed_norm)), EPS);
        let gated = self.gate.forward(cx, &y, Activation::Silu).mul(&linear(&self.up, &y));
        x.add(&linear(&self.down, &gated))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::foretell0::window::ReadyWindow;

    fn constant(values: &[f32], shape: impl Into<foretell_nn::Shape>) -> Var {
        Var::constant(Tensor::from_slice(values, shape))
    }

    fn tokens<'a>(window: &ReadyWindow, shape: WindowShape, hidden: &'a [bool]) -> Tokens<'a> {
        Tokens {
            tokens: constant(&window.tokens, [1, shape.tokens(), FEATURES]),
            hidden,
            methods: constant(&window.methods, [shape.future, METHODS, PATCH]),
            spreads: constant(&window.spreads, [shape.future]),
            shape,
        }
    }

    #[test]
    fn what_is_hidden_changes_nothing() {
        let (network, table) = PatchNetwork::new();
        assert!((700_000..1_000_000).contains(&table.numel()), "{} parameters", table.numel());
        let params = table.initialise(1);
        let history: Vec<f32> = (0..60).map(|t| ((t * t) % 17) as f32).collect();
        let forecast = |past: usize| {
            let shape = WindowShape { past, future: 2 };
            let window = ReadyWindow::new(&history, &[], shape).unwrap();
            let cx = Forward::inference(&params);
            network.forward(&cx, &tokens(&window, shape, &window.hidden)).value().to_vec()
        };
        let (short, long) = (forecast(4), forecast(9));
        assert_eq!(short.len(), 2 * PATCH * 9);
        for (one, other) in short.iter().zip(&long) {
            assert!((one - other).abs() < 1e-4, "{one} and {other}");
        }
    }

    #[test]
    fn every_parameter_gets_a_gradient() {
        let (network, table) = PatchNetwork::new();
        let params = table.initialise(1);
        let shape = WindowShape { past: 3, future: 1 };
        let history: Vec<f32> = (0..48).map(|t| ((t * t) % 17) as f32).collect();
        let window = ReadyWindow::new(&history, &[12.0], shape).unwrap();
        let cx = Forward::training(&params, foretell_nn::Key::new(1));
        let output = network.forward(&cx, &tokens(&window, shape, &window.hidden));
        let mut gradients = vec![0.0; params.table().arena_len()];
        output.backward_from(Tensor::full(output.shape(), 1.0), &mut gradients);
        for entry in params.table().trained() {
            let range = entry.offset..entry.offset + entry.shape.numel();
            assert!(gradients[range].iter().any(|gradient| *gradient != 0.0), "{}", entry.name);
        }
    }
}
