//! Informer: a transformer in which only a few queries attend, and whose encoder halves the steps from layer to
//! layer.
//!
//! Zhou, Zhang, Peng, Zhang, Li, Xiong, Zhang 2021, "Informer: Beyond Efficient Transformer for Long Sequence Time-Series
//! Forecasting" (arXiv 2012.07436): ProbSparse attention (section 3.1, [`ProbSparse`](foretell_nn::ProbSparse)), distilling
//! (section 3.2, [`Distilling`](foretell_nn::Distilling)), and a decoder that makes the whole horizon at once (section 3.3).
//!
//! The keys by which ProbSparse attention chooses its queries are drawn: in training for each step and shard, in forecasts by
//! `random_seed` alone, so that a forecast is the same at every call and whatever windows are forecast beside it.

use foretell_nn::{Coupling, Dims, HyperParameterError, Model, Needs, Scope};
use serde_json::{Value, json};

use crate::architecture::{Architecture, Exogenous};
use crate::hyper::{hyper_parameters, require};
use crate::rules;
use crate::transformer::shared::encoder_decoder::Sparse;
use crate::transformer::shared::hyper_parameters::EncoderDecoder;

hyper_parameters! {
    Informer {
        /// Queries of n that attend, and keys of n that are sampled, in units of the logarithm of n.
        factor: usize = 3 => rules::units,
        /// Whether the encoder halves the steps between its layers.
        distil: bool = true,
        ..shared: EncoderDecoder = EncoderDecoder::default(),
    }
}

impl Architecture for Informer {
    const NAME: &'static str = "Informer";
    const PAPER: &'static str = "Zhou et al. 2021, arXiv 2012.07436";
    const EXOGENOUS: Exogenous = Exogenous { futr: true, cat: true, ..Exogenous::NONE };
    const HIDDEN_UNITS: &'static [&'static str] = &["conv_hidden_size"];
    const DIFFERENCES: &'static [&'static str] = &[
        "The keys that are sampled for a forecast follow from `random_seed`; in neuralforecast they are other ones in each \
         call, whose forecasts differ therefore.",
        "With `n_head=1` the queries that attend are those of the window alone; in neuralforecast they are those of all \
         windows of the batch.",
        "The biases of keys and of distilling convolutions, to which no gradient flows but rounding errors, stay as they \
         began; in neuralforecast rounding errors move them.",
    ];

    fn common_defaults() -> Value {
        json!({ "max_steps": 5000, "learning_rate": 1e-4 })
    }

    fn small() -> Vec<Value> {
        let mut all = EncoderDecoder::small();
        all[0]["factor"] = 1.into();
        all[1]["distil"] = false.into();
        all
    }

    fn needs(&self, _: &Dims) -> Needs {
        // Each step of a window is a row of the products, so few windows are enough for a shard.
        let coupling = if self.is_distilled() { Coupling::Coupled } else { Coupling::Independent };
        Needs { coupling, shard_windows: 16, ..Needs::default() }
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        let Self { factor, distil, shared } = self;
        let layers = shared.encoder_layers;
        require("encoder_layers", !distil || layers > 0, "above 0 with distil", json!(layers))?;
        Ok(Box::new(shared.network(dims, scope, Some(Sparse { factor, distil }))?))
    }
}

impl Informer {
    /// Whether there is a distilling layer, which normalises by the statistics of the batch.
    fn is_distilled(&self) -> bool {
        self.distil && self.shared.encoder_layers > 1
    }
}
