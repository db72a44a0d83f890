//! GRU: an encoder of gated units, and a perceptron that decodes.
//!
//! Cho, van Merriënboer, Bahdanau, Bengio 2014, "On the Properties of Neural Machine Translation"
//! (arXiv 1409.1259); Chung et al. 2014 (arXiv 1412.3555). How it forecasts:
//! [`recurrent`](crate::recurrent::shared::rnn_lstm_gru).

use foretell_nn::Cell;

use crate::hyper::hyper_parameters;
use crate::recurrent::shared::rnn_lstm_gru::{Config, of_cells};

hyper_parameters! {
    Gru {
        /// Deprecated in neuralforecast, and without effect: the candidate goes through tanh.
        encoder_activation: Option<String> = None,
        ..shared: Config = Config::of_units(200),
    }
}

of_cells!(Gru, "GRU", "Cho et al. 2014, arXiv 1409.1259; Chung et al. 2014, arXiv 1412.3555", Cell::Gru);
