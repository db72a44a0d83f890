//! DilatedRNN: Chang et al. 2017, "Dilated recurrent neural networks".
//!
//! Each recurrent layer continues from the state `rate` steps ago instead of the last one: it reads `rate`
//! interleaved sequences at once. Layers come in groups; a group after the first adds its input to its output. Since
//! the layout is time-major, the interleaved sequences are the history itself under another shape,
//! `[steps / rate, rate * batch, columns]`, and nothing is moved. A history that the rate does not divide is padded
//! with zeros, and the states of the padding are cut off.

use foretell_nn::{
    Activation, AttentiveLstm, Cell, Dims, Forward, HyperParameterError, Inputs, Model, Needs, Padding,
    Recurrent, RecurrentSizes, ResLstm, Scope, Var,
};
use serde_json::{Value, json};

use crate::architecture::{Architecture, Exogenous, MIN_SHARD_LITTLE_MEMORY};
use crate::hyper::hyper_parameters;
use crate::recurrent::shared::context_decoder::{Config, ContextDecoder};
use crate::recurrent::shared::step_by_step::step_inputs;
use crate::rules::{self, MAX_LAYERS, MAX_UNITS};

hyper_parameters! {
    DilatedRnn {
        /// The cell of each layer: RNN, GRU, LSTM, ResLSTM or AttentiveLSTM.
        cell_type: String = "LSTM".to_owned(),
        /// The dilations of the layers, a list for each group: how many steps back the state is that a step continues from.
        dilations: Vec<Vec<usize>> = vec![vec![1, 2], vec![4, 8]] => |dilations| {
            let rates = || dilations.iter().flatten();
            let groups = !dilations.is_empty() && dilations.iter().all(|group| !group.is_empty());
            let steps = rates().all(|rate| (1..=MAX_UNITS).contains(rate));
            let expected = format!(
                "a list of lists, none of them empty, of up to {MAX_LAYERS} numbers between 1 and {MAX_UNITS}"
            );
            rules::require(groups && steps && rates().count() <= MAX_LAYERS, expected)
        },
        /// Hidden units of each layer.
        encoder_hidden_size: usize = 128 => rules::units,
        ..shared: Config = Config::default(),
    }
}

/// The names of the cells.
const CELLS: &str = "RNN, GRU, LSTM, ResLSTM or AttentiveLSTM";

/// One layer of any kind.
enum Layer {
    Plain(Recurrent),
    Residual(ResLstm),
    Attentive(AttentiveLstm),
}

struct Network {
    /// Layers with their rates, group by group.
    groups: Vec<Vec<(Layer, usize)>>,
    decoder: ContextDecoder,
}

impl Architecture for DilatedRnn {
    const NAME: &'static str = "DilatedRNN";
    const PAPER: &'static str = "Chang et al. 2017, arXiv:1710.02224";
    const EXOGENOUS: Exogenous = Exogenous::ALL;
    const DIFFERENCES: &'static [&'static str] =
        &["`cell_type=\"AttentiveLSTM\"` trains and forecasts; in neuralforecast it is a TypeError."];

    fn common_defaults() -> Value {
        json!({ "windows_batch_size": 128, "scaler_type": "robust", "num_lr_decays": 3 })
    }

    /// Without AttentiveLSTM, and without ResLSTM of as many inputs as units: they have parameters without effect, as
    /// in neuralforecast, where the conformance tests want a gradient for each.
    fn small() -> Vec<Value> {
        let sizes = |cell: &str, dilations: Value| {
            json!({
                "cell_type": cell,
                "dilations": dilations,
                "encoder_hidden_size": 9,
                "decoder_hidden_size": 10,
            })
        };
        vec![sizes("LSTM", json!([[1, 2], [4]])), sizes("GRU", json!([[3]])), sizes("ResLSTM", json!([[2]]))]
    }

    fn needs(&self, _: &Dims) -> Needs {
        Needs { shard_windows: MIN_SHARD_LITTLE_MEMORY, ..Needs::default() }
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        let units = self.encoder_hidden_size;
        let mut inputs = 1 + dims.hist_exog + dims.stat_exog + dims.futr_exog;
        let mut groups = Vec::new();
        for (g, rates) in self.dilations.iter().enumerate() {
            let mut scope = scope.at(format_args!("rnn_stack.{g}.cells"));
            let mut layers = Vec::new();
            for (i, &rate) in rates.iter().enumerate() {
                let layer = Layer::new(&mut scope.at(i), &self.cell_type, inputs, units)
                    .ok_or_else(|| HyperParameterError::new("cell_type", CELLS, json!(self.cell_type)))?;
                layers.push((layer, rate));
                inputs = units;
            }
            groups.push(layers);
        }
        let decoder = self.shared.build(units, dims, scope)?;
        Ok(Box::new(Network { groups, decoder }))
    }
}

impl Layer {
    /// Registers a layer of this kind of cell, if there is one.
    fn new(scope: &mut Scope<'_>, cell_type: &str, inputs: usize, units: usize) -> Option<Self> {
        let cell = match cell_type {
            "RNN" => Cell::Rnn(Activation::Tanh),
            "GRU" => Cell::Gru,
            "LSTM" => Cell::Lstm,
            "ResLSTM" => return Some(Self::Residual(ResLstm::new(scope, inputs, units))),
            "AttentiveLSTM" => return Some(Self::Attentive(AttentiveLstm::new(scope, inputs, units))),
            _ => return None,
        };
        let sizes = RecurrentSizes {
            cell,
            inputs,
            hidden: units,
            layers: 1,
            bias: true,
            dropout: 0.0,
            projection: None,
        };
        Some(Self::Plain(Recurrent::new(scope, &sizes)))
    }

    /// The states of all steps, `[steps, batch, units]`, of `x [steps, batch, columns]`.
    fn forward(&self, cx: &Forward<'_>, x: &Var) -> Var {
        match self {
            Self::Plain(layer) => layer.forward(cx, x, x.shape()[0], None),
            Self::Residual(layer) => layer.forward(cx, x),
            Self::Attentive(layer) => layer.forward(cx, x),
        }
    }

    /// [`Layer::forward`], but each step continues from the state `rate` steps ago.
    fn dilated(&self, cx: &Forward<'_>, x: &Var, rate: usize) -> Var {
        let &[steps, batch, columns] = &*x.shape() else { unreachable!("[steps, batch, columns]") };
        let long = steps.next_multiple_of(rate);
        let x = if long > steps { x.pad(0, 0, long - steps, Padding::Zeros) } else { x.clone() };
        let states = self.forward(cx, &x.reshape([long / rate, rate * batch, columns]));
        let states = states.reshape([long, batch, states.shape()[2]]);
        if long > steps { states.narrow(0, 0, steps) } else { states }
    }
}

impl Model for Network {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        let mut x = step_inputs(windows);
        for (g, layers) in self.groups.iter().enumerate() {
            let input = x.clone();
            x = layers.iter().fold(x, |x, (layer, rate)| layer.dilated(cx, &x, *rate));
            if g > 0 {
                x = x.add(&input);
            }
        }
        self.decoder.forward(cx, &x, windows)
    }
}
