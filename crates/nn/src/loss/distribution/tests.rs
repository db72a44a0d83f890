use foretell_simd::Stream;
use serde_json::Map;

use super::*;
use crate::Loss;
use crate::loss::columns::Level;
use crate::loss::special::{beta_inc, digamma, gamma_q, ln_gamma, normal_quantile};

fn close(actual: f64, expected: f64, tolerance: f64) {
    assert!((actual - expected).abs() <= tolerance * (1.0 + expected.abs()), "{actual}, expected {expected}");
}

/// Values of the C library and of scipy.
#[test]
fn special_functions() {
    for (x, expected) in [
        (1e-8, 18.420_680_738_180_21),
        (0.5, 0.572_364_942_924_700_1),
        (1.0, 0.0),
        (2.0, 0.0),
        (3.75, 1.486_815_578_593_417_2),
        (100.0, 359.134_205_369_575_4),
    ] {
        close(ln_gamma(x), expected, 1e-13);
    }
    for (x, expected) in [
        (0.01, -100.560_885_457_868_67),
        (0.5, -1.963_510_026_021_423_5),
        (1.0, -0.577_215_664_901_532_9),
        (10.0, 2.251_752_589_066_721),
    ] {
        close(digamma(x), expected, 1e-13);
    }
    // Q(1, x) = e^-x, Q(2, x) = (1 + x) e^-x; I_x(1, b) = 1 - (1 - x)^b, I_x(2, 2) = x² (3 - 2x).
    for x in [0.1, 1.0, 2.5, 30.0_f64] {
        close(gamma_q(1.0, x), (-x).exp(), 1e-14);
        close(gamma_q(2.0, x), (1.0 + x) * (-x).exp(), 1e-14);
    }
    for x in [0.01, 0.3, 0.5, 0.9_f64] {
        close(beta_inc(1.0, 3.5, x, 1.0 - x), 1.0 - (1.0 - x).powf(3.5), 1e-14);
        close(beta_inc(2.0, 2.0, x, 1.0 - x), x * x * (3.0 - 2.0 * x), 1e-14);
    }
}

#[test]
fn normal_quantiles() {
    for (q, expected) in [
        (0.5, 0.0),
        (0.975, 1.959_963_984_540_054),
        (0.1, -1.281_551_565_544_600_4),
        (1e-9, -5.997_807_015_007_686_5),
    ] {
        close(normal_quantile(q), expected, 1e-12);
    }
}

const POISSON: Poisson = Poisson { floor: 1e-10 };

fn level(q: f64) -> Level {
    Level { q, normal: normal_quantile(q) }
}

/// The quantile of t with 1 degree of freedom is tan(π (q - 1/2)); with 2, (2q - 1) / sqrt(2q (1 - q)).
#[test]
fn student_quantiles_have_closed_forms() {
    for q in [0.005, 0.1, 0.5, 0.75, 0.99, 0.9999_f64] {
        let at = |df: f64| StudentT.quantile([df, 0.0, 1.0], level(q));
        close(at(1.0), (std::f64::consts::PI * (q - 0.5)).tan(), 1e-10);
        close(at(2.0), (2.0 * q - 1.0) / (2.0 * q * (1.0 - q)).sqrt(), 1e-10);
        close(at(1e9), normal_quantile(q), 1e-6);
        close(StudentT.quantile([2.0, 5.0, 3.0], level(q)), 5.0 + 3.0 * at(2.0), 1e-12);
    }
}

/// The smallest count whose summed probabilities reach the quantile.
fn by_sum(q: f64, probability: impl Fn(f64) -> f64) -> f64 {
    let (mut k, mut sum) = (0.0, probability(0.0));
    while sum < q {
        k += 1.0;
        sum += probability(k);
    }
    k
}

#[test]
fn quantiles_of_counts_are_where_the_summed_probabilities_reach_them() {
    for q in [0.001, 0.05, 0.3, 0.5, 0.9, 0.95, 0.999] {
        for rate in [1e-10, 0.2, 1.0, 3.7, 42.0, 900.0] {
            let probability = |k: f64| (k * f64::ln(rate) - rate - ln_gamma(k + 1.0)).exp();
            assert_eq!(POISSON.quantile([rate], level(q)), by_sum(q, probability), "{q} of {rate}");
        }
        for (count, p) in [(0.05, 0.9), (1.0, 0.5), (3.0, 0.01), (7.5, 0.97), (2.0, 0.999)] {
            let probability = |k: f64| {
                let ways = ln_gamma(count + k) - ln_gamma(count) - ln_gamma(k + 1.0);
                (ways + count * f64::ln(1.0 - p) + k * f64::ln(p)).exp()
            };
            let quantile = NegativeBinomial.quantile([count, p], level(q));
            assert_eq!(quantile, by_sum(q, probability), "{q} of {count}, {p}");
        }
    }
    assert_eq!(Bernoulli.quantile([0.3], level(0.69)), 0.0);
    assert_eq!(Bernoulli.quantile([0.3], level(0.71)), 1.0);
}

#[test]
fn large_counts_and_no_numbers_come_to_an_end() {
    let below = POISSON.quantile([0.99e6], level(0.9));
    let above = POISSON.quantile([1.01e6], level(0.9));
    close(below, 0.99e6 + normal_quantile(0.9) * 0.99e6_f64.sqrt(), 1e-6);
    assert!(below < above);
    assert!(NegativeBinomial.quantile([1e-6, 1.0 - 1e-12], level(0.9)) >= 0.0);
    assert!(NegativeBinomial.quantile([3.0, 1.0 - 1e-9], level(0.9)) > 1e9);
    for at in [level(0.1), level(0.9)] {
        assert!(POISSON.quantile([f64::NAN], at).is_nan() && Bernoulli.quantile([f64::NAN], at).is_nan());
        assert!(NegativeBinomial.quantile([f64::NAN, 0.5], at).is_nan());
        assert!(StudentT.quantile([f64::NAN, 0.0, 1.0], at).is_nan());
        assert!(Tweedie { rho: 1.5, samples: 10, softplus: false }.quantile([f64::NAN], at).is_nan());
    }
}

#[test]
fn a_tweedie_mean_is_below_1_unless_softplus_keeps_it_above() {
    let mean = |softplus: bool, output: f64, loc: f64| {
        let tweedie = Tweedie { rho: 1.5, samples: 0, softplus };
        tweedie.mean(tweedie.parameters([output], loc, 1.0))
    };
    for (output, loc, expected) in [(-2.0, 0.0, 0.1269), (0.0, 0.2, 0.1386), (1.0, 10.0, 13.13)] {
        assert!((mean(false, output, loc) / expected - 1.0).abs() < 1e-2, "{output}, {loc}");
        assert!(mean(true, output, loc) >= loc.max(1.0), "{output}, {loc}");
    }
    assert!(mean(false, -1e9, 0.0) > 0.0 && mean(false, 1e9, 1e9).is_finite());
}

/// Mean μ, variance μ^ρ, and e^-λ zeros with λ = μ^(2-ρ)/(2-ρ).
#[test]
fn tweedie_samples_have_the_moments_of_the_distribution() {
    for (rho, mean) in [(1.2, 0.2), (1.2, 1.5), (1.5, 4.0), (1.8, 30.0), (1.5, 500.0_f64)] {
        let count = 20_000;
        let mut samples = vec![0.0; count];
        let levels: Vec<Level> =
            (0..count).map(|i| Level { q: i as f64 / (count - 1) as f64, normal: 0.0 }).collect();
        Tweedie { rho, samples: count, softplus: false }.quantiles([mean.ln()], &levels, &mut samples);
        assert!(samples.is_sorted());
        let average = samples.iter().map(|&x| f64::from(x)).sum::<f64>() / count as f64;
        let spread = samples.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / count as f64;
        let zeros = samples.iter().filter(|&&x| x == 0.0).count() as f64 / count as f64;
        // Four standard errors of the mean; the variance's own error is larger.
        let error = (mean.powf(rho) / count as f64).sqrt();
        assert!((average - mean).abs() < 4.0 * error, "{rho}, {mean}: mean {average}");
        assert!((spread / mean.powf(rho) - 1.0).abs() < 0.1, "{rho}, {mean}: variance {spread}");
        let expected = (-mean.powf(2.0 - rho) / (2.0 - rho)).exp();
        assert!((zeros - expected).abs() < 0.015, "{rho}, {mean}: {zeros} zeros, expected {expected}");
    }
}

/// Derivatives against central differences.
fn slopes<const P: usize>(family: &impl Family<P>, outputs: &[[f64; P]], targets: &[f64]) {
    for &output in outputs {
        for (loc, scale) in [(0.0, 1.0), (2.5, 3.0)] {
            for &y in targets {
                let (_, slopes) = family.loss(output, loc, scale, y);
                for i in 0..P {
                    let at = |step: f64| {
                        let mut moved = output;
                        moved[i] += step;
                        family.loss(moved, loc, scale, y).0
                    };
                    close(slopes[i], (at(1e-5) - at(-1e-5)) / 2e-5, 1e-7);
                }
            }
        }
    }
}

#[test]
fn derivatives_are_those_of_the_losses() {
    let pairs = [[0.3, -0.7], [-2.0, 1.5], [4.0, 3.0], [1.0, -6.0]];
    slopes(&Normal, &pairs, &[-3.0, 0.0, 1.7]);
    slopes(&NegativeBinomial, &pairs, &[0.0, 1.0, 2.5, 40.0]);
    slopes(&StudentT, &[[0.3, -0.7, 0.2], [-2.0, 1.5, -3.0], [5.0, 0.1, 2.0]], &[-3.0, 0.0, 1.7]);
    for ones in [[-1.5], [0.2], [2.0]] {
        slopes(&POISSON, &[ones], &[0.0, 1.0, 2.5, 40.0]);
        slopes(&Bernoulli, &[ones], &[0.0, 1.0]);
        for softplus in [false, true] {
            slopes(&Tweedie { rho: 1.3, samples: 0, softplus }, &[ones], &[0.0, 1.0, 2.5]);
        }
    }
}

/// The probability of a quantile is between the share of samples below it and the share up to it.
fn samples<const P: usize>(family: &impl Family<P>, parameters: [f64; P]) {
    const COUNT: usize = 20_000;
    let draws: Vec<f64> =
        (0..COUNT).map(|i| family.sample(parameters, &mut Stream::new(Key::new(i as u64)))).collect();
    for q in [0.05, 0.5, 0.8, 0.99] {
        let at = family.quantile(parameters, level(q));
        let share =
            |below: &dyn Fn(f64) -> bool| draws.iter().filter(|&&x| below(x)).count() as f64 / COUNT as f64;
        let error = 4.0 * (q * (1.0 - q) / COUNT as f64).sqrt();
        let (below, up_to) = (share(&|x| x < at), share(&|x| x <= at));
        assert!(below <= q + error && q - error <= up_to, "{parameters:?}: {below} to {up_to} of {q}");
    }
    let mean = draws.iter().sum::<f64>() / COUNT as f64;
    let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / COUNT as f64;
    let off = (mean - family.mean(parameters)).abs();
    assert!(off <= 4.0 * (variance / COUNT as f64).sqrt(), "{parameters:?}: mean {mean}");
}

#[test]
fn samples_are_of_their_distribution() {
    samples(&Normal, [3.0, 0.5]);
    samples(&StudentT, [3.5, -1.0, 2.0]);
    samples(&StudentT, [40.0, 0.0, 1.0]);
    [0.2, 4.0, 60.0, 5000.0].into_iter().for_each(|rate| samples(&POISSON, [rate]));
    for parameters in [[0.5, 0.9], [3.0, 0.2], [20.0, 0.8]] {
        samples(&NegativeBinomial, parameters);
    }
    [0.1, 0.7].into_iter().for_each(|p| samples(&Bernoulli, [p]));
}

#[test]
fn outputs_that_make_no_distribution_have_no_samples() {
    let sample = |name: &str, output: &[f32]| {
        let arguments = Map::from_iter([("distribution".to_owned(), json!(name))]);
        Loss::new("DistributionLoss", &arguments).expect("a loss").sample(output, 0.0, 1.0, Key::new(1))
    };
    assert!(sample("Poisson", &[f32::NAN]).is_nan() && sample("Normal", &[f32::INFINITY, 0.0]).is_nan());
    assert!(
        sample("NegativeBinomial", &[f32::NAN, 1.0]).is_nan()
            && sample("StudentT", &[1.0, 0.0, f32::NAN]).is_nan()
    );
    assert!(sample("Poisson", &[3.0]) >= 0.0);
    let mixture = Loss::new("GMM", &Map::new()).expect("a loss");
    assert!(mixture.sample(&[f32::NAN, 0.0], 0.0, 1.0, Key::new(1)).is_nan());
    let columns = mixture.columns();
    let mut row = vec![0.0; columns.count()];
    mixture.forecast(&columns, &[f32::NAN, 0.0], 0.0, 1.0, &mut row);
    assert!(row.iter().all(|x| x.is_nan()), "{row:?}");
}

/// A mixture of equal components is the distribution itself: its likelihood, its gradient, which the components share, and its
/// quantiles.
#[test]
fn equal_components_are_one() {
    let loss = |name: &str, arguments: Value| {
        Loss::new(name, arguments.as_object().expect("an object")).expect("a loss")
    };
    for (mixture, outputs, target) in [("GMM", 2, 1.7), ("NBMM", 2, 3.0), ("PMM", 1, 3.0)] {
        let one = loss(mixture, json!({"n_components": 1}));
        let three = loss(mixture, json!({"n_components": 3, "weighted": true}));
        let output = &[0.4_f32, -0.3][..outputs];
        // Components of different weights.
        let outputs_of_three: Vec<f32> =
            output.iter().flat_map(|&x| [x; 3]).chain([0.5, -1.0, 2.0]).collect();
        let target = [target];
        let truth = Targets { loc: &[1.5], scale: &[2.0], ..Targets::new(1, &target, &[1.0]) };
        let sums = [(&one, output), (&three, &outputs_of_three)]
            .map(|(loss, output)| loss.sums(output, truth).sum());
        close(sums[1], sums[0], 1e-12);
        let quantiles = [(&one, output), (&three, &outputs_of_three[..])].map(|(loss, output)| {
            let columns = loss.columns();
            let mut row = vec![0.0; columns.count()];
            loss.forecast(&columns, output, 1.5, 2.0, &mut row);
            row
        });
        for (quantile, expected) in quantiles[1].iter().zip(&quantiles[0]) {
            close((*quantile).into(), (*expected).into(), 1e-6);
        }
    }
}

/// The share of samples below each quantile, and their mean.
#[test]
fn samples_of_mixtures_are_of_their_distribution() {
    const COUNT: usize = 20_000;
    for (name, output) in [
        ("GMM", &[-1.0_f32, 2.0, 0.1, -2.0, 0.0, 1.0][..]),
        ("PMM", &[0.5, 4.0, 0.0, 1.0]),
        ("NBMM", &[1.0, 3.0, -1.0, 0.5, 0.0, 1.0]),
    ] {
        let arguments = json!({"n_components": 2, "weighted": true, "quantiles": [0.05, 0.3, 0.5, 0.95]});
        let loss = Loss::new(name, arguments.as_object().expect("an object")).expect("a loss");
        let columns = loss.columns();
        let mut row = vec![0.0; columns.count()];
        loss.forecast(&columns, output, 3.0, 2.0, &mut row);
        let draws: Vec<f64> =
            (0..COUNT).map(|i| loss.sample(output, 3.0, 2.0, Key::new(i as u64)).into()).collect();
        for (&at, q) in row[1..].iter().zip([0.05, 0.3, 0.5, 0.95]) {
            let share = |below: &dyn Fn(f64) -> bool| {
                draws.iter().filter(|&&x| below(x)).count() as f64 / COUNT as f64
            };
            let error = 4.0 * (q * (1.0 - q) / COUNT as f64).sqrt();
            let (below, up_to) = (share(&|x| x < at.into()), share(&|x| x <= at.into()));
            assert!(below <= q + error && q - error <= up_to, "{name}: {below} to {up_to} of {q}");
        }
        let mean = draws.iter().sum::<f64>() / COUNT as f64;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / COUNT as f64;
        assert!((mean - f64::from(row[0])).abs() <= 4.0 * (variance / COUNT as f64).sqrt(), "{name}: {mean}");
    }
}
