//! iTransformer: a transformer whose tokens are series, each embedded with all of its steps.
//!
//! Liu, Hu, Zhang, Wu, Wang, Ma, Long 2023, "iTransformer: Inverted Transformers Are Effective for Time Series
//! Forecasting" (arXiv 2310.06625), figure 2. A future column of a series is a token, too.

use foretell_nn::{
    Activation, Dims, Forward, HyperParameterError, Inputs, InvertedEmbedding, Linear, Model, Needs, RevIn,
    Scope, TransformerEncoder, Var,
};
use serde_json::{Value, json};

use crate::architecture::{Architecture, Exogenous};
use crate::hyper::hyper_parameters;
use crate::mixer::shared::multivariate::{QUANTILES_OF_SERIES, multivariate_defaults};
use crate::mixer::shared::series_transformer::SeriesTransformer;
use crate::normalised::forecast_normalised;
use crate::transformer::shared::hyper_parameters::BIAS_OF_KEYS;

hyper_parameters! {
    ITransformer {
        /// No effect; as in neuralforecast, whose model has no decoder.
        d_layers: usize = 1,
        ..shared: SeriesTransformer = SeriesTransformer::default(),
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
    dropout: f32,
}

impl Architecture for ITransformer {
    const NAME: &'static str = "iTransformer";
    const PAPER: &'static str = "Liu et al. 2023, arXiv 2310.06625";
    const KIND: &'static str = "multivariate, direct";
    const EXOGENOUS: Exogenous = Exogenous { futr: true, ..Exogenous::NONE };
    const HIDDEN_UNITS: &'static [&'static str] = &["d_ff"];
    const DIFFERENCES: &'static [&'static str] = &[QUANTILES_OF_SERIES, BIAS_OF_KEYS];

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
        SeriesTransformer::needs()
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        let Self { shared, .. } = self;
        let sizes = shared.sizes(Activation::Gelu)?;
        let &Dims { input_size, horizon, futr_exog, n_series, outputs, .. } = dims;
        let embedding =
            InvertedEmbedding::new(&mut scope.at("enc_embedding"), input_size, sizes.hidden, sizes.dropout);
        let futr_embedding = (futr_exog > 0)
            .then(|| Linear::new(&mut scope.at("futr_embedding"), input_size + horizon, sizes.hidden));
        let encoder = TransformerEncoder::new(&mut scope.at("encoder"), shared.e_layers, sizes);
        let projector =
            Linear::new(&mut scope.at("projector"), sizes.hidden, horizon.saturating_mul(outputs));
        Ok(Box::new(Network {
            dims: *dims,
            norm: shared.norm(scope, n_series),
            embedding,
            futr_embedding,
            encoder,
            projector,
            dropout: sizes.dropout,
        }))
    }
}

impl Model for Network {
    fn forward(&self, cx: &Forward<'_>, inputs: &Inputs) -> Var {
        let Dims { input_size, horizon, outputs, n_series, .. } = self.dims;
        let rows = inputs.batch();
        let windows = rows / n_series;
        forecast_normalised(self.norm.as_ref(), cx, &inputs.insample_y, |y| {
            let mut tokens = self.embedding.forward(cx, &y.reshape([windows, n_series, input_size]), None);
            if let Some((layer, columns)) = self.futr_embedding.as_ref().zip(inputs.futr_exog.as_ref()) {
                let &[_, steps, count] = &*columns.shape() else { unreachable!("[rows, time, columns]") };
                let columns = columns.permute(&[0, 2, 1]).reshape([windows, n_series * count, steps]);
                let columns = cx.dropout(layer.forward(cx, &columns, Activation::Identity), self.dropout);
                tokens = Var::concat(&[tokens, columns], 1);
            }
            let encoded = self.encoder.forward(cx, &tokens);
            let encoded =
                if encoded.shape()[1] > n_series { encoded.narrow(1, 0, n_series) } else { encoded };
            let y = self.projector.forward(cx, &encoded, Activation::Identity);
            y.reshape([rows, horizon, outputs])
        })
    }
}
