//! Common parts of RNN, LSTM and GRU: an encoder that reads the window step by step, and two ways of decoding.
//!
//! *Direct* (the default): the states of the last `h` steps of the history go through a perceptron each,
//! together with the future columns of the step that is forecast. So the forecast of step k comes from the
//! state k steps into the last `h` of the history, not from the last state; where `h` is longer than the
//! history, a linear layer over time stretches the states first.
//!
//! *Recurrent* (`recurrent`): a linear layer forecasts, from the state at each step, the next one; see
//! [`Decoding::StepByStep`].

use foretell_nn::{
    Activation, Cell, Decoding, Dims, Forward, HyperParameterError, Inputs, Linear, Mlp, MlpSizes, Model,
    Needs, Nonlinearity, Recurrent, RecurrentSizes, RecurrentState, Scope, StepMemory, StepState, Tensor,
    Var,
};
use serde_json::{Value, json};

use crate::hyper::hyper_parameters;
use crate::recurrent::shared::sampling::Sampling;
use crate::recurrent::shared::step_by_step::{Autoregressive, StepDecoder, step_inputs};
use crate::rules;

/// The scopes of the encoder's and the decoder's parameters.
const ENCODER: &str = "hist_encoder";
const DECODER: &str = "mlp_decoder";

hyper_parameters! {
    /// The hyper-parameters that the three have in common.
    Config {
        /// Steps of history that a recurrent model sees where it forecasts; those of training where there is no
        /// positive number.
        inference_input_size: Option<i64> = None => rules::inference_input_size,
        /// Steps of the horizon that a recurrent model trains on.
        h_train: usize = 1 => rules::units,
        /// Layers of the encoder.
        encoder_n_layers: usize = 2 => rules::layers,
        /// Hidden units of each of its layers.
        encoder_hidden_size: usize = 128 => rules::units,
        /// Whether its gates have biases.
        encoder_bias: bool = true,
        /// Dropout between its layers.
        encoder_dropout: f32 = 0.0 => rules::dropout,
        /// Deprecated in neuralforecast, and without effect.
        context_size: Option<i64> = None,
        /// Units of the hidden layers of the decoder.
        decoder_hidden_size: usize = 128 => rules::units,
        /// Layers of the decoder.
        decoder_layers: usize = 2 => rules::layers,
        /// The decoder's activation, by the name of PyTorch's module; ReLU where there is none.
        decoder_activation: Option<String> = None,
        /// Whether it forecasts step by step rather than directly.
        recurrent: bool = false,
        ..sampling: Sampling = Sampling::default(),
    }
}

/// Makes a model of these hyper-parameters, in a field `shared`, with an encoder of such cells.
macro_rules! of_cells {
    ($model:ident, $name:literal, $paper:literal, $cell:expr) => {
        impl $crate::architecture::Architecture for $model {
            const NAME: &'static str = $name;
            const PAPER: &'static str = $paper;
            const EXOGENOUS: $crate::architecture::Exogenous = $crate::architecture::Exogenous::ALL;

            fn common_defaults() -> ::serde_json::Value {
                Config::common_defaults()
            }

            fn small() -> Vec<::serde_json::Value> {
                Config::small()
            }

            fn needs(&self, dims: &::foretell_nn::Dims) -> ::foretell_nn::Needs {
                self.shared.needs(dims)
            }

            fn build(
                self,
                dims: &::foretell_nn::Dims,
                scope: &mut ::foretell_nn::Scope<'_>,
            ) -> Result<Box<dyn ::foretell_nn::Model>, ::foretell_nn::HyperParameterError> {
                self.shared.build($cell, dims, scope)
            }
        }
    };
}

pub(crate) use of_cells;

impl Config {
    /// The defaults with this number of hidden units.
    pub(crate) fn of_units(encoder_hidden_size: usize) -> Self {
        Self { encoder_hidden_size, ..Self::default() }
    }

    /// The defaults of hyper-parameters common to all models, where these models have others.
    pub(crate) fn common_defaults() -> Value {
        json!({ "windows_batch_size": 128, "scaler_type": "robust" })
    }

    /// Small sizes: direct, and step by step.
    pub(crate) fn small() -> Vec<Value> {
        let sizes = json!({ "encoder_hidden_size": 12, "decoder_hidden_size": 10, "encoder_dropout": 0.2 });
        let mut recurrent = sizes.clone();
        recurrent["recurrent"] = true.into();
        recurrent["h_train"] = 2.into();
        vec![sizes, recurrent]
    }

    /// The requirements of a model of these hyper-parameters on training and inference.
    pub(crate) fn needs(&self, dims: &Dims) -> Needs {
        if !self.recurrent {
            return Needs::default();
        }
        let inference = self.inference_input_size.and_then(|size| usize::try_from(size).ok());
        let inference_input_size = inference.filter(|&size| size > 0).unwrap_or(dims.input_size);
        Needs {
            decoding: Decoding::StepByStep {
                h_train: self.h_train,
                inference_input_size,
                feedback: self.sampling.feedback(),
            },
            ..Needs::default()
        }
    }

    /// Builds the model around an encoder of these cells.
    pub(crate) fn build(
        self,
        cell: Cell,
        dims: &Dims,
        scope: &mut Scope<'_>,
    ) -> Result<Box<dyn Model>, HyperParameterError> {
        self.sampling.check(dims, self.recurrent)?;
        let decoding = self.needs(dims).decoding;
        // An LSTM that forecasts step by step projects its states to the forecast.
        let projects = self.recurrent && cell == Cell::Lstm;
        if projects && dims.outputs >= self.encoder_hidden_size {
            let expected = format!("above {}, the outputs that its states are projected to", dims.outputs);
            return Err(HyperParameterError::new("encoder_hidden_size", expected, self.encoder_hidden_size));
        }
        let encoder = RecurrentSizes {
            cell,
            inputs: 1 + dims.hist_exog + dims.stat_exog + dims.futr_exog,
            hidden: self.encoder_hidden_size,
            layers: self.encoder_n_layers,
            bias: self.encoder_bias,
            dropout: self.encoder_dropout,
            projection: projects.then_some(dims.outputs),
        };
        let encoder = Recurrent::new(&mut scope.at(ENCODER), &encoder);
        if decoding.is_step_by_step() {
            let decoder = match projects {
                true => StepDecoder::Projected,
                false => {
                    let proj = &mut scope.at("proj");
                    StepDecoder::Linear(Linear::new(proj, self.encoder_hidden_size, dims.outputs))
                }
            };
            let input_size = dims.input_size;
            return Ok(Box::new(Autoregressive { encoder, step_inputs, decoder, input_size }));
        }
        let decoder = MlpSizes {
            inputs: self.encoder_hidden_size + dims.futr_exog,
            outputs: dims.outputs,
            hidden: self.decoder_hidden_size,
            layers: self.decoder_layers,
            dropout: 0.0,
        };
        let activation = self.decoder_activation.as_deref().unwrap_or("ReLU");
        let decoder = Mlp::new(&mut scope.at(DECODER), &decoder, activation).ok_or_else(|| {
            HyperParameterError::new("decoder_activation", Nonlinearity::NAMES, json!(activation))
        })?;
        let (steps, h) = (dims.input_size, dims.horizon);
        let stretch = (h > steps).then(|| Linear::new(&mut scope.at("upsample_sequence"), steps, h));
        Ok(Box::new(Direct { dims: *dims, encoder, stretch, decoder }))
    }
}

struct Direct {
    dims: Dims,
    encoder: Recurrent,
    /// A linear layer over time, where the horizon is longer than the history.
    stretch: Option<Linear>,
    decoder: Mlp,
}

/// The state of [`Direct`] after the steps that it has read.
#[derive(Default)]
struct DirectMemory {
    encoder: RecurrentState,
    /// The encoder's last states, which it forecasts from: `[steps, batch, units]`.
    last: Option<Tensor>,
}

impl StepMemory for DirectMemory {
    fn repeated(&self, row: usize, times: usize) -> Box<dyn StepMemory> {
        let encoder = self.encoder.iter().map(|state| state.repeated(row, times)).collect();
        let last = self.last.as_ref().map(|last| {
            let &[steps, _, units] = &*last.shape() else { unreachable!("states of steps") };
            last.narrow(1, row, 1).broadcast_to([steps, times, units]).contiguous()
        });
        Box::new(Self { encoder, last })
    }
}

impl Direct {
    /// The number of last states of the history that the forecast is decoded from.
    fn decoded(&self) -> usize {
        self.dims.horizon.min(self.dims.input_size)
    }

    /// The forecast from the last states of the history, `[steps, batch, units]`; `windows` hold the columns of the horizon behind
    /// their history.
    fn decode(&self, cx: &Forward<'_>, mut states: Var, windows: &Inputs) -> Var {
        if let Some(stretch) = &self.stretch {
            let by_unit = states.permute(&[1, 2, 0]);
            states = stretch.forward(cx, &by_unit, Activation::Identity).permute(&[2, 0, 1]);
        }
        if let Some(columns) = &windows.futr_exog {
            let ahead =
                columns.narrow(1, windows.insample_y.shape()[1], self.dims.horizon).permute(&[1, 0, 2]);
            states = Var::concat(&[&states, &ahead], 2);
        }
        self.decoder.forward(cx, &states).permute(&[1, 0, 2])
    }
}

impl Model for Direct {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        let states = self.encoder.forward(cx, &step_inputs(windows), self.decoded(), None);
        self.decode(cx, states, windows)
    }

    fn keeps_state(&self) -> bool {
        true
    }

    fn step(&self, cx: &Forward<'_>, windows: &Inputs, state: &mut StepState) -> Var {
        let DirectMemory { encoder, last } = state.get();
        let (inputs, decoded) = (step_inputs(windows), self.decoded());
        let steps = inputs.shape()[0].min(decoded);
        let new = self.encoder.forward(cx, &inputs, steps, Some(encoder)).value().clone();
        let states = match last.take() {
            Some(before) => Tensor::concat(&[&before.narrow(0, steps, decoded - steps), &new], 0),
            None => new,
        };
        let kept = states.shape()[0];
        assert!(
            kept == decoded,
            "the first windows have {kept} steps of the {decoded} that are forecast from"
        );
        *last = Some(states.clone());
        self.decode(cx, Var::constant(states), windows)
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use foretell_nn::{Feedback, Init, Key, Network, StepState, Table, Tensor, Windows};
    use serde_json::Map;

    use super::*;
    use crate::{CategoricalColumns, find};

    const DIMS: Dims = Dims {
        input_size: 5,
        horizon: 4,
        hist_exog: 1,
        futr_exog: 2,
        stat_exog: 3,
        outputs: 2,
        distribution: false,
        by_parameter: false,
        n_series: 1,
    };

    fn hyper_parameters(pairs: &[(&str, Value)]) -> Map<String, Value> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
    }

    fn build(
        model: &str,
        own: &Map<String, Value>,
        table: &mut Table,
    ) -> Result<Network, HyperParameterError> {
        find(model).expect("a registered model").build(own, &DIMS, &CategoricalColumns::default(), table)
    }

    fn windows(steps: usize) -> Windows {
        let random = |seed, shape: &[usize]| {
            Tensor::build(shape, |out| Init::Uniform { bound: 1.0 }.fill(Key::new(seed), out))
        };
        Windows {
            insample_y: random(1, &[2, steps]),
            insample_mask: Tensor::full([2, steps], 1.0),
            hist_exog: Some(random(2, &[2, steps, 1])),
            futr_exog: Some(random(3, &[2, steps, 2])),
            stat_exog: Some(random(4, &[2, 3])),
        }
    }

    #[test]
    fn step_by_step_is_the_whole_window() {
        for model in ["RNN", "LSTM", "GRU"] {
            let mut table = Table::default();
            let own = hyper_parameters(&[("recurrent", json!(true)), ("inference_input_size", json!(9))]);
            let network = build(model, &own, &mut table).expect("a model");
            let params = table.initialise(3);
            let cx = Forward::inference(&params);
            let whole = windows(DIMS.input_size + 3);
            let expected = network.model.forward(&cx, &whole.inputs()).value().to_vec();
            assert_eq!(expected.len(), 2 * 3 * DIMS.outputs, "{model}: three steps beyond input_size");

            let decoding =
                Decoding::StepByStep { h_train: 1, inference_input_size: 9, feedback: Feedback::Mean };
            assert_eq!(network.needs.decoding, decoding);
            let mut state = StepState::default();
            let first = DIMS.input_size + 1;
            let parts = [(0, first), (first, 1), (first + 1, 1)];
            let steps = parts.map(|(start, len)| {
                network.model.step(&cx, &whole.steps(start..start + len).inputs(), &mut state).value().clone()
            });
            let outputs = Tensor::concat(&[&steps[0], &steps[1], &steps[2]], 1).to_vec();
            for (output, expected) in outputs.iter().zip(&expected) {
                assert!((output - expected).abs() < 1e-6, "{model}: {output}, {expected}");
            }
        }
    }

    #[test]
    fn a_direct_forecast_continues_from_its_state() {
        for (model, horizon) in ["RNN", "LSTM", "GRU"].into_iter().flat_map(|model| [(model, 4), (model, 7)])
        {
            let mut table = Table::default();
            let dims = Dims { horizon, ..DIMS };
            let own = hyper_parameters(&[("encoder_hidden_size", json!(20))]);
            let entry = find(model).expect("a registered model");
            let network = entry.build(&own, &dims, &CategoricalColumns::default(), &mut table);
            let network = network.unwrap_or_else(|error| panic!("{error}"));
            let params = table.initialise(3);
            let cx = Forward::inference(&params);
            // Windows with the columns of a horizon behind them.
            let all = windows(DIMS.input_size + 4 + horizon);
            let part = |range: Range<usize>| {
                let ahead = all.steps(range.start..range.end + horizon);
                Windows { futr_exog: ahead.futr_exog, ..all.steps(range) }
            };
            let mut state = StepState::default();
            for (read, end) in [(0..5, 5), (5..6, 6), (6..8, 8), (8..9, 9)] {
                let output = network.model.step(&cx, &part(read).inputs(), &mut state);
                let whole = network.model.forward(&cx, &part(0..end).inputs());
                assert_eq!(output.shape(), whole.shape());
                let (output, whole) = (output.value().to_vec(), whole.value().to_vec());
                let far = output.iter().zip(&whole).find(|(a, b)| (**a - **b).abs() > 1e-6);
                assert!(far.is_none(), "{model} of horizon {horizon} at {end}: {far:?}");
            }
            // A row of it, three times.
            let next = part(8..9).rows(1..2).repeated(3);
            let three = network.model.step(&cx, &next.inputs(), &mut state.repeated(1, 3)).value().to_vec();
            let (first, others) = three.split_at(three.len() / 3);
            let is_first = |other: &[f32]| first.iter().zip(other).all(|(a, b)| (a - b).abs() < 1e-6);
            assert!(others.chunks(first.len()).all(is_first), "{model}: {three:?}");
        }
    }

    #[test]
    #[should_panic(expected = "the first windows have 3 steps of the 4 that are forecast from")]
    fn a_direct_forecast_needs_its_history() {
        let mut table = Table::default();
        let network = build("LSTM", &Map::new(), &mut table).expect("a model");
        let params = table.initialise(3);
        let short = windows(3);
        network.model.step(&Forward::inference(&params), &short.inputs(), &mut StepState::default());
    }

    #[test]
    fn refused_values_are_errors() {
        for (name, value, expected) in [
            ("encoder_n_layers", json!(0), "between 1 and 1000"),
            ("encoder_dropout", json!(1.0), "below 1"),
            ("decoder_activation", json!("GLU"), "ReLU, Softplus"),
        ] {
            for model in ["RNN", "LSTM", "GRU"] {
                let error =
                    build(model, &hyper_parameters(&[(name, value.clone())]), &mut Table::default()).err();
                let message = error.map(|error| error.to_string()).unwrap_or_default();
                assert!(message.contains(name) && message.contains(expected), "{model}: {message}");
            }
        }
        let own = hyper_parameters(&[("recurrent", json!(true)), ("encoder_hidden_size", json!(2))]);
        let error =
            build("LSTM", &own, &mut Table::default()).err().expect("an LSTM of 2 units for 2 outputs");
        assert!(error.to_string().contains("encoder_hidden_size must be above 2"), "{error}");
        assert!(build("GRU", &own, &mut Table::default()).is_ok());
    }
}
