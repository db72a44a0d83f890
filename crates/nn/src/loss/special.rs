//! Special functions in double precision, as far as the distributions need them and `libm` does not have them.

use std::f64::consts::PI;

/// Steps of a series or a continued fraction: about the square root of its largest argument, and arguments are
/// single precision numbers.
const MAX_TERMS: usize = 1_000_000;

/// Relative precision at which series end.
const PRECISION: f64 = 1e-15;

/// `ln(1 + e^x)`.
pub(super) fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// `1 / (1 + e^-x)`, the derivative of [`softplus`].
pub(super) fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The logarithm of the gamma function of `x > 0`.
pub(super) fn ln_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// Arguments below are shifted up to where the asymptotic series is exact to 1e-14.
const SHIFT: i32 = 8;

/// The derivative of [`ln_gamma`], for `x > 0`; its error is below 1e-13 times the larger of 1 and the value.
pub(super) fn digamma(x: f64) -> f64 {
    let (z, below) = if x < f64::from(SHIFT) {
        (x + f64::from(SHIFT), (0..SHIFT).map(|i| 1.0 / (x + f64::from(i))).sum::<f64>())
    } else {
        (x, 0.0)
    };
    let w = 1.0 / (z * z);
    let series = 1.0 / 12.0
        - w * (1.0 / 120.0
            - w * (1.0 / 252.0 - w * (1.0 / 240.0 - w * (1.0 / 132.0 - w * (691.0 / 32_760.0)))));
    z.ln() - 0.5 / z - w * series - below
}

/// The regularised upper incomplete gamma function `Q(a, x)`, for `a > 0` and `x >= 0`: the probability that a
/// Poisson count of mean `x` is below a whole number `a`.
pub(super) fn gamma_q(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    let factor = (a * x.ln() - x - ln_gamma(a)).exp();
    if x < a + 1.0 {
        let (mut term, mut sum) = (1.0 / a, 1.0 / a);
        for n in 1..MAX_TERMS {
            term *= x / (a + n as f64);
            sum += term;
            if term < sum * PRECISION {
                break;
            }
        }
        1.0 - factor * sum
    } else {
        // x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a - ...))
        let fraction = continued(x + 1.0 - a, |n| (n * (a - n), x + 2.0 * n + 1.0 - a));
        factor / fraction
    }
}

/// The regularised incomplete beta function `I_x(a, b)`; `y` is `1 - x`, which the caller may know more precisely.
pub(super) fn beta_inc(a: f64, b: f64, x: f64, y: f64) -> f64 {
    if x <= 0.0 || y <= 0.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta_inc_below(b, a, y, x);
    }
    beta_inc_below(a, b, x, y)
}

/// [`beta_inc`] where its continued fraction converges fast: below the mean.
fn beta_inc_below(a: f64, b: f64, x: f64, y: f64) -> f64 {
    let factor = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * y.ln()).exp() / a;
    let fraction = continued(1.0, |n| {
        let m = (n / 2.0).floor();
        let numerator = match n % 2.0 == 0.0 {
            true => m * (b - m) / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            false => -(a + m) * (a + b + m) / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        };
        (numerator * x, 1.0)
    });
    factor / fraction
}

/// The continued fraction `b0 + a1 / (b1 + a2 / (b2 + ...))`, by Lentz's method; `term(n)` is `(an, bn)`.
fn continued(b0: f64, term: impl Fn(f64) -> (f64, f64)) -> f64 {
    const TINY: f64 = 1e-300;
    let guard = |x: f64| if x.abs() < TINY { TINY } else { x };
    let mut value = guard(b0);
    let (mut c, mut d) = (value, 0.0);
    for n in 1..MAX_TERMS {
        let (a, b) = term(n as f64);
        d = 1.0 / guard(b + a * d);
        c = guard(b + a / c);
        let change = c * d;
        value *= change;
        if (change - 1.0).abs() < PRECISION {
            break;
        }
    }
    value
}

/// The point above which a density that falls from 0 on has the probability `p <= 1/2`. Newton's method from below
/// never overshoots it, since the tail is convex. `tail_and_density` is called for values from `start` on, which must
/// not be above the result.
pub(super) fn tail_quantile(p: f64, start: f64, tail_and_density: impl Fn(f64) -> (f64, f64)) -> f64 {
    let mut x = start;
    for _ in 0..2000 {
        let (tail, density) = tail_and_density(x);
        let step = (tail - p) / density;
        x += step;
        if step.is_nan() || step <= 1e-14 * (1.0 + x) {
            break;
        }
    }
    x
}

/// The quantile of the standard normal distribution.
pub(super) fn normal_quantile(q: f64) -> f64 {
    let tail_and_density =
        |x: f64| (0.5 * gamma_q(0.5, 0.5 * x * x), (-0.5 * x * x).exp() / (2.0 * PI).sqrt());
    symmetric_quantile(q, |p| tail_quantile(p, 0.0, tail_and_density))
}

/// The quantile of a distribution that is symmetric about 0, from the start `upper(p)` of its upper tail of probability `p`.
pub(super) fn symmetric_quantile(q: f64, upper: impl Fn(f64) -> f64) -> f64 {
    if q < 0.5 { -upper(q) } else { upper(1.0 - q) }
}
