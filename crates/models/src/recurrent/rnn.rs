//! RNN: an encoder of plain recurrent units, and a perceptron that decodes.
//!
//! Elman 1990, "Finding Structure in Time". How it forecasts: [`recurrent`](crate::recurrent::shared::rnn_lstm_gru).
//!
//! As in neuralforecast, which takes `encoder_activation` but never uses it, the units' activation is always tanh:
//! neuralforecast's checkpoints were trained with it.

use foretell_nn::{Activation, Cell};

use crate::hyper::hyper_parameters;
use crate::recurrent::shared::rnn_lstm_gru::{Config, of_cells};
use crate::rules;

hyper_parameters! {
    Rnn {
        /// "tanh" or "relu"; tanh in either case.
        encoder_activation: String = "tanh".to_owned() => |name| rules::one_of(name, &["tanh", "relu"]),
        ..shared: Config = Config::default(),
    }
}

of_cells!(Rnn, "RNN", "Elman 1990", Cell::Rnn(Activation::Tanh));
