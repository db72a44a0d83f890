//! FEDformer: attention among a few frequencies.
//!
//! Zhou, Ma, Wen, Wang, Sun, Jin 2022, "FEDformer: Frequency Enhanced Decomposed Transformer for Long-term Series
//! Forecasting" (arXiv 2201.12740), its version with Fourier transforms.
//! The encoder and the decoder are in [`decomposed_transformer`](crate::transformer::shared::decomposed_transformer).
//!
//! The frequencies are chosen when the model is built, by numpy's generator as neuralforecast seeds it with `random_seed`.
//! A checkpoint stores the seed and not the frequencies, so they are chosen here in the same way.

use std::sync::Arc;

use foretell_nn::{
    Dims, Forward, FourierBlock, FourierCrossAttention, FourierSizes, HyperParameterError, Model, Needs,
    ParamId, Scope, TransformerSizes, Var,
};
use serde_json::{Value, json};

use crate::architecture::{Architecture, Exogenous, MIN_SHARD_IN_CACHE};
use crate::hyper::hyper_parameters;
use crate::rules;
use crate::transformer::shared::decomposed_transformer::{Attention, BIASES, DecomposedSizes};
use crate::transformer::shared::hyper_parameters::EncoderDecoder;
use crate::transformer::shared::numpy_shuffle::LegacyShuffle;

hyper_parameters! {
    Fedformer {
        /// "Fourier", the one version there is.
        version: String = "Fourier".to_owned() => |name| rules::require(name == "Fourier", "\"Fourier\""),
        /// Frequencies that an attention sees, at most; there are half as many as steps.
        modes: usize = 64 => rules::units,
        /// "random" for frequencies chosen at random by random_seed; anything else for the lowest.
        mode_select: String = "random".to_owned(),
        ..sizes: DecomposedSizes = DecomposedSizes {
            shared: EncoderDecoder { n_head: HEADS, ..EncoderDecoder::default() },
            ..DecomposedSizes::default()
        },
    }
}

/// A difference from neuralforecast.
const UNUSED_PROJECTIONS: &str = "Projections of keys and values that neuralforecast makes and never calls are kept in checkpoints as they were drawn.";

/// The number of heads that its weights are laid out for.
const HEADS: usize = 8;

impl Attention for FourierBlock {
    /// Self-attention: the source is not read.
    fn forward(&self, cx: &Forward<'_>, queries: &Var, _: &Var) -> Var {
        self.forward(cx, queries)
    }
}

impl Attention for FourierCrossAttention {
    fn forward(&self, cx: &Forward<'_>, queries: &Var, source: &Var) -> Var {
        self.forward(cx, queries, source)
    }
}

impl Architecture for Fedformer {
    const NAME: &'static str = "FEDformer";
    const PAPER: &'static str = "Zhou et al. 2022, arXiv 2201.12740";
    const EXOGENOUS: Exogenous = Exogenous { futr: true, cat: true, ..Exogenous::NONE };
    const HIDDEN_UNITS: &'static [&'static str] = &["conv_hidden_size"];
    const DIFFERENCES: &'static [&'static str] = &[BIASES, UNUSED_PROJECTIONS];

    fn common_defaults() -> Value {
        json!({ "learning_rate": 1e-4, "max_steps": 5000 })
    }

    fn small() -> Vec<Value> {
        vec![
            json!({ "hidden_size": 16, "conv_hidden_size": 6, "MovingAvg_window": 5, "dropout": 0.2, "modes": 4 }),
            json!({
                "hidden_size": 18, "encoder_layers": 1, "decoder_layers": 2, "mode_select": "low",
                "MovingAvg_window": 3, "activation": "relu", "dropout": 0.0, "decoder_input_size_multiplier": 0.7,
            }),
        ]
    }

    fn needs(&self, _: &Dims) -> Needs {
        Needs { shard_windows: MIN_SHARD_IN_CACHE, ..Needs::default() }
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        let layer_sizes = self.layer_sizes(dims)?;
        let Self { sizes, .. } = &self;
        let hidden = layer_sizes.hidden;
        let (past, ahead) = (dims.input_size, sizes.shared.label_len(dims) + dims.horizon);
        // neuralforecast chooses modes for a decoder that begins with half of the history, whatever share of it is
        // set.
        let chosen_ahead = past / 2 + dims.horizon;
        let mut random = LegacyShuffle::new(scope.seed() as u32);
        let mut choose = |steps: usize| self.choose(steps, &mut random);
        let [encoder, own, queries, keys] =
            [choose(past), choose(chosen_ahead), choose(chosen_ahead), choose(past)];
        if let Some(mode) = own.iter().chain(&queries).find(|&&mode| mode > ahead / 2) {
            let expected = format!(
                "so large that the {ahead} steps of the decoder have frequency {mode}, which was chosen of those of \
                 {chosen_ahead} steps (0.5 is always)"
            );
            let multiplier = sizes.shared.decoder_input_size_multiplier;
            return Err(HyperParameterError::new("decoder_input_size_multiplier", expected, multiplier));
        }

        // All layers of a kind share the weights of the first. The encoder subtracts moving averages and drops them,
        // and with them any constant over time.
        let encoder = FourierSizes { hidden, steps: past, modes: encoder, constants: false };
        let own = FourierSizes { hidden, steps: ahead, modes: own, constants: true };
        let queries = FourierSizes { hidden, steps: ahead, modes: queries, constants: true };
        let mut shared: [Option<ParamId>; 3] = [None; 3];
        let [of_encoder, of_decoder, across] = &mut shared;
        let block = |sizes: &FourierSizes, shared: &mut Option<ParamId>, scope: &mut Scope<'_>| {
            let block = FourierBlock::new(scope, sizes, *shared);
            *shared = Some(block.weights());
            Arc::new(block) as Arc<dyn Attention>
        };
        let mut first = |scope: &mut Scope<'_>| block(&encoder, of_encoder, scope);
        let mut second = |scope: &mut Scope<'_>| block(&own, of_decoder, scope);
        let mut third = |scope: &mut Scope<'_>| {
            let attention = FourierCrossAttention::new(scope, &queries, (past, &keys), *across);
            *across = Some(attention.weights());
            Arc::new(attention) as Arc<dyn Attention>
        };
        Ok(Box::new(sizes.network(layer_sizes, dims, scope, [&mut first, &mut second, &mut third])))
    }
}

impl Fedformer {
    fn layer_sizes(&self, dims: &Dims) -> Result<TransformerSizes, HyperParameterError> {
        let EncoderDecoder { n_head, hidden_size, .. } = self.sizes.shared;
        if n_head != HEADS {
            return Err(HyperParameterError::new("n_head", HEADS.to_string(), n_head));
        }
        if hidden_size < HEADS {
            let expected = format!("at least {HEADS}, a number for each head");
            return Err(HyperParameterError::new("hidden_size", expected, hidden_size));
        }
        self.sizes.shared.sizes(dims)
    }

    /// The modes chosen for a sequence of this many steps, by rising frequency.
    fn choose(&self, steps: usize, random: &mut LegacyShuffle) -> Vec<usize> {
        let mut all: Vec<usize> = (0..steps / 2).collect();
        if self.mode_select == "random" {
            random.shuffle(&mut all);
        }
        all.truncate(self.modes);
        all.sort_unstable();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_those_of_neuralforecast() {
        // FEDformer(h=4, input_size=40, modes=5, random_seed=3).
        let config = Fedformer { modes: 5, ..Fedformer::default() };
        let mut random = LegacyShuffle::new(3);
        let chosen = [40, 24, 24, 40].map(|steps| config.choose(steps, &mut random));
        let expected =
            [[1, 2, 4, 14, 17], [0, 3, 5, 9, 11], [2, 4, 5, 6, 9], [3, 13, 15, 16, 18]].map(Vec::from);
        assert_eq!(chosen, expected);
        let lowest = Fedformer { modes: 9, mode_select: "low".to_owned(), ..Fedformer::default() };
        assert_eq!(lowest.choose(12, &mut random), [0, 1, 2, 3, 4, 5]);
    }
}
