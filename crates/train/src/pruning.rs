//! Pruning by magnitude: the smallest weights are set to zero during training, a rising share of them, and stay zero.
//!
//! Zhu, Gupta 2017, "To prune, or not to prune: exploring the efficacy of pruning for model compression" (arXiv 1710.01878),
//! equation 1: after `t` of `n` steps the share of zeros is `s + (s0 - s) (1 - t/n)^3`, `s0` being the share before.

use std::ops::Range;

use foretell_nn::Params;

/// The part of the steps over which the share of zeros rises; in the others the weights that are left make up for it.
const RISING: f64 = 0.7;

/// How often zeros are chosen while their share rises. To choose costs about as much as a step, so it is not done in each.
const CHOICES: u64 = 64;

/// A weight is kept where all bits of the mask are set, and zero where none is: an `and` takes the time of reading both.
const KEPT: u32 = u32::MAX;

/// Which weights become zero.
#[derive(Clone, Debug)]
pub struct Pruning {
    groups: Vec<Vec<Range<usize>>>,
    share: f64,
}

impl Pruning {
    /// Of each group, ranges of the parameters' arena, this share of weights becomes zero: the number is rounded, and at least one
    /// weight stays. Weights that are zero before count, and stay zero, as all others do once they are.
    ///
    /// # Panics
    /// If the share is below 0, or 1 or more.
    #[track_caller]
    pub fn new(groups: Vec<Vec<Range<usize>>>, share: f64) -> Self {
        assert!((0.0..1.0).contains(&share), "a share of {share}; it is at least 0 and below 1");
        Self { groups, share }
    }

    /// Sets the weights to zero at once, without training.
    pub fn apply(&self, params: &mut Params) {
        let mut mask = Mask::new(self, params.arena(), 0);
        mask.finish(params.arena_mut());
    }
}

/// The weights that are zero so far. Memory is taken when it is made, none in steps.
pub(crate) struct Mask<'a> {
    groups: Vec<Group<'a>>,
    share: f64,
    /// Steps over which the share of zeros rises.
    rising: u64,
    /// One number for each parameter of the arena: [`KEPT`] or 0.
    kept: Vec<u32>,
    magnitudes: Vec<u32>,
}

struct Group<'a> {
    ranges: &'a [Range<usize>],
    weights: usize,
    /// Weights that were zero before.
    zeros: usize,
}

impl<'a> Mask<'a> {
    /// Before the first of `steps` steps.
    pub(crate) fn new(pruning: &'a Pruning, arena: &[f32], steps: u64) -> Self {
        let mut kept = vec![KEPT; arena.len()];
        let group = |ranges: &'a Vec<Range<usize>>| {
            let mut zeros = 0;
            for place in ranges.iter().cloned().flatten().filter(|&place| arena[place] == 0.0) {
                kept[place] = 0;
                zeros += 1;
            }
            Group { ranges, weights: ranges.iter().map(Range::len).sum(), zeros }
        };
        let groups: Vec<Group<'_>> = pruning.groups.iter().map(group).collect();
        let largest = groups.iter().map(|group| group.weights).max().unwrap_or(0);
        let rising = (RISING * steps as f64).ceil() as u64;
        Self { groups, share: pruning.share, rising, kept, magnitudes: Vec::with_capacity(largest) }
    }

    /// Sets weights to zero after a step, counted from 1.
    pub(crate) fn after_step(&mut self, step: u64, arena: &mut [f32]) {
        let every = self.rising.div_ceil(CHOICES).max(1);
        if step == self.rising || (step < self.rising && step.is_multiple_of(every)) {
            self.choose(arena, step);
        }
        self.apply(arena);
    }

    /// Sets as many weights to zero as are to be in the end.
    pub(crate) fn finish(&mut self, arena: &mut [f32]) {
        self.choose(arena, self.rising);
        self.apply(arena);
    }

    /// Weights of a group that are to be zero after a step.
    fn zeros_after(&self, group: &Group<'_>, step: u64) -> usize {
        let weights = group.weights as f64;
        let left = if step < self.rising { 1.0 - step as f64 / self.rising as f64 } else { 0.0 };
        let share = self.share + (group.zeros as f64 / weights - self.share) * left.powi(3);
        let zeros = (share * weights).round() as usize;
        zeros.min(group.weights.saturating_sub(1)).max(group.zeros)
    }

    /// Chooses the smallest weights of each group. Those that are zero already come first, so that they stay zero; of equal ones
    /// those that stand first, so that the choice depends on nothing else.
    fn choose(&mut self, arena: &[f32], step: u64) {
        let key = |(weight, kept): (&f32, &u32)| match *kept {
            0 => 0,
            // Without its sign a number's bits are in the order of its magnitude.
            _ => (weight.to_bits() & !(1 << 31)) + 1,
        };
        for place in 0..self.groups.len() {
            let group = &self.groups[place];
            let zeros = self.zeros_after(group, step);
            let Some(last) = zeros.checked_sub(1) else { continue };
            self.magnitudes.clear();
            for range in group.ranges {
                let pairs = arena[range.clone()].iter().zip(&self.kept[range.clone()]);
                self.magnitudes.extend(pairs.map(key));
            }
            let (below, &mut threshold, _) = self.magnitudes.select_nth_unstable(last);
            let mut equal = zeros - below.iter().filter(|&&magnitude| magnitude < threshold).count();
            for range in group.ranges {
                for (weight, kept) in arena[range.clone()].iter().zip(&mut self.kept[range.clone()]) {
                    let magnitude = key((weight, &*kept));
                    if magnitude == threshold && equal > 0 {
                        equal -= 1;
                        *kept = 0;
                    } else if magnitude < threshold {
                        *kept = 0;
                    }
                }
            }
        }
    }

    /// Sets the chosen weights to zero, on the threads that [`foretell_threads::share`] allows.
    fn apply(&self, arena: &mut [f32]) {
        foretell_threads::rows(arena.len(), 2, [arena], |range, [weights]| {
            for (weight, kept) in weights.iter_mut().zip(&self.kept[range]) {
                *weight = f32::from_bits(weight.to_bits() & kept);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_weights_become_zero_and_the_others_stay() {
        let arena = [3.0, -1.0, 2.0, -4.0, 0.5, 9.0, -8.0, 7.0, 6.0, 0.1];
        // By layer: of the second group, too, whose weights are all larger. What is in no group stays.
        let by_layer = Pruning::new(vec![vec![0..4], vec![5..9]], 0.5);
        let by_network = Pruning::new(vec![vec![0..4, 5..9]], 0.5);
        for (pruning, expected) in [
            (by_layer, [3.0, 0.0, 0.0, -4.0, 0.5, 9.0, -8.0, 0.0, 0.0, 0.1]),
            (by_network, [0.0, 0.0, 0.0, 0.0, 0.5, 9.0, -8.0, 7.0, 6.0, 0.1]),
        ] {
            let mut pruned = arena;
            let mut mask = Mask::new(&pruning, &pruned, 0);
            mask.finish(&mut pruned);
            assert_eq!(pruned, expected);
        }
    }

    #[test]
    fn equal_weights_and_extreme_shares_are_counted_exactly() {
        for (share, zeros) in [(0.0, 0), (0.3, 3), (0.25, 3), (0.999, 9)] {
            let pruning = Pruning::new(vec![vec![0..10]], share);
            let mut arena = [1.0_f32; 10];
            let mut mask = Mask::new(&pruning, &arena, 0);
            mask.finish(&mut arena);
            assert_eq!(arena.iter().filter(|weight| **weight == 0.0).count(), zeros, "{share}");
            assert!(arena[..zeros].iter().all(|weight| *weight == 0.0), "{share}: the first ones");
        }
    }

    #[test]
    fn the_share_rises_by_the_cubic_schedule_and_zeros_stay() {
        const WEIGHTS: usize = 1000;
        let pruning = Pruning::new(vec![vec![0..WEIGHTS]], 0.8);
        let mut arena: Vec<f32> = (0..WEIGHTS).map(|i| ((i * 7919) % 1009) as f32 - 504.5).collect();
        // Zeros of before stay, and the share rises from theirs.
        arena[..100].fill(0.0);
        let mut mask = Mask::new(&pruning, &arena, 100);
        let capacity = mask.magnitudes.capacity();
        let mut before = 100;
        for step in 1..=100 {
            let was_zero: Vec<bool> = arena.iter().map(|weight| *weight == 0.0).collect();
            // What an optimiser would do: everything changes, zeros too.
            let moved = |(i, weight): (usize, &mut f32)| *weight += ((i * 31 + step) % 17) as f32 - 8.3;
            arena.iter_mut().enumerate().for_each(moved);
            mask.after_step(step as u64, &mut arena);
            assert!(arena.iter().zip(was_zero).all(|(weight, zero)| !zero || *weight == 0.0), "step {step}");
            let zeros = arena.iter().filter(|weight| **weight == 0.0).count();
            let left = (1.0 - step as f64 / 70.0).max(0.0).powi(3);
            let expected = (1000.0 * (0.8 - 0.7 * left)).round() as usize;
            match step {
                70.. => assert_eq!(zeros, 800),
                _ => assert!(zeros >= before && zeros <= expected, "{zeros} after step {step}, {expected}"),
            }
            before = zeros;
        }
        assert_eq!(mask.magnitudes.capacity(), capacity, "steps take no memory");
    }

    #[test]
    fn one_step_is_enough() {
        let pruning = Pruning::new(vec![vec![0..8]], 0.5);
        let mut arena = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
        Mask::new(&pruning, &arena, 1).after_step(1, &mut arena);
        assert_eq!(arena, [0.0, 0.0, 0.0, 0.0, 5.0, 6.0, 7.0, 8.0]);
    }
}
