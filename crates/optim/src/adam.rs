//! Adam (Kingma and Ba 2015, algorithm 1), as `torch.optim.Adam` computes it.

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
    first: Vec<f32>,
    second: Vec<f32>,
    steps: u64,
}

impl Adam {
    /// An optimiser of `len` parameters that has taken no step.
    pub fn new(len: usize, config: AdamConfig) -> Self {
        Self { config, first: vec![0.0; len], second: vec![0.0; len], steps: 0 }
    }

    /// One step at rate `rate`: the gradient is the sum of `shards`, in their order, which are cleared.
    /// The pass is split over up to `threads` threads; the result does not depend on how many.
    ///
    /// # Panics
    /// If the lengths differ or there is no shard.
    pub fn step(&mut self, params: &mut [f32], shards: Vec<&mut [f32]>, rate: f64, threads: usize) {
        let len = self.first.len();
        assert!(!shards.is_empty(), "a step without gradients");
        for found in shards.iter().map(|shard| shard.len()).chain([params.len()]) {
            assert_eq!(found, len, "an optimiser of {len} parameters was given {found}");
        }
        self.steps += 1;
        let AdamConfig { beta1, beta2, eps, weight_decay } = self.config;
        let rule = AdamStep { lr: rate, beta1, beta2, eps, weight_decay, step: self.steps };
        Part { params, first: &mut self.first, second: &mut self.second, shards }.update(&rule, threads);
    }
}

/// A range of all arenas.
struct Part<'a> {
    params: &'a mut [f32],
    first: &'a mut [f32],
    second: &'a mut [f32],
    shards: Vec<&'a mut [f32]>,
}

impl<'a> Part<'a> {
    fn update(self, rule: &AdamStep, threads: usize) {
        #[cfg(feature = "parallel")]
        if threads > 1 && self.params.len() >= WORTH_SPLITTING {
            let left_threads = threads / 2;
            let at = (self.params.len() / threads * left_threads).next_multiple_of(BLOCK);
            let (left, right) = self.split(at);
            rayon::join(|| left.update(rule, left_threads), || right.update(rule, threads - left_threads));
            return;
        }
        let _ = threads;
        self.update_blocks(rule);
    }

    #[cfg(feature = "parallel")]
    fn split(self, at: usize) -> (Self, Self) {
        let (params, first, second) =
            (self.params.split_at_mut(at), self.first.split_at_mut(at), self.second.split_at_mut(at));
        let (left, right) = self.shards.into_iter().map(|shard| shard.split_at_mut(at)).unzip();
        (
            Self { params: params.0, first: first.0, second: second.0, shards: left },
            Self { params: params.1, first: first.1, second: second.1, shards: right },
        )
    }

    fn update_blocks(mut self, rule: &AdamStep) {
        let Some((total, others)) = self.shards.split_first_mut() else { return };
        for start in (0..self.params.len()).step_by(BLOCK) {
            let range = start..(start + BLOCK).min(self.params.len());
            let grads = &mut total[range.clone()];
            for shard in others.iter_mut() {
                simd::add_assign(grads, &shard[range.clone()]);
                shard[range.clone()].fill(0.0);
            }
            let (first, second) = (&mut self.first[range.clone()], &mut self.second[range.clone()]);
            simd::adam(&mut self.params[range], grads, first, second, rule);
            grads.fill(0.0);
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
            adam.step(&mut params, vec![&mut step.clone()], 0.01, 1);
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
                let mut shards: Vec<Vec<f32>> = (0..3)
                    .map(|s| (0..len).map(|i| ((i * 7 + s * 13 + step) as f32).sin()).collect())
                    .collect();
                adam.step(&mut params, shards.iter_mut().map(|s| &mut s[..]).collect(), 0.1, threads);
                assert!(shards.iter().flatten().all(|&g| g == 0.0), "gradients are cleared");
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
        Adam::new(2, AdamConfig::default()).step(&mut [0.0; 2], vec![&mut [0.0; 3]], 0.1, 1);
    }
}
