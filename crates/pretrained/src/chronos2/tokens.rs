//! Series and their columns as tokens.

use std::ops::Range;

use super::config::Chronos2Config;
use crate::attention::Span;
use crate::scale::Scale;

/// A series that is forecast, or a column beside one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variate<'a> {
    /// Values up to now, NaN where unknown; the last ones count.
    pub(super) past: &'a [f64],
    /// Values from now on as far as they are known, NaN where not.
    pub(super) ahead: &'a [f64],
}

/// Tokens of the variates of several groups, one variate behind the other: patches of the past that have a known value, the closing
/// token, and patches of the future.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    /// `[tokens, d_model]`.
    pub(super) states: Vec<f32>,
    /// The place of each in time, in patches since the first of its group.
    pub(super) places: Vec<usize>,
    /// Those of each variate.
    pub(super) variates: Vec<Range<usize>>,
    /// The variates of each group.
    pub(super) groups: Vec<Range<usize>>,
    pub(super) scales: Vec<Scale>,
    /// Patches of the future of each variate.
    pub(super) ahead: usize,
    /// All patches, `[patches, 3 size]`: times, values, and marks of those that are known.
    pub(super) patches: Vec<f32>,
}

impl Tokens {
    /// Cuts groups of variates into patches, with `ahead` of the future.
    pub(super) fn cut(&mut self, groups: &[&[Variate<'_>]], ahead: usize, config: &Chronos2Config) {
        let own = &config.chronos_config;
        let size = own.input_patch_size;
        let Self { places, variates, groups: ranges, scales, patches, ahead: of_future, .. } = self;
        places.clear();
        variates.clear();
        ranges.clear();
        scales.clear();
        patches.clear();
        *of_future = ahead;
        for group in groups {
            let first = variates.len();
            let last = |variate: &Variate<'_>| variate.past.len().min(own.context_length);
            let most = group.iter().map(|variate| last(variate).div_ceil(size)).max().unwrap_or(0);
            for variate in *group {
                let past = &variate.past[variate.past.len() - last(variate)..];
                let scale = Scale::of(past);
                let mut put = |from: i64, value: &dyn Fn(i64) -> f64| {
                    let steps = || from..from + size as i64;
                    let scaled = |y: f64| match own.use_arcsinh {
                        _ if y.is_nan() => 0.0,
                        // Not the standard library's, which asks a program for glibc 2.35 (`hypot`).
                        true => libm::asinh(scale.scaled(y)) as f32,
                        false => scale.scaled(y) as f32,
                    };
                    patches.extend(steps().map(|step| step as f32 / config.time_scale() as f32));
                    patches.extend(steps().map(|step| scaled(value(step))));
                    patches.extend(steps().map(|step| f32::from(u8::from(!value(step).is_nan()))));
                };
                let before = |step: i64| {
                    let place = usize::try_from(past.len() as i64 + step).ok();
                    place.and_then(|place| past.get(place)).copied().unwrap_or(f64::NAN)
                };
                let start = places.len();
                for patch in 0..most {
                    let from = -(((most - patch) * size) as i64);
                    if (from..from + size as i64).any(|step| !before(step).is_nan()) {
                        put(from, &before);
                        places.push(patch);
                    }
                }
                let behind = |step: i64| variate.ahead.get(step as usize).copied().unwrap_or(f64::NAN);
                places.push(most);
                for patch in 0..ahead {
                    put((patch * size) as i64, &behind);
                    places.push(most + 1 + patch);
                }
                variates.push(start..places.len());
                scales.push(scale);
            }
            ranges.push(first..variates.len());
        }
    }

    /// Puts states together of those of the patches and, behind the past of each variate, the closing token's.
    pub(super) fn embed(&mut self, embedded: &[f32], closing: &[f32]) {
        self.states.clear();
        let mut patch = embedded.chunks_exact(closing.len());
        for variate in &self.variates {
            let past = variate.len() - 1 - self.ahead;
            patch.by_ref().take(past).for_each(|state| self.states.extend(state));
            self.states.extend(closing);
            patch.by_ref().take(self.ahead).for_each(|state| self.states.extend(state));
        }
    }

    /// Whether each variate is a group by itself.
    pub(super) fn are_alone(&self) -> bool {
        self.groups.iter().all(|group| group.len() == 1)
    }

    /// The tokens of the future, in their order.
    pub(super) fn future(&self) -> impl Iterator<Item = usize> {
        self.variates.iter().flat_map(|variate| variate.end - self.ahead..variate.end)
    }

    /// Tokens in an order in which those of one place in a group stand together, which attend to each other: of all, or of the future
    /// alone, which are counted among themselves.
    pub(super) fn by_place(&self, future: bool) -> (Vec<usize>, Vec<Span>) {
        let (mut order, mut spans) = (Vec::new(), Vec::new());
        for group in &self.groups {
            let mut tokens: Vec<(usize, usize)> = Vec::new();
            for variate in group.clone() {
                let all = self.variates[variate].clone();
                match future {
                    true => {
                        let first = variate * self.ahead;
                        tokens.extend(
                            (all.end - self.ahead..all.end).map(|token| self.places[token]).zip(first..),
                        );
                    }
                    false => tokens.extend(all.map(|token| (self.places[token], token))),
                }
            }
            tokens.sort_unstable();
            for together in tokens.chunk_by(|a, b| a.0 == b.0) {
                spans.push(Span::of(order.len()..order.len() + together.len()));
                order.extend(together.iter().map(|(_, token)| *token));
            }
        }
        (order, spans)
    }
}
