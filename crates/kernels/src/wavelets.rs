//! Sums of wavelets, of which each pair of input and output has one that is moved and stretched: the layer of Bozorgasl and Chen
//! 2024, "Wav-KAN: Wavelet Kolmogorov-Arnold networks" (arXiv 2405.12832).
//!
//! With z = (x - translation) / scale, output o is `Σ_i weights_oi ψ(z_oi)`. With g the gradient of an output and
//! d = g weights_oi ψ'(z_oi) / scale_oi, the gradient of a weight is the sum of g ψ(z_oi) over the rows, that of a translation the
//! sum of -d, that of a scale the sum of -d z_oi, and that of an input the sum of d over the outputs.

use std::f32::consts::{FRAC_PI_2, PI};

use foretell_simd as simd;
use foretell_threads as threads;

/// A function ψ whose integral is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wavelet {
    /// `2 / (√3 π^¼) (z² - 1) e^(-z²/2)`.
    MexicanHat,
    /// `cos(5 z) e^(-z²/2)`.
    Morlet,
    /// The derivative of a Gaussian, `-z e^(-z²/2)`.
    Dog,
    /// `sin(π |z|) m(|z|)`, where m falls smoothly from 1 at 1/2 to 0 at 1.
    Meyer,
    /// `sin(z) / z`.
    Shannon,
}

/// The sizes of sums of wavelets.
#[derive(Clone, Copy, Debug)]
pub struct WaveletSums {
    /// Inputs of a row.
    pub inputs: usize,
    /// Outputs of a row.
    pub outputs: usize,
    /// The wavelet that is summed.
    pub wavelet: Wavelet,
}

/// The parameters of each pair, `[outputs, inputs]` each.
#[derive(Clone, Copy, Debug)]
pub struct WaveletParameters<'a> {
    /// The factor that stretches the wavelets.
    pub scale: &'a [f32],
    /// The shift of the wavelets.
    pub translation: &'a [f32],
    /// The factor of the wavelets' values.
    pub weights: &'a [f32],
}

/// Inputs that are computed side by side.
const LANES: usize = 64;

/// The work of a wavelet, relative to a number in a plain pass over memory.
const COST: usize = 12;

impl Wavelet {
    /// ψ and ψ' at some numbers, at most [`LANES`].
    fn at(self, z: &[f32], value: &mut [f32], slope: &mut [f32]) {
        let mut bell = [0.0; LANES];
        let bell = &mut bell[..z.len()];
        if matches!(self, Self::MexicanHat | Self::Morlet | Self::Dog) {
            let mut exponents = [0.0; LANES];
            exponents.iter_mut().zip(z).for_each(|(e, z)| *e = -0.5 * z * z);
            simd::exp(&exponents[..z.len()], bell);
        }
        // A loop for each, so that those without branches use vectors.
        let all = value.iter_mut().zip(slope.iter_mut()).zip(z);
        match self {
            Self::MexicanHat => all.zip(&*bell).for_each(|(((value, slope), &z), e)| {
                /// 2 / (√3 π^¼).
                const FACTOR: f32 = 0.867_325_07;
                (*value, *slope) = (FACTOR * (z * z - 1.0) * e, FACTOR * z * (3.0 - z * z) * e);
            }),
            Self::Morlet => all.zip(&*bell).for_each(|(((value, slope), &z), e)| {
                let (sin, cos) = (5.0 * z).sin_cos();
                (*value, *slope) = (cos * e, -(z * cos + 5.0 * sin) * e);
            }),
            Self::Dog => all.zip(&*bell).for_each(|(((value, slope), &z), e)| {
                (*value, *slope) = (-z * e, (z * z - 1.0) * e);
            }),
            Self::Meyer => all.for_each(|((value, slope), &z)| (*value, *slope) = meyer(z)),
            Self::Shannon => all.for_each(|((value, slope), &z)| {
                let (sin, cos) = z.sin_cos();
                (*value, *slope) = if z == 0.0 { (1.0, 0.0) } else { (sin / z, (cos - sin / z) / z) };
            }),
        }
    }
}

fn meyer(z: f32) -> (f32, f32) {
    let v = z.abs();
    if v >= 1.0 || z == 0.0 {
        return (0.0, 0.0);
    }
    let (sin, cos) = (PI * v).sin_cos();
    let (m, falling) = if v <= 0.5 {
        (1.0, 0.0)
    } else {
        let t = 2.0 * v - 1.0;
        // What turns from 0 to 1 is, from the other end, 1 minus the same: so no terms cancel near 1.
        let u = t.min(1.0 - t);
        let turned = u.powi(4) * (35.0 - 84.0 * u + 70.0 * u * u - 20.0 * u.powi(3));
        let (sin, cos) = (FRAC_PI_2 * turned).sin_cos();
        let (sin, cos) = if t > 0.5 { (cos, sin) } else { (sin, cos) };
        // The derivative of what turns is 140 t³ (1 - t)³.
        (cos, -PI * 140.0 * (t * (1.0 - t)).powi(3) * sin)
    };
    (sin * m, (PI * cos * m + sin * falling) * z.signum())
}

impl WaveletSums {
    fn check(&self, rows: usize, parameters: &WaveletParameters<'_>, x: usize, y: usize) {
        let pairs = self.inputs * self.outputs;
        let WaveletParameters { scale, translation, weights } = parameters;
        let found = [scale.len(), translation.len(), weights.len(), x, y];
        assert_eq!(
            found,
            [pairs, pairs, pairs, rows * self.inputs, rows * self.outputs],
            "lengths of {self:?}"
        );
    }

    /// `x [rows, inputs]` to `out [rows, outputs]`.
    ///
    /// # Panics
    /// If a length does not fit.
    #[track_caller]
    pub fn forward(&self, rows: usize, x: &[f32], parameters: &WaveletParameters<'_>, out: &mut [f32]) {
        self.check(rows, parameters, x.len(), out.len());
        let &Self { inputs, outputs, .. } = self;
        threads::rows(rows, inputs * outputs * COST, [out], |range, [out]| {
            let x = &x[range.start * inputs..range.end * inputs];
            for (x, out) in x.chunks_exact(inputs.max(1)).zip(out.chunks_exact_mut(outputs.max(1))) {
                for (o, out) in out.iter_mut().enumerate() {
                    *out = 0.0;
                    self.for_each_part(o, x, parameters, |part| {
                        *out += part.values.iter().zip(part.weights).map(|(value, w)| value * w).sum::<f32>();
                    });
                }
            }
        });
    }

    /// Given the gradient of the outputs of [`WaveletSums::forward`], adds those of scale, translation and weights, one behind the
    /// other, to `sums [3, outputs, inputs]`, and writes that of the inputs to `grad_x [rows, inputs]`.
    ///
    /// # Panics
    /// If a length does not fit.
    #[track_caller]
    pub fn backward(
        &self,
        rows: usize,
        x: &[f32],
        parameters: &WaveletParameters<'_>,
        grad: &[f32],
        sums: &mut [f32],
        grad_x: &mut [f32],
    ) {
        self.check(rows, parameters, x.len(), grad.len());
        let &Self { inputs, outputs, .. } = self;
        let pairs = inputs * outputs;
        assert_eq!([sums.len(), grad_x.len()], [3 * pairs, x.len()], "lengths of gradients of {self:?}");
        threads::sums_and_rows(rows, 2 * pairs * COST, sums, grad_x, |range, sums, grad_x| {
            grad_x.fill(0.0);
            let (scales, rest) = sums.split_at_mut(pairs);
            let (translations, weights) = rest.split_at_mut(pairs);
            for (row, grad_x) in range.zip(grad_x.chunks_exact_mut(inputs.max(1))) {
                let x = &x[row * inputs..][..inputs];
                for (o, &g) in grad[row * outputs..][..outputs].iter().enumerate() {
                    self.for_each_part(o, x, parameters, |part| {
                        let (first, len) = (part.first, part.values.len());
                        let at = o * inputs + first..o * inputs + first + len;
                        for (sum, value) in weights[at.clone()].iter_mut().zip(part.values) {
                            *sum += g * value;
                        }
                        // The gradients of all z, then of what each is computed from.
                        let mut d = [0.0; LANES];
                        let d = &mut d[..len];
                        let of_z = part.weights.iter().zip(part.slopes).zip(part.scale);
                        d.iter_mut().zip(of_z).for_each(|(d, ((w, slope), s))| *d = g * w * slope / s);
                        let dx = &mut grad_x[first..first + len];
                        dx.iter_mut().zip(&*d).for_each(|(dx, d)| *dx += d);
                        translations[at.clone()].iter_mut().zip(&*d).for_each(|(sum, d)| *sum -= d);
                        let stretched = scales[at].iter_mut().zip(&*d).zip(part.z);
                        stretched.for_each(|((sum, d), z)| *sum -= d * z);
                    });
                }
            }
        });
    }

    /// Calls `work` with the wavelets of output `o` at the inputs `x` of a row, some at a time.
    fn for_each_part(
        &self,
        o: usize,
        x: &[f32],
        parameters: &WaveletParameters<'_>,
        mut work: impl FnMut(Part<'_>),
    ) {
        let (mut z, mut values, mut slopes) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        for (chunk, x) in x.chunks(LANES).enumerate() {
            let (first, len) = (chunk * LANES, x.len());
            let at = o * self.inputs + first..o * self.inputs + first + len;
            let [scale, translation, weights] =
                [parameters.scale, parameters.translation, parameters.weights].map(|all| &all[at.clone()]);
            for (((z, x), t), s) in z.iter_mut().zip(x).zip(translation).zip(scale) {
                *z = (x - t) / s;
            }
            self.wavelet.at(&z[..len], &mut values[..len], &mut slopes[..len]);
            work(Part {
                first,
                z: &z[..len],
                values: &values[..len],
                slopes: &slopes[..len],
                scale,
                weights,
            });
        }
    }
}

/// The wavelets of an output at some neighbouring inputs, the first of them number `first`.
struct Part<'a> {
    first: usize,
    z: &'a [f32],
    values: &'a [f32],
    slopes: &'a [f32],
    scale: &'a [f32],
    weights: &'a [f32],
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at_every_level, numbers};

    const ALL: [Wavelet; 5] =
        [Wavelet::MexicanHat, Wavelet::Morlet, Wavelet::Dog, Wavelet::Meyer, Wavelet::Shannon];

    /// ψ in double precision, by its formula.
    fn exact(wavelet: Wavelet, z: f64) -> f64 {
        use std::f64::consts::{FRAC_PI_2, PI};
        let bell = (-0.5 * z * z).exp();
        match wavelet {
            Wavelet::MexicanHat => 2.0 / (3.0_f64.sqrt() * PI.powf(0.25)) * (z * z - 1.0) * bell,
            Wavelet::Morlet => (5.0 * z).cos() * bell,
            Wavelet::Dog => -z * bell,
            Wavelet::Meyer => {
                let v = z.abs();
                let t = (2.0 * v - 1.0).clamp(0.0, 1.0);
                let turned = t.powi(4) * (35.0 - 84.0 * t + 70.0 * t.powi(2) - 20.0 * t.powi(3));
                if v >= 1.0 { 0.0 } else { (PI * v).sin() * (FRAC_PI_2 * turned).cos() }
            }
            Wavelet::Shannon => {
                if z == 0.0 {
                    1.0
                } else {
                    z.sin() / z
                }
            }
        }
    }

    #[test]
    fn sums_are_those_of_the_formulas() {
        at_every_level(|_| {
            for (rows, inputs, outputs) in [(0, 3, 2), (1, 1, 1), (3, 5, 2), (2, 130, 3)] {
                let x = numbers(rows * inputs, 1);
                let [scale, translation, weights] = [2, 3, 4].map(|seed| numbers(outputs * inputs, seed));
                let scale: Vec<f32> = scale.iter().map(|s| s.abs() + 0.5).collect();
                let parameters =
                    WaveletParameters { scale: &scale, translation: &translation, weights: &weights };
                for wavelet in ALL {
                    let mut out = vec![9.0; rows * outputs];
                    WaveletSums { inputs, outputs, wavelet }.forward(rows, &x, &parameters, &mut out);
                    for (i, found) in out.iter().enumerate() {
                        let (row, o) = (i / outputs, i % outputs);
                        let term = |l: usize| {
                            let at = o * inputs + l;
                            let z = (f64::from(x[row * inputs + l]) - f64::from(translation[at]))
                                / f64::from(scale[at]);
                            f64::from(weights[at]) * exact(wavelet, z)
                        };
                        let expected: f64 = (0..inputs).map(term).sum();
                        let error = (f64::from(*found) - expected).abs();
                        assert!(error < 2e-6 * (inputs as f64 + 1.0), "{wavelet:?}: {found}, not {expected}");
                    }
                }
            }
        });
    }

    #[test]
    fn slopes_are_those_of_differences() {
        for wavelet in ALL {
            for i in 0..400 {
                let z = 0.013 * (i as f32 - 200.0) + 0.003;
                let (mut value, mut slope) = ([0.0], [0.0]);
                wavelet.at(&[z], &mut value, &mut slope);
                let step = 1e-5;
                let expected = (exact(wavelet, f64::from(z) + step) - exact(wavelet, f64::from(z) - step))
                    / (2.0 * step);
                assert!(
                    (f64::from(slope[0]) - expected).abs() < 2e-5,
                    "{wavelet:?} at {z}: {slope:?}, not {expected}"
                );
            }
        }
    }
}
