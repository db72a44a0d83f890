//! Random numbers of the distributions that the kinds of series need, each a function of the key alone.

use std::f64::consts::TAU;

use foretell_simd::{Key, Stream};

/// Random numbers one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Draws {
    stream: Stream,
    /// The second normal number of a pair, until it is asked for.
    spare: Option<f64>,
}

impl Draws {
    pub(crate) fn new(key: Key) -> Self {
        Self { stream: Stream::new(key), spare: None }
    }

    /// Uniform in `[0, 1)`.
    pub(crate) fn unit(&mut self) -> f64 {
        self.stream.uniform_f64()
    }

    /// Uniform between two numbers.
    pub(crate) fn between(&mut self, from: f64, to: f64) -> f64 {
        from + (to - from) * self.unit()
    }

    /// Between two positive numbers, uniform in the logarithm.
    pub(crate) fn log_between(&mut self, from: f64, to: f64) -> f64 {
        self.between(from.ln(), to.ln()).exp()
    }

    /// True with this probability.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// A whole number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.stream.below(n as u64) as usize
    }

    /// A whole number from `from` to `to`, both included.
    pub(crate) fn whole(&mut self, from: usize, to: usize) -> usize {
        from + self.below(to - from + 1)
    }

    /// One of these, each with the same probability.
    pub(crate) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// The place of one of these weights, each with a probability in proportion to it.
    pub(crate) fn weighted(&mut self, weights: &[f64]) -> usize {
        let mut at = self.unit() * weights.iter().sum::<f64>();
        for (place, weight) in weights.iter().enumerate() {
            at -= weight;
            if at < 0.0 {
                return place;
            }
        }
        weights.len() - 1
    }

    /// Normal with mean 0 and variance 1 (Box and Muller 1958).
    pub(crate) fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        let (sin, cos) = (TAU * self.unit()).sin_cos();
        self.spare = Some(radius * sin);
        radius * cos
    }

    /// Gamma of this shape, whose mean is the shape (Marsaglia and Tsang 2000).
    pub(crate) fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            let boost = (1.0 - self.unit()).powf(1.0 / shape);
            return boost * self.gamma(shape + 1.0);
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = (1.0 + c * x).powi(3);
            if v > 0.0 && (1.0 - self.unit()).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                return d * v;
            }
        }
    }

    /// Poisson of this mean: by products of uniforms where it is small, by rounding a normal number where it is large.
    pub(crate) fn poisson(&mut self, mean: f64) -> f64 {
        if mean > 30.0 {
            return (mean + mean.sqrt() * self.normal()).round().max(0.0);
        }
        let (limit, mut product, mut count) = ((-mean).exp(), self.unit(), 0.0);
        while product > limit {
            product *= self.unit();
            count += 1.0;
        }
        count
    }

    /// Student's t of some degrees of freedom, of which large values are more likely than of a normal number.
    pub(crate) fn student(&mut self, degrees: f64) -> f64 {
        self.normal() / (self.gamma(0.5 * degrees) / (0.5 * degrees)).sqrt()
    }

    /// Positive weights that sum up to 1 (Dirichlet with this concentration).
    pub(crate) fn dirichlet(&mut self, n: usize, concentration: f64) -> Vec<f64> {
        let parts: Vec<f64> = (0..n).map(|_| self.gamma(concentration)).collect();
        let sum = parts.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        parts.into_iter().map(|part| part / sum).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and variance of 20,000 numbers.
    fn moments(mut draw: impl FnMut(&mut Draws) -> f64) -> [f64; 2] {
        let mut draws = Draws::new(Key::new(5));
        let numbers: Vec<f64> = (0..20_000).map(|_| draw(&mut draws)).collect();
        let mean = numbers.iter().sum::<f64>() / 2e4;
        [mean, numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 2e4]
    }

    #[test]
    fn distributions_have_their_means_and_variances() {
        let cases: [(&str, [f64; 2], [f64; 2]); 7] = [
            ("normal", moments(Draws::normal), [0.0, 1.0]),
            ("gamma 0.5", moments(|draws| draws.gamma(0.5)), [0.5, 0.5]),
            ("gamma 4", moments(|draws| draws.gamma(4.0)), [4.0, 4.0]),
            ("poisson 3", moments(|draws| draws.poisson(3.0)), [3.0, 3.0]),
            ("poisson 80", moments(|draws| draws.poisson(80.0)), [80.0, 80.0]),
            ("student 8", moments(|draws| draws.student(8.0)), [0.0, 8.0 / 6.0]),
            ("between", moments(|draws| draws.between(-1.0, 5.0)), [2.0, 3.0]),
        ];
        for (name, [mean, variance], [expected, spread]) in cases {
            assert!((mean - expected).abs() < 0.04 * spread.sqrt(), "{name}: mean {mean}");
            assert!((variance / spread - 1.0).abs() < 0.08, "{name}: variance {variance}");
        }
    }

    #[test]
    fn weights_are_probabilities() {
        let mut draws = Draws::new(Key::new(1));
        let mut counts = [0; 3];
        (0..10_000).for_each(|_| counts[draws.weighted(&[1.0, 0.0, 3.0])] += 1);
        assert!(counts[1] == 0 && (2300..2700).contains(&counts[0]), "{counts:?}");
        let parts = draws.dirichlet(4, 1.5);
        assert!((parts.iter().sum::<f64>() - 1.0).abs() < 1e-12 && parts.iter().all(|part| *part > 0.0));
    }
}
