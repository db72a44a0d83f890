//! A Chronos-Bolt network: contexts scaled and cut into tokens, and passes put together.

use foretell_estimator::quantile;

use super::config::BoltConfig;
use super::decoder::{Decoder, DecoderScratch};
use super::encoder::{Encoder, EncoderScratch, Tokens};
use crate::error::PretrainedError;
use crate::network::{PretrainedNetwork, SeriesContext};
use crate::scale::Scale;
use crate::scratch_pool::ScratchPool;
use crate::t5::ResidualBlock;
use crate::weights::Weights;

/// Contexts of one pass: their tokens together make products large enough.
const TOGETHER: usize = 4;

/// A Chronos-Bolt network.
#[derive(Debug)]
pub(crate) struct Bolt {
    config: BoltConfig,
    input: ResidualBlock,
    /// The token behind the patches, if there is one.
    closing: Option<Vec<f32>>,
    encoder: Encoder,
    decoder: Decoder,
    output: ResidualBlock,
    scratch: ScratchPool<Scratch>,
}

#[derive(Debug, Default)]
struct Scratch {
    patches: Vec<f32>,
    tokens: Tokens,
    embedded: Vec<f32>,
    encoder: EncoderScratch,
    decoder: DecoderScratch,
    output: Vec<f32>,
    scales: Vec<Scale>,
}

impl Bolt {
    pub(crate) fn new(config: BoltConfig, weights: &mut Weights) -> Result<Self, PretrainedError> {
        let own = &config.chronos_config;
        let (d, ff) = (config.d_model, config.d_ff);
        let outputs = own.quantiles.len() * own.prediction_length;
        let input = ResidualBlock::take(weights, "input_patch_embedding", [2 * own.input_patch_size, ff, d])?;
        let output = ResidualBlock::take(weights, "output_patch_embedding", [d, ff, outputs])?;
        let shared = weights.take("shared.weight", &[1 + usize::from(own.use_reg_token), d])?;
        let start = shared[config.decoder_start_token_id * d..][..d].to_vec();
        let closing = own.use_reg_token.then(|| shared[d..].to_vec());
        let encoder = Encoder::take(weights, &config)?;
        let decoder = Decoder::take(weights, &config, start)?;
        Ok(Self { config, input, closing, encoder, decoder, output, scratch: ScratchPool::default() })
    }

    fn levels_and_steps(&self) -> [usize; 2] {
        [self.config.chronos_config.quantiles.len(), self.config.chronos_config.prediction_length]
    }

    /// The quantiles of one pass after each context, `[contexts, levels, steps]`.
    fn pass(&self, contexts: &[&[f64]], out: &mut [f64], scratch: &mut Scratch) {
        let Scratch { patches, tokens, embedded, encoder, decoder, output, scales } = scratch;
        let (d, size) = (self.config.d_model, self.config.chronos_config.input_patch_size);
        patches.clear();
        scales.clear();
        tokens.places.clear();
        tokens.contexts.clear();
        for context in contexts {
            let first = tokens.places.len();
            let context = &context[context.len().saturating_sub(self.context_length())..];
            scales.push(Scale::of(context));
            self.cut(context, scales[scales.len() - 1], patches, &mut tokens.places);
            tokens.contexts.push(first..tokens.places.len());
        }
        embedded.resize(patches.len() / (2 * size) * d, 0.0);
        self.input.apply(patches, embedded, &mut encoder.layer.hidden);
        // Patches, and behind those of each context the closing token.
        tokens.states.clear();
        let mut patch = embedded.chunks_exact(d);
        for context in &tokens.contexts {
            for _ in 0..context.len() - usize::from(self.closing.is_some()) {
                tokens.states.extend(patch.next().into_iter().flatten());
            }
            tokens.states.extend(self.closing.iter().flatten());
        }
        self.encoder.apply(tokens, encoder);
        let states = self.decoder.apply(tokens, decoder, &mut encoder.layer);
        let [levels, steps] = self.levels_and_steps();
        output.resize(contexts.len() * levels * steps, 0.0);
        // What was embedded is of no use any more.
        self.output.apply(states, output, embedded);
        let rows = output.chunks_exact(levels * steps).zip(out.chunks_exact_mut(levels * steps));
        for ((output, out), scale) in rows.zip(&*scales) {
            out.iter_mut().zip(output).for_each(|(y, &x)| *y = scale.unscaled(f64::from(x)));
        }
    }

    /// Appends the patches of a context that have a known value, scaled, with the marks of those behind them, and their places.
    fn cut(&self, context: &[f64], scale: Scale, patches: &mut Vec<f32>, places: &mut Vec<usize>) {
        let size = self.config.chronos_config.input_patch_size;
        let count = context.len().div_ceil(size);
        // The first patch may be filled up from the left.
        let padding = count * size - context.len();
        for place in 0..count {
            let value = |i: usize| (place * size + i).checked_sub(padding).map_or(f64::NAN, |at| context[at]);
            if (0..size).all(|i| value(i).is_nan()) {
                continue;
            }
            let scaled = |i: usize| if value(i).is_nan() { 0.0 } else { scale.scaled(value(i)) as f32 };
            patches.extend((0..size).map(scaled));
            patches.extend((0..size).map(|i| f32::from(u8::from(!value(i).is_nan()))));
            places.push(place);
        }
        if self.closing.is_some() {
            places.push(count);
        }
    }

    /// The quantiles of a context, `[steps, levels]`, of which the first pass is there, `[levels, steps]`.
    fn beyond_first_pass(
        &self,
        context: &[f64],
        first: &[f64],
        horizon: usize,
        out: &mut [f64],
        scratch: &mut Scratch,
    ) {
        let [levels, steps] = self.levels_and_steps();
        let mut block = first.to_vec();
        let (mut paths, mut forecast): (Vec<Vec<f64>>, Vec<f64>) = (Vec::new(), Vec::new());
        let mut samples = vec![0.0; levels * levels];
        let mut done = 0;
        loop {
            let here = steps.min(horizon - done);
            for (step, row) in out[done * levels..(done + here) * levels].chunks_exact_mut(levels).enumerate()
            {
                row.iter_mut().enumerate().for_each(|(level, y)| *y = block[level * steps + step]);
            }
            done += here;
            if done == horizon {
                return;
            }
            if paths.is_empty() {
                paths = vec![context.to_vec(); levels];
                forecast.resize(levels * levels * steps, 0.0);
            }
            for (path, next) in paths.iter_mut().zip(block.chunks_exact(steps)) {
                path.extend(next);
                path.drain(..path.len().saturating_sub(self.context_length()));
            }
            let chunks = paths.chunks(TOGETHER).zip(forecast.chunks_mut(TOGETHER * levels * steps));
            for (paths, forecast) in chunks {
                let contexts: Vec<&[f64]> = paths.iter().map(|path| &path[..]).collect();
                self.pass(&contexts, forecast, scratch);
            }
            for step in 0..steps {
                samples.iter_mut().enumerate().for_each(|(i, y)| *y = forecast[i * steps + step]);
                samples.sort_unstable_by(f64::total_cmp);
                for (level, &q) in self.config.chronos_config.quantiles.iter().enumerate() {
                    block[level * steps + step] = quantile(&samples, q);
                }
            }
        }
    }
}

impl PretrainedNetwork for Bolt {
    fn levels(&self) -> &[f64] {
        &self.config.chronos_config.quantiles
    }

    fn horizon(&self) -> usize {
        self.config.chronos_config.prediction_length
    }

    fn context_length(&self) -> usize {
        self.config.chronos_config.context_length
    }

    fn together(&self) -> usize {
        TOGETHER
    }

    fn forecast(&self, contexts: &[SeriesContext<'_>], horizon: usize, out: &mut [f64]) {
        let [levels, steps] = self.levels_and_steps();
        assert_eq!(out.len(), contexts.len() * horizon * levels, "quantiles of {} contexts", contexts.len());
        let mut scratch = self.scratch.take();
        let mut first = vec![0.0; contexts.len().min(TOGETHER) * levels * steps];
        let outs = out.chunks_mut(TOGETHER * horizon * levels);
        for (contexts, out) in contexts.chunks(TOGETHER).zip(outs) {
            let values: Vec<&[f64]> = contexts.iter().map(|context| context.values).collect();
            let first = &mut first[..contexts.len() * levels * steps];
            self.pass(&values, first, &mut scratch);
            let each = values.iter().zip(first.chunks_exact(levels * steps));
            for ((values, first), out) in each.zip(out.chunks_exact_mut(horizon * levels)) {
                self.beyond_first_pass(values, first, horizon, out, &mut scratch);
            }
        }
        self.scratch.put_back(scratch);
    }

    fn held_bytes(&self) -> u64 {
        self.input.bytes() + self.encoder.bytes() + self.decoder.bytes() + self.output.bytes()
    }

    fn working_bytes(&self, horizon: usize, _: usize, _: usize) -> u64 {
        let (d, inner, ff) = (self.config.d_model, self.config.inner(), self.config.d_ff);
        let tokens = self.config.tokens();
        let passes =
            TOGETHER * tokens * (3 * d + 4 * inner + ff + 4 * self.config.chronos_config.input_patch_size)
                + 2 * tokens * tokens;
        let [levels, steps] = self.levels_and_steps();
        let paths = if horizon > steps { levels * (self.context_length() + levels * steps) } else { 0 };
        (4 * passes + 8 * (paths + TOGETHER * levels * steps)) as u64
    }
}
