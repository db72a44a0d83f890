//! The first coefficients of KAN's splines: noise at the knots of the grid's range, and the splines of least norm through it.

use foretell_autograd::SplineBasis;
use foretell_simd::{Key, uniform_fill};

/// Splines through uniform noise within `bound` at the `intervals + 1` knots of a range. Of the `intervals + order` coefficients
/// that give such a spline, those of the least norm are taken, as `torch.linalg.lstsq` does:
/// `c = Aᵀ (A Aᵀ)⁻¹ y` with A the values of the functions at the knots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SplineNoise {
    /// Intervals of the range.
    pub intervals: usize,
    /// Order of the splines.
    pub order: usize,
    /// The largest value at a knot.
    pub bound: f32,
}

impl SplineNoise {
    /// Fills `coefficients [splines, intervals + order]`.
    pub(crate) fn fill(self, key: Key, coefficients: &mut [f32]) {
        let (points, functions) = (self.intervals + 1, self.intervals + self.order);
        let inverse = self.least_norm();
        let mut noise = vec![0.0; coefficients.len() / functions * points];
        uniform_fill(key, 0, &mut noise);
        for (noise, spline) in noise.chunks_exact(points).zip(coefficients.chunks_exact_mut(functions)) {
            for (row, coefficient) in inverse.chunks_exact(points).zip(spline) {
                let weighted = row
                    .iter()
                    .zip(noise)
                    .map(|(a, &u)| a * (2.0 * f64::from(u) - 1.0) * f64::from(self.bound));
                *coefficient = weighted.sum::<f64>() as f32;
            }
        }
    }

    /// `Aᵀ (A Aᵀ)⁻¹`, `[functions, points]`.
    fn least_norm(self) -> Vec<f64> {
        let (points, functions, order) = (self.intervals + 1, self.intervals + self.order, self.order);
        // The splines do not change if the grid is stretched: its knots are whole numbers here.
        let grid: Vec<f32> = (0..functions + order + 1).map(|knot| knot as f32).collect();
        let at: Vec<f32> = grid[order..order + points].to_vec();
        let mut values = vec![0.0; points * functions];
        SplineBasis::new(&grid, grid.len(), order).forward(&at, &mut values);
        let row = |i: usize| &values[i * functions..][..functions];
        // Gauss and Jordan's elimination of [A Aᵀ | A], whose left part is positive definite.
        let width = points + functions;
        let mut system = vec![0.0; points * width];
        for (i, out) in system.chunks_exact_mut(width).enumerate() {
            for (j, product) in out[..points].iter_mut().enumerate() {
                *product = row(i).iter().zip(row(j)).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum();
            }
            out[points..].iter_mut().zip(row(i)).for_each(|(out, &a)| *out = f64::from(a));
        }
        for pivot in 0..points {
            let divisor = system[pivot * width + pivot];
            let own: Vec<f64> = system[pivot * width..][..width].iter().map(|x| x / divisor).collect();
            for (i, out) in system.chunks_exact_mut(width).enumerate() {
                let factor = out[pivot];
                if i == pivot {
                    out.copy_from_slice(&own);
                } else if factor != 0.0 {
                    out.iter_mut().zip(&own).for_each(|(x, own)| *x -= factor * own);
                }
            }
        }
        let mut inverse = vec![0.0; functions * points];
        for (i, solved) in system.chunks_exact(width).enumerate() {
            for (j, &x) in solved[points..].iter().enumerate() {
                inverse[j * points + i] = x;
            }
        }
        inverse
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `torch.linalg.pinv(A) @ y` in double precision with neuralforecast's `KANLinear.b_splines` for a grid of 5 intervals on
    /// [-1, 1], order 3, and y = 1, -2, 3, 0.5, -1, 2; its `curve2coeff` gives the same to six digits.
    const LEAST_NORM: [f64; 8] = [
        1.137_345_489, 2.483_299_810, -5.070_544_474, 5.798_877_444, -0.124_963_766, -2.299_021_272,
        3.321_048_495, 1.014_828_827,
    ];

    #[test]
    fn coefficients_are_those_of_pytorch() {
        let inverse = SplineNoise { intervals: 5, order: 3, bound: 1.0 }.least_norm();
        let y = [1.0, -2.0, 3.0, 0.5, -1.0, 2.0];
        for (row, expected) in inverse.chunks_exact(6).zip(LEAST_NORM) {
            let coefficient: f64 = row.iter().zip(y).map(|(a, y)| a * y).sum();
            assert!((coefficient - expected).abs() < 1e-5, "{coefficient}, PyTorch has {expected}");
        }
    }

    #[test]
    fn the_splines_pass_through_noise_within_the_bound() {
        let noise = SplineNoise { intervals: 4, order: 2, bound: 0.1 };
        let mut coefficients = vec![0.0; 6 * 50];
        noise.fill(Key::new(3), &mut coefficients);
        let grid: Vec<f32> = (0..9).map(|knot| knot as f32).collect();
        let mut values = vec![0.0; 5 * 6];
        SplineBasis::new(&grid, 9, 2).forward(&grid[2..7], &mut values);
        let mut largest = 0.0_f32;
        for spline in coefficients.chunks_exact(6) {
            for point in values.chunks_exact(6) {
                let y: f32 = point.iter().zip(spline).map(|(a, b)| a * b).sum();
                assert!(y.abs() < 0.1 + 1e-6, "{y} at a knot");
                largest = largest.max(y.abs());
            }
        }
        assert!(largest > 0.08, "of 250 numbers within 0.1 the largest is {largest}");
    }
}
