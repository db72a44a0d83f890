//! From a scaled window to a state of each of its steps.

use foretell_gemm::{Accum, Activation};

use super::block::{Block, BlockScratch, Film, norm};
use super::config::FracastConfig;
use super::features::{RECENCY, phases, recency};
use crate::error::PretrainedError;
use crate::linear::Linear;
use crate::weights::Weights;

/// The encoder.
#[derive(Debug)]
pub(super) struct Encoder {
    /// What each step of a window starts from, whatever its values are: biases and its distance from the end.
    base: Vec<f32>,
    /// Of value, mark and phases.
    input: Linear,
    block: Block,
    stages: Vec<(Film, usize)>,
    norm: Vec<f32>,
    harmonics: usize,
}

/// What the encoder takes memory for.
#[derive(Debug, Default)]
pub(super) struct EncoderScratch {
    features: Vec<f32>,
    x: Vec<f32>,
    roots: Vec<f32>,
    pub(super) block: BlockScratch,
}

impl Encoder {
    pub(super) fn take(weights: &mut Weights, config: &FracastConfig) -> Result<Self, PretrainedError> {
        let (d, phases) = (config.d_model, 2 * config.periods() * config.periodic_harmonics);
        let own = weights.take("core.in_proj.weight", &[d, 2 + RECENCY])?;
        let own_bias = weights.take("core.in_proj.bias", &[d])?;
        let of_phases = weights.take("core.periodic.proj.weight", &[d, phases])?;
        let phase_bias = weights.take("core.periodic.proj.bias", &[d])?;
        let block = Block::take(weights, "core.block", config)?;
        let films = Film::take(weights, config)?;
        let norm = weights.take("core.norm.weight", &[d])?;
        let rows = own.chunks_exact(2 + RECENCY).zip(of_phases.chunks_exact(phases));
        let input: Vec<f32> = rows.flat_map(|(own, phases)| own[..2].iter().chain(phases)).copied().collect();
        let base = |position: usize| {
            let place = recency(position, config.window);
            let of_channel = |(i, row): (usize, &[f32])| {
                let sum: f32 = row[2..].iter().zip(place).map(|(w, x)| w * x).sum();
                sum + own_bias[i] + phase_bias[i]
            };
            own.chunks_exact(2 + RECENCY).enumerate().map(of_channel).collect::<Vec<f32>>()
        };
        Ok(Self {
            base: (0..config.window).flat_map(base).collect(),
            input: Linear::new(&input, Vec::new(), [d, 2 + phases]),
            block,
            stages: films.into_iter().enumerate().map(|(i, film)| (film, config.dilation(i))).collect(),
            norm,
            harmonics: config.periodic_harmonics,
        })
    }

    /// The states `hidden [window, width]` of a window's values, of which those are known that have a 1 in `known`, and the others
    /// are 0.
    pub(super) fn apply(
        &self,
        values: &[f32],
        known: &[f32],
        periods: &[usize],
        hidden: &mut Vec<f32>,
        scratch: &mut EncoderScratch,
    ) {
        let EncoderScratch { features, x, roots, block } = scratch;
        let width = 2 + 2 * periods.len() * self.harmonics;
        features.resize(values.len() * width, 0.0);
        for (position, row) in features.chunks_exact_mut(width).enumerate() {
            [row[0], row[1]] = [values[position], known[position]];
            phases(position, periods, self.harmonics, &mut row[2..]);
        }
        x.clear();
        x.extend_from_slice(&self.base);
        self.input.apply(features, x, Accum::Add, Activation::Identity);
        for (film, dilation) in &self.stages {
            film.apply(x);
            self.block.apply(x, *dilation, block);
        }
        hidden.resize(x.len(), 0.0);
        norm(x, &self.norm, hidden, roots);
    }

    pub(super) fn bytes(&self) -> u64 {
        let films: u64 = self.stages.iter().map(|(film, _)| film.bytes()).sum();
        size_of_val(&*self.base) as u64 + self.input.bytes() + self.block.bytes() + films
    }
}
