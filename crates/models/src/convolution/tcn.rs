//! TCN: van den Oord et al. 2016, "WaveNet: a generative model for raw audio"; Bai, Kolter and Koltun 2018, "An empirical
//! evaluation of generic convolutional and recurrent networks for sequence modeling".
//!
//! A stack of causal convolutions reads the history, each with its taps further apart than the one below, so that the
//! last state sees `(kernel_size - 1) * sum(dilations)` steps back. As in neuralforecast, and unlike in the papers, the
//! stack has neither residual connections nor normalisation nor dropout.

use foretell_nn::{
    CausalConv1d, CausalConv1dSizes, Dims, Forward, HyperParameterError, Inputs, Model, Needs, Nonlinearity,
    Scope, Var,
};
use serde_json::{Value, json};

use crate::architecture::{Architecture, Exogenous, MIN_SHARD_LITTLE_MEMORY};
use crate::hyper::hyper_parameters;
use crate::recurrent::shared::context_decoder::{Config, ContextDecoder};
use crate::recurrent::shared::step_by_step::step_inputs;
use crate::rules::{self, MAX_LAYERS, MAX_UNITS};

hyper_parameters! {
    Tcn {
        /// Taps of each convolution.
        kernel_size: usize = 2 => rules::units,
        /// Steps from one tap to the next, for each convolution of the stack.
        dilations: Vec<usize> = vec![1, 2, 4, 8, 16] => |dilations| {
            let steps = dilations.iter().all(|steps| (1..=MAX_UNITS).contains(steps));
            let expected = format!("a list of 1 to {MAX_LAYERS} numbers between 1 and {MAX_UNITS}");
            rules::require(steps && (1..=MAX_LAYERS).contains(&dilations.len()), expected)
        },
        /// Channels of each convolution.
        encoder_hidden_size: usize = 128 => rules::units,
        /// The activation behind each convolution, by the name of PyTorch's module.
        encoder_activation: String = "ReLU".to_owned(),
        ..shared: Config = Config::default(),
    }
}

struct Network {
    encoder: Vec<CausalConv1d>,
    decoder: ContextDecoder,
}

impl Architecture for Tcn {
    const NAME: &'static str = "TCN";
    const PAPER: &'static str = "van den Oord et al. 2016; Bai, Kolter and Koltun 2018";
    const EXOGENOUS: Exogenous = Exogenous::ALL;
    const DIFFERENCES: &'static [&'static str] =
        &["`kernel_size=1` reads each step by itself; in neuralforecast it leaves no steps and is an error."];

    fn common_defaults() -> Value {
        json!({ "windows_batch_size": 128, "scaler_type": "robust" })
    }

    fn small() -> Vec<Value> {
        let sizes = json!({ "encoder_hidden_size": 7, "decoder_hidden_size": 10, "dilations": [1, 3] });
        let mut learned = sizes.clone();
        learned["encoder_activation"] = "PReLU".into();
        learned["kernel_size"] = 3.into();
        vec![sizes, learned]
    }

    fn needs(&self, _: &Dims) -> Needs {
        Needs { shard_windows: MIN_SHARD_LITTLE_MEMORY, ..Needs::default() }
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        let units = self.encoder_hidden_size;
        let mut inputs = 1 + dims.hist_exog + dims.stat_exog + dims.futr_exog;
        let mut encoder = Vec::new();
        for (i, &dilation) in self.dilations.iter().enumerate() {
            let sizes = CausalConv1dSizes { inputs, outputs: units, kernel: self.kernel_size, dilation };
            let scope = &mut scope.at(format_args!("hist_encoder.tcn.{i}"));
            let layer = CausalConv1d::new(scope, &sizes, &self.encoder_activation).ok_or_else(|| {
                HyperParameterError::new(
                    "encoder_activation",
                    Nonlinearity::NAMES,
                    json!(self.encoder_activation),
                )
            })?;
            encoder.push(layer);
            inputs = units;
        }
        let decoder = self.shared.build(units, dims, scope)?;
        Ok(Box::new(Network { encoder, decoder }))
    }
}

impl Model for Network {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        let states = self.encoder.iter().fold(step_inputs(windows), |x, layer| {
            cx.block(layer, &[&x], |layer, cx, v| layer.forward(cx, &v[0]))
        });
        self.decoder.forward(cx, &states, windows)
    }
}
