//! A Chronos-2 network: groups of a series and its columns, and passes put together.

use super::config::Chronos2Config;
use super::encoder::{Encoder, EncoderScratch};
use super::tokens::{Tokens, Variate};
use super::unrolled::{Mixture, PATHS};
use crate::error::PretrainedError;
use crate::network::{PretrainedNetwork, SeriesContext};
use crate::scratch_pool::ScratchPool;
use crate::t5::ResidualBlock;
use crate::weights::Weights;

/// Series that are forecast in one call.
const TOGETHER: usize = 8;

/// Tokens of one pass, unless a single group has more: products are large enough then.
const PASS: usize = 600;

/// Beyond it the hyperbolic sine has no number of 32 bits; untrained weights may reach it.
const FARTHEST: f64 = 88.0;

/// Series that are forecast together, and behind them their columns.
#[derive(Clone, Debug)]
struct Group<'a> {
    variates: Vec<Variate<'a>>,
    series: usize,
}

/// A Chronos-2 network.
#[derive(Debug)]
pub(crate) struct Chronos2 {
    config: Chronos2Config,
    input: ResidualBlock,
    /// The token behind the past.
    closing: Vec<f32>,
    encoder: Encoder,
    output: ResidualBlock,
    /// The places of the quantiles that are paths.
    paths: Vec<usize>,
    scratch: ScratchPool<Scratch>,
}

#[derive(Debug, Default)]
struct Scratch {
    tokens: Tokens,
    embedded: Vec<f32>,
    encoder: EncoderScratch,
    output: Vec<f32>,
}

impl Chronos2 {
    pub(crate) fn new(config: Chronos2Config, weights: &mut Weights) -> Result<Self, PretrainedError> {
        let own = &config.chronos_config;
        let (d, ff, size) = (config.d_model, config.d_ff, own.input_patch_size);
        let input = ResidualBlock::take(weights, "input_patch_embedding", [3 * size, ff, d])?;
        let output =
            ResidualBlock::take(weights, "output_patch_embedding", [d, ff, own.quantiles.len() * size])?;
        let closing = weights.take("shared.weight", &[2, d])?[d..].to_vec();
        let encoder = Encoder::take(weights, &config)?;
        let paths = PATHS.iter().filter_map(|level| config.place_of(*level)).collect();
        Ok(Self { config, input, closing, encoder, output, paths, scratch: ScratchPool::default() })
    }

    fn size(&self) -> usize {
        self.config.chronos_config.input_patch_size
    }

    /// The patches of a pass that is to reach this far.
    fn patches(&self, horizon: usize) -> usize {
        horizon.div_ceil(self.size()).min(self.config.chronos_config.max_output_patches)
    }

    /// The quantiles of `ahead` patches after each variate of these groups, `[variates, levels, steps]`, groups of few tokens together.
    fn passes(&self, groups: &[&[Variate<'_>]], ahead: usize, out: &mut [f64], scratch: &mut Scratch) {
        let each = self.levels().len() * ahead * self.size();
        let tokens = |group: &&[Variate<'_>]| {
            let of = |variate: &Variate<'_>| {
                variate.past.len().min(self.context_length()).div_ceil(self.size()) + 1 + ahead
            };
            group.iter().map(of).sum::<usize>()
        };
        let (mut groups, mut out) = (groups, out);
        while !groups.is_empty() {
            let mut sum = 0;
            let fits = |group: &&&[Variate<'_>]| {
                sum += tokens(group);
                sum <= PASS
            };
            let count = groups.iter().take_while(fits).count().max(1);
            let (now, later) = groups.split_at(count);
            let variates: usize = now.iter().map(|group| group.len()).sum();
            let (out_now, out_later) = std::mem::take(&mut out).split_at_mut(variates * each);
            self.pass(now, ahead, out_now, scratch);
            (groups, out) = (later, out_later);
        }
    }

    fn pass(&self, groups: &[&[Variate<'_>]], ahead: usize, out: &mut [f64], scratch: &mut Scratch) {
        let Scratch { tokens, embedded, encoder, output } = scratch;
        let (d, size, levels) = (self.config.d_model, self.size(), self.levels().len());
        tokens.cut(groups, ahead, &self.config);
        embedded.resize(tokens.patches.len() / (3 * size) * d, 0.0);
        self.input.apply(&tokens.patches, embedded, &mut encoder.layer.hidden);
        tokens.embed(embedded, &self.closing);
        let states = self.encoder.apply(tokens, encoder);
        output.resize(states.len() / d * levels * size, 0.0);
        // What was embedded is of no use any more.
        self.output.apply(states, output, embedded);
        let variates =
            output.chunks_exact(ahead * levels * size).zip(out.chunks_exact_mut(ahead * levels * size));
        for ((output, out), scale) in variates.zip(&tokens.scales) {
            for (patch, output) in output.chunks_exact(levels * size).enumerate() {
                for (level, output) in output.chunks_exact(size).enumerate() {
                    let out = &mut out[(level * ahead + patch) * size..][..size];
                    for (y, &x) in out.iter_mut().zip(output) {
                        let x = f64::from(x);
                        let unfolded = match self.config.chronos_config.use_arcsinh {
                            true => x.clamp(-FARTHEST, FARTHEST).sinh(),
                            false => x,
                        };
                        *y = scale.unscaled(unfolded);
                    }
                }
            }
        }
    }

    /// The quantiles of the series of a group, `[series, steps, levels]`; those of the first pass are there, of all of its variates,
    /// `[variates, levels, steps]`.
    fn beyond_first_pass(
        &self,
        &Group { variates: ref group, series }: &Group<'_>,
        first: &[f64],
        horizon: usize,
        out: &mut [f64],
        scratch: &mut Scratch,
    ) {
        let (levels, variates) = (self.levels().len(), group.len());
        let mut block = first.to_vec();
        let mut pasts: Vec<Vec<f64>> = Vec::new();
        let mut mixture = Mixture::new(self.levels());
        let mut done = 0;
        loop {
            let steps = block.len() / (variates * levels);
            let here = steps.min(horizon - done);
            for place in 0..series {
                let rows = &mut out[(place * horizon + done) * levels..][..here * levels];
                for (step, row) in rows.chunks_exact_mut(levels).enumerate() {
                    let of = |level: usize| block[(place * levels + level) * steps + step];
                    row.iter_mut().enumerate().for_each(|(level, y)| *y = of(level));
                }
            }
            if done + here == horizon {
                return;
            }
            if pasts.is_empty() {
                pasts = self
                    .paths
                    .iter()
                    .flat_map(|_| group.iter().map(|variate| variate.past.to_vec()))
                    .collect();
            }
            for (i, past) in pasts.iter_mut().enumerate() {
                let (level, variate) = (self.paths[i / variates], i % variates);
                let forecast = &block[(variate * levels + level) * steps..][..steps];
                let known =
                    |step: usize| group[variate].ahead.get(done + step).copied().filter(|y| !y.is_nan());
                past.extend(forecast.iter().enumerate().map(|(step, y)| known(step).unwrap_or(*y)));
                past.drain(..past.len().saturating_sub(self.context_length()));
            }
            done += here;
            let ahead = self.patches(horizon - done);
            let steps = ahead * self.size();
            let behind = |i: usize| group[i].ahead.get(done..).unwrap_or_default();
            let paths: Vec<Vec<Variate<'_>>> = pasts
                .chunks_exact(variates)
                .map(|path| {
                    path.iter().enumerate().map(|(i, past)| Variate { past, ahead: behind(i) }).collect()
                })
                .collect();
            let mut forecast = vec![0.0; pasts.len() * levels * steps];
            let paths: Vec<&[Variate<'_>]> = paths.iter().map(|path| &path[..]).collect();
            self.passes(&paths, ahead, &mut forecast, scratch);
            block.clear();
            block.resize(variates * levels * steps, 0.0);
            for variate in 0..variates {
                for step in 0..steps {
                    let of = |path: usize, level: usize| {
                        ((path * variates + variate) * levels + level) * steps + step
                    };
                    let values =
                        (0..PATHS.len()).flat_map(|path| (0..levels).map(move |level| (path, level)));
                    let values = values.map(|(path, level)| forecast[of(path, level)]);
                    mixture
                        .quantiles(values, |level, y| block[(variate * levels + level) * steps + step] = y);
                }
            }
        }
    }
}

/// Series and their columns.
fn group_of<'a>(contexts: &'a [SeriesContext<'_>]) -> Group<'a> {
    let series = contexts.iter().map(|context| Variate { past: context.values, ahead: &[] });
    let columns = contexts.iter().flat_map(|context| context.columns);
    let columns = columns.map(|column| Variate { past: &column.past, ahead: &column.ahead });
    Group { variates: series.chain(columns).collect(), series: contexts.len() }
}

impl PretrainedNetwork for Chronos2 {
    fn levels(&self) -> &[f64] {
        &self.config.chronos_config.quantiles
    }

    fn horizon(&self) -> usize {
        self.config.steps()
    }

    fn context_length(&self) -> usize {
        self.config.chronos_config.context_length
    }

    fn reads_columns(&self) -> bool {
        true
    }

    fn together(&self) -> usize {
        TOGETHER
    }

    fn forecast(&self, contexts: &[SeriesContext<'_>], horizon: usize, out: &mut [f64]) {
        let levels = self.levels().len();
        assert_eq!(out.len(), contexts.len() * horizon * levels, "quantiles of {} contexts", contexts.len());
        if out.is_empty() {
            return;
        }
        let groups: Vec<Group<'_>> = contexts.chunk_by(|a, b| a.group == b.group).map(group_of).collect();
        let ahead = self.patches(horizon);
        let each = levels * ahead * self.size();
        let mut scratch = self.scratch.take();
        let variates: Vec<&[Variate<'_>]> = groups.iter().map(|group| &group.variates[..]).collect();
        let mut first = vec![0.0; variates.iter().map(|group| group.len()).sum::<usize>() * each];
        self.passes(&variates, ahead, &mut first, &mut scratch);
        let (mut first, mut out) = (&first[..], out);
        for group in &groups {
            let (own, later) = first.split_at(group.variates.len() * each);
            let (own_out, out_later) = std::mem::take(&mut out).split_at_mut(group.series * horizon * levels);
            (first, out) = (later, out_later);
            self.beyond_first_pass(group, own, horizon, own_out, &mut scratch);
        }
        self.scratch.put_back(scratch);
    }

    fn held_bytes(&self) -> u64 {
        self.input.bytes() + self.encoder.bytes() + self.output.bytes()
    }

    fn working_bytes(&self, horizon: usize, columns: usize, group: usize) -> u64 {
        let (d, inner, ff) = (self.config.d_model, self.config.inner(), self.config.d_ff);
        let (variates, levels) = (group * (1 + columns), self.levels().len());
        let (each, steps) = (self.config.tokens(), self.patches(horizon) * self.size());
        let tokens = (variates * each).max(PASS);
        let pass = tokens * (4 * d + 4 * inner + ff + 3 * self.size()) + 2 * each.max(variates).pow(2);
        let first = TOGETHER.max(group) * (1 + columns) * levels * steps;
        let behind = match horizon > steps {
            true => PATHS.len() * variates * (self.context_length() + levels * steps),
            false => 0,
        };
        (4 * pass + 8 * (first + behind)) as u64
    }
}
