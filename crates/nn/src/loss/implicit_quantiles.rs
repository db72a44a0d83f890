//! The layer that a loss of implicit quantiles needs behind the model, and how the loss draws probabilities.

use foretell_autograd::Key;
use foretell_simd::Stream;

use super::sampling::gamma;

/// The width of the layer behind the model, and the distribution that probabilities are drawn from in training.
#[derive(Clone, Debug, PartialEq)]
pub struct ImplicitQuantiles {
    /// Cosines that a probability is embedded in.
    pub cos_embedding_dim: usize,
    /// The two parameters of a beta distribution, as neuralforecast numbers them: the first draws to 0, the second to 1.
    pub concentration: [f64; 2],
}

impl ImplicitQuantiles {
    /// A probability for training, a function of the key.
    pub fn draw(&self, key: Key) -> f32 {
        let mut draws = Stream::new(key);
        if self.concentration == [1.0, 1.0] {
            return draws.uniform_f64() as f32;
        }
        let [to_0, to_1] = self.concentration.map(|shape| gamma(shape, &mut draws));
        (to_1 / (to_0 + to_1)) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_drawn_from_a_beta_distribution() {
        const COUNT: u64 = 20_000;
        for concentration in [[1.0, 1.0], [2.0, 0.5], [3.0, 5.0]] {
            let [to_0, to_1] = concentration;
            let layer = ImplicitQuantiles { cos_embedding_dim: 4, concentration };
            let draws: Vec<f64> = (0..COUNT).map(|i| layer.draw(Key::new(i)).into()).collect();
            assert!(draws.iter().all(|q| (0.0..=1.0).contains(q)));
            let mean = draws.iter().sum::<f64>() / COUNT as f64;
            let expected = to_1 / (to_0 + to_1);
            let all = to_0 + to_1;
            let deviation = (to_0 * to_1 / (all * all * (all + 1.0)) / COUNT as f64).sqrt();
            assert!(
                (mean - expected).abs() < 4.0 * deviation,
                "{concentration:?}: {mean}, expected {expected}"
            );
        }
    }
}
