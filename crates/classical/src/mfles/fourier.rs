//! A season as a Fourier series, fitted by least squares.

use std::f64::consts::TAU;

use foretell_estimator::dot;

/// The space that the waves of a season span over a series: orthonormal columns `[waves][n]`.
#[derive(Clone, Debug)]
pub(super) struct Waves {
    columns: Vec<Vec<f64>>,
}

/// Pairs of a sine and a cosine that suit a season of this many steps.
pub(super) fn usual_order(period: usize) -> usize {
    match period {
        ..10 => 5,
        10..70 => 10,
        _ => 15,
    }
}

impl Waves {
    /// Those of `order` pairs over `n` steps.
    pub(super) fn new(n: usize, period: usize, order: usize) -> Self {
        // Waves of a whole season and more are those of fewer again.
        let mut numbers: Vec<usize> = (1..=order).map(|k| (k % period).min(period - k % period)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let angle = |k: usize, t: usize| TAU * ((k * (t + 1)) % period) as f64 / period as f64;
        let cosines = numbers.iter().map(|&k| (0..n).map(|t| angle(k, t).cos()).collect::<Vec<_>>());
        // A sine of half a season, and that of none, is zero.
        let sines = numbers.iter().filter(|&&k| k > 0 && 2 * k != period);
        let sines = sines.map(|&k| (0..n).map(|t| angle(k, t).sin()).collect::<Vec<_>>());
        let mut columns: Vec<Vec<f64>> = Vec::new();
        for mut column in cosines.chain(sines) {
            let whole = dot(&column, &column);
            // Twice, as the first pass leaves rounding errors.
            for _ in 0..2 {
                for earlier in &columns {
                    let share = dot(earlier, &column);
                    column.iter_mut().zip(earlier).for_each(|(x, e)| *x -= share * e);
                }
            }
            let length = dot(&column, &column).sqrt();
            // Of a short series, the last waves are sums of the others.
            if length * length > 1e-16 * whole {
                column.iter_mut().for_each(|x| *x /= length);
                columns.push(column);
            }
        }
        Self { columns }
    }

    /// The sum of waves nearest to a series.
    pub(super) fn fitted(&self, y: &[f64]) -> Vec<f64> {
        let mut sum = vec![0.0; y.len()];
        for column in &self.columns {
            let share = dot(column, y);
            sum.iter_mut().zip(column).for_each(|(sum, x)| *sum += share * x);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_season_of_any_shape_is_found_where_the_waves_are_enough() {
        let shape = [3.0, -1.0, 0.5, -2.5, 4.0];
        let y: Vec<f64> = (0..25).map(|t| shape[t % 5]).collect();
        let fitted = Waves::new(25, 5, 5).fitted(&y);
        assert!(fitted.iter().zip(&y).all(|(a, b)| (a - b).abs() < 1e-9), "{fitted:?}");
        // Two pairs have four numbers, and the mean is none of them.
        assert_eq!(Waves::new(25, 5, 2).columns.len(), 4);
        assert_eq!(Waves::new(40, 4, 5).columns.len(), 4, "three waves and the mean");
        assert_eq!(Waves::new(7, 12, 10).columns.len(), 7, "no more than there are values");
    }
}
