//! Activation functions and their derivatives, with PyTorch's conventions.

use std::f32::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

use crate::isa::Simd;

use crate::bits::F32s;
use crate::kernels::erf::erf_lanes;
use crate::kernels::exp::{exp_lanes, exp_m1_lanes};
use crate::kernels::ln::ln_1p_unit_lanes;
use crate::kernels::piecewise::{Hardshrink, Hardswish, Hardtanh, Softshrink};
use crate::kernels::sigmoid::{Sigmoid, sigmoid_lanes};
use crate::kernels::tanh::Tanh;
use crate::kernels::unary::{Slope, Unary, unary, unary_in_place};
use crate::loops::{Map, map, same_len};
use crate::vector::Vectors;

/// The nonlinearity of a layer.
///
/// Each value is within 4 ULP of the exact one, where both forms of GELU count ULP of `x` below 0
/// (the factor beside `x` is a small difference there), and SiLU and Mish count those of 1e-36 for
/// results smaller than that. Derivatives are within 2e-6 of the exact ones, relative above 1.
/// NaN gives NaN. Minus infinity gives NaN for GELU, SiLU, Mish and Hardswish, as in PyTorch, and infinities
/// give the first three no derivative.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Activation {
    /// `x`.
    Identity,
    /// `max(x, 0)`; its derivative at 0 is 0.
    Relu,
    /// `x` above 0, else `slope * x`.
    LeakyRelu {
        /// The derivative below 0 and at 0.
        slope: f32,
    },
    /// `x` above 0, else `alpha * (e^x - 1)`.
    Elu {
        /// Minus the limit at minus infinity.
        alpha: f32,
    },
    /// ELU with alpha 1.6733, scaled by 1.0507 (Klambauer et al., 2017).
    Selu,
    /// `x * (1 + erf(x / sqrt 2)) / 2` (Hendrycks and Gimpel, 2016).
    Gelu,
    /// `x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) / 2`.
    GeluTanh,
    /// `x / (1 + e^-x)`, also called swish.
    Silu,
    /// `x * tanh(softplus(x))` (Misra, 2019).
    Mish,
    /// `ln(1 + e^x)`, and `x` itself above 20.
    Softplus,
    /// `1 / (1 + e^-x)`.
    Sigmoid,
    /// `tanh(x)`.
    Tanh,
    /// `x / (1 + |x|)`. An infinity gives NaN, as in PyTorch.
    Softsign,
    /// `-ln(1 + e^-x)`, the logarithm of the sigmoid.
    LogSigmoid,
    /// `x` beyond 0.5 on either side, else 0.
    Hardshrink,
    /// `x` moved by 0.5 towards 0, and 0 within 0.5 of it.
    Softshrink,
    /// `x` within -1 and 1.
    Hardtanh,
    /// `x` times a sixth of `x + 3` within 0 and 6 (Howard et al., 2019).
    Hardswish,
}

impl Activation {
    /// All of them, with the parameters that are usual.
    pub const ALL: [Self; 18] = [
        Self::Identity,
        Self::Relu,
        Self::LeakyRelu { slope: 0.01 },
        Self::Elu { alpha: 1.0 },
        Self::Selu,
        Self::Gelu,
        Self::GeluTanh,
        Self::Silu,
        Self::Mish,
        Self::Softplus,
        Self::Sigmoid,
        Self::Tanh,
        Self::Softsign,
        Self::LogSigmoid,
        Self::Hardshrink,
        Self::Softshrink,
        Self::Hardtanh,
        Self::Hardswish,
    ];
}

/// Which array [`Activation::backward`] wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saved {
    /// The array that [`Activation::forward`] wrote.
    Output,
    /// The array that [`Activation::forward`] read.
    Input,
}

const SELU_SCALE: f32 = 1.050_701;
const SELU_ALPHA: f32 = 1.673_263_2;

/// Calls `$run` with the kernel of the activation; one arm per variant of the enum.
macro_rules! each {
    ($activation:expr, $run:ident, $identity:expr, $args:tt) => {
        match $activation {
            Activation::Identity => $identity,
            Activation::Relu => each!(@ $run, Relu, $args),
            Activation::LeakyRelu { slope } => each!(@ $run, LeakyRelu(slope), $args),
            Activation::Elu { alpha } => each!(@ $run, Elu { scale: 1.0, alpha }, $args),
            Activation::Selu => {
                each!(@ $run, Elu { scale: SELU_SCALE, alpha: SELU_ALPHA }, $args)
            }
            Activation::Gelu => each!(@ $run, Gelu, $args),
            Activation::GeluTanh => each!(@ $run, GeluTanh, $args),
            Activation::Silu => each!(@ $run, Silu, $args),
            Activation::Mish => each!(@ $run, Mish, $args),
            Activation::Softplus => each!(@ $run, Softplus, $args),
            Activation::Sigmoid => each!(@ $run, Sigmoid, $args),
            Activation::Tanh => each!(@ $run, Tanh, $args),
            Activation::Softsign => each!(@ $run, Softsign, $args),
            Activation::LogSigmoid => each!(@ $run, LogSigmoid, $args),
            Activation::Hardshrink => each!(@ $run, Hardshrink, $args),
            Activation::Softshrink => each!(@ $run, Softshrink, $args),
            Activation::Hardtanh => each!(@ $run, Hardtanh, $args),
            Activation::Hardswish => each!(@ $run, Hardswish, $args),
        }
    };
    (@ $run:ident, $kernel:expr, ($($arg:expr),*)) => { $run($kernel, $($arg),*) };
}

// No kernel returns `select(mask, x, ..)` with its own argument: in place the compiler makes a
// masked store of it, which is slow on AMD machines with AVX2.

impl Activation {
    /// Its name in words of lower case: `leaky_relu`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Relu => "relu",
            Self::LeakyRelu { .. } => "leaky_relu",
            Self::Elu { .. } => "elu",
            Self::Selu => "selu",
            Self::Gelu => "gelu",
            Self::GeluTanh => "gelu_tanh",
            Self::Silu => "silu",
            Self::Mish => "mish",
            Self::Softplus => "softplus",
            Self::Sigmoid => "sigmoid",
            Self::Tanh => "tanh",
            Self::Softsign => "softsign",
            Self::LogSigmoid => "log_sigmoid",
            Self::Hardshrink => "hardshrink",
            Self::Softshrink => "softshrink",
            Self::Hardtanh => "hardtanh",
            Self::Hardswish => "hardswish",
        }
    }

    /// `x[i] = f(x[i])`.
    pub fn apply(self, x: &mut [f32]) {
        each!(self, unary_in_place, (), (x));
    }

    /// `out[i] = f(x[i])`.
    ///
    /// # Panics
    /// If the slices differ in length.
    #[track_caller]
    pub fn forward(self, x: &[f32], out: &mut [f32]) {
        same_len(x.len(), out.len());
        each!(self, unary, out.copy_from_slice(x), (x, out));
    }

    /// The array that [`Activation::backward`] needs: the output wherever the derivative follows
    /// from it, so that the input may be overwritten by [`Activation::apply`].
    pub fn saves(self) -> Saved {
        match self {
            Activation::LeakyRelu { slope } if slope < 0.0 => Saved::Input,
            Activation::Elu { alpha } if alpha < 0.0 => Saved::Input,
            Activation::Identity
            | Activation::Relu
            | Activation::LeakyRelu { .. }
            | Activation::Elu { .. }
            | Activation::Selu
            | Activation::Sigmoid
            | Activation::Tanh
            | Activation::Softsign
            | Activation::LogSigmoid
            | Activation::Hardshrink
            | Activation::Softshrink
            | Activation::Hardtanh => Saved::Output,
            Activation::Gelu
            | Activation::GeluTanh
            | Activation::Silu
            | Activation::Mish
            | Activation::Softplus
            | Activation::Hardswish => Saved::Input,
        }
    }

    /// `grad[i] *= f'(.)`, the derivative at the element that `saved[i]` comes from; `saved` is
    /// the array that [`Activation::saves`] names.
    ///
    /// # Panics
    /// If the slices differ in length.
    #[track_caller]
    pub fn backward(self, saved: &[f32], grad: &mut [f32]) {
        same_len(saved.len(), grad.len());
        each!(self, backward, (), (saved, grad));
    }
}

#[derive(Clone, Copy)]
struct Backward<F>(F);

impl<F: Slope> Map<f32, 1, 1> for Backward<F> {
    #[inline(always)]
    fn map<S: Simd>(self, [saved]: Vectors<f32, S, 1>, [grad]: Vectors<f32, S, 1>) -> Vectors<f32, S, 1> {
        [grad * self.0.slope(saved)]
    }
}

#[track_caller]
fn backward(f: impl Slope, saved: &[f32], grad: &mut [f32]) {
    map(Backward(f), [saved], [grad]);
}

#[derive(Clone, Copy)]
struct Relu;

impl Unary for Relu {
    #[inline(always)]
    fn call<S: Simd>(self, x: F32s<S>) -> F32s<S> {
        x.at_least(0.0)
    }
}

impl Slope for Relu {
    #[inline(always)]
    fn slope<S: Simd>(self, output: F32s<S>) -> F32s<S> {
        output.greater(0.0).select(1.0, output.splat(0.0))
    }
}

#[derive(Clone, Copy)]
struct LeakyRelu(f32);

impl Unary for LeakyRelu {
    #[inline(always)]
    fn call<S: Simd>(self, x: F32s<S>) -> F32s<S> {
        x * self.slope(x)
    }
}

impl Slope for LeakyRelu {
    #[inline(always)]
    fn slope<S: Simd>(self, saved: F32s<S>) -> F32s<S> {
        // The sign of the output is that of the input unless the slope is negative.
        saved.greater(0.0).select(1.0, saved.splat(self.0))
    }
}

#[derive(Clone, Copy)]
struct Elu {
    scale: f32,
    alpha: f32,
}

impl Elu {
    /// `alpha * (e^x - 1)` at most 0; below -30 the exponential adds nothing.
    #[inline(always)]
    fn below<S: Simd>(self, x: F32s<S>) -> F32s<S> {
        exp_m1_lanes(x.at_most(0.0).at_least(-30.0)) * (self.scale * self.alpha)
    }
}

impl Unary for Elu {
    #[inline(always)]
    fn call<S: Simd>(self, x: F32s<S>) -> F32s<S> {
        x.at_least(0.0).mul_add(self.scale, self.below(x))
    }
}

impl Slope for Elu {
    #[inline(always)]
    fn slope<S: Simd>(self, saved: F32s<S>) -> F32s<S> {
        let limit = self.scale * self.alpha;
        // The output determines the derivative unless alpha is negative.
        let below = if limit < 0.0 { self.below(saved) } else { saved };
        saved.greater(0.0).select(self.scale, below + limit)
    }
}

#[derive(Clone, Copy)]
struct Gelu;

/// The normal distribution function.
#[inline(always)]
fn normal_cdf<S: Simd>(x: F32s<S>) -> F32s<S> {
    erf_lanes(x * FRAC_1_SQRT_2).mul_add(0.5, x.splat(0.5))
}

impl Unary for Gelu {
    #[inline(always)]
    fn call<S: Simd>(self, x: F32s<S>) -> F32s<S> {
        x * normal_cdf(x)
    }
}

impl Slope for Gelu {
    #[inline(always)]
    fn slope<S: Simd>(self, x: F32s<S>) -> F32s<S> {
        const PEAK: f32 = 0.5 * FRAC_2_SQRT_PI * FRAC_1_SQRT_2;
        let density = exp_lanes(x * x * -0.5) * PEAK;
        x.mul_add(density, normal_cdf(x))
    }
}

#[derive(Clone, Copy)]
struct GeluTanh;

impl GeluTanh {
    /// `2 sqrt(2 / pi)`: `(1 + tanh u) / 2` is the sigmoid of `2 u`.
    const RATE: f32 = 2.0 * FRAC_2_SQRT_PI * FRAC_1_SQRT_2;
    const CUBIC: f32 = 0.044_715;
}

impl Unary for GeluTanh {
    #[inline(always)]
    fn call<S: Simd>(self, x: F32s<S>) -> F32s<S> {
        let cubic = (x * x).mul_add(Self::CUBIC, 1.0);
        x * sigmoid_lanes(x * cubic * Self::RATE)
    }
}

impl Slope for GeluTanh {
    #[inline(always)]
    fn slope<S: Simd>(self, x: F32s<S>) -> F32s<S> {
        // Beyond 20 the derivative is 0 or 1 already, and the cube might overflow.
        let x = x.at_most(20.0).at_least(-20.0);
        let square = x * x;
        let s = sigmoid_lanes(x * square.mul_add(Self::CUBIC, 1.0) * Self::RATE);
        let inner = square.mul_add(3.0 * Self::CUBIC, 1.0) * Self::RATE;
        (x * inner * s).mul_add(-s + 1.0, s)
    }
}

#[derive(Clone, Copy)]
struct Silu;

impl Unary for Silu {
    #[inline(always)]
    fn call<S: Simd>(self, x: F32s<S>) -> F32s<S> {
        x * sigmoid_lanes(x)
    }
}

impl Slope for Silu {
    #[inline(always)]
    fn slope<S: Simd>(self, x: F32s<S>) -> F32s<S> {
        let s = sigmoid_lanes(x);
        (x * s).mul_add(-s + 1.0, s)
    }
}

#[derive(Clone, Copy)]
struct Mish;

impl Mish {
    /// `e = e^x` and `n = (1 + e)^2 - 1`: `tanh(ln(1 + e)) = n / (n + 2)`. From 20 on the
    /// quotient rounds to 1.
    #[inline(always)]
    fn parts<S: Simd>(x: F32s<S>) -> (F32s<S>, F32s<S>) {
        let e = exp_lanes(x.at_most(20.0));
        (e, e * (e + 2.0))
    }
}

impl Unary for Mish {
    #[inline(always)]
    fn call<S: Simd>(self, x: F32s<S>) -> F32s<S> {
        let (_, n) = Self::parts(x);
        x * (n / (n + 2.0))
    }
}

impl Slope for Mish {
    #[inline(always)]
    fn slope<S: Simd>(self, x: F32s<S>) -> F32s<S> {
        // tanh + x (1 - tanh^2) sigmoid, over the common denominator (n + 2)^2.
        let (e, n) = Self::parts(x);
        let d = n + 2.0;
        let x = x.at_most(20.0);
        (n + x * e * (e + 1.0) * 4.0 / d) / d
    }
}

#[derive(Clone, Copy)]
struct Softplus;

/// Above this PyTorch takes the function for the identity.
const SOFTPLUS_THRESHOLD: f32 = 20.0;

impl Unary for Softplus {
    #[inline(always)]
    fn call<S: Simd>(self, x: F32s<S>) -> F32s<S> {
        // Above the threshold the logarithm is too small to change the sum.
        x.at_least(0.0) + ln_1p_unit_lanes(exp_lanes(-x.abs()))
    }
}

impl Slope for Softplus {
    #[inline(always)]
    fn slope<S: Simd>(self, x: F32s<S>) -> F32s<S> {
        x.greater(SOFTPLUS_THRESHOLD).select(1.0, sigmoid_lanes(x))
    }
}

#[derive(Clone, Copy)]
struct Softsign;

impl Unary for Softsign {
    #[inline(always)]
    fn call<S: Simd>(self, x: F32s<S>) -> F32s<S> {
        x / (x.abs() + 1.0)
    }
}

impl Slope for Softsign {
    #[inline(always)]
    fn slope<S: Simd>(self, output: F32s<S>) -> F32s<S> {
        let rest = -output.abs() + 1.0;
        rest * rest
    }
}

#[derive(Clone, Copy)]
struct LogSigmoid;

impl Unary for LogSigmoid {
    #[inline(always)]
    fn call<S: Simd>(self, x: F32s<S>) -> F32s<S> {
        -Softplus.call(-x)
    }
}

impl Slope for LogSigmoid {
    #[inline(always)]
    fn slope<S: Simd>(self, output: F32s<S>) -> F32s<S> {
        // 1 minus the sigmoid, whose logarithm the output is; below -30 it is 1.
        -exp_m1_lanes(output.at_least(-30.0))
    }
}

impl Slope for Sigmoid {
    #[inline(always)]
    fn slope<S: Simd>(self, output: F32s<S>) -> F32s<S> {
        output * (-output + 1.0)
    }
}

impl Slope for Tanh {
    #[inline(always)]
    fn slope<S: Simd>(self, output: F32s<S>) -> F32s<S> {
        -(output * output) + 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{SAMPLE, at_every_level, erf, for_every_length, worst_units};

    /// All, some with parameters of another sign as well.
    fn all() -> impl Iterator<Item = Activation> {
        let others = [Activation::LeakyRelu { slope: -0.5 }, Activation::Elu { alpha: -0.7 }];
        Activation::ALL.into_iter().chain(others)
    }

    /// Where the derivative is none, on both sides of 0.
    fn kink(activation: Activation) -> f32 {
        match activation {
            Activation::Hardshrink | Activation::Softshrink => 0.5,
            Activation::Hardtanh => 1.0,
            Activation::Hardswish => 3.0,
            _ => 0.0,
        }
    }

    /// The definitions.
    fn naive(activation: Activation, x: f64) -> f64 {
        let sigmoid = |x: f64| if x < 0.0 { x.exp() / (1.0 + x.exp()) } else { 1.0 / (1.0 + (-x).exp()) };
        let softplus = |x: f64| x.max(0.0) + (-x.abs()).exp().ln_1p();
        let elu = |scale: f64, alpha: f64| scale * if x > 0.0 { x } else { alpha * x.exp_m1() };
        match activation {
            Activation::Identity => x,
            Activation::Relu => {
                if x <= 0.0 {
                    0.0
                } else {
                    x
                }
            }
            Activation::LeakyRelu { slope } => {
                if x > 0.0 {
                    x
                } else {
                    f64::from(slope) * x
                }
            }
            Activation::Elu { alpha } => elu(1.0, alpha.into()),
            Activation::Selu => elu(1.050_700_987_355_480_5, 1.673_263_242_354_377_3),
            Activation::Gelu => 0.5 * x * (1.0 + erf(x / 2f64.sqrt())),
            Activation::GeluTanh => {
                x * sigmoid((8.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3)))
            }
            Activation::Silu => x * sigmoid(x),
            Activation::Mish => x * softplus(x).tanh(),
            Activation::Softplus => {
                if x.is_nan() {
                    x
                } else {
                    softplus(x)
                }
            }
            Activation::Sigmoid => sigmoid(x),
            Activation::Tanh => x.tanh(),
            Activation::Softsign => x / (1.0 + x.abs()),
            Activation::LogSigmoid if x.is_nan() => x,
            Activation::LogSigmoid => -softplus(-x),
            Activation::Hardshrink if x.abs() <= 0.5 => 0.0,
            Activation::Hardshrink => x,
            Activation::Softshrink if x.abs() <= 0.5 => 0.0,
            Activation::Softshrink => x - 0.5 * x.signum(),
            Activation::Hardtanh => x.clamp(-1.0, 1.0),
            Activation::Hardswish => x * (x + 3.0).clamp(0.0, 6.0) / 6.0,
        }
    }

    #[test]
    fn values_are_as_exact_as_stated() {
        for activation in all() {
            print!("{activation:?} ");
            let worst = worst_units(
                SAMPLE,
                |x, y| activation.forward(x, y),
                |x| naive(activation, x),
                |x, y| match activation {
                    Activation::Gelu | Activation::GeluTanh if x < 0.0 => x,
                    Activation::Silu | Activation::Mish => y.abs().max(1e-36),
                    _ => y,
                },
            );
            assert!(worst <= 4.0, "{activation:?}: {worst} ULP");
        }
    }

    /// The derivative by five points.
    fn slope(activation: Activation, x: f64) -> f64 {
        let (h, f) = (1e-3, |x| naive(activation, x));
        let (near, far) = (f(x + h) - f(x - h), f(x + 2.0 * h) - f(x - 2.0 * h));
        (8.0 * near - far) / (12.0 * h)
    }

    #[test]
    fn gradients_are_those_of_the_values() {
        for_every_length(|case| {
            for activation in all() {
                let mut x = case.between::<f32>(-8.0, 8.0);
                // Away from kinks, where there is no derivative to compare with.
                let kink = kink(activation);
                x.iter_mut().filter(|x| (x.abs() - kink).abs() < 0.01).for_each(|x| {
                    *x = x.signum() * (kink + 0.01);
                });
                let mut y = case.numbers::<f32>();
                activation.forward(&x, &mut y);
                let mut in_place = x.clone();
                activation.apply(&mut in_place);
                assert_eq!(*in_place, *y, "{} {activation:?}", case.name);

                let upstream = case.between::<f32>(0.5, 2.0);
                let mut grad = upstream.clone();
                let saved = if activation.saves() == Saved::Output { &y } else { &x };
                activation.backward(saved, &mut grad);
                for i in 0..case.len {
                    let exact = f64::from(upstream[i]) * slope(activation, x[i].into());
                    let error = (f64::from(grad[i]) - exact).abs();
                    assert!(
                        error <= 4e-6 * exact.abs().max(1.0),
                        "{} {activation:?} at {}: {}, expected {exact}",
                        case.name,
                        x[i],
                        grad[i]
                    );
                }
            }
        });
    }

    #[test]
    fn special_values() {
        use Activation::*;
        const INF: f32 = f32::INFINITY;
        let at = |activation: Activation, x: f32| {
            let mut y = [x];
            activation.apply(&mut y);
            y[0]
        };
        at_every_level(|level| {
            for activation in all() {
                assert!(at(activation, f32::NAN).is_nan(), "{level} {activation:?}");
                activation.apply(&mut []);
                let zero = at(activation, 0.0);
                let expected = naive(activation, 0.0) as f32;
                assert_eq!(zero, expected, "{level} {activation:?}");
                let (infinite, exact) = (at(activation, INF), naive(activation, f64::INFINITY) as f32);
                let same = infinite == exact || infinite.is_nan() && exact.is_nan();
                assert!(same, "{level} {activation:?}: {infinite}, expected {exact}");
            }
            let low = -INF;
            for (activation, limit) in [
                (Identity, low),
                (Relu, 0.0),
                (LeakyRelu { slope: 0.1 }, low),
                (Elu { alpha: 1.3 }, -1.3),
                (Selu, -SELU_SCALE * SELU_ALPHA),
                (Softplus, 0.0),
                (Sigmoid, 0.0),
                (Tanh, -1.0),
                (LogSigmoid, low),
                (Hardshrink, low),
                (Softshrink, low),
                (Hardtanh, -1.0),
            ] {
                assert_eq!(at(activation, low), limit, "{level} {activation:?}");
            }
            for activation in [Gelu, GeluTanh, Silu, Mish, Hardswish] {
                assert!(at(activation, low).is_nan(), "{level} {activation:?}");
                assert_eq!(at(activation, -1e30).abs(), 0.0, "{level} {activation:?}");
            }
            assert_eq!(at(Softplus, 20.5), 20.5, "{level}");
        });
    }

    #[test]
    fn gradients_at_the_edges_are_those_of_pytorch() {
        use Activation::*;
        let at = |activation: Activation, saved: f32| {
            let mut grad = [3.0];
            activation.backward(&[saved], &mut grad);
            grad[0]
        };
        at_every_level(|level| {
            assert_eq!(at(Relu, 0.0), 0.0, "{level}");
            assert_eq!(at(LeakyRelu { slope: 0.5 }, 0.0), 1.5, "{level}");
            assert_eq!(at(Elu { alpha: 2.0 }, 0.0), 6.0, "{level}");
            assert_eq!(at(Softplus, 25.0), 3.0, "{level}");
            assert_eq!(at(Identity, f32::NAN), 3.0, "{level}");
            for edge in [-1.0, 1.0] {
                assert_eq!(at(Hardtanh, edge), 0.0, "{level}");
            }
            for within in [Hardshrink, Softshrink] {
                assert_eq!(at(within, 0.0), 0.0, "{level} {within:?}");
            }
            assert_eq!([at(Hardswish, -3.0), at(Hardswish, 3.0)], [0.0, 3.0], "{level}");
            for activation in [Gelu, GeluTanh, Silu, Mish, Softplus] {
                assert_eq!(at(activation, 1e30), 3.0, "{level} {activation:?}");
                assert_eq!(at(activation, -1e30), 0.0, "{level} {activation:?}");
                assert!(at(activation, f32::NAN).is_nan(), "{level} {activation:?}");
            }
        });
    }
}
