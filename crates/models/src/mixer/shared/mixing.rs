//! The hyper-parameters that TSMixer and TSMixerx have in common.

use foretell_nn::{RevIn, RevInConfig, Scope};
use serde_json::{Value, json};

use crate::hyper::hyper_parameters;
use crate::rules::{self, MAX_LAYERS};

hyper_parameters! {
    Mixing {
        /// Mixing layers on top of each other.
        n_block: usize = 2 => |count| rules::within(count, 0..=MAX_LAYERS),
        /// Hidden units where features are mixed.
        ff_dim: usize = 64 => rules::units,
        /// Dropout behind each linear layer of a mixing layer.
        dropout: f64 = 0.0 => rules::dropout,
        /// Whether each window's series are brought to mean 0 and variance 1, and the forecasts back.
        revin: bool = true,
    }
}

impl Mixing {
    /// Small sizes, with dropout and without.
    pub(crate) fn small() -> Vec<Value> {
        vec![
            json!({ "ff_dim": 8, "dropout": 0.2 }),
            json!({ "n_block": 1, "ff_dim": 6, "dropout": 0.0, "revin": false }),
        ]
    }

    /// The normalisation of windows of `n_series` series, if there is to be one.
    pub(crate) fn norm(&self, scope: &mut Scope<'_>, n_series: usize) -> Option<RevIn> {
        let config = RevInConfig { affine: true, ..RevInConfig::default() };
        self.revin.then(|| RevIn::multivariate(&mut scope.at("norm"), n_series, config))
    }
}
