//! TimesNet: a window folded into planes, a row for each of its most pronounced periods, which two-dimensional convolutions read.
//!
//! Wu, Hu, Liu, Zhou, Wang, Long 2023, "TimesNet: Temporal 2D-Variation Modeling for General Time Series Analysis" (arXiv
//! 2210.02186), section 3.
//!
//! A block of convolutions of several sizes whose results are averaged is one convolution by the average of their kernels, of which
//! the smaller ones have zeros around them: less than half of the products. And kernels are cut to what reaches into a plane.

use foretell_nn::{
    Activation, Conv2d, Coupling, DataEmbedding, DataEmbeddingSizes, Dims, Forward, HyperParameterError,
    Indices, Init, Inputs, LayerNorm, Linear, MAX_POSITIONS, Model, Needs, Padding, ParamId, Scope, Tensor,
    Var, trace,
};
use serde_json::{Value, json};

use crate::architecture::{Architecture, Exogenous};
use crate::hyper::{hyper_parameters, require};
use crate::rules;

hyper_parameters! {
    TimesNet {
        /// Channels of a step; even.
        hidden_size: usize = 64 => rules::units,
        /// Dropout of the embedding.
        dropout: f64 = 0.1 => rules::dropout,
        /// Channels between the two convolutions of a block.
        conv_hidden_size: usize = 64 => rules::units,
        /// Periods that a window is folded by; at most half of `input_size + h`.
        top_k: usize = 5 => rules::units,
        /// Sizes of kernels, 1, 3, 5 and so on, whose results are averaged.
        num_kernels: usize = 6 => |count| rules::within(count, 1..=64),
        /// Blocks on top of each other.
        encoder_layers: usize = 2 => rules::layers,
        /// Whether a forecast folds each window by periods of its own; else by those of all windows that are forecast together, as
        /// training does and neuralforecast always, so that a forecast depends on its neighbours.
        period_per_window: bool = true,
    }
}

/// Activations are `[windows, steps, channels]`, the steps those of history and horizon.
struct Network {
    dims: Dims,
    embedding: DataEmbedding,
    predict: Linear,
    blocks: Vec<Block>,
    norm: LayerNorm,
    projection: Linear,
}

#[derive(Clone)]
struct Block {
    convolutions: [Inception; 2],
    periods: usize,
    per_window: bool,
}

/// Convolutions of the sizes 1, 3, 5 and so on: weight `[outputs, inputs, size, size]` and bias `[outputs]` of each.
#[derive(Clone)]
struct Inception(Vec<[ParamId; 2]>);

impl Architecture for TimesNet {
    const NAME: &'static str = "TimesNet";
    const PAPER: &'static str = "Wu et al. 2023, arXiv 2210.02186";
    const EXOGENOUS: Exogenous = Exogenous { futr: true, cat: true, ..Exogenous::NONE };
    const DIFFERENCES: &'static [&'static str] = &[
        "`period_per_window` is foretell's own: with it a forecast does not depend on which others are made at the same time. \
         Models that neuralforecast trained are without it, and neuralforecast ignores it.",
    ];
    const UPSTREAM: &'static [(&'static str, bool)] = &[("period_per_window", false)];

    fn common_defaults() -> Value {
        json!({
            "learning_rate": 1e-4, "windows_batch_size": 64, "inference_windows_batch_size": 256,
            "scaler_type": "standard",
        })
    }

    fn small() -> Vec<Value> {
        vec![
            json!({
                "hidden_size": 4, "conv_hidden_size": 3, "top_k": 2, "num_kernels": 2, "encoder_layers": 1,
                "period_per_window": false,
            }),
            json!({
                "hidden_size": 4, "conv_hidden_size": 2, "top_k": 3, "num_kernels": 2, "dropout": 0.0,
            }),
        ]
    }

    fn needs(&self, _: &Dims) -> Needs {
        Needs { coupling: Coupling::Coupled, forecasts_alone: self.period_per_window, ..Needs::default() }
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        let &Dims { input_size, horizon, futr_exog, outputs, .. } = dims;
        let (hidden, units, steps) = (self.hidden_size, self.conv_hidden_size, input_size + horizon);
        let even = hidden.is_multiple_of(2);
        require("hidden_size", even, "even, a cosine beside each sine", json!(hidden))?;
        require("top_k", self.top_k <= steps / 2, "at most half of input_size + h", json!(self.top_k))?;
        let few = input_size <= MAX_POSITIONS;
        require("input_size", few, "at most 5000", json!(input_size))?;
        let mut layers = scope.at("model");
        let block = |i| {
            let mut layer = layers.at(i);
            let mut convolutions = layer.at("conv");
            let first = Inception::new(&mut convolutions.at(0), hidden, units, self.num_kernels);
            let second = Inception::new(&mut convolutions.at(2), units, hidden, self.num_kernels);
            Block { convolutions: [first, second], periods: self.top_k, per_window: self.period_per_window }
        };
        let blocks = (0..self.encoder_layers).map(block).collect();
        let sizes = DataEmbeddingSizes { inputs: 1, columns: futr_exog, hidden };
        let embedding = DataEmbedding::new(&mut scope.at("enc_embedding"), sizes, self.dropout as f32);
        let norm = LayerNorm::new(&mut scope.at("layer_norm"), [hidden]);
        let predict = Linear::new(&mut scope.at("predict_linear"), input_size, steps);
        let projection = Linear::new(&mut scope.at("projection"), hidden, outputs);
        Ok(Box::new(Network { dims: *dims, embedding, predict, blocks, norm, projection }))
    }
}

impl Inception {
    fn new(scope: &mut Scope<'_>, inputs: usize, outputs: usize, sizes: usize) -> Self {
        let mut kernels = scope.at("kernels");
        let kernel = |i: usize| {
            let (size, mut scope) = (2 * i + 1, kernels.at(i));
            // PyTorch's `kaiming_normal_` by the outputs.
            let deviation = (2.0 / outputs.saturating_mul(size * size) as f32).sqrt();
            let weight = scope.param("weight", [outputs, inputs, size, size], Init::NormalOf { deviation });
            [weight, scope.param("bias", [outputs], Init::Constant(0.0))]
        };
        Self((0..sizes).map(kernel).collect())
    }

    /// The average of the kernels, as large as the largest, and that of the biases.
    fn average(&self, cx: &Forward<'_>) -> [Var; 2] {
        let (largest, share) = (self.0.len() - 1, 1.0 / self.0.len() as f32);
        let weights = self.0.iter().enumerate().map(|(i, &[weight, _])| {
            let around = largest - i;
            cx.param(weight).pad(2, around, around, Padding::Zeros).pad(3, around, around, Padding::Zeros)
        });
        let biases = self.0.iter().map(|&[_, bias]| cx.param(bias));
        let sum = |sum: Var, next: Var| sum + next;
        [weights.reduce(sum), biases.reduce(sum)].map(|sum| sum.expect("at least one size").scale(share))
    }
}

/// The convolution of `planes [windows, rows, columns, channels]`, the planes staying as large, by a kernel that is cut to what
/// reaches into them.
fn convolution(planes: &Var, [weight, bias]: &[Var; 2], activation: Activation) -> Var {
    let &[_, rows, columns, _] = &*planes.shape() else { unreachable!("[windows, rows, columns, channels]") };
    let reach = weight.shape()[2] / 2;
    let [tall, wide] = [rows, columns].map(|size| reach.min(size - 1));
    let weight = weight.narrow(2, reach - tall, 2 * tall + 1).narrow(3, reach - wide, 2 * wide + 1);
    let moves = Conv2d { padding: [tall, wide], ..Conv2d::default() };
    planes.conv2d(&weight, Some(bias), activation, moves)
}

impl Block {
    fn forward(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let kernels = self.convolutions.each_ref().map(|convolutions| convolutions.average(cx));
        // Folding each window by itself would take a training step four times as long.
        if !self.per_window || cx.is_training() {
            return self.mixed(x, &kernels);
        }
        let windows = (0..x.shape()[0]).map(|window| self.mixed(&x.narrow(0, window, 1), &kernels));
        Var::concat(&windows.collect::<Vec<_>>(), 0)
    }

    /// `x` plus the convolutions of `x` folded by each of its periods, weighted by the softmax of the periods' amplitudes.
    fn mixed(&self, x: &Var, kernels: &[[Var; 2]; 2]) -> Var {
        let &[windows, steps, _] = &*x.shape() else { unreachable!("[windows, steps, channels]") };
        let amplitudes = x.permute(&[0, 2, 1]).rfft().modulus().mean(1);
        trace::choose("the periods that its windows are folded by");
        let frequencies = largest(&amplitudes.value().sum(0), self.periods);
        let places = Indices::from_slice(&frequencies.repeat(windows), [windows, frequencies.len()]);
        let shares = amplitudes.gather(1, &places).softmax(1).reshape([windows, 1, frequencies.len()]);
        // Several frequencies may have one period in whole steps.
        let mut folded: Vec<(usize, Var)> = Vec::new();
        let mut parts = Vec::new();
        for frequency in frequencies {
            let period = steps / frequency as usize;
            let known = folded.iter().find(|(other, _)| *other == period).map(|(_, part)| part.clone());
            let part = known.unwrap_or_else(|| folded_by(period, x, kernels));
            folded.push((period, part.clone()));
            parts.push(part);
        }
        shares.expand([windows, steps, parts.len()]).weighted_sum(&parts) + x
    }
}

/// The convolutions of the steps of `x`, folded into a plane with a period in each row.
fn folded_by(period: usize, x: &Var, kernels: &[[Var; 2]; 2]) -> Var {
    let &[windows, steps, channels] = &*x.shape() else { unreachable!("[windows, steps, channels]") };
    let rows = steps.div_ceil(period);
    let whole = x.pad(1, 0, rows * period - steps, Padding::Zeros);
    let planes = whole.reshape([windows, rows, period, channels]);
    let both = |planes: &Var, [first, second]: &[[Var; 2]; 2]| {
        convolution(&convolution(planes, first, Activation::Gelu), second, Activation::Identity)
    };
    // A product has a row for each step of a row of the plane, so the longer side is laid along it: a period of 2 has rows of 60 steps.
    let planes = match rows > period {
        true => {
            let turned =
                kernels.each_ref().map(|[weight, bias]| [weight.permute(&[0, 1, 3, 2]), bias.clone()]);
            both(&planes.permute(&[0, 2, 1, 3]), &turned).permute(&[0, 2, 1, 3])
        }
        false => both(&planes, kernels),
    };
    planes.reshape([windows, rows * period, channels]).narrow(1, 0, steps)
}

/// The frequencies of the largest amplitudes, the largest first; 0, the mean, is none of them.
fn largest(amplitudes: &Tensor, count: usize) -> Vec<u32> {
    let amplitudes = amplitudes.to_vec();
    let mut frequencies: Vec<u32> = (1..amplitudes.len() as u32).collect();
    frequencies.sort_by(|&a, &b| amplitudes[b as usize].total_cmp(&amplitudes[a as usize]));
    frequencies.truncate(count);
    frequencies
}

impl Model for Network {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        let Dims { input_size, horizon, .. } = self.dims;
        let y = windows.insample_y.unsqueeze(2);
        let columns = windows.futr_exog.as_ref().map(|columns| columns.narrow(1, 0, input_size));
        let x = self.embedding.forward(cx, &y, columns.as_ref());
        let mut x = self.predict.forward_columns(cx, &x, Activation::Identity);
        for block in &self.blocks {
            x = self.norm.forward(cx, &cx.block(block, &[&x], |block, cx, v| block.forward(cx, &v[0])));
        }
        self.projection.forward(cx, &x.narrow(1, input_size, horizon), Activation::Identity)
    }
}
