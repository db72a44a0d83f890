//! Adam (Kingma and Ba 2015, algorithm 1), as `torch.optim.Adam` computes it.

use foretell_pool::Buffer;
use foretell_simd::{self as simd, AdamStep};

/// Elements of a block: 16 KB of each of parameters, two moments, and the gradients of each shard. Up to
/// eight shards stay in the second-level cache.
const BLOCK: usize = 4096;

/// Arenas shorter than this are not worth waking a second thread for.
const WORTH_SPLITTING: usize = 1 << 16;

/// Adam's constants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamConfig {
    /// How much of the mean of gradients is kept each step.
    pub beta1: f64,
    /// How much of the mean of squared gradients is kept each step.
    pub beta2: f64,
    /// Added to the root of the second moment.
    pub eps: f64,
    /// Times the parameter, added to the gradient.
    pub weight_decay: f64,
}

impl Default for AdamConfig {
    fn default() -> Self {
        Self { beta1: 0.9, beta2: 0.999, eps: 1e-8, weight_decay: 0.0 }
    }
}

/// Adam with its two moments per parameter.
#[derive(Clone, Debug)]
pub struct Adam {
    config: AdamConfig,
    first: Buffer<f32>,
    second: Buffer<f32>,
    steps: u64,
}

impl Adam {
    /// An optimiser of `len` parameters that has taken no step.
    pub fn new(len: usize, config: AdamConfig) -> Self {
        Self { config, first: Buffer::zeroed(len), second: Buffer::zeroed(len), steps: 0 }
    }

    /// One step at rate `rate`: the gradient is the sum of `shards`, in their order.
    /// The pass is split over up to `threads` threads; the result does not depend on how many.
    ///
    /// # Panics
    /// If the lengths differ or there is no shard.
    pub fn step(&mut self, params: &mut [f32], shards: &[&[f32]], rate: f64, threads: usize) {
        let len = self.first.len();
        assert!(!shards.is_empty(), "a step without gradients");
        for found in shards.iter().map(|shard| shard.len()).chain([params.len()]) {
            assert_eq!(found, len, "an optimiser of {len} parameters was given {found}");
        }
        self.steps += 1;
        let AdamConfig { beta1, beta2, eps, weight_decay } = self.config;
        let rule = AdamStep { lr: rate, beta1, beta2, eps, weight_decay, step: self.steps };
        let part = Part { params, first: &mut self.first, second: &mut self.second, start: 0 };
        part.update(shards, &rule, threads);
    }
}

/// A range of the arenas that a step changes, from `start` on.
struct Part<'a> {
    params: &'a mut [f32],
    first: &'a mut [f32],
    second: &'a mut [f32],
    start: usize,
}

impl Part<'_> {
    fn update(self, shards: &[&[f32]], rule: &AdamStep, threads: usize) {
        let worth_it = threads > 1 && self.params.len() >= WORTH_SPLITTING;
        #[cfg(feature = "parallel")]
        if worth_it {
            let left_threads = threads / 2;
            let at = (self.params.len() / threads * left_threads).next_multiple_of(BLOCK);
            let (left, right) = self.split(at);
            rayon::join(
                || left.update(shards, rule, left_threads),
                || right.update(shards, rule, threads - left_threads),
            );
            return;
        }
        let _ = worth_it;
        self.update_blocks(shards, rule);
    }

    #[cfg(feature = "parallel")]
    fn split<'b>(self, at: usize) -> (Part<'b>, Part<'b>)
    where
        Self: 'b,
    {
        let (params, first, second) =
            (self.params.split_at_mut(at), self.first.split_at_mut(at), self.second.split_at_mut(at));
        (
            Part { params: params.0, first: first.0, second: second.0, start: self.start },
            Part { params: params.1, first: first.1, second: second.1, start: self.start + at },
        )
    }

    fn update_blocks(self, shards: &[&[f32]], rule: &AdamStep) {
        // Where several shards are summed, so that their arenas are only read.
        let mut sum = [0.0; BLOCK];
        for at in (0..self.params.len()).step_by(BLOCK) {
            let range = at..(at + BLOCK).min(self.params.len());
            let shard = |i: usize| &shards[i][self.start + range.start..self.start + range.end];
            let grads = match shards.len() {
                1 => shard(0),
                count => {
                    let sum = &mut sum[..range.len()];
                    simd::add(shard(0), shard(1), sum);
                    (2..count).for_each(|other| simd::add_assign(sum, shard(other)));
                    sum
                }
            };
            let (first, second) = (&mut self.first[range.clone()], &mut self.second[range.clone()]);
            simd::adam(&mut self.params[range.clone()], grads, first, second, rule);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published algorithm, one element at a time in `f64`.
    fn reference(grads: &[f64], rate: f64) -> f64 {
        let (mut p, mut m, mut v) = (1.0, 0.0, 0.0);
        for (t, g) in grads.iter().enumerate() {
            m = 0.9 * m + 0.1 * g;
            v = 0.999 * v + 0.001 * g * g;
            let t = t as i32 + 1;
            p -= rate * (m / (1.0 - 0.9_f64.powi(t))) / ((v / (1.0 - 0.999_f64.powi(t))).sqrt() + 1e-8);
        }
        p
    }

    #[test]
    fn follows_the_published_algorithm() {
        let mut adam = Adam::new(3, AdamConfig::default());
        let mut params = [1.0; 3];
        let steps = [[0.5, -2.0, 1e-3], [0.25, 1.0, 1e-3], [-4.0, 0.0, 1e-3]];
        for step in &steps {
            adam.step(&mut params, &[&step[..]], 0.01, 1);
        }
        for (i, &got) in params.iter().enumerate() {
            let grads: Vec<f64> = steps.iter().map(|step| f64::from(step[i])).collect();
            let expected = reference(&grads, 0.01);
            assert!((f64::from(got) - expected).abs() < 1e-6, "parameter {i}: {got}, expected {expected}");
        }
    }

    #[test]
    fn threads_change_no_bit() {
        let len = 3 * WORTH_SPLITTING + 17;
        let run = |threads: usize| {
            let mut adam = Adam::new(len, AdamConfig::default());
            let mut params = vec![0.5; len];
            for step in 0..3 {
                let shards: Vec<Vec<f32>> = (0..3)
                    .map(|s| (0..len).map(|i| ((i * 7 + s * 13 + step) as f32).sin()).collect())
                    .collect();
                let shards: Vec<&[f32]> = shards.iter().map(|shard| &shard[..]).collect();
                adam.step(&mut params, &shards, 0.1, threads);
            }
            params
        };
        let one = run(1);
        assert_eq!(one, run(2));
        assert_eq!(one, run(3));
    }

    #[test]
    #[should_panic(expected = "an optimiser of 2 parameters was given 3")]
    fn lengths_must_agree() {
        Adam::new(2, AdamConfig::default()).step(&mut [0.0; 2], &[&[0.0; 3]], 0.1, 1);
    }
}
