//! A Fracast network: windows scaled, encoded and forecast.

use super::config::FracastConfig;
use super::encoder::{Encoder, EncoderScratch};
use super::head::{Head, HeadScratch, Seen};
use super::periods::{PeriodScratch, find_periods};
use crate::error::PretrainedError;
use crate::network::{PretrainedNetwork, SeriesContext};
use crate::scratch_pool::ScratchPool;
use crate::weights::Weights;

/// Values that a window must have, as the package asks for.
const LEAST_KNOWN: usize = 8;

/// The least range by which a window is divided.
const LEAST_RANGE: f64 = 1e-5;

/// A Fracast network.
#[derive(Debug)]
pub(crate) struct Fracast {
    config: FracastConfig,
    encoder: Encoder,
    head: Head,
    /// The place of the median among the quantiles.
    median: usize,
    scratch: ScratchPool<Scratch>,
}

#[derive(Debug, Default)]
struct Scratch {
    history: Vec<f64>,
    values: Vec<f32>,
    known: Vec<f32>,
    filled: Vec<f32>,
    periods: Vec<usize>,
    search: PeriodScratch,
    encoder: EncoderScratch,
    hidden: Vec<f32>,
    head: HeadScratch,
    quantiles: Vec<f32>,
    block: Vec<f64>,
}

impl Fracast {
    pub(crate) fn new(config: FracastConfig, weights: &mut Weights) -> Result<Self, PretrainedError> {
        let encoder = Encoder::take(weights, &config)?;
        let head = Head::take(weights, &config)?;
        let median = config.quantiles.iter().position(|q| *q == 0.5).unwrap_or(0);
        Ok(Self { config, encoder, head, median, scratch: ScratchPool::default() })
    }

    /// The quantiles of one pass after `scratch.history`, `[horizon, levels]`, into `scratch.block`.
    fn pass(&self, scratch: &mut Scratch) {
        let Scratch {
            history,
            values,
            known,
            filled,
            periods,
            search,
            encoder,
            hidden,
            head,
            quantiles,
            block,
        } = scratch;
        let window = self.config.window;
        let tail = &history[history.len().saturating_sub(window)..];
        let [least, most] = tail
            .iter()
            .filter(|y| y.is_finite())
            .fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], &y| [least.min(y), most.max(y)]);
        let range = (most - least).max(LEAST_RANGE);
        let padding = window - tail.len();
        let [scaled, marks] = [&mut *values, &mut *known].map(|buffer| {
            buffer.clear();
            buffer.resize(window, 0.0);
            &mut buffer[padding..]
        });
        for ((scaled, mark), &y) in scaled.iter_mut().zip(marks).zip(tail) {
            if y.is_finite() {
                [*scaled, *mark] = [((y - least) / range) as f32, 1.0];
            }
        }
        let sums = values
            .iter()
            .zip(&*known)
            .fold([0.0; 2], |[sum, count], (&y, &known)| [sum + f64::from(y), count + f64::from(known)]);
        let mean = (sums[0] / sums[1].max(1.0)) as f32;
        filled.clear();
        filled.extend(values.iter().zip(&*known).map(|(&y, &known)| if known > 0.0 { y } else { mean }));
        periods.resize(self.config.periods(), 0);
        find_periods(&self.config, filled, periods, search);
        self.encoder.apply(values, known, periods, hidden, encoder);
        let seen = Seen { values, known, period: periods[0] };
        self.head.apply(hidden, seen, quantiles, (head, &mut encoder.block));
        block.clear();
        block.extend(quantiles.iter().map(|&q| f64::from(q) * range + least));
    }

    fn forecast_one(&self, context: &[f64], horizon: usize, out: &mut [f64], scratch: &mut Scratch) {
        let (window, levels) = (self.config.window, self.config.quantiles.len());
        scratch.history.clear();
        scratch.history.extend_from_slice(&context[context.len().saturating_sub(window)..]);
        let mut rest = &mut out[..horizon * levels];
        while !rest.is_empty() {
            self.pass(scratch);
            let Scratch { history, block, .. } = &mut *scratch;
            let here = block.len().min(rest.len());
            rest[..here].copy_from_slice(&block[..here]);
            rest = &mut rest[here..];
            history.extend(block.chunks_exact(levels).map(|row| row[self.median]));
            history.drain(..history.len().saturating_sub(window));
        }
    }
}

impl PretrainedNetwork for Fracast {
    fn levels(&self) -> &[f64] {
        &self.config.quantiles
    }

    fn horizon(&self) -> usize {
        self.config.horizon
    }

    fn context_length(&self) -> usize {
        self.config.window
    }

    fn least_known(&self) -> usize {
        LEAST_KNOWN
    }

    fn forecast(&self, contexts: &[SeriesContext<'_>], horizon: usize, out: &mut [f64]) {
        let each = horizon * self.config.quantiles.len();
        assert_eq!(out.len(), contexts.len() * each, "quantiles of {} contexts", contexts.len());
        let mut scratch = self.scratch.take();
        for (context, out) in contexts.iter().zip(out.chunks_exact_mut(each.max(1))) {
            self.forecast_one(context.values, horizon, out, &mut scratch);
        }
        self.scratch.put_back(scratch);
    }

    fn held_bytes(&self) -> u64 {
        self.encoder.bytes() + self.head.bytes()
    }

    fn working_bytes(&self, _: usize, _: usize, _: usize) -> u64 {
        let FracastConfig { window, d_model, horizon, head_future_conv_seed, .. } = self.config;
        let features = 2 + 2 * self.config.periods() * self.config.periodic_harmonics;
        let ahead = horizon * (3 * d_model + 3 * self.config.quantiles.len() + 1)
            + head_future_conv_seed.min(window) * d_model;
        4 * (window * (2 * d_model + features + 16) + ahead) as u64
    }
}
