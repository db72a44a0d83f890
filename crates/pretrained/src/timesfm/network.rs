//! A TimesFM 2.5 network: contexts and their mirror images cut into tokens, and passes put together.

use std::ops::Range;

use foretell_gemm::Activation;

use super::config::TimesFmConfig;
use super::decoder::{Decoder, DecoderScratch};
use super::stream::{Running, filled};
use crate::error::PretrainedError;
use crate::network::{PretrainedNetwork, SeriesContext};
use crate::scratch_pool::ScratchPool;
use crate::t5::ResidualBlock;
use crate::weights::Weights;

/// Series that are forecast in one call.
const TOGETHER: usize = 4;

/// A TimesFM 2.5 network.
#[derive(Debug)]
pub(crate) struct TimesFm {
    config: TimesFmConfig,
    input: ResidualBlock,
    decoder: Decoder,
    /// Mean and quantiles of the steps of a pass.
    points: ResidualBlock,
    /// The same of more steps, whose distances from the median count.
    spreads: ResidualBlock,
    scratch: ScratchPool<Scratch>,
}

#[derive(Debug, Default)]
struct Scratch {
    patches: Vec<f32>,
    states: Vec<f32>,
    hidden: Vec<f32>,
    decoder: DecoderScratch,
    output: Vec<f32>,
}

/// What is forecast of a context or of its mirror image, in the unit of its tokens: mean and quantiles of steps, and the distances of the
/// quantiles from the median, `[steps, outputs]` each.
#[derive(Debug, Default)]
struct Forecast {
    points: Vec<f64>,
    spreads: Vec<f64>,
}

impl TimesFm {
    pub(crate) fn new(config: TimesFmConfig, weights: &mut Weights) -> Result<Self, PretrainedError> {
        let (d, outputs) = (config.hidden_size, config.outputs());
        let mut block = |name: &str, sizes: [usize; 3], biased: bool| {
            ResidualBlock::take_as(weights, name, "input_layer", sizes, biased, Activation::Silu)
        };
        let input = block("model.input_ff_layer", [2 * config.patch_length, d, d], true)?;
        let points = block("output_projection_point", [d, d, config.horizon_length * outputs], false)?;
        let spreads =
            block("output_projection_quantiles", [d, d, config.output_quantile_len * outputs], false)?;
        let decoder = Decoder::take(weights, &config)?;
        Ok(Self { config, input, decoder, points, spreads, scratch: ScratchPool::default() })
    }

    /// What is forecast of each stream, up to `horizon` steps and beyond to the end of a pass.
    fn streams(&self, contexts: &[Vec<f64>], horizon: usize, scratch: &mut Scratch) -> Vec<Forecast> {
        let TimesFmConfig { patch_length: size, horizon_length: pass, .. } = self.config;
        let outputs = self.config.outputs();
        let (mut places, mut ranges, mut scales) = (Vec::new(), Vec::new(), Vec::new());
        scratch.patches.clear();
        for context in contexts {
            let first = places.len();
            let mut scale = Running::default();
            // The first patch may lack its beginning.
            let (beginning, whole) = context.split_at(context.len() % size);
            let patches = Some(beginning).filter(|values| !values.is_empty()).into_iter();
            for (place, values) in patches.chain(whole.chunks_exact(size)).enumerate() {
                scale = scale.push(values, size, &mut scratch.patches);
                places.push(place);
            }
            ranges.push(first..places.len());
            scales.push(scale);
        }
        let mut cache = (horizon > pass).then(|| self.decoder.cache(contexts.len()));
        let mut forecasts: Vec<Forecast> = contexts.iter().map(|_| Forecast::default()).collect();
        self.embed(scratch);
        self.decoder.apply(&mut scratch.states, &places, &ranges, cache.as_mut(), &mut scratch.decoder);
        self.read(&self.points, &scales, scratch, |stream, values| forecasts[stream].points.extend(values));
        if self.config.use_continuous_quantile_head {
            let Self { spreads, config, .. } = self;
            self.read(spreads, &scales, scratch, |stream, values| {
                let all = &mut forecasts[stream].spreads;
                all.extend(values);
                let from_median = |step: &mut [f64]| {
                    let median = step[config.median()];
                    step.iter_mut().for_each(|y| *y -= median);
                };
                all.chunks_exact_mut(outputs).for_each(from_median);
            });
        }
        let mut next: Vec<usize> = ranges.iter().map(Range::len).collect();
        while forecasts.iter().any(|forecast| forecast.points.len() < horizon * outputs) {
            scratch.patches.clear();
            places.clear();
            ranges.clear();
            for ((forecast, scale), next) in forecasts.iter().zip(&mut scales).zip(&mut next) {
                let first = places.len();
                let steps = forecast.points.chunks_exact(outputs);
                let medians: Vec<f64> = steps
                    .skip(forecast.points.len() / outputs - pass)
                    .map(|step| step[self.config.median()])
                    .collect();
                for values in medians.chunks_exact(size) {
                    *scale = scale.push(values, size, &mut scratch.patches);
                    places.push(*next);
                    *next += 1;
                }
                ranges.push(first..places.len());
            }
            self.embed(scratch);
            self.decoder.apply(&mut scratch.states, &places, &ranges, cache.as_mut(), &mut scratch.decoder);
            self.read(&self.points, &scales, scratch, |stream, values| {
                forecasts[stream].points.extend(values)
            });
        }
        forecasts
    }

    fn embed(&self, Scratch { patches, states, hidden, .. }: &mut Scratch) {
        let rows = patches.len() / (2 * self.config.patch_length);
        states.clear();
        states.resize(rows * self.config.hidden_size, 0.0);
        self.input.apply(patches, states, hidden);
    }

    /// Hands on what a head makes of the state of each stream.
    fn read(
        &self,
        head: &ResidualBlock,
        scales: &[Running],
        scratch: &mut Scratch,
        mut put: impl FnMut(usize, &mut dyn Iterator<Item = f64>),
    ) {
        let Scratch { states, hidden, output, .. } = scratch;
        output.resize(scales.len() * head.outputs(), 0.0);
        head.apply(states, output, hidden);
        for (stream, (values, scale)) in output.chunks_exact(head.outputs()).zip(scales).enumerate() {
            put(stream, &mut values.iter().map(|x| scale.unscaled(f64::from(*x))));
        }
    }

    /// The quantiles of some contexts, `[contexts, horizon, levels]`; they have values, and none that is unknown.
    fn round(&self, contexts: &[Vec<f64>], horizon: usize, out: &mut [f64], scratch: &mut Scratch) {
        let (outputs, median) = (self.config.outputs(), self.config.median());
        let flips = self.config.force_flip_invariance;
        let scales: Vec<Running> = contexts.iter().map(|context| Running::default().with(context)).collect();
        let scaled = |sign: f64| {
            let of = move |(context, scale): (&Vec<f64>, &Running)| -> Vec<f64> {
                context.iter().map(|y| sign * scale.scaled(*y)).collect()
            };
            contexts.iter().zip(&scales).map(of)
        };
        let mut streams: Vec<Vec<f64>> = scaled(1.0).collect();
        if flips {
            streams.extend(scaled(-1.0));
        }
        let forecasts = self.streams(&streams, horizon, scratch);
        // The mean of a number and of that of the mirror image, whose lowest quantile is the highest.
        let mean = |own: &[f64], mirrored: Option<&[f64]>, step: usize, output: usize| {
            let at = |of: &[f64], output: usize| of[step * outputs + output];
            let across = if output == 0 { 0 } else { outputs - output };
            mirrored.map_or(at(own, output), |mirrored| (at(own, output) - at(mirrored, across)) / 2.0)
        };
        let each = out.chunks_exact_mut(horizon * (outputs - 1)).zip(contexts).zip(&scales).enumerate();
        for (i, ((out, context), scale)) in each {
            let own = &forecasts[i];
            let mirrored = forecasts.get(contexts.len() + i);
            let is_positive = self.config.infer_is_positive && context.iter().all(|y| *y >= 0.0);
            for (step, row) in out.chunks_exact_mut(outputs - 1).enumerate() {
                let of_points =
                    |output: usize| mean(&own.points, mirrored.map(|own| &own.points[..]), step, output);
                // The package has no more steps of distances: the last one stays.
                let spread_step = step.min(self.config.output_quantile_len - 1);
                let of_spreads = |output: usize| {
                    mean(&own.spreads, mirrored.map(|own| &own.spreads[..]), spread_step, output)
                };
                for (level, y) in row.iter_mut().enumerate() {
                    let output = level + 1;
                    let value = match self.config.use_continuous_quantile_head && output != median {
                        true => of_points(median) + of_spreads(output),
                        false => of_points(output),
                    };
                    let value = scale.unscaled(value);
                    *y = if is_positive { value.max(0.0) } else { value };
                }
            }
        }
    }
}

impl PretrainedNetwork for TimesFm {
    fn levels(&self) -> &[f64] {
        &self.config.quantiles
    }

    fn horizon(&self) -> usize {
        self.config.horizon_length
    }

    /// A little more than its context, so that a gap at its start is filled from what is known before.
    fn context_length(&self) -> usize {
        self.config.context_length + 2 * self.config.patch_length
    }

    fn together(&self) -> usize {
        TOGETHER
    }

    fn forecast(&self, contexts: &[SeriesContext<'_>], horizon: usize, out: &mut [f64]) {
        let levels = self.levels().len();
        assert_eq!(out.len(), contexts.len() * horizon * levels, "quantiles of {} contexts", contexts.len());
        let last = |values: &mut Vec<f64>| {
            drop(values.drain(..values.len().saturating_sub(self.config.context_length)))
        };
        let mut known: Vec<Vec<f64>> = contexts.iter().map(|context| filled(context.values)).collect();
        known.iter_mut().for_each(last);
        let mut scratch = self.scratch.take();
        let mut done = 0;
        while done < horizon {
            let steps = self.config.farthest().min(horizon - done);
            let mut found = vec![0.0; known.len() * steps * levels];
            self.round(&known, steps, &mut found, &mut scratch);
            let rows = found.chunks_exact(steps * levels).zip(out.chunks_exact_mut(horizon * levels));
            for ((found, out), known) in rows.zip(&mut known) {
                out[done * levels..][..found.len()].copy_from_slice(found);
                known.extend(found.chunks_exact(levels).map(|step| step[self.config.median() - 1]));
                last(known);
            }
            done += steps;
        }
        self.scratch.put_back(scratch);
    }

    fn held_bytes(&self) -> u64 {
        self.input.bytes() + self.decoder.bytes() + self.points.bytes() + self.spreads.bytes()
    }

    fn working_bytes(&self, horizon: usize, _: usize, _: usize) -> u64 {
        let TimesFmConfig { hidden_size: d, intermediate_size: wide, patch_length: size, .. } = self.config;
        let (inner, outputs) = (self.config.inner(), self.config.outputs());
        let streams = TOGETHER * (1 + usize::from(self.config.force_flip_invariance));
        let ahead = horizon.min(self.config.farthest());
        let tokens = self.config.context_patches() + ahead / size;
        let pass = streams * tokens * (4 * d + 5 * inner + wide + 2 * size) + 2 * tokens * tokens;
        let is_longer = usize::from(horizon > self.config.horizon_length);
        let kept = is_longer * streams * tokens * 2 * inner * self.config.num_hidden_layers;
        let forecast =
            streams * outputs * (ahead + self.config.horizon_length + self.config.output_quantile_len);
        (4 * (pass + kept) + 8 * forecast) as u64
    }
}
