//! The network of VanillaTransformer and Informer: an encoder of the history, and a decoder that makes the whole horizon at once
//! from the end of the history and zeros.

use foretell_nn::{
    DataEmbedding, DataEmbeddingSizes, Dims, Forward, HyperParameterError, Inputs, Model, Padding, Scope,
    TransformerDecoder, TransformerEncoder, Var,
};

use crate::transformer::shared::hyper_parameters::EncoderDecoder;

/// ProbSparse attention, and whether the encoder halves the steps between its layers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sparse {
    pub(crate) factor: usize,
    pub(crate) distil: bool,
}

impl EncoderDecoder {
    /// Registers the parameters of embeddings, encoder and decoder; `sparse` asks for ProbSparse instead of full
    /// attention.
    pub(crate) fn network(
        &self,
        dims: &Dims,
        scope: &mut Scope<'_>,
        sparse: Option<Sparse>,
    ) -> Result<Network, HyperParameterError> {
        let (sizes, seen) = self.check(dims)?;
        let embedding = DataEmbeddingSizes { inputs: 1, columns: dims.futr_exog, hidden: sizes.hidden };
        let embeddings = ["enc_embedding", "dec_embedding"]
            .map(|name| DataEmbedding::new(&mut scope.at(name), embedding, sizes.dropout));
        let (layers, outputs) = ([self.encoder_layers, self.decoder_layers], dims.outputs);
        let mut encoder = scope.at("encoder");
        let encoder = match sparse {
            Some(Sparse { factor, distil }) => {
                TransformerEncoder::prob_sparse(&mut encoder, layers[0], sizes, factor, distil)
            }
            None => TransformerEncoder::new(&mut encoder, layers[0], sizes),
        };
        let mut decoder = scope.at("decoder");
        let decoder = match sparse {
            Some(Sparse { factor, .. }) => {
                TransformerDecoder::prob_sparse(&mut decoder, layers[1], outputs, sizes, factor)
            }
            None => TransformerDecoder::new(&mut decoder, layers[1], outputs, sizes),
        };
        Ok(Network { dims: *dims, embeddings, encoder, decoder, seen })
    }
}

/// Embeddings, encoder and decoder.
pub(crate) struct Network {
    dims: Dims,
    /// One of the encoder, one of the decoder.
    embeddings: [DataEmbedding; 2],
    encoder: TransformerEncoder,
    decoder: TransformerDecoder,
    /// Steps of the history that the decoder sees.
    seen: usize,
}

impl Model for Network {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        let (Dims { input_size, horizon, .. }, seen) = (self.dims, self.seen);
        let [of_encoder, of_decoder] = &self.embeddings;
        let y = windows.insample_y.unsqueeze(2);
        let columns =
            |start, steps| windows.futr_exog.as_ref().map(|columns| columns.narrow(1, start, steps));
        let history = of_encoder.forward(cx, &y, columns(0, input_size).as_ref());
        let encoded = self.encoder.forward(cx, &history);
        let start = input_size - seen;
        let y = y.narrow(1, start, seen).pad(1, 0, horizon, Padding::Zeros);
        let steps = of_decoder.forward(cx, &y, columns(start, seen + horizon).as_ref());
        self.decoder.forward(cx, &steps, &encoded, horizon)
    }
}
