//! PyTorch's initialisers.

use std::f64::consts::TAU;

use foretell_simd::{Key, Stream, uniform_fill};

use crate::SplineNoise;

/// How a parameter is initialised.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Init {
    /// All elements the same.
    Constant(f32),
    /// Uniform in `[-bound, bound)`.
    Uniform {
        /// The largest absolute value.
        bound: f32,
    },
    /// Uniform in `[0, bound)`.
    UpTo {
        /// The upper bound, itself excluded.
        bound: f32,
    },
    /// Normal with mean 0 and variance 1, as `torch.nn.Embedding`.
    Normal,
    /// Normal with mean 0 and this standard deviation.
    NormalOf {
        /// The standard deviation.
        deviation: f32,
    },
    /// Values on a curve.
    Curve(Curve),
    /// Coefficients of splines through noise.
    Splines(SplineNoise),
}

/// Values that go from one number to another, over and over: of each `among` runs of `len` values, the one at `place` has
/// `from + (to - from) (i / (len - 1))^power` for i from 0 on; the others are 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Curve {
    /// Values of a run.
    pub len: usize,
    /// Runs of which one has the curve.
    pub among: usize,
    /// Which one has it.
    pub place: usize,
    /// The first and the last value.
    pub ends: [f32; 2],
    /// 1 for a line.
    pub power: f32,
}

impl Curve {
    /// A line in every run of `len` values.
    pub fn line(len: usize, ends: [f32; 2]) -> Self {
        Self { len, among: 1, place: 0, ends, power: 1.0 }
    }

    fn fill(self, values: &mut [f32]) {
        let Self { len, among, place, ends: [from, to], power } = self;
        values.fill(0.0);
        let last = len.saturating_sub(1).max(1) as f32;
        for run in values.chunks_mut(len.max(1)).skip(place).step_by(among) {
            for (i, value) in run.iter_mut().enumerate() {
                *value = from + (to - from) * (i as f32 / last).powf(power);
            }
        }
    }
}

impl Init {
    /// `torch.nn.Linear`'s rule for weight and bias: uniform within `1 / sqrt(fan_in)`. (PyTorch calls
    /// `kaiming_uniform_` with a = sqrt(5), after He et al. 2015, which comes to the same.)
    pub fn fan_in(fan_in: usize) -> Self {
        let bound = if fan_in > 0 { 1.0 / (fan_in as f32).sqrt() } else { 0.0 };
        Self::Uniform { bound }
    }

    /// `torch.nn.init.kaiming_normal_`'s rule for a leaky rectifier of slope 0.01 (He et al. 2015): normal with variance
    /// `2 / (1 + 0.01²) / fan_in`.
    pub fn kaiming_normal(fan_in: usize) -> Self {
        Self::NormalOf { deviation: (2.0 / (1.0 + 1e-4) / fan_in.max(1) as f32).sqrt() }
    }

    /// Fills `values`; the same key gives the same values on every machine.
    pub fn fill(self, key: Key, values: &mut [f32]) {
        match self {
            Self::Constant(value) => values.fill(value),
            Self::Uniform { bound } => {
                uniform_fill(key, 0, values);
                values.iter_mut().for_each(|value| *value = (2.0 * *value - 1.0) * bound);
            }
            Self::UpTo { bound } => {
                uniform_fill(key, 0, values);
                values.iter_mut().for_each(|value| *value *= bound);
            }
            // Two at a time, after Box and Muller 1958.
            Self::Normal => {
                let mut stream = Stream::new(key);
                for pair in values.chunks_mut(2) {
                    let radius = (-2.0 * (1.0 - stream.uniform_f64()).ln()).sqrt();
                    let angle = TAU * stream.uniform_f64();
                    let drawn = [radius * angle.cos(), radius * angle.sin()];
                    pair.iter_mut().zip(drawn).for_each(|(value, drawn)| *value = drawn as f32);
                }
            }
            Self::Curve(curve) => curve.fill(values),
            Self::Splines(noise) => noise.fill(key, values),
            Self::NormalOf { deviation } => {
                Self::Normal.fill(key, values);
                values.iter_mut().for_each(|value| *value *= deviation);
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

    #[test]
    fn normal_values_have_the_moments_of_the_normal_distribution() {
        let mut values = vec![0.0; 10_001];
        Init::Normal.fill(Key::new(5), &mut values);
        let moment = |power| values.iter().map(|&v| f64::from(v).powi(power)).sum::<f64>() / 10_001.0;
        for (power, expected, within) in [(1, 0.0, 0.04), (2, 1.0, 0.06), (3, 0.0, 0.16), (4, 3.0, 0.4)] {
            let sample_moment = moment(power);
            assert!((sample_moment - expected).abs() < within, "moment {power}: {sample_moment}");
        }
    }

    #[test]
    fn kaiming_normal_values_have_the_variance_of_their_inputs() {
        let mut values = vec![0.0; 10_001];
        Init::kaiming_normal(8).fill(Key::new(5), &mut values);
        let variance = values.iter().map(|&v| f64::from(v).powi(2)).sum::<f64>() / 10_001.0;
        assert!((variance - 0.25).abs() < 0.015, "variance {variance}");
    }
}
