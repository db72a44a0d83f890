//! LSTM: an encoder of gated cells with a memory beside their state, and a perceptron that decodes.
//!
//! Hochreiter and Schmidhuber 1997, "Long Short-Term Memory". How it forecasts:
//! [`recurrent`](crate::recurrent::shared::rnn_lstm_gru).

use foretell_nn::{Cell, Dims, HyperParameterError, Model, Needs, Scope};
use serde_json::Value;

use crate::architecture::{Architecture, Exogenous};
use crate::hyper::hyper_parameters;
use crate::recurrent::shared::rnn_lstm_gru::Config;

hyper_parameters! {
    Lstm {
        ..shared: Config = Config::default(),
    }
}

impl Architecture for Lstm {
    const NAME: &'static str = "LSTM";
    const PAPER: &'static str = "Hochreiter and Schmidhuber 1997";
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
        self.shared.build(Cell::Lstm, dims, scope)
    }
}
