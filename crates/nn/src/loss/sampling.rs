//! Random numbers of the distributions, and of those that they are composed of.

use foretell_simd::{Key, Stream};

use super::special::ln_gamma;

/// The random numbers of sample `index`, the same for every forecast.
pub(super) fn draws(index: usize) -> Stream {
    Stream::new(Key::new(0x7eed1e).fold(index as u64))
}

/// Uniform in `(0, 1]`, so that it has a logarithm.
pub(super) fn uniform(draws: &mut Stream) -> f64 {
    1.0 - draws.uniform_f64()
}

/// A standard normal number (Box and Muller 1958).
pub(super) fn normal(draws: &mut Stream) -> f64 {
    (-2.0 * uniform(draws).ln()).sqrt() * (std::f64::consts::TAU * draws.uniform_f64()).cos()
}

/// A Poisson count of this mean: for small means by the times between events, else by Hörmann's transformed rejection
/// (1993, PTRS). A mean that is not finite is returned unchanged.
pub(super) fn poisson(mean: f64, draws: &mut Stream) -> f64 {
    if !mean.is_finite() {
        return mean;
    }
    if mean < 10.0 {
        let (mut time, mut count) = (-uniform(draws).ln(), 0.0);
        while time < mean {
            time -= uniform(draws).ln();
            count += 1.0;
        }
        return count;
    }
    let b = 0.931 + 2.53 * mean.sqrt();
    let a = -0.059 + 0.02483 * b;
    let inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    loop {
        let (u, v) = (draws.uniform_f64() - 0.5, uniform(draws));
        let edge = 0.5 - u.abs();
        let count = ((2.0 * a / edge + b) * u + mean + 0.43).floor();
        if edge >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2.0) {
            return count;
        }
        if count < 0.0 || (edge < 0.013 && v > edge) {
            continue;
        }
        let likelihood = count * mean.ln() - mean - ln_gamma(count + 1.0);
        if (v * inverse_alpha / (a / (edge * edge) + b)).ln() <= likelihood {
            return count;
        }
    }
}

/// A gamma distributed number of this shape and scale 1 (Marsaglia and Tsang 2000).
pub(super) fn gamma(shape: f64, draws: &mut Stream) -> f64 {
    if shape < 1.0 {
        let factor = uniform(draws).powf(1.0 / shape);
        return factor * gamma(shape + 1.0, draws);
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(draws);
        let v = (1.0 + c * x).powi(3);
        if v > 0.0 && uniform(draws).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}
