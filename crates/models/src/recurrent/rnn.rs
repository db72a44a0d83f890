//! RNN: an encoder of plain recurrent units, and a perceptron that decodes.
//!
//! Elman 1990, "Finding Structure in Time". How it forecasts: [`recurrent`](crate::recurrent::shared::rnn_lstm_gru).
//!
//! As in neuralforecast, which takes `encoder_activation` but never uses it, the units' activation is always tanh:
//! neuralforecast's checkpoints were trained with it.

use foretell_nn::{Activation, Cell, Dims, HyperParameterError, Model, Needs, Scope};
use serde_json::Value;

use crate::architecture::{Architecture, Exogenous};
use crate::hyper::hyper_parameters;
use crate::recurrent::shared::rnn_lstm_gru::Config;
use crate::rules;

hyper_parameters! {
    Rnn {
        /// "tanh" or "relu"; tanh in either case.
        encoder_activation: String = "tanh".to_owned() => |name| rules::one_of(name, &["tanh", "relu"]),
        ..shared: Config = Config::default(),
    }
}

impl Architecture for Rnn {
    const NAME: &'static str = "RNN";
    const PAPER: &'static str = "Elman 1990";
    const EXOGENOUS: Exogenous = Exogenous::ALL;

    fn common_defaults() -> Value {
        Config::common_defaults()
    }

    fn small() -> Vec<Value> {
        Config::small()
    }

    fn needs(&self, dims: &Dims) -> Needs {
        self.shared.needs(dims)
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        self.shared.build(Cell::Rnn(Activation::Tanh), dims, scope)
    }
}
