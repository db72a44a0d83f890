//! LSTM: an encoder of gated cells with a memory beside their state, and a perceptron that decodes.
//!
//! Hochreiter and Schmidhuber 1997, "Long Short-Term Memory". How it forecasts:
//! [`recurrent`](crate::recurrent::shared::rnn_lstm_gru).

use foretell_nn::Cell;

use crate::hyper::hyper_parameters;
use crate::recurrent::shared::rnn_lstm_gru::{Config, of_cells};

hyper_parameters! {
    Lstm {
        ..shared: Config = Config::default(),
    }
}

of_cells!(Lstm, "LSTM", "Hochreiter and Schmidhuber 1997", Cell::Lstm);
