//! GRU: an encoder of gated units, and a perceptron that decodes.
//!
//! Cho, van Merriënboer, Bahdanau, Bengio 2014, "On the Properties of Neural Machine Translation"
//! (arXiv 1409.1259); Chung et al. 2014 (arXiv 1412.3555). How it forecasts:
//! [`recurrent`](crate::recurrent::shared::rnn_lstm_gru).

use foretell_nn::{Cell, Dims, HyperParameterError, Model, Needs, Scope};
use serde_json::Value;

use crate::architecture::{Architecture, Exogenous};
use crate::hyper::hyper_parameters;
use crate::recurrent::shared::rnn_lstm_gru::Config;

hyper_parameters! {
    Gru {
        /// Deprecated in neuralforecast, and without effect: the candidate goes through tanh.
        encoder_activation: Option<String> = None,
        ..shared: Config = Config::of_units(200),
    }
}

impl Architecture for Gru {
    const NAME: &'static str = "GRU";
    const PAPER: &'static str = "Cho et al. 2014, arXiv 1409.1259; Chung et al. 2014, arXiv 1412.3555";
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
        self.shared.build(Cell::Gru, dims, scope)
    }
}
