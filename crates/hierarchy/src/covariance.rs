//! The covariance of errors that minimum trace weighs distances by: W = diag(d) + F Fᵀ.

use crate::cholesky::dot;
use crate::error::HierarchyError;
use crate::hierarchy::Hierarchy;
use crate::residuals::Residuals;

/// The least variance, relative to the mean of all: a series without any error would fix the others.
const LEAST: f64 = 1e-10;

/// A covariance as a diagonal and a factor of few columns, so that no matrix of all series is needed.
#[derive(Clone, Debug)]
pub(crate) struct Covariance {
    /// `[series]`.
    pub(crate) diagonal: Vec<f64>,
    /// `[series, columns]`.
    pub(crate) factor: Vec<f64>,
    pub(crate) columns: usize,
}

impl Covariance {
    fn of_diagonal(diagonal: Vec<f64>) -> Self {
        Self { diagonal, factor: Vec::new(), columns: 0 }
    }

    /// The same variance for all.
    pub(crate) fn identity(hierarchy: &Hierarchy) -> Self {
        Self::of_diagonal(vec![1.0; hierarchy.n_series()])
    }

    /// Variances that are the numbers of series summed up.
    pub(crate) fn structural(hierarchy: &Hierarchy) -> Self {
        let aggregates = (0..hierarchy.n_aggregates()).map(|number| hierarchy.members(number).len() as f64);
        Self::of_diagonal(aggregates.chain(std::iter::repeat_n(1.0, hierarchy.n_bottom())).collect())
    }

    /// The mean squares of errors.
    pub(crate) fn variances(residuals: &Residuals) -> Result<Self, HierarchyError> {
        let square = |errors: &[f64]| dot(errors, errors) / residuals.times() as f64;
        let mut diagonal: Vec<f64> =
            (0..residuals.n_series()).map(|number| square(residuals.of_series(number))).collect();
        bound_below(&mut diagonal)?;
        Ok(Self::of_diagonal(diagonal))
    }

    /// The covariance of errors, its entries off the diagonal multiplied by 1 - λ.
    pub(crate) fn shrunk(residuals: &Residuals) -> Result<Self, HierarchyError> {
        let (series, times) = (residuals.n_series(), residuals.times());
        let mut factor = Vec::with_capacity(series * times);
        for number in 0..series {
            let errors = residuals.of_series(number);
            let mean = errors.iter().sum::<f64>() / times as f64;
            factor.extend(errors.iter().map(|error| error - mean));
        }
        let kept = 1.0 - shrinkage(&factor, times);
        let scale = (1.0 / (times - 1) as f64).sqrt();
        factor.iter_mut().for_each(|error| *error *= scale);
        let mut variances: Vec<f64> = factor.chunks_exact(times).map(|row| dot(row, row)).collect();
        bound_below(&mut variances)?;
        factor.iter_mut().for_each(|error| *error *= kept.sqrt());
        // What the factor does not hold of each variance. Where it holds all of it there are fewer series than times, and the
        // factor alone is regular; a little more keeps rounding from making it singular.
        let rest = |(row, variance): (&[f64], &f64)| (variance - dot(row, row)).max(LEAST * variance);
        let diagonal = factor.chunks_exact(times).zip(&variances).map(rest).collect();
        Ok(Self { diagonal, factor, columns: times })
    }
}

fn bound_below(variances: &mut [f64]) -> Result<(), HierarchyError> {
    let mean = variances.iter().sum::<f64>() / variances.len() as f64;
    if mean == 0.0 {
        return Err(HierarchyError::ZeroResiduals);
    }
    variances.iter_mut().for_each(|variance| *variance = variance.max(LEAST * mean));
    Ok(())
}

/// The intensity λ of Schäfer and Strimmer 2005: the sum of the variances of the correlations off the diagonal, divided by the sum of
/// their squares, from errors `[series, times]` with mean 0.
///
/// With w(i, j, t) = x(i, t) x(j, t) of standardised errors x, both sums need no loop over all pairs of series:
/// Σ_ij w(i, j, t)² = (Σ_i x(i, t)²)², and Σ_ij (Σ_t w(i, j, t))² = |X Xᵀ|² = |Xᵀ X|², the shorter side of which is taken.
fn shrinkage(errors: &[f64], times: usize) -> f64 {
    let n = times as f64;
    let mut x = errors.to_vec();
    for row in x.chunks_exact_mut(times) {
        let deviation = (dot(row, row) / n).sqrt();
        let scale = if deviation > 0.0 { 1.0 / deviation } else { 0.0 };
        row.iter_mut().for_each(|error| *error *= scale);
    }
    let series = x.len() / times;
    let by_time: Vec<f64> =
        (0..times * series).map(|place| x[place % series * times + place / series]).collect();
    let squares = if series < times { gram_squares(&x, times) } else { gram_squares(&by_time, series) };
    let own: f64 = x.chunks_exact(times).map(|row| (dot(row, row) / n).powi(2)).sum();
    // Both off the diagonal, each pair twice.
    let correlations = squares / (n * n) - own;
    let moments = by_time.chunks_exact(series.max(1)).map(|row| {
        let fourth: f64 = row.iter().map(|x| x.powi(4)).sum();
        dot(row, row).powi(2) - fourth
    });
    let variances = (moments.sum::<f64>() - n * correlations) / (n * (n - 1.0));
    if correlations > 0.0 { (variances / correlations).clamp(0.0, 1.0) } else { 1.0 }
}

/// The sum of the squares of all inner products of rows.
fn gram_squares(rows: &[f64], width: usize) -> f64 {
    let row = |i: usize| &rows[i * width..][..width];
    let squares = (0..rows.len() / width).map(|i| {
        let below: f64 = (0..i).map(|j| dot(row(i), row(j)).powi(2)).sum();
        2.0 * below + dot(row(i), row(i)).powi(2)
    });
    squares.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell_simd::{Key, Stream};

    /// The intensity by its definition, pair by pair.
    fn naive(errors: &[f64], times: usize) -> f64 {
        let n = times as f64;
        let x: Vec<Vec<f64>> = errors
            .chunks_exact(times)
            .map(|row| {
                let deviation = (row.iter().map(|error| error * error).sum::<f64>() / n).sqrt();
                row.iter().map(|error| error / deviation).collect()
            })
            .collect();
        let (mut variances, mut squares) = (0.0, 0.0);
        for i in 0..x.len() {
            for j in 0..i {
                let w: Vec<f64> = x[i].iter().zip(&x[j]).map(|(a, b)| a * b).collect();
                let mean = w.iter().sum::<f64>() / n;
                variances += w.iter().map(|w| (w - mean).powi(2)).sum::<f64>() / (n * (n - 1.0));
                squares += mean * mean;
            }
        }
        (variances / squares).clamp(0.0, 1.0)
    }

    #[test]
    fn the_intensity_needs_no_pairs() {
        for (series, times) in [(3, 40), (12, 7), (5, 5)] {
            let mut stream = Stream::new(Key::new(series as u64));
            let common: Vec<f64> = (0..times).map(|_| stream.uniform_f64()).collect();
            let mut errors = Vec::new();
            for _ in 0..series {
                let mut row: Vec<f64> =
                    common.iter().map(|common| common + 0.7 * stream.uniform_f64()).collect();
                let mean = row.iter().sum::<f64>() / times as f64;
                row.iter_mut().for_each(|error| *error -= mean);
                errors.extend(row);
            }
            let (found, expected) = (shrinkage(&errors, times), naive(&errors, times));
            assert!(expected > 0.0 && expected < 1.0, "{series} x {times}: {expected}");
            assert!((found - expected).abs() < 1e-10, "{series} x {times}: {found} and {expected}");
        }
    }

    #[test]
    fn series_without_errors_keep_a_little() {
        let residuals = Residuals::new(2, &[0.0, 0.0, 0.0, 1.0, -1.0, 2.0]).unwrap();
        assert_eq!(Covariance::variances(&residuals).unwrap().diagonal, [1e-10, 2.0]);
        assert!(Covariance::shrunk(&residuals).unwrap().diagonal.iter().all(|variance| *variance > 0.0));
        let zero = Residuals::new(2, &[0.0; 4]).unwrap();
        assert_eq!(Covariance::variances(&zero).unwrap_err(), HierarchyError::ZeroResiduals);
        assert_eq!(Covariance::shrunk(&zero).unwrap_err(), HierarchyError::ZeroResiduals);
    }
}
