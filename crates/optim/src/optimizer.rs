//! One step: the shards' gradients summed, clipped, and the parameters changed, block by block.

use std::ops::Range;

use foretell_pool::Buffer;
use foretell_simd as simd;

use crate::bad_constant::BadConstant;
use crate::check::require;
use crate::rule::Rule;
use crate::schedule::Pace;

/// Elements of a block: 16 KB of each of parameters, two moments, and the gradients of each shard. Up to
/// sixteen shards stay in the second-level cache.
const BLOCK: usize = 4096;

/// The work of an element, in numbers of a plain pass over memory: parameters and moments are read and written, the
/// shards' gradients read.
const COST: usize = 4;

/// A bound on the gradient, which is the sum over all shards.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Clip {
    /// On its Euclidean norm over all parameters (`torch.nn.utils.clip_grad_norm_`).
    Norm(f64),
    /// On the size of each of its elements (`torch.nn.utils.clip_grad_value_`).
    Value(f64),
}

impl Clip {
    /// Whether it bounds a gradient, and does not turn it.
    ///
    /// # Errors
    /// If it is negative, or no number. An infinite bound is none.
    pub fn check(&self) -> Result<(), BadConstant> {
        let (Self::Norm(most) | Self::Value(most)) = *self;
        require(most >= 0.0, "the bound of a gradient", "at least 0", most)
    }
}

/// An update rule with the numbers that it keeps for each parameter.
#[derive(Clone, Debug)]
pub struct Optimizer {
    rule: Rule,
    clip: Option<Clip>,
    len: usize,
    /// The parameters that steps change, in order.
    trained: Vec<Range<usize>>,
    /// As many as the rule has names for; the others are empty.
    states: [Buffer<f32>; 2],
    /// The sum of squares of each block's gradient, where the norm is asked for.
    squares: Buffer<f64>,
    steps: u64,
}

impl Optimizer {
    /// An optimiser of `len` parameters that has taken no step.
    ///
    /// # Panics
    /// If a constant is one that nothing can be trained with; [`Optimizer::try_new`] returns it.
    #[track_caller]
    pub fn new(len: usize, rule: Rule, clip: Option<Clip>) -> Self {
        Self::try_new(len, rule, clip).unwrap_or_else(|error| panic!("{error}"))
    }

    /// [`Optimizer::new`] with constants that someone else has chosen.
    ///
    /// # Errors
    /// The first constant that nothing can be trained with.
    pub fn try_new(len: usize, rule: Rule, clip: Option<Clip>) -> Result<Self, BadConstant> {
        rule.check()?;
        clip.map_or(Ok(()), |clip| clip.check())?;
        let kept = rule.state_names().len();
        let state = |i: usize| Buffer::zeroed(if i < kept { len } else { 0 });
        let squares = matches!(clip, Some(Clip::Norm(_))).then(|| Buffer::zeroed(len.div_ceil(BLOCK)));
        let squares = squares.unwrap_or_default();
        let trained = std::iter::once(0..len).collect();
        Ok(Self { rule, clip, len, trained, states: [state(0), state(1)], squares, steps: 0 })
    }

    /// Leaves the parameters of these ranges unchanged: neither their gradients nor a decay of weights change them, and a bound
    /// on the norm does not count them.
    ///
    /// # Panics
    /// If a range ends beyond the parameters.
    #[track_caller]
    pub fn freezing(mut self, frozen: &[Range<usize>]) -> Self {
        for frozen in frozen {
            assert!(frozen.end <= self.len, "{frozen:?} of {} parameters", self.len);
            let parts = |range: &Range<usize>| {
                let before = range.start..range.end.min(frozen.start);
                let after = range.start.max(frozen.end)..range.end;
                [before, after].into_iter().filter(|part| !part.is_empty())
            };
            self.trained = self.trained.iter().flat_map(parts).collect();
        }
        self
    }

    /// One step at a rate (or at a [`Pace`]): the gradient is the sum of `shards`, in their order.
    /// Within [`foretell_threads::share`] the pass is split over several threads; the result does not depend on how
    /// many.
    ///
    /// # Panics
    /// If the lengths differ, there is no shard, the rate is negative or no finite number, or the rule cannot have the momentum.
    #[track_caller]
    pub fn step(&mut self, params: &mut [f32], shards: &[&[f32]], pace: impl Into<Pace>) {
        let Pace { rate, momentum } = pace.into();
        let len = self.len;
        assert!(!shards.is_empty(), "a step without gradients");
        assert!(
            rate >= 0.0 && rate.is_finite(),
            "a step at a rate of {rate}; rates are finite and not below 0"
        );
        for found in shards.iter().map(|shard| shard.len()).chain([params.len()]) {
            assert_eq!(found, len, "an optimiser of {len} parameters was given {found}");
        }
        self.steps += 1;
        let (rule, step) = (momentum.map_or(self.rule, |new| self.rule.with_momentum(new)), self.steps);
        rule.check().unwrap_or_else(|error| panic!("{error}"));
        let trained = &self.trained;
        let limit = match self.clip {
            None => Limit::None,
            Some(Clip::Value(most)) => Limit::Each(most as f32),
            Some(Clip::Norm(most)) => {
                let blocks = self.squares.len();
                foretell_threads::rows(blocks, COST * BLOCK, [&mut self.squares], |blocks, [squares]| {
                    for (block, square) in blocks.zip(squares) {
                        let range = block * BLOCK..len.min((block + 1) * BLOCK);
                        let sum = &mut [0.0; BLOCK][..range.len()];
                        for part in within(trained, range.clone()) {
                            let sum = &mut sum[part.start - range.start..part.end - range.start];
                            add_up(shards, part.start, sum);
                        }
                        *square = f64::from(simd::l2_norm(sum)).powi(2);
                    }
                });
                // The blocks' sums are added in their order, whichever threads computed them.
                let norm = self.squares.iter().sum::<f64>().sqrt();
                let factor = most / (norm + 1e-6);
                if factor < 1.0 { Limit::Scale(factor as f32) } else { Limit::None }
            }
        };
        let [first, second] = &mut self.states;
        foretell_threads::rows(len, COST, [params, first, second], |range, [params, first, second]| {
            let blocks = range.clone().step_by(BLOCK).map(|at| at..range.end.min(at + BLOCK));
            for span in blocks.flat_map(|block| within(trained, block)) {
                let start = span.start;
                let block = span.start - range.start..span.end - range.start;
                let mut sum;
                let grads = match (shards, limit) {
                    (&[only], Limit::None) => &only[start..start + block.len()],
                    // Several shards are summed, and a gradient is clipped, beside the arenas, which are only read.
                    _ => {
                        sum = [0.0; BLOCK];
                        let sum = &mut sum[..block.len()];
                        add_up(shards, start, sum);
                        match limit {
                            Limit::None => {}
                            Limit::Scale(factor) => simd::scale(sum, factor),
                            Limit::Each(most) => sum.iter_mut().for_each(|g| *g = g.clamp(-most, most)),
                        }
                        sum
                    }
                };
                let states = [part(first, &block), part(second, &block)];
                rule.apply(rate, step, &mut params[block], grads, states);
            }
        });
    }

    /// Steps taken.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The numbers that are kept for each parameter, under PyTorch's names.
    pub fn states(&self) -> impl Iterator<Item = (&'static str, &[f32])> {
        self.rule.state_names().iter().copied().zip(self.states.iter().map(|state| &**state))
    }

    /// Sets the optimiser to the state of another after `steps` steps; `state` returns the numbers that the other kept, by
    /// name.
    ///
    /// # Panics
    /// If a state has another length than there are parameters.
    #[track_caller]
    pub fn restore<'s>(&mut self, steps: u64, state: impl Fn(&str) -> &'s [f32]) {
        self.steps = steps;
        for (&name, own) in self.rule.state_names().iter().zip(&mut self.states) {
            let saved = state(name);
            assert_eq!(saved.len(), own.len(), "{name} of an optimiser");
            own.copy_from_slice(saved);
        }
    }
}

/// The effect of clipping on a gradient.
#[derive(Clone, Copy)]
enum Limit {
    None,
    Scale(f32),
    Each(f32),
}

/// Writes the sum of the shards from `start` on, in their order.
fn add_up(shards: &[&[f32]], start: usize, sum: &mut [f32]) {
    let shard = |i: usize| &shards[i][start..start + sum.len()];
    match shards.len() {
        1 => sum.copy_from_slice(shard(0)),
        _ => simd::add(shard(0), shard(1), sum),
    }
    for other in shards.iter().skip(2) {
        simd::add_assign(sum, &other[start..start + sum.len()]);
    }
}

/// The parts of these ranges that lie in `block`.
fn within(ranges: &[Range<usize>], block: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let common = move |range: &Range<usize>| range.start.max(block.start)..range.end.min(block.end);
    ranges.iter().map(common).filter(|part| !part.is_empty())
}

/// A block of an arena, empty where that is.
fn part<'a>(arena: &'a mut [f32], range: &Range<usize>) -> &'a mut [f32] {
    if arena.is_empty() { arena } else { &mut arena[range.clone()] }
}

#[cfg(test)]
mod tests {
    use foretell_threads::{Workers, share};

    use super::*;
    use crate::constants::{RmsPropConfig, SgdConfig};

    const MOMENTUM: Rule =
        Rule::Sgd(SgdConfig { momentum: 0.9, dampening: 0.0, nesterov: false, weight_decay: 0.0 });

    fn all_rules() -> [Rule; 7] {
        let adam = Default::default();
        let heavy = RmsPropConfig { momentum: 0.5, ..RmsPropConfig::default() };
        [
            Rule::Adam(adam),
            Rule::AdamW(adam),
            Rule::RAdam(adam),
            Rule::Sgd(SgdConfig::default()),
            MOMENTUM,
            Rule::RmsProp(RmsPropConfig::default()),
            Rule::RmsProp(heavy),
        ]
    }

    fn gradients(len: usize, step: usize) -> Vec<Vec<f32>> {
        let shard = |s: usize| (0..len).map(|i| ((i * 7 + s * 13 + step) as f32).sin()).collect();
        (0..3).map(shard).collect()
    }

    fn on(threads: usize, work: impl FnOnce() + Send) {
        Workers::new(threads).unwrap().enter(|| share(threads, work));
    }

    fn run(optimizer: &mut Optimizer, params: &mut [f32], steps: Range<usize>, threads: usize) {
        for step in steps {
            let shards = gradients(params.len(), step);
            let shards: Vec<&[f32]> = shards.iter().map(|shard| &shard[..]).collect();
            on(threads, || optimizer.step(params, &shards, 0.01));
        }
    }

    #[test]
    fn threads_change_no_bit() {
        let len = 50 * BLOCK + 17;
        for rule in all_rules() {
            for clip in [None, Some(Clip::Norm(1.0)), Some(Clip::Value(0.5))] {
                let run = |threads: usize| {
                    let (mut optimizer, mut params) = (Optimizer::new(len, rule, clip), vec![0.5; len]);
                    run(&mut optimizer, &mut params, 0..2, threads);
                    params
                };
                let one = run(1);
                assert!(one == run(2) && one == run(3), "{rule:?}, {clip:?}");
            }
        }
    }

    #[test]
    fn a_restored_optimiser_continues_as_the_first_would() {
        for rule in all_rules() {
            let (mut first, mut params) = (Optimizer::new(50, rule, None), vec![0.5; 50]);
            run(&mut first, &mut params, 0..4, 1);
            let (mut second, mut copy) = (Optimizer::new(50, rule, None), params.clone());
            let states: Vec<(&str, &[f32])> = first.states().collect();
            let state = |name: &str| states.iter().find(|(known, _)| *known == name).expect("a state").1;
            second.restore(first.steps(), state);
            run(&mut first, &mut params, 4..7, 1);
            run(&mut second, &mut copy, 4..7, 1);
            assert_eq!(params, copy, "{rule:?}");
        }
    }

    #[test]
    fn a_bound_on_the_norm_holds_for_all_blocks_and_shards_together() {
        let len = 2 * BLOCK + 100;
        let shards = gradients(len, 0);
        let shards: Vec<&[f32]> = shards.iter().map(|shard| &shard[..]).collect();
        let sum: Vec<f64> = (0..len).map(|i| shards.iter().map(|shard| f64::from(shard[i])).sum()).collect();
        let norm = sum.iter().map(|g| g * g).sum::<f64>().sqrt();
        for most in [0.5 * norm, 2.0 * norm] {
            let mut params = vec![0.0; len];
            let rule = Rule::Sgd(SgdConfig::default());
            Optimizer::new(len, rule, Some(Clip::Norm(most))).step(&mut params, &shards, 1.0);
            for (p, g) in params.iter().zip(&sum) {
                let expected = -g * (most / norm).min(1.0);
                assert!((f64::from(*p) - expected).abs() < 1e-5, "{p}, expected {expected}");
            }
        }
    }

    #[test]
    fn frozen_parameters_stay_and_do_not_count_for_the_norm() {
        let len = 2 * BLOCK + 100;
        let frozen = [10..20, 15..30, BLOCK - 5..BLOCK + 7, len - 1..len];
        let is_frozen = |i: usize| frozen.iter().any(|range| range.contains(&i));
        let without_frozen = |mut shards: Vec<Vec<f32>>| {
            let entries = shards.iter_mut().flat_map(|shard| shard.iter_mut().enumerate());
            entries.filter(|(i, _)| is_frozen(*i)).for_each(|(_, gradient)| *gradient = 0.0);
            shards
        };
        for rule in all_rules() {
            for clip in [None, Some(Clip::Norm(1.0)), Some(Clip::Value(0.5))] {
                let mut found = vec![0.5; len];
                let mut optimizer = Optimizer::new(len, rule, clip).freezing(&frozen);
                run(&mut optimizer, &mut found, 0..3, 2);
                let (mut expected, mut all) = (vec![0.5; len], Optimizer::new(len, rule, clip));
                for step in 0..3 {
                    let shards = without_frozen(gradients(len, step));
                    let shards: Vec<&[f32]> = shards.iter().map(|shard| &shard[..]).collect();
                    all.step(&mut expected, &shards, 0.01);
                }
                for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
                    let expected = if is_frozen(i) { 0.5 } else { *expected };
                    assert_eq!(*found, expected, "{rule:?}, {clip:?}, parameter {i}");
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "an optimiser of 2 parameters was given 3")]
    fn lengths_must_agree() {
        Optimizer::new(2, Rule::default(), None).step(&mut [0.0; 2], &[&[0.0; 3]], 0.1);
    }
}
