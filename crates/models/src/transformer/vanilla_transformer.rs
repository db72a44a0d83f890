//! VanillaTransformer: an encoder of the history, and a decoder that makes the whole horizon at once.
//!
//! Vaswani, Shazeer, Parmar, Uszkoreit, Jones, Gomez, Kaiser, Polosukhin 2017, "Attention Is All You Need" (arXiv
//! 1706.03762), with the embedding and the one-step decoder of Zhou et al. 2021, "Informer" (arXiv 2012.07436): the decoder
//! sees the end of the history and zeros for the steps to forecast.

use foretell_nn::{Dims, HyperParameterError, Model, Needs, Scope};
use serde_json::{Value, json};

use crate::architecture::{Architecture, Exogenous, MIN_SHARD_IN_CACHE};
use crate::hyper::hyper_parameters;
use crate::transformer::shared::hyper_parameters::{BIAS_OF_KEYS, EncoderDecoder};

hyper_parameters! {
    VanillaTransformer {
        ..shared: EncoderDecoder = EncoderDecoder::default(),
    }
}

impl Architecture for VanillaTransformer {
    const NAME: &'static str = "VanillaTransformer";
    const PAPER: &'static str = "Vaswani et al. 2017, arXiv 1706.03762";
    const EXOGENOUS: Exogenous = Exogenous { futr: true, cat: true, ..Exogenous::NONE };
    const HIDDEN_UNITS: &'static [&'static str] = &["conv_hidden_size"];
    const DIFFERENCES: &'static [&'static str] = &[BIAS_OF_KEYS];

    fn common_defaults() -> Value {
        json!({ "max_steps": 5000, "learning_rate": 1e-4 })
    }

    fn small() -> Vec<Value> {
        EncoderDecoder::small()
    }

    fn needs(&self, _: &Dims) -> Needs {
        Needs { shard_windows: MIN_SHARD_IN_CACHE, ..Needs::default() }
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        Ok(Box::new(self.shared.network(dims, scope, None)?))
    }
}
