//! PyTorch's initialisers.

use foretell_simd::{Key, uniform_fill};

/// How a parameter starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Init {
    /// All elements the same.
    Constant(f32),
    /// Uniform in `[-bound, bound)`.
    Uniform {
        /// The largest absolute value.
        bound: f32,
    },
}

impl Init {
    /// `torch.nn.Linear`'s rule for weight and bias: uniform within `1 / sqrt(fan_in)`. (PyTorch calls
    /// `kaiming_uniform_` with a = sqrt(5), after He et al. 2015, which comes to the same.)
    pub fn fan_in(fan_in: usize) -> Self {
        let bound = if fan_in > 0 { 1.0 / (fan_in as f32).sqrt() } else { 0.0 };
        Self::Uniform { bound }
    }

    /// Fills `values`; the same key gives the same values on every machine.
    pub fn fill(self, key: Key, values: &mut [f32]) {
        match self {
            Self::Constant(value) => values.fill(value),
            Self::Uniform { bound } => {
                uniform_fill(key, 0, values);
                values.iter_mut().for_each(|value| *value = (2.0 * *value - 1.0) * bound);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uniform_fills_its_range() {
        let mut values = vec![0.0; 10_000];
        Init::fan_in(25).fill(Key::new(3), &mut values);
        let mean = values.iter().sum::<f32>() / 1e4;
        let variance = values.iter().map(|v| v * v).sum::<f32>() / 1e4;
        assert!(values.iter().all(|v| (-0.2..0.2).contains(v)));
        assert!(mean.abs() < 0.005, "mean {mean}");
        assert!((variance - 0.04 / 3.0).abs() < 0.001, "variance {variance}");
    }
}
