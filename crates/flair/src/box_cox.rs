//! The transformation of Box and Cox (1964), whose exponent is the likeliest one between a logarithm and none.

/// What is transformed is at least this.
const LEAST: f64 = 1e-8;

/// Values below which no exponent is looked for.
const LEAST_VALUES: usize = 10;

/// The logarithm of the largest value that comes back.
const LARGEST: f64 = 30.0;

/// The transformation with an exponent between 0, the logarithm, and 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BoxCox {
    exponent: f64,
}

impl BoxCox {
    /// That with which positive values are likeliest normal; of few values, or of equal ones, none.
    pub(crate) fn likeliest(values: &[f64]) -> Self {
        let mut logs: Vec<f64> = values.iter().filter(|y| **y > 0.0).map(|y| y.ln()).collect();
        let count = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / count;
        logs.iter_mut().for_each(|log| *log -= mean);
        let spread = logs.iter().fold(0.0, |most: f64, log| most.max(log.abs()));
        if logs.len() < LEAST_VALUES || spread < 1e-14 {
            return Self { exponent: 1.0 };
        }
        // Of values divided by their geometric mean the likelihood is that of the variance alone.
        let variance = |exponent: f64| {
            let transformed =
                |log: &f64| if exponent == 0.0 { *log } else { (exponent * log).exp_m1() / exponent };
            let (mut sum, mut squares) = (0.0, 0.0);
            for value in logs.iter().map(transformed) {
                sum += value;
                squares += value * value;
            }
            squares - sum * sum / count
        };
        Self { exponent: least(variance) }
    }

    pub(crate) fn forward(self, y: f64) -> f64 {
        let log = y.max(LEAST).ln();
        if self.exponent == 0.0 { log } else { (self.exponent * log).exp_m1() / self.exponent }
    }

    /// The value that was transformed, up to a bound that no path of a forecast leads beyond; what is no number comes back
    /// as the least.
    pub(crate) fn back(self, z: f64) -> f64 {
        if self.exponent == 0.0 {
            let log = if z.is_nan() { -LARGEST } else { z.clamp(-LARGEST, LARGEST) };
            return log.exp();
        }
        let base = (z * self.exponent + 1.0).max(1e-10).min((LARGEST * self.exponent).exp());
        base.powf(1.0 / self.exponent)
    }
}

/// Where a function of one minimum is least between 0 and 1, by golden sections and parabolas (Brent 1973).
fn least(f: impl Fn(f64) -> f64) -> f64 {
    const GOLDEN: f64 = 0.381_966_011_250_105_1;
    const TOLERANCE: f64 = 1e-9;
    let (mut low, mut high) = (0.0, 1.0);
    let mut best = (GOLDEN, f(GOLDEN));
    let (mut second, mut third) = (best, best);
    let (mut step, mut step_before) = (0.0_f64, 0.0_f64);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if (best.0 - middle).abs() + 0.5 * (high - low) <= 2.0 * TOLERANCE {
            break;
        }
        let r = (best.0 - second.0) * (best.1 - third.1);
        let q = (best.0 - third.0) * (best.1 - second.1);
        let p = (best.0 - third.0) * q - (best.0 - second.0) * r;
        let q = 2.0 * (q - r);
        let parabola = if q == 0.0 { f64::NAN } else { -p / q };
        let inside = best.0 + parabola > low && best.0 + parabola < high;
        if inside && parabola.abs() < 0.5 * step_before.abs() {
            (step_before, step) = (step, parabola);
        } else {
            step_before = if best.0 >= middle { low - best.0 } else { high - best.0 };
            step = GOLDEN * step_before;
        }
        let x = best.0 + if step.abs() < TOLERANCE { TOLERANCE.copysign(step) } else { step };
        let tried = (x, f(x));
        if tried.1 <= best.1 {
            if x >= best.0 {
                low = best.0
            } else {
                high = best.0
            }
            (third, second, best) = (second, best, tried);
        } else {
            if x < best.0 {
                low = x
            } else {
                high = x
            }
            if tried.1 <= second.1 || second.0 == best.0 {
                (third, second) = (second, tried);
            } else if tried.1 <= third.1 || third.0 == best.0 || third.0 == second.0 {
                third = tried;
            }
        }
    }
    // The bounds themselves are approached, never tried.
    [0.0, 1.0].into_iter().fold(best, |best, x| if f(x) <= best.1 { (x, f(x)) } else { best }).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minima_are_found_inside_and_at_the_bounds() {
        for (at, expected) in [(0.3, 0.3), (0.999, 0.999), (-2.0, 0.0), (7.0, 1.0)] {
            let found = least(|x| (x - at).powi(2) + 1.0);
            assert!((found - expected).abs() < 1e-7, "{found} {expected}");
        }
    }

    #[test]
    fn the_exponent_is_the_likeliest() {
        let even = (0..200).map(|i| f64::from(i) * 0.01);
        // By scipy.
        let logs = BoxCox::likeliest(&even.clone().map(|x| (4.0 * x).exp()).collect::<Vec<_>>());
        assert!(logs.exponent < 1e-6, "{logs:?}");
        let squares = BoxCox::likeliest(&even.clone().map(|x| (1.0 + x).powi(2)).collect::<Vec<_>>());
        assert!((squares.exponent - 0.373_621_3).abs() < 1e-6, "{squares:?}");
        let waves = BoxCox::likeliest(&even.clone().map(|x| (50.0 * x).sin().exp()).collect::<Vec<_>>());
        assert!((waves.exponent - 0.010_458_97).abs() < 1e-6, "{waves:?}");
        let square_roots = even.map(|x| (1.0 + x).sqrt());
        assert_eq!(BoxCox::likeliest(&square_roots.collect::<Vec<_>>()).exponent, 1.0);
        assert_eq!(BoxCox::likeliest(&[3.0; 50]).exponent, 1.0);
        assert_eq!(BoxCox::likeliest(&[1.0, 9.0]).exponent, 1.0);
    }

    #[test]
    fn values_come_back() {
        for exponent in [0.0, 1e-5, 0.3, 1.0] {
            let by = BoxCox { exponent };
            for y in [1e-3, 1.0, 17.0, 1e9] {
                let again = by.back(by.forward(y));
                assert!((again / y - 1.0).abs() < 1e-9, "{exponent} {y} {again}");
            }
            assert!(by.back(1e300).is_finite() && by.back(-1e300) >= 0.0 && by.back(f64::NAN) >= 0.0);
        }
    }
}
