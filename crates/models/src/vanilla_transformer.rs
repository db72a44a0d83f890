//! VanillaTransformer: an encoder of the history, and a decoder that makes the whole horizon at once.
//!
//! Vaswani, Shazeer, Parmar, Uszkoreit, Jones, Gomez, Kaiser, Polosukhin 2017, "Attention Is All You Need" (arXiv
//! 1706.03762), with the embedding and the one-step decoder of Zhou et al. 2021, "Informer" (arXiv 2012.07436): the decoder
//! sees the end of the history and zeros for the steps to forecast.

use foretell_nn::{
    DataEmbedding, DataEmbeddingSizes, Dims, Forward, HyperParameterError, Inputs, Model, Needs, Padding,
    Scope, Table, TransformerDecoder, TransformerEncoder, Var,
};
use serde_json::{Value, json};

use crate::hyper::hyper_parameters;
use crate::registry::{Architecture, Exogenous};
use crate::transformers::{self as checks, EncoderDecoder};

hyper_parameters! {
    VanillaTransformer {
        ..shared: EncoderDecoder = EncoderDecoder::default(),
    }
}

struct Network {
    dims: Dims,
    encoder_embedding: DataEmbedding,
    decoder_embedding: DataEmbedding,
    encoder: TransformerEncoder,
    decoder: TransformerDecoder,
    /// Numbers that a training step keeps of a window.
    kept: usize,
    /// Steps of the history that the decoder sees.
    label_len: usize,
}

impl Architecture for VanillaTransformer {
    const NAME: &'static str = "VanillaTransformer";
    const PAPER: &'static str = "Vaswani et al. 2017, arXiv 1706.03762";
    const EXOGENOUS: Exogenous = Exogenous { futr: true, cat: true, ..Exogenous::NONE };
    const DIFFERENCES: &'static [&'static str] = &[checks::BIAS_OF_KEYS];

    fn common_defaults() -> Value {
        json!({ "max_steps": 5000, "learning_rate": 1e-4 })
    }

    fn small() -> Vec<Value> {
        EncoderDecoder::small()
    }

    fn needs(&self, _: &Dims) -> Needs {
        // A window is many rows: its steps.
        Needs { shard_windows: 16, ..Needs::default() }
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        let Self { shared } = self;
        let (sizes, label_len) = shared.check(dims)?;
        let embedding = DataEmbeddingSizes { inputs: 1, columns: dims.futr_exog, hidden: sizes.hidden };
        let encoder_embedding = DataEmbedding::new(&mut scope.at("enc_embedding"), embedding, sizes.dropout);
        let decoder_embedding = DataEmbedding::new(&mut scope.at("dec_embedding"), embedding, sizes.dropout);
        let encoder = TransformerEncoder::new(&mut scope.at("encoder"), shared.encoder_layers, sizes);
        let decoder =
            TransformerDecoder::new(&mut scope.at("decoder"), shared.decoder_layers, dims.outputs, sizes);
        Ok(Box::new(Network {
            dims: *dims,
            encoder_embedding,
            decoder_embedding,
            encoder,
            decoder,
            kept: shared.kept_numbers(&sizes, dims, label_len),
            label_len,
        }))
    }
}

impl Model for Network {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        let (Dims { input_size, horizon, .. }, seen) = (self.dims, self.label_len);
        let y = Var::constant(windows.insample_y.unsqueeze(2));
        let columns =
            |start, steps| windows.futr_exog.as_ref().map(|columns| columns.narrow(1, start, steps));
        let history = self.encoder_embedding.forward(cx, &y, columns(0, input_size).as_ref());
        let encoded = self.encoder.forward(cx, &history);
        let start = input_size - seen;
        let y = y.narrow(1, start, seen).pad(1, 0, horizon, Padding::Zeros);
        let steps = self.decoder_embedding.forward(cx, &y, columns(start, seen + horizon).as_ref());
        self.decoder.forward(cx, &steps, &encoded, horizon)
    }

    fn kept_numbers(&self, _: &Table) -> usize {
        self.kept
    }
}
