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
        // `(1 + tanh z) / 2 = sigmoid(2 z)`, which does not cancel.
        Activation::GeluTanh => {
            let root = 2.0 * (2.0 / PI).sqrt();
            map(x, &|x| x * sigmoid(root * (x + 0.044715 * x * x * x)));
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
/// Below 1.5 by the series `erf(x) = 2/sqrt(pi) exp(-x^2) sum_n 2^n x^(2n+1) / (1*3*...*(2n+1))`,
/// whose terms are all of one sign; above by the continued fraction 7.1.14 of Abramowitz and Stegun.
fn erfc(x: f64) -> f64 {
    let z = x.abs();
    let upper = if z < 1.5 {
        let mut term = z;
        let mut sum = z;
        for n in 1..60 {
            term *= 2.0 * z * z / f64::from(2 * n + 1);
            sum += term;
        }
        1.0 - 2.0 / PI.sqrt() * (-z * z).exp() * sum
    } else {
        let fraction = (1..120).rev().fold(z, |tail, n| z + f64::from(n) / 2.0 / tail);
        (-z * z).exp() / (fraction * PI.sqrt())
    };
    if x < 0.0 { 2.0 - upper } else { upper }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INPUTS: [f64; 6] = [-6.5, -1.25, -0.0078125, 0.625, 3.0, 21.0];

    /// The values at [`INPUTS`] to 17 digits, computed with 40 digits by mpmath.
    #[rustfmt::skip]
    #[allow(clippy::excessive_precision)]
    const VALUES: [(Activation, [f64; 6]); 12] = [
        (Activation::Identity, INPUTS),
        (Activation::Relu, [0.0, 0.0, 0.0, 0.625, 3.0, 21.0]),
        (Activation::LeakyRelu { slope: 0.125 }, [-0.8125, -0.15625, -0.0009765625, 0.625, 3.0, 21.0]),
        (Activation::Elu { alpha: 0.5 }, [-0.49924828040351121, -0.35674760156990495, -0.0038910308698782439, 0.625, 3.0, 21.0]),
        (Activation::Selu, [-1.7554561453931989, -1.254395446337865, -0.013681637615099472, 0.65668811709717531, 3.1521029620664415, 22.06472073446509]),
        (Activation::Gelu, [-2.6104003795084266e-10, -0.13206221708356907, -0.0038819007432746673, 0.45875904434456217, 2.9959503059051097, 21.0]),
        (Activation::GeluTanh, [-6.2782587725914021e-13, -0.1322857970302854, -0.0038819007445005978, 0.45872114995760052, 2.996362607918227, 21.0]),
        (Activation::Silu, [-0.009757684668790445, -0.27837517353163607, -0.0038909912885472409, 0.4070967904162839, 2.8577223804672997, 20.999999984076623]),
        (Activation::Mish, [-0.0097650086920713296, -0.30841396114152768, -0.0046679612914594755, 0.48952559113753298, 2.9865350049679573, 21.0]),
        (Activation::Softplus, [0.0015023101597542838, 0.25192908134537289, 0.68924855993507408, 1.0537006782765186, 3.0485873515737421, 21.0]),
        (Activation::Sigmoid, [0.0015011822567369915, 0.22270013882530885, 0.49804688493404683, 0.65135486466605424, 0.95257412682243322, 0.99999999924174396]),
        (Activation::Tanh, [-0.99999547935140419, -0.8482836399575129, -0.0078123410581610138, 0.55459972234938229, 0.99505475368673045, 1.0]),
    ];

    #[test]
    fn activations_have_their_known_values() {
        for (activation, expected) in VALUES {
            let mut x = INPUTS;
            activate(activation, &mut x);
            for i in 0..x.len() {
                let error = (x[i] - expected[i]).abs();
                assert!(error <= 1e-13 * expected[i].abs(), "{activation:?}({}) = {}", INPUTS[i], x[i]);
            }
        }
    }

    #[test]
    fn nan_stays_nan_and_the_definitions_are_those_of_f32() {
        for (activation, _) in VALUES {
            let mut x = [f64::NAN, f64::INFINITY];
            activate(activation, &mut x);
            assert!(x[0].is_nan(), "{activation:?}");
            assert!(x[1] == f64::INFINITY || x[1] == 1.0, "{activation:?}({}) = {}", f64::INFINITY, x[1]);
            let mut wide: Vec<f64> = (-80..80).map(|i| f64::from(i) / 8.0).collect();
            let mut narrow: Vec<f32> = wide.iter().map(|x| *x as f32).collect();
            activate(activation, &mut wide);
            activation.apply(&mut narrow);
            for (wide, narrow) in wide.iter().zip(&narrow) {
                assert!(
                    (wide - f64::from(*narrow)).abs() <= 4e-6 * wide.abs().max(1.0),
                    "{activation:?}: {wide}"
                );
            }
        }
    }
}
