//! DeepAR: an LSTM that reads the series step by step and forecasts, at each, the distribution of the next.
//!
//! Salinas, Flunkert, Gasthaus, Januschowski 2020, "DeepAR: Probabilistic forecasting with autoregressive recurrent
//! networks" (arXiv 1704.04110). [`Decoding::StepByStep`] says how it reads windows and forecasts several steps: by
//! the paper's ancestral sampling with `sampling="ancestral"`, by default as in neuralforecast
//! ([`foretell_nn::Feedback`]).

use foretell_nn::{
    Cell, Decoding, Dims, HyperParameterError, Inputs, Mlp, MlpSizes, Model, Needs, Nonlinearity, Recurrent,
    RecurrentSizes, Scope, Var,
};
use serde_json::{Value, json};

use crate::architecture::{Architecture, Exogenous};
use crate::hyper::hyper_parameters;
use crate::recurrent::shared::sampling::Sampling;
use crate::recurrent::shared::step_by_step::{Autoregressive, StepDecoder};
use crate::rules::{self, MAX_LAYERS, MAX_UNITS};

hyper_parameters! {
    DeepAr {
        /// Steps of the horizon that it trains on.
        h_train: usize = 1 => rules::units,
        /// Layers of the LSTM.
        lstm_n_layers: usize = 2 => rules::layers,
        /// Hidden units of each of its layers.
        lstm_hidden_size: usize = 128 => rules::units,
        /// Dropout between its layers.
        lstm_dropout: f64 = 0.1 => rules::dropout,
        /// Hidden layers of the decoder; with none it is a linear layer.
        decoder_hidden_layers: usize = 0 => |count| rules::within(count, 0..=MAX_LAYERS),
        /// Units of each of them.
        decoder_hidden_size: usize = 0 => |size| rules::within(size, 0..=MAX_UNITS),
        /// The decoder's activation, by the name of PyTorch's module; ReLU where there is none.
        decoder_activation: Option<String> = None,
        ..sampling: Sampling = Sampling::default(),
    }
}

impl Architecture for DeepAr {
    const NAME: &'static str = "DeepAR";
    const PAPER: &'static str = "Salinas et al. 2020, arXiv 1704.04110";
    const KIND: &'static str = "univariate, step by step";
    const EXOGENOUS: Exogenous = Exogenous::ALL;
    const NEEDS_TARGET: bool = true;

    fn common_defaults() -> Value {
        let loss = json!({ "DistributionLoss": { "distribution": "StudentT", "level": [80, 90] } });
        json!({ "loss": loss, "valid_loss": "MAE", "num_lr_decays": 3, "inference_windows_batch_size": -1 })
    }

    fn small() -> Vec<Value> {
        let sizes = json!({ "lstm_hidden_size": 12, "lstm_dropout": 0.2 });
        let mut deep = sizes.clone();
        deep["h_train"] = 2.into();
        deep["decoder_hidden_layers"] = 1.into();
        deep["decoder_hidden_size"] = 10.into();
        vec![sizes, deep]
    }

    fn needs(&self, dims: &Dims) -> Needs {
        let decoding = Decoding::StepByStep {
            h_train: self.h_train,
            inference_input_size: dims.input_size,
            feedback: self.sampling.feedback(),
        };
        Needs { decoding, ..Needs::default() }
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        if self.decoder_hidden_layers > 0 && self.decoder_hidden_size == 0 {
            let expected = format!("between 1 and {MAX_UNITS}, as there are hidden layers in the decoder");
            return Err(HyperParameterError::new("decoder_hidden_size", expected, 0));
        }
        self.sampling.check(dims, true)?;
        let encoder = RecurrentSizes {
            cell: Cell::Lstm,
            inputs: 1 + dims.hist_exog + dims.futr_exog + dims.stat_exog,
            hidden: self.lstm_hidden_size,
            layers: self.lstm_n_layers,
            bias: true,
            dropout: self.lstm_dropout as f32,
            projection: None,
        };
        let encoder = Recurrent::new(&mut scope.at("hist_encoder"), &encoder);
        let decoder = MlpSizes {
            inputs: self.lstm_hidden_size,
            outputs: dims.outputs,
            hidden: self.decoder_hidden_size,
            layers: self.decoder_hidden_layers + 1,
            dropout: 0.0,
        };
        let activation = self.decoder_activation.as_deref().unwrap_or("ReLU");
        let decoder = Mlp::new(&mut scope.at("decoder"), &decoder, activation).ok_or_else(|| {
            HyperParameterError::new("decoder_activation", Nonlinearity::NAMES, json!(activation))
        })?;
        let input_size = dims.input_size;
        let decoder = StepDecoder::Mlp(decoder);
        Ok(Box::new(Autoregressive { encoder, step_inputs, decoder, input_size }))
    }
}

/// `[y | hist | futr | stat]` of each step, time-major: `[steps, batch, columns]`.
fn step_inputs(windows: &Inputs) -> Var {
    let steps = windows.insample_y.shape()[1];
    let mut parts = vec![windows.insample_y.unsqueeze(2)];
    parts.extend(windows.hist_exog.clone());
    parts.extend(windows.futr_exog.iter().map(|columns| columns.narrow(1, 0, steps)));
    parts.extend(windows.stat_exog.iter().map(|columns| columns.repeat(1, steps)));
    Var::concat(&parts.iter().collect::<Vec<_>>(), 2).permute(&[1, 0, 2])
}
