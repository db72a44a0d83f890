//! TimeMixer: a window at several scales, whose seasonal parts are mixed from fine to coarse and whose trends from coarse to fine.
//!
//! Wang, Wu, Shi, Hu, Luo, Ma, Zhang, Zhou 2024, "TimeMixer: Decomposable Multiscale Mixing for Time Series Forecasting" (arXiv
//! 2405.14616), figure 2.

use foretell_nn::{
    Activation, Conv1d, DataEmbedding, DataEmbeddingSizes, Dims, Forward, HyperParameterError, Init, Inputs,
    Key, Linear, Model, Needs, PaddingMode, PairSizes, Pooling, RevIn, RevInConfig, Scope, SeriesPerWindow,
    Tensor, Var, positional_encoding, sines_and_cosines,
};
use serde_json::{Value, json};

use crate::architecture::{Architecture, Exogenous, MIN_SHARD_IN_CACHE};
use crate::hyper::{hyper_parameters, require};
use crate::mixer::shared::multivariate::multivariate_defaults;
use crate::rules;

hyper_parameters! {
    TimeMixer {
        /// Numbers that a step is embedded to; even.
        d_model: usize = 32 => rules::units,
        /// Units of the perceptrons over the numbers of a step.
        d_ff: usize = 32 => rules::units,
        /// Dropout of embeddings.
        dropout: f64 = 0.1 => rules::dropout,
        /// Mixing blocks on top of each other.
        e_layers: usize = 4 => |count| rules::within(count, 0..=rules::MAX_LAYERS),
        /// No effect: see the differences.
        top_k: usize = 5,
        /// How blocks split a window into season and trend: "moving_avg" or "dft_decomp".
        decomp_method: String = "moving_avg".to_owned() => |method| rules::one_of(method, &["moving_avg", "dft_decomp"]),
        /// Steps of the moving average, odd.
        moving_avg: usize = 25 => rules::odd,
        /// 1 if the series of a window do not see each other, else 0.
        channel_independence: usize = 0 => |which| rules::within(which, 0..=1),
        /// Scales below that of the window.
        down_sampling_layers: usize = 1 => rules::layers,
        /// Steps that become one of the next scale.
        down_sampling_window: usize = 2 => rules::units,
        /// How these steps become one: by their mean ("avg"), the largest ("max"), or a random convolution of three steps
        /// ("conv").
        down_sampling_method: String = "avg".to_owned() => |method| rules::one_of(method, &["avg", "max", "conv"]),
        /// Whether the series are brought to mean 0 and variance 1 at each scale, and the forecasts back.
        use_norm: bool = true,
        /// No effect, but it must be above 0 and such that not the whole history is taken: so in neuralforecast.
        decoder_input_size_multiplier: f64 = 0.5,
    }
}

/// Activations are `[rows, steps, channels]`: a row is a window, or a series of one if these are independent.
struct Network {
    dims: Dims,
    down_sampling: DownSampling,
    norms: Option<Vec<RevIn>>,
    embedding: DataEmbedding,
    blocks: Vec<Block>,
    scales: Vec<Scale>,
    projection: Linear,
    /// Where series see each other: the steps of their moving average.
    mixed: Option<usize>,
    /// Makes several outputs for each series of the forecasts of all.
    outputs: Option<Linear>,
}

struct DownSampling {
    window: usize,
    scales: usize,
    kind: DownSamplingKind,
}

enum DownSamplingKind {
    Pool(Pooling),
    /// A weight `[series, series, 3]`.
    Convolution(Tensor),
}

/// The layers that forecast from one scale.
struct Scale {
    /// The steps of the scale to those of the horizon.
    predict: Linear,
    /// The same of the trend, which is added, where series see each other.
    trend: Option<[Linear; 2]>,
}

struct Block {
    /// Steps of the moving average; `None` if all of a window is its season.
    moving_average: Option<usize>,
    /// Before the mixing, where series see each other.
    cross: Option<Perceptron>,
    /// From each scale to the next coarser one.
    down: Vec<Perceptron>,
    /// To each scale from the next coarser one, the coarsest last.
    up: Vec<Perceptron>,
    /// Behind the mixing, added to the block's input, where series are independent.
    out: Option<Perceptron>,
}

struct Perceptron([Linear; 2]);

impl Architecture for TimeMixer {
    const NAME: &'static str = "TimeMixer";
    const PAPER: &'static str = "Wang et al. 2024, arXiv 2405.14616";
    const KIND: &'static str = "multivariate, direct";
    const EXOGENOUS: Exogenous = Exogenous::NONE;
    const DIFFERENCES: &'static [&'static str] = &[
        "`down_sampling_method=\"conv\"` convolves by weights that are drawn once, by `random_seed`, and kept; in neuralforecast \
         they are drawn anew at every call, so that two forecasts differ.",
        "`decomp_method=\"dft_decomp\"` takes all of a window for its season and nothing for its trend, whatever `top_k` is: so \
         neuralforecast treats all windows of a batch but its first, all of which it takes for trend.",
        "`input_size` may leave a rest when it is divided by `down_sampling_window`: coarser scales then leave out the last steps; in \
         neuralforecast it is an error.",
    ];

    fn common_defaults() -> Value {
        multivariate_defaults()
    }

    fn small() -> Vec<Value> {
        vec![
            json!({ "d_model": 4, "d_ff": 5, "e_layers": 2, "moving_avg": 5 }),
            json!({
                "d_model": 6, "d_ff": 3, "e_layers": 1, "moving_avg": 3, "channel_independence": 1, "dropout": 0.0,
                "down_sampling_layers": 2, "down_sampling_method": "conv", "use_norm": false,
            }),
            json!({
                "d_model": 4, "d_ff": 4, "e_layers": 1, "decomp_method": "dft_decomp", "down_sampling_method": "max",
                "down_sampling_window": 3,
            }),
        ]
    }

    fn needs(&self, _: &Dims) -> Needs {
        Needs { series: SeriesPerWindow::All, shard_windows: MIN_SHARD_IN_CACHE, ..Needs::default() }
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        let steps = self.steps_of_scales(dims)?;
        let &Dims { horizon, n_series, outputs, .. } = dims;
        let (d_model, mixed) = (self.d_model, self.channel_independence == 0);
        let mut blocks = scope.at("pdm_blocks");
        let blocks = (0..self.e_layers).map(|i| self.block(&mut blocks.at(i), &steps)).collect();
        let embedding = self.embedding(&mut scope.at("enc_embedding"), if mixed { n_series } else { 1 });
        let config = RevInConfig { affine: true, ..RevInConfig::default() };
        let mut norms = scope.at("normalize_layers");
        let norms = if self.use_norm {
            Some((0..steps.len()).map(|i| RevIn::new(&mut norms.at(i), n_series, config)).collect())
        } else {
            for i in 0..steps.len() {
                norms.at(i).unread("affine_weight", [n_series], Init::Constant(1.0));
                norms.at(i).unread("affine_bias", [n_series], Init::Constant(0.0));
            }
            None
        };
        let scales = steps.iter().enumerate().map(|(i, &steps)| Scale {
            predict: Linear::new(&mut scope.at("predict_layers").at(i), steps, horizon),
            trend: mixed.then(|| {
                let layer = |scope: &mut Scope<'_>, name, outputs| {
                    Linear::new(&mut scope.at(name).at(i), steps, outputs)
                };
                [layer(scope, "out_res_layers", steps), layer(scope, "regression_layers", horizon)]
            }),
        });
        let scales = scales.collect();
        let projection =
            Linear::new(&mut scope.at("projection_layer"), d_model, if mixed { n_series } else { 1 });
        let several = (outputs > 1)
            .then(|| Linear::new(&mut scope.at("distr_output"), n_series, n_series.saturating_mul(outputs)));
        Ok(Box::new(Network {
            dims: *dims,
            down_sampling: self.down_sampling(n_series, scope.seed()),
            norms,
            embedding,
            blocks,
            scales,
            projection,
            mixed: mixed.then_some(self.moving_avg),
            outputs: several,
        }))
    }
}

impl TimeMixer {
    /// The steps of a window at each scale, the finest first.
    fn steps_of_scales(&self, dims: &Dims) -> Result<Vec<usize>, HyperParameterError> {
        let even = self.d_model.is_multiple_of(2);
        require("d_model", even, "even, a cosine beside each sine", json!(self.d_model))?;
        let multiplier = self.decoder_input_size_multiplier;
        let seen = (dims.input_size as f64 * multiplier).ceil();
        let within = seen > 0.0 && seen < dims.input_size as f64;
        require(
            "decoder_input_size_multiplier",
            within,
            "above 0, and such that a part of input_size is left",
            json!(multiplier),
        )?;
        let mut steps = vec![dims.input_size];
        for _ in 0..self.down_sampling_layers {
            let next = steps[steps.len() - 1] / self.down_sampling_window;
            let expected = "such that the coarsest scale of input_size has a step";
            require("down_sampling_layers", next > 0, expected, json!(self.down_sampling_layers))?;
            steps.push(next);
        }
        Ok(steps)
    }

    fn down_sampling(&self, series: usize, seed: u64) -> DownSampling {
        let kind = match &*self.down_sampling_method {
            "avg" => DownSamplingKind::Pool(Pooling::Average),
            "max" => DownSamplingKind::Pool(Pooling::Max),
            _ => DownSamplingKind::Convolution(Tensor::build([series, series, 3], |weight| {
                Init::fan_in(3 * series).fill(Key::new(seed), weight);
            })),
        };
        DownSampling { window: self.down_sampling_window, scales: self.down_sampling_layers, kind }
    }

    /// The embedding of a step, of this many values; that of places and times nothing reads.
    fn embedding(&self, scope: &mut Scope<'_>, inputs: usize) -> DataEmbedding {
        let sizes = DataEmbeddingSizes { inputs, columns: 0, hidden: self.d_model };
        let embedding = DataEmbedding::without_positions(scope, sizes, self.dropout as f32);
        positional_encoding(scope, "position_embedding.pe", self.d_model);
        for (name, count) in [("hour", 24), ("weekday", 7), ("day", 32), ("month", 13)] {
            let name = format!("temporal_embedding.{name}_embed.emb.weight");
            sines_and_cosines(scope, &name, [count, self.d_model]);
        }
        embedding
    }

    fn block(&self, scope: &mut Scope<'_>, steps: &[usize]) -> Block {
        let (d_model, d_ff, mixed) = (self.d_model, self.d_ff, self.channel_independence == 0);
        let mut unread_norm = scope.at("layer_norm");
        unread_norm.unread("weight", [d_model], Init::Constant(1.0));
        unread_norm.unread("bias", [d_model], Init::Constant(0.0));
        let channels = PairSizes { inputs: d_model, hidden: d_ff, outputs: d_model };
        let cross = mixed.then(|| Perceptron::new(&mut scope.at("cross_layer"), channels));
        let over_time = |inputs, outputs| PairSizes { inputs, hidden: outputs, outputs };
        let mut season = scope.at("mixing_multi_scale_season.down_sampling_layers");
        let pairs = steps.windows(2).enumerate();
        let down =
            pairs.map(|(i, pair)| Perceptron::new(&mut season.at(i), over_time(pair[0], pair[1]))).collect();
        let mut trend = scope.at("mixing_multi_scale_trend.up_sampling_layers");
        let pairs = steps.windows(2).rev().enumerate();
        let up =
            pairs.map(|(i, pair)| Perceptron::new(&mut trend.at(i), over_time(pair[1], pair[0]))).collect();
        let mut out = scope.at("out_cross_layer");
        let out = if mixed {
            Linear::unread(&mut out.at(0), [d_model, d_ff], true);
            Linear::unread(&mut out.at(2), [d_ff, d_model], true);
            None
        } else {
            Some(Perceptron::new(&mut out, channels))
        };
        let moving_average = (self.decomp_method == "moving_avg").then_some(self.moving_avg);
        Block { moving_average, cross, down, up, out }
    }
}

impl Perceptron {
    fn new(scope: &mut Scope<'_>, PairSizes { inputs, hidden, outputs }: PairSizes) -> Self {
        Self([Linear::new(&mut scope.at(0), inputs, hidden), Linear::new(&mut scope.at(2), hidden, outputs)])
    }

    /// Over the channels: `x [rows, steps, inputs]` to `[rows, steps, outputs]`.
    fn forward(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let Self([first, second]) = self;
        second.forward(cx, &first.forward(cx, x, Activation::Gelu), Activation::Identity)
    }

    /// Over time: `x [rows, inputs, channels]` to `[rows, outputs, channels]`.
    fn over_time(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let Self([first, second]) = self;
        second.forward_columns(cx, &first.forward_columns(cx, x, Activation::Gelu), Activation::Identity)
    }
}

impl Block {
    /// The scales `[rows, steps, channels]`, the finest first, to the same shapes.
    fn forward(&self, cx: &Forward<'_>, scales: &[Var]) -> Vec<Var> {
        let (mut seasons, mut trends): (Vec<Var>, Vec<Var>) =
            scales.iter().map(|x| self.decompose(cx, x)).unzip();
        for (i, down) in self.down.iter().enumerate() {
            seasons[i + 1] = &seasons[i + 1] + down.over_time(cx, &seasons[i]);
        }
        for (i, up) in (0..scales.len() - 1).rev().zip(&self.up) {
            trends[i] = &trends[i] + up.over_time(cx, &trends[i + 1]);
        }
        let mixed = seasons.into_iter().zip(trends).map(|(season, trend)| season + trend);
        match &self.out {
            Some(out) => mixed.zip(scales).map(|(mixed, x)| x + out.forward(cx, &mixed)).collect(),
            None => mixed.collect(),
        }
    }

    /// Season and trend.
    fn decompose(&self, cx: &Forward<'_>, x: &Var) -> (Var, Var) {
        let (season, trend) = match self.moving_average {
            Some(kernel) => {
                let season = x.season(kernel);
                let trend = x - &season;
                (season, trend)
            }
            None => (x.clone(), Var::constant(Tensor::zeros(x.shape()))),
        };
        match &self.cross {
            Some(cross) => (cross.forward(cx, &season), cross.forward(cx, &trend)),
            None => (season, trend),
        }
    }
}

impl DownSampling {
    /// The windows `[rows, time]` at all scales, the finest first.
    fn scales(&self, windows: &Var, series: usize) -> Vec<Var> {
        let mut scales = vec![windows.clone()];
        for _ in 0..self.scales {
            scales.push(self.coarser(&scales[scales.len() - 1], series));
        }
        scales
    }

    /// Windows `[rows, time]` at the next scale.
    fn coarser(&self, windows: &Var, series: usize) -> Var {
        let &[rows, time] = &*windows.shape() else { unreachable!("[rows, time]") };
        let steps = time / self.window;
        match &self.kind {
            DownSamplingKind::Pool(kind) => {
                windows.narrow(1, 0, steps * self.window).pool(*kind, self.window)
            }
            DownSamplingKind::Convolution(weight) => {
                let moves = Conv1d {
                    stride: self.window,
                    padding: [1; 2],
                    beyond: PaddingMode::Circular,
                    ..Conv1d::default()
                };
                let x = windows.reshape([rows / series, series, time]).permute(&[0, 2, 1]);
                let y = x.conv1d(&Var::constant(weight.clone()), None, Activation::Identity, moves);
                y.narrow(1, 0, steps).permute(&[0, 2, 1]).reshape([rows, steps])
            }
        }
    }
}

impl Network {
    /// The embedded steps of the series at a scale, `x [rows, time]`: `[rows, time, d_model]`, of series that see each other
    /// `[windows, time, d_model]`.
    fn embed(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let &[rows, time] = &*x.shape() else { unreachable!("[rows, time]") };
        let series = self.dims.n_series;
        let steps = match self.mixed {
            Some(_) => x.reshape([rows / series, series, time]).permute(&[0, 2, 1]),
            None => x.reshape([rows, time, 1]),
        };
        self.embedding.forward(cx, &steps, None)
    }

    /// The forecast of each series at a scale, `[rows, horizon]`.
    fn forecast(&self, cx: &Forward<'_>, scale: &Scale, x: &Var, trend: Option<&Var>, rows: usize) -> Var {
        let steps = scale.predict.forward_columns(cx, x, Activation::Identity);
        let own = self.projection.forward_to_columns(cx, &steps, Activation::Identity);
        let own = own.reshape([rows, self.dims.horizon]);
        match scale.trend.as_ref().zip(trend) {
            Some(([first, second], trend)) => {
                let trend = first.forward(cx, trend, Activation::Identity);
                own + second.forward(cx, &trend, Activation::Identity)
            }
            None => own,
        }
    }

    /// The outputs of each series, `[rows, horizon, outputs]`, of the forecasts of all, `[rows, horizon]`.
    fn outputs_of(&self, cx: &Forward<'_>, forecast: &Var) -> Var {
        let Dims { horizon, outputs, n_series, by_parameter, .. } = self.dims;
        let rows = forecast.shape()[0];
        let Some(layer) = &self.outputs else { return forecast.reshape([rows, horizon, 1]) };
        let windows = rows / n_series;
        let y = layer.forward(
            cx,
            &forecast.reshape([windows, n_series, horizon]).permute(&[0, 2, 1]),
            Activation::Identity,
        );
        // As neuralforecast's losses read them: quantiles and mixtures side by side for each series, the parameters of a plain
        // distribution with all series side by side for each parameter.
        let by_series = match by_parameter {
            false => y.reshape([windows, horizon, n_series, outputs]).permute(&[0, 2, 1, 3]),
            true => y.reshape([windows, horizon, outputs, n_series]).permute(&[0, 3, 1, 2]),
        };
        by_series.reshape([rows, horizon, outputs])
    }
}

impl Model for Network {
    fn forward(&self, cx: &Forward<'_>, inputs: &Inputs) -> Var {
        let rows = inputs.batch();
        let windows = self.down_sampling.scales(&inputs.insample_y, self.dims.n_series);
        let mut scales_of_windows = None;
        let mut series = Vec::new();
        for (i, windows) in windows.iter().enumerate() {
            let Some(norms) = &self.norms else {
                series.push(windows.clone());
                continue;
            };
            let (normalised, scales) = norms[i].normalise(cx, windows);
            scales_of_windows.get_or_insert(scales);
            series.push(normalised);
        }
        let trends: Option<Vec<Var>> =
            self.mixed.map(|kernel| series.iter().map(|x| x.moving_average(kernel)).collect());
        let season =
            |i: usize| trends.as_ref().map_or_else(|| series[i].clone(), |trends| &series[i] - &trends[i]);
        let mut x: Vec<Var> = (0..series.len()).map(|i| self.embed(cx, &season(i))).collect();
        for block in &self.blocks {
            x = block.forward(cx, &x);
        }
        let trend = |i: usize| trends.as_ref().map(|trends| &trends[i]);
        let forecasts = self.scales.iter().zip(&x).enumerate();
        let forecasts = forecasts.map(|(i, (scale, x))| self.forecast(cx, scale, x, trend(i), rows));
        let forecast = forecasts.reduce(|sum, forecast| sum + forecast).expect("at least one scale");
        let forecast = match self.norms.as_ref().zip(scales_of_windows) {
            Some((norms, scales)) => norms[0].denormalise(cx, &forecast, &scales),
            None => forecast,
        };
        self.outputs_of(cx, &forecast)
    }
}
