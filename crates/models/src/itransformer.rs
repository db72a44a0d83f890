//! iTransformer: a transformer whose tokens are series, each embedded with all of its steps.
//!
//! Liu, Hu, Zhang, Wu, Wang, Ma, Long 2023, "iTransformer: Inverted Transformers Are Effective for Time Series
//! Forecasting" (arXiv 2310.06625), figure 2. A future column of a series is a token, too.

use foretell_nn::{
    Activation, Dims, Forward, HyperParameterError, Inputs, InvertedEmbedding, Linear, Model, Needs, RevIn,
    RevInConfig, Scope, SeriesPerWindow, Table, TransformerEncoder, TransformerSizes, Var,
};
use serde_json::{Value, json};

use crate::hyper::hyper_parameters;
use crate::mixing::QUANTILES_OF_SERIES;
use crate::registry::{Architecture, Exogenous, multivariate_defaults};
use crate::rules::{self, MAX_LAYERS, MAX_UNITS};
use crate::transformers as checks;

hyper_parameters! {
    ITransformer {
        /// Numbers of a token.
        hidden_size: usize = 512 => rules::units,
        /// Heads of each attention.
        n_heads: usize = 8,
        /// Layers of the encoder.
        e_layers: usize = 2 => |count| rules::within(count, 0..=MAX_LAYERS),
        /// No effect; as in neuralforecast, whose model has no decoder.
        d_layers: usize = 1,
        /// Units of the perceptron in each layer; 0 for `4 * hidden_size`.
        d_ff: usize = 2048 => |size| rules::within(size, 0..=MAX_UNITS),
        /// No effect; as in neuralforecast, whose attention is full.
        factor: usize = 1,
        /// Dropout of embeddings, of attention and behind each part of a layer.
        dropout: f64 = 0.1 => rules::dropout,
        /// Whether each window's series are brought to mean 0 and variance 1, and the forecasts back.
        use_norm: bool = true,
    }
}

/// Tokens are `[windows, series + series * columns, hidden]`.
struct Network {
    dims: Dims,
    norm: Option<RevIn>,
    embedding: InvertedEmbedding,
    futr_embedding: Option<Linear>,
    encoder: TransformerEncoder,
    projector: Linear,
    layers: usize,
    sizes: TransformerSizes,
}

impl Architecture for ITransformer {
    const NAME: &'static str = "iTransformer";
    const PAPER: &'static str = "Liu et al. 2023, arXiv 2310.06625";
    const KIND: &'static str = "multivariate, direct";
    const EXOGENOUS: Exogenous = Exogenous { futr: true, ..Exogenous::NONE };
    const DIFFERENCES: &'static [&'static str] = &[QUANTILES_OF_SERIES, checks::BIAS_OF_KEYS];

    fn common_defaults() -> Value {
        multivariate_defaults()
    }

    fn small() -> Vec<Value> {
        vec![
            json!({ "hidden_size": 12, "n_heads": 2, "d_ff": 10 }),
            json!({ "hidden_size": 7, "n_heads": 3, "e_layers": 1, "d_ff": 0, "dropout": 0.0, "use_norm": false }),
        ]
    }

    fn needs(&self, _: &Dims) -> Needs {
        // A window has as many rows as series: with few windows a shard's products are large enough.
        Needs { series: SeriesPerWindow::All, shard_windows: 16, ..Needs::default() }
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        let sizes = TransformerSizes {
            hidden: self.hidden_size,
            heads: self.n_heads,
            units: if self.d_ff == 0 { self.hidden_size.saturating_mul(4) } else { self.d_ff },
            activation: Activation::Gelu,
            dropout: self.dropout as f32,
        };
        checks::heads("n_heads", &sizes)?;
        let &Dims { input_size, horizon, futr_exog, n_series, outputs, .. } = dims;
        let embedding =
            InvertedEmbedding::new(&mut scope.at("enc_embedding"), input_size, sizes.hidden, sizes.dropout);
        let futr_embedding = (futr_exog > 0)
            .then(|| Linear::new(&mut scope.at("futr_embedding"), input_size + horizon, sizes.hidden));
        let encoder = TransformerEncoder::new(&mut scope.at("encoder"), self.e_layers, sizes);
        let projector =
            Linear::new(&mut scope.at("projector"), sizes.hidden, horizon.saturating_mul(outputs));
        Ok(Box::new(Network {
            dims: *dims,
            norm: self.use_norm.then(|| RevIn::new(scope, n_series, RevInConfig::default())),
            embedding,
            futr_embedding,
            encoder,
            projector,
            layers: self.e_layers,
            sizes,
        }))
    }
}

impl Model for Network {
    fn forward(&self, cx: &Forward<'_>, inputs: &Inputs) -> Var {
        let Dims { input_size, horizon, outputs, n_series, .. } = self.dims;
        let rows = inputs.batch();
        let windows = rows / n_series;
        let normalised = self.norm.as_ref().map(|norm| (norm, norm.normalise(cx, &inputs.insample_y)));
        let y = match &normalised {
            Some((_, (y, _))) => y.clone(),
            None => Var::constant(inputs.insample_y.clone()),
        };
        let mut tokens = self.embedding.forward(cx, &y.reshape([windows, n_series, input_size]), None);
        if let Some((layer, columns)) = self.futr_embedding.as_ref().zip(inputs.futr_exog.as_ref()) {
            let &[_, steps, count] = &*columns.shape() else { unreachable!("[rows, time, columns]") };
            let columns = columns.permute(&[0, 2, 1]).reshape([windows, n_series * count, steps]);
            let columns = cx.dropout(layer.forward(cx, &columns, Activation::Identity), self.sizes.dropout);
            tokens = Var::concat(&[tokens, columns], 1);
        }
        let encoded = self.encoder.forward(cx, &tokens);
        let encoded = if encoded.shape()[1] > n_series { encoded.narrow(1, 0, n_series) } else { encoded };
        let y = self.projector.forward(cx, &encoded, Activation::Identity);
        let y = y.reshape([rows, horizon, outputs]);
        match &normalised {
            Some((norm, (_, scales))) => norm.denormalise(cx, &y, scales),
            None => y,
        }
    }

    fn kept_numbers(&self, _: &Table) -> usize {
        let Dims { horizon, outputs, n_series, futr_exog, .. } = self.dims;
        let token = self.sizes.kept_by_encoder_layer().saturating_mul(self.layers) + 3 * self.sizes.hidden;
        let tokens = n_series.saturating_mul(1 + futr_exog);
        token.saturating_mul(tokens).saturating_add(n_series * horizon * outputs)
    }
}
