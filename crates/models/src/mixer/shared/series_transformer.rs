//! Common parts of iTransformer and TimeXer: transformers that read whole series as tokens.

use foretell_nn::{
    Activation, HyperParameterError, Needs, RevIn, RevInConfig, Scope, SeriesPerWindow, TransformerSizes,
};

use crate::hyper::hyper_parameters;
use crate::rules::{self, MAX_LAYERS, MAX_UNITS};
use crate::transformer::shared::hyper_parameters::{heads, units_or_fourfold};

hyper_parameters! {
    SeriesTransformer {
        /// Numbers of a token.
        hidden_size: usize = 512 => rules::units,
        /// Heads of each attention.
        n_heads: usize = 8,
        /// Layers of the encoder.
        e_layers: usize = 2 => |count| rules::within(count, 0..=MAX_LAYERS),
        /// Units of the perceptron in each layer; 0 for `4 * hidden_size`.
        d_ff: usize = 2048 => |size| rules::within(size, 0..=MAX_UNITS),
        /// No effect; as in neuralforecast, whose attention is full.
        factor: usize = 1,
        /// Dropout of embeddings, of attention and behind each part of a layer; of TimeXer also of the forecast.
        dropout: f64 = 0.1 => rules::dropout,
        /// Whether each window's series are brought to mean 0 and variance 1, and the forecasts back.
        use_norm: bool = true,
    }
}

impl SeriesTransformer {
    /// Each token of a window is a row of the products, so fewer windows than usual are enough for a shard. Two shards of 16
    /// would read all weights twice and keep two arenas of gradients: 32 windows as one shard take a fifth (iTransformer) to
    /// a third (TimeXer) less memory, in 1 % less and 2 % more time.
    pub(crate) fn needs() -> Needs {
        Needs { series: SeriesPerWindow::All, shard_windows: 32, ..Needs::default() }
    }

    /// The sizes of a layer whose perceptron has this activation.
    ///
    /// # Errors
    /// If there are no heads, or more heads than `hidden_size`.
    pub(crate) fn sizes(&self, activation: Activation) -> Result<TransformerSizes, HyperParameterError> {
        let sizes = TransformerSizes {
            hidden: self.hidden_size,
            heads: self.n_heads,
            units: units_or_fourfold(self.d_ff, self.hidden_size),
            activation,
            dropout: self.dropout as f32,
        };
        heads("n_heads", &sizes)?;
        Ok(sizes)
    }

    /// The normalisation of windows of `n_series` series, if there is to be one.
    pub(crate) fn norm(&self, scope: &mut Scope<'_>, n_series: usize) -> Option<RevIn> {
        self.use_norm.then(|| RevIn::new(scope, n_series, RevInConfig::default()))
    }
}
