//! RNN: an encoder of plain recurrent units, and a perceptron that decodes.
//!
//! Elman 1990, "Finding Structure in Time". How it forecasts: [`recurrent`](crate::recurrent).
//!
//! As in neuralforecast, which takes `encoder_activation` but never uses it, the units' activation is tanh
//! whatever it says: its checkpoints were trained so.

use foretell_nn::{Activation, Cell, Dims, Model, Scope};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::hyper::Hyper;
use crate::recurrent::Config;
use crate::registry::{Architecture, ConfigError, Exogenous};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Rnn {
    /// `"tanh"` or `"relu"`; tanh in either case.
    encoder_activation: String,
    #[serde(flatten)]
    shared: Config,
}

impl Default for Rnn {
    fn default() -> Self {
        Self { encoder_activation: "tanh".to_owned(), shared: Config::default() }
    }
}

impl Hyper for Rnn {
    const MEANINGS: &'static [(&'static str, &'static str)] = {
        const SHARED: usize = Config::MEANINGS.len();
        &{
            let mut all = [("encoder_activation", "\"tanh\" or \"relu\"; tanh in either case."); SHARED + 1];
            let (_, shared) = all.split_at_mut(1);
            shared.copy_from_slice(Config::MEANINGS);
            all
        }
    };
}

impl Architecture for Rnn {
    const NAME: &'static str = "RNN";
    const PAPER: &'static str = "Elman 1990";
    const EXOGENOUS: Exogenous = Exogenous::ALL;

    fn common_defaults() -> Value {
        Config::common_defaults()
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, ConfigError> {
        if !["tanh", "relu"].contains(&self.encoder_activation.as_str()) {
            return Err(ConfigError {
                model: Self::NAME,
                name: "encoder_activation".to_owned(),
                expected: "\"tanh\" or \"relu\"".to_owned(),
                found: json!(self.encoder_activation).to_string(),
            });
        }
        self.shared.build(Self::NAME, Cell::Rnn(Activation::Tanh), dims, scope)
    }
}
