//! Autoformer: a transformer with auto-correlation in place of attention: it reads the values at the delays at which
//! queries and keys correlate most.
//!
//! Wu, Xu, Wang, Long 2021, "Autoformer: Decomposition Transformers with Auto-Correlation for Long-Term Series
//! Forecasting" (arXiv 2106.13008). The encoder and the decoder are in
//! [`decomposed_transformer`](crate::transformer::shared::decomposed_transformer).
//!
//! In training the delays are chosen by the correlation averaged over the batch, so its windows depend on each other;
//! a forecast depends on its own window alone.

use std::sync::Arc;

use foretell_nn::{
    AutoCorrelation, AutoCorrelationSizes, Coupling, Dims, Forward, HyperParameterError, Model, Needs, Scope,
    TransformerSizes, Var,
};
use serde_json::{Value, json};

use crate::architecture::{Architecture, Exogenous};
use crate::hyper::hyper_parameters;
use crate::transformer::shared::decomposed_transformer::{
    Attention, BIASES, BuildAttention, DecomposedSizes,
};

hyper_parameters! {
    Autoformer {
        /// Delays that are taken of n steps, in units of ln(n).
        factor: usize = 3,
        ..sizes: DecomposedSizes = DecomposedSizes::default(),
    }
}

impl Attention for AutoCorrelation {
    fn forward(&self, cx: &Forward<'_>, queries: &Var, source: &Var) -> Var {
        self.forward(cx, queries, source)
    }
}

impl Architecture for Autoformer {
    const NAME: &'static str = "Autoformer";
    const PAPER: &'static str = "Wu et al. 2021, arXiv 2106.13008";
    const EXOGENOUS: Exogenous = Exogenous { futr: true, cat: true, ..Exogenous::NONE };
    const HIDDEN_UNITS: &'static [&'static str] = &["conv_hidden_size"];
    const DIFFERENCES: &'static [&'static str] = &[BIASES];

    fn common_defaults() -> Value {
        json!({ "learning_rate": 1e-4, "max_steps": 5000 })
    }

    fn small() -> Vec<Value> {
        vec![
            json!({ "hidden_size": 12, "conv_hidden_size": 6, "MovingAvg_window": 5, "dropout": 0.2 }),
            json!({
                "hidden_size": 8, "n_head": 3, "encoder_layers": 1, "decoder_layers": 2, "factor": 1,
                "MovingAvg_window": 3, "activation": "relu", "dropout": 0.0, "decoder_input_size_multiplier": 0.7,
            }),
        ]
    }

    fn needs(&self, _: &Dims) -> Needs {
        Needs { coupling: Coupling::Coupled, ..Needs::default() }
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        let Self { factor, sizes } = self;
        let layer_sizes = sizes.shared.sizes(dims)?;
        let ahead = sizes.shared.label_len(dims) + dims.horizon;
        for steps in [dims.input_size, ahead] {
            let [count, all] = AutoCorrelation::delays(factor, steps);
            if !(1..=all).contains(&count) {
                let expected = format!(
                    "such that factor * ln({steps}) is between 1 and {all}, the delays of {steps} steps"
                );
                return Err(HyperParameterError::new("factor", expected, factor));
            }
        }
        let TransformerSizes { hidden, heads, .. } = layer_sizes;
        let width = hidden / heads * heads;
        // The encoder subtracts moving averages and drops them, and with them any constant over time.
        let layer = |padded: bool, constants: bool| {
            let sizes = AutoCorrelationSizes { hidden, width, factor, padded, constants };
            move |scope: &mut Scope<'_>| Arc::new(AutoCorrelation::new(scope, sizes)) as Arc<dyn Attention>
        };
        let padded = ahead > dims.input_size;
        let (mut of_encoder, mut of_decoder, mut across) =
            (layer(false, false), layer(false, true), layer(padded, true));
        let attentions: [BuildAttention<'_>; 3] = [&mut of_encoder, &mut of_decoder, &mut across];
        Ok(Box::new(sizes.network(layer_sizes, dims, scope, attentions)))
    }
}
