//! NHITS: blocks that see the history at several resolutions, each subtracting its part of the signal before the next
//! one reads it.
//!
//! Challu, Olivares, Oreshkin, Garza, Mergenthaler-Canseco, Dubrawski 2023, "NHITS: Neural Hierarchical
//! Interpolation for Time Series Forecasting" (arXiv 2201.12886): pooling (section 3.1), coefficients and
//! hierarchical interpolation (sections 3.2 and 3.3).
//!
//! As in neuralforecast, the history is reversed in time, the forecast starts from the last value, no
//! activation stands between the first two linear layers of a block, and exogenous columns are pooled but
//! not reversed.

use std::sync::Arc;

use foretell_nn::{
    Dims, Forward, HyperParameterError, Inputs, Interpolation, Model, Needs, Pooling, Resampler, Scope, Var,
    pooled_len,
};
use serde_json::{Value, json};

use crate::architecture::{Architecture, Exogenous, MIN_SHARD_LARGE_WEIGHTS};
use crate::hyper::hyper_parameters;
use crate::linear::shared::per_stack::{N_BLOCKS, PerStack};
use crate::linear::shared::perceptron::{self, Layers, Perceptron};
use crate::rules;

hyper_parameters! {
    Nhits {
        /// One "identity" per stack.
        stack_types: Vec<String> = vec!["identity".to_owned(); 3],
        /// Blocks of each stack.
        n_blocks: Vec<usize> = vec![1; 3],
        /// [inputs, outputs] of the hidden layers of every block.
        mlp_units: Vec<Vec<usize>> = vec![vec![512, 512]; 3] => |units| perceptron::chained(units),
        /// Steps that each stack pools the history by.
        n_pool_kernel_size: Vec<usize> = vec![2, 2, 1],
        /// Steps of the horizon per knot of each stack's forecast.
        n_freq_downsample: Vec<usize> = vec![4, 2, 1],
        /// "MaxPool1d" or "AvgPool1d".
        pooling_mode: String = "MaxPool1d".to_owned(),
        /// "linear", "nearest" or "cubic".
        interpolation_mode: String = "linear".to_owned(),
        /// Dropout behind each activation.
        dropout_prob_theta: f32 = 0.0 => rules::dropout,
        /// Behind each hidden layer: "ReLU", "Softplus", "Tanh", "SELU", "LeakyReLU", "PReLU" or "Sigmoid".
        activation: String = "ReLU".to_owned() => |name| perceptron::activation(name),
    }
}

impl Nhits {
    fn layers(&self) -> Layers<'_> {
        Layers { mlp_units: &self.mlp_units, dropout: self.dropout_prob_theta, activation: &self.activation }
    }

    fn per_stack(&self) -> PerStack<'_> {
        PerStack {
            stacks: self.stack_types.len(),
            lists: vec![
                (N_BLOCKS, &self.n_blocks),
                ("n_pool_kernel_size", &self.n_pool_kernel_size),
                ("n_freq_downsample", &self.n_freq_downsample),
            ],
        }
    }

    fn check(&self, dims: &Dims) -> Result<(Pooling, Interpolation), HyperParameterError> {
        let fault = HyperParameterError::new;
        if self.stack_types.is_empty() || self.stack_types.iter().any(|kind| kind != "identity") {
            return Err(fault(
                "stack_types",
                "a list of \"identity\", one per stack",
                json!(self.stack_types),
            ));
        }
        self.per_stack().check()?;
        let pooling = match self.pooling_mode.as_str() {
            "MaxPool1d" => Pooling::Max,
            "AvgPool1d" => Pooling::Average,
            other => return Err(fault("pooling_mode", "MaxPool1d or AvgPool1d", json!(other))),
        };
        let interpolation = match self.interpolation_mode.as_str() {
            "linear" => Interpolation::Linear,
            "nearest" => Interpolation::Nearest,
            cubic if cubic.contains("cubic") && dims.outputs == 1 => Interpolation::Cubic,
            cubic if cubic.contains("cubic") => {
                let expected = "linear or nearest where the loss has several outputs";
                return Err(fault("interpolation_mode", expected, json!(cubic)));
            }
            other => return Err(fault("interpolation_mode", "linear, nearest or cubic", json!(other))),
        };
        Ok((pooling, interpolation))
    }
}

impl Architecture for Nhits {
    const NAME: &'static str = "NHITS";
    const PAPER: &'static str = "Challu et al. 2023, arXiv 2201.12886";
    const EXOGENOUS: Exogenous = Exogenous::ALL;
    const HIDDEN_UNITS: &'static [&'static str] = &["mlp_units"];
    const DIFFERENCES: &'static [&'static str] =
        &["A stack without blocks is an error; neuralforecast ignores it."];

    fn common_defaults() -> Value {
        json!({ "num_lr_decays": 3, "inference_windows_batch_size": -1 })
    }

    fn small() -> Vec<Value> {
        vec![json!({ "mlp_units": [[32, 32], [32, 32]], "dropout_prob_theta": 0.2 })]
    }

    fn needs(&self, _: &Dims) -> Needs {
        Needs { shard_windows: MIN_SHARD_LARGE_WEIGHTS, ..Needs::default() }
    }

    fn unread(&self) -> Vec<String> {
        self.per_stack().unread().into_iter().chain(perceptron::unread(&self.mlp_units)).collect()
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        let (pooling, interpolation) = self.check(dims)?;
        let mut scope = scope.at("blocks");
        let mut blocks: Vec<Block> = Vec::new();
        for (stack, &count) in self.n_blocks.iter().take(self.stack_types.len()).enumerate() {
            let knots = (dims.horizon / self.n_freq_downsample[stack]).max(1);
            let resampler = Arc::new(Resampler::new(interpolation, knots, dims.horizon));
            for _ in 0..count {
                let kernel = self.n_pool_kernel_size[stack];
                let inputs = pooled_len(dims.input_size, kernel) * (1 + dims.hist_exog)
                    + pooled_len(dims.input_size + dims.horizon, kernel) * dims.futr_exog
                    + dims.stat_exog;
                let outputs = dims.input_size + dims.outputs * knots;
                let mut scope = scope.at(blocks.len());
                blocks.push(Block {
                    dims: *dims,
                    pooling,
                    kernel,
                    perceptron: Perceptron::new(&mut scope.at("layers"), &self.layers(), inputs, outputs),
                    resampler: resampler.clone(),
                });
            }
        }
        Ok(Box::new(Network { dims: *dims, blocks }))
    }
}

struct Network {
    dims: Dims,
    blocks: Vec<Block>,
}

impl Model for Network {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        let Dims { input_size, .. } = self.dims;
        let mask = Var::constant(windows.insample_mask.flip(1));
        let mut residual = windows.insample_y.flip(1);
        // The naive forecast: the last value, [batch, 1, 1].
        let mut forecast = windows.insample_y.narrow(1, input_size - 1, 1).unsqueeze(2);
        cx.record_part(|| "level".to_owned(), &forecast);
        let last = self.blocks.len() - 1;
        for (i, block) in self.blocks.iter().enumerate() {
            let (seen, knots) = (block.seen(&residual, windows), block.knots());
            // The last block's part of the history is not used, so it is not computed.
            let knots = if i < last {
                let theta = block.perceptron.forward(cx, seen);
                residual = residual.sub(&theta.narrow(1, 0, input_size)).mul(&mask);
                theta.narrow(1, input_size, knots)
            } else {
                block.perceptron.part(cx, seen, input_size..input_size + knots)
            };
            let part = block.forecast(&knots);
            cx.record_part(|| format!("block_{}", i + 1), &part);
            forecast = forecast.add(&part);
        }
        forecast
    }
}

struct Block {
    dims: Dims,
    pooling: Pooling,
    kernel: usize,
    perceptron: Perceptron,
    resampler: Arc<Resampler>,
}

impl Block {
    /// The inputs of the layers: the residual and the columns, those with steps pooled, all flattened.
    fn seen(&self, residual: &Var, windows: &Inputs) -> Vec<Var> {
        let mut parts = vec![residual.pool(self.pooling, self.kernel)];
        let pooled = |columns: &Var| {
            let columns = columns.permute(&[0, 2, 1]).pool(self.pooling, self.kernel);
            let [batch, channels, steps] = columns.shape()[..] else {
                unreachable!("columns have three dimensions")
            };
            columns.permute(&[0, 2, 1]).reshape([batch, steps * channels])
        };
        parts.extend(windows.hist_exog.iter().chain(&windows.futr_exog).map(pooled));
        parts.extend(windows.stat_exog.clone());
        parts
    }

    /// The number of coefficients of the forecast.
    fn knots(&self) -> usize {
        self.dims.outputs * self.resampler.knots()
    }

    /// This block's part of the forecast, `[batch, horizon, outputs]`, of coefficients `[batch, outputs * knots]`.
    fn forecast(&self, knots: &Var) -> Var {
        let shape = [knots.shape()[0], self.dims.outputs, self.resampler.knots()];
        knots.reshape(shape).interpolate(&self.resampler).permute(&[0, 2, 1])
    }
}
