//! A Gaussian copula whose correlations fall with the distance of steps, as those of an autoregression of order 1.

use statrs::function::erf::erf;

use crate::marginals::Marginals;

/// The correlation of a series' changes with those a step later, between -0.99 and 0.99; 0 where there are too few values, or no
/// change differs from another by more than single precision tells: the values may have been rounded to it. Values that are not known
/// are left out before.
pub fn ar1_correlation(history: &[f64]) -> f64 {
    if history.len() < 3 {
        return 0.0;
    }
    let mut changes: Vec<f64> = history.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let largest_of = |values: &[f64]| values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let largest = largest_of(&changes);
    if largest == 0.0 {
        return 0.0;
    }
    // By a power of two, so that the unit of the values changes no bit.
    let scale = (-largest.log2().floor()).clamp(-1000.0, 1000.0).exp2();
    changes.iter_mut().for_each(|change| *change *= scale);
    let (before, after) = (&changes[..changes.len() - 1], &changes[1..]);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (of_before, of_after) = (mean(before), mean(after));
    let (mut product, mut squares) = (0.0, [0.0, 0.0]);
    for (x, z) in before.iter().zip(after) {
        let (x, z) = (x - of_before, z - of_after);
        product += x * z;
        squares[0] += x * x;
        squares[1] += z * z;
    }
    let size = (squares[0] * squares[1]).sqrt();
    // Changes that differ by the rounding of the values do not differ. Panels hold them in single precision.
    let rounding = 2.0 * f64::from(f32::EPSILON) * scale * largest_of(history);
    if size < (changes.len() as f64 * rounding * rounding).max(1e-15) {
        0.0
    } else {
        (product / size).clamp(-0.99, 0.99)
    }
}

/// The paths `[paths, steps]` of a Gaussian copula, from `normals [steps, paths]`. Steps `k` apart have the correlation
/// `|correlation|^k`; the factor of that matrix is the autoregression that has it.
///
/// # Panics
/// If the normal numbers are not as many for each step, or the correlation is none.
#[track_caller]
pub fn gaussian_copula(marginals: &Marginals<'_>, correlation: f64, normals: &[f64]) -> Vec<f64> {
    let horizon = marginals.horizon();
    let paths = normals.len().checked_div(horizon).unwrap_or(0);
    assert_eq!(normals.len(), horizon * paths, "normal numbers of {horizon} steps");
    assert!(correlation.abs() <= 1.0, "a correlation of {correlation}");
    let (carried, new) = (correlation.abs(), (1.0 - correlation * correlation).sqrt());
    let (lowest, highest) = marginals.ends();
    let mut values = vec![0.0; normals.len()];
    for (path, row) in values.chunks_exact_mut(horizon.max(1)).enumerate() {
        let mut state = 0.0;
        for (step, value) in row.iter_mut().enumerate() {
            let normal = normals[step * paths + path];
            state = if step == 0 { normal } else { carried * state + new * normal };
            let level = 0.5 * (1.0 + erf(state / std::f64::consts::SQRT_2));
            *value = marginals.value(step, level.clamp(lowest, highest));
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correlations_by_hand() {
        assert_eq!(ar1_correlation(&[1.0, 2.0]), 0.0);
        assert_eq!(ar1_correlation(&[5.0; 10]), 0.0);
        // Changes of 1 and -1 in turns.
        assert_eq!(ar1_correlation(&[0.0, 1.0, 0.0, 1.0, 0.0, 1.0]), -0.99);
        // Changes 1, 2, 3, 5: of (1, 2, 3) and (2, 3, 5) it is 3 / sqrt(2 * 14 / 3).
        let found = ar1_correlation(&[0.0, 1.0, 3.0, 6.0, 11.0]);
        assert!((found - 3.0 / (2.0_f64 * 14.0 / 3.0).sqrt()).abs() < 1e-12, "{found}");
        let straight: Vec<f64> = (0..2000).map(|t| 1e6 + 0.1 * f64::from(t)).collect();
        assert_eq!(ar1_correlation(&straight), 0.0);
        // As the values of a panel are.
        let rounded = |y: f64| f64::from(y as f32);
        for level in [0.0, 1000.0] {
            let line: Vec<f64> = (0..2000).map(|t| rounded(level + 0.1 * f64::from(t))).collect();
            assert_eq!(ar1_correlation(&line), 0.0, "from {level}");
        }
        // Changes of 0.1 and -0.1 in turns.
        let turns: Vec<f64> = (0..100_i32).map(|t| rounded(1000.0 + 0.1 * f64::from(t % 2))).collect();
        assert_eq!(ar1_correlation(&turns), -0.99);
        // Whatever the unit.
        for unit in [2.0_f64.powi(-60), 2.0_f64.powi(40)] {
            assert_eq!(ar1_correlation(&[0.0, 1.0, 3.0, 6.0, 11.0].map(|y| y * unit)), found, "{unit}");
        }
    }

    #[test]
    fn a_median_path_comes_of_zeros_and_ends_hold() {
        let marginals = Marginals::new(&[0.1, 0.5, 0.9], &[1.0, 2.0, 3.0, 2.0, 4.0, 6.0]).unwrap();
        let paths = gaussian_copula(&marginals, 0.5, &[0.0, 9.0, -9.0, 0.0, 9.0, -9.0]);
        assert_eq!(paths, [2.0, 4.0, 3.0, 6.0, 1.0, 2.0]);
        let no_steps = Marginals::new(&[0.1, 0.9], &[]).unwrap();
        assert_eq!(gaussian_copula(&no_steps, 0.5, &[]), [0.0; 0]);
    }
}
