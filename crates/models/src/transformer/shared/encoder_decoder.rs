//! The network of VanillaTransformer and Informer: an encoder of the history, and a decoder that makes the whole horizon at once
//! from the end of the history and zeros.

use foretell_nn::{
    DataEmbedding, DataEmbeddingSizes, Dims, Distilling, Forward, HyperParameterError, Inputs, Model,
    Padding, Scope, Table, TransformerDecoder, TransformerEncoder, TransformerSizes, Var,
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
        let kept = self.saved_activations(&sizes, dims, seen, &encoder.steps_of_layers(dims.input_size));
        Ok(Network { dims: *dims, embeddings, encoder, decoder, kept, seen })
    }

    /// Numbers that a training step keeps of a window. The decoder sees the last `seen` steps of the history; `steps`
    /// are the steps that each layer of the encoder reads and, last, those that the decoder reads of it.
    fn saved_activations(
        &self,
        sizes: &TransformerSizes,
        dims: &Dims,
        seen: usize,
        steps: &[usize],
    ) -> usize {
        let &Dims { input_size, horizon, outputs, .. } = dims;
        let times = usize::saturating_mul;
        let embedded = times(sizes.hidden, 3);
        let mut encoder = times(embedded, input_size);
        for read in steps.windows(2) {
            encoder = encoder.saturating_add(times(sizes.kept_by_encoder_layer(), read[0]));
            if read[1] != read[0] {
                // Distilling: the convolution, its norm, and the steps that are left.
                let distilled = times(2, Distilling::convolved(read[0])).saturating_add(2 * read[1]);
                encoder = encoder.saturating_add(times(distilled, sizes.hidden));
            }
        }
        let encoded = steps.last().expect("the steps that are left");
        let decoder = times(sizes.kept_by_decoder_layer(), self.decoder_layers).saturating_add(embedded);
        // Keys and values from the encoder's result, for each layer of the decoder.
        let keys = times(times(sizes.hidden, 2), self.decoder_layers);
        let decoder = times(decoder, seen + horizon).saturating_add(times(keys, *encoded));
        encoder.saturating_add(decoder).saturating_add(horizon * outputs)
    }
}

/// Embeddings, encoder and decoder.
pub(crate) struct Network {
    dims: Dims,
    /// One of the encoder, one of the decoder.
    embeddings: [DataEmbedding; 2],
    encoder: TransformerEncoder,
    decoder: TransformerDecoder,
    /// Numbers that a training step keeps of a window.
    kept: usize,
    /// Steps of the history that the decoder sees.
    seen: usize,
}

impl Model for Network {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        let (Dims { input_size, horizon, .. }, seen) = (self.dims, self.seen);
        let [of_encoder, of_decoder] = &self.embeddings;
        let y = Var::constant(windows.insample_y.unsqueeze(2));
        let columns =
            |start, steps| windows.futr_exog.as_ref().map(|columns| columns.narrow(1, start, steps));
        let history = of_encoder.forward(cx, &y, columns(0, input_size).as_ref());
        let encoded = self.encoder.forward(cx, &history);
        let start = input_size - seen;
        let y = y.narrow(1, start, seen).pad(1, 0, horizon, Padding::Zeros);
        let steps = of_decoder.forward(cx, &y, columns(start, seen + horizon).as_ref());
        self.decoder.forward(cx, &steps, &encoded, horizon)
    }

    fn saved_activations(&self, _: &Table) -> usize {
        self.kept
    }
}
