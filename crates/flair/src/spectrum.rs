//! Singular values of a table of cycles.

use foretell_estimator::dot;

/// The squares of the singular values of the table whose rows are cycles of `period` values, the largest first.
///
/// They are the eigenvalues of the smaller of its two Gram matrices, so each is right up to 1e-15 of the largest.
pub(crate) fn squared_singular_values(values: &[f64], period: usize) -> Vec<f64> {
    let cycles = values.len() / period;
    let n = period.min(cycles);
    let mut gram = vec![0.0; n * n];
    if period <= cycles {
        for cycle in values.chunks_exact(period) {
            for (i, a) in cycle.iter().enumerate() {
                let row = &mut gram[i * n..i * n + i + 1];
                row.iter_mut().zip(cycle).for_each(|(sum, b)| *sum += a * b);
            }
        }
    } else {
        let rows: Vec<&[f64]> = values.chunks_exact(period).collect();
        for i in 0..n {
            for j in 0..=i {
                gram[i * n + j] = dot(rows[i], rows[j]);
            }
        }
    }
    for i in 0..n {
        for j in 0..i {
            gram[j * n + i] = gram[i * n + j];
        }
    }
    let mut squares = eigenvalues(gram, n);
    squares.iter_mut().for_each(|square| *square = square.max(0.0));
    squares.sort_unstable_by(|a, b| b.total_cmp(a));
    squares
}

/// The eigenvalues of a symmetric matrix, in no order.
fn eigenvalues(a: Vec<f64>, n: usize) -> Vec<f64> {
    let (mut diagonal, mut beside) = tridiagonal(a, n);
    let norm = diagonal.iter().chain(&beside).fold(0.0, |most: f64, x| most.max(x.abs()));
    let tiny = f64::EPSILON * norm;
    // Implicit QL (Golub and Van Loan, Matrix Computations, section 8.3): rotations clear what is off the diagonal.
    for start in 0..n {
        for _ in 0..MOST_SWEEPS {
            let end = (start..n - 1).find(|&i| beside[i].abs() <= tiny).unwrap_or(n - 1);
            if end == start {
                break;
            }
            let half = (diagonal[start + 1] - diagonal[start]) / (2.0 * beside[start]);
            let shift = beside[start] / (half + libm::hypot(half, 1.0).copysign(half));
            let mut g = diagonal[end] - diagonal[start] + shift;
            let (mut sine, mut cosine, mut moved) = (1.0, 1.0, 0.0);
            let mut broken = false;
            for i in (start..end).rev() {
                let (f, b) = (sine * beside[i], cosine * beside[i]);
                let r = libm::hypot(f, g);
                beside[i + 1] = r;
                if r == 0.0 {
                    diagonal[i + 1] -= moved;
                    beside[end] = 0.0;
                    broken = true;
                    break;
                }
                (sine, cosine) = (f / r, g / r);
                g = diagonal[i + 1] - moved;
                let turned = (diagonal[i] - g) * sine + 2.0 * cosine * b;
                moved = sine * turned;
                diagonal[i + 1] = g + moved;
                g = cosine * turned - b;
            }
            if !broken {
                diagonal[start] -= moved;
                beside[start] = g;
                beside[end] = 0.0;
            }
        }
    }
    diagonal
}

/// Two or three sweeps bring one eigenvalue; more are a sign of numbers that are none.
const MOST_SWEEPS: usize = 50;

/// The diagonal of the tridiagonal matrix that Householder reflections make of a symmetric one, and its off-diagonal, with a zero
/// behind.
fn tridiagonal(mut a: Vec<f64>, n: usize) -> (Vec<f64>, Vec<f64>) {
    let mut beside = vec![0.0; n];
    let mut product = vec![0.0; n];
    for k in 0..n.saturating_sub(2) {
        let rest = k + 1..n;
        let mut reflector: Vec<f64> = rest.clone().map(|i| a[i * n + k]).collect();
        let length = dot(&reflector, &reflector).sqrt();
        beside[k] = -length.copysign(reflector[0]);
        if length == 0.0 {
            continue;
        }
        reflector[0] -= beside[k];
        let scale = 2.0 / dot(&reflector, &reflector);
        for (p, i) in product.iter_mut().zip(rest.clone()) {
            *p = scale * dot(&a[i * n + k + 1..(i + 1) * n], &reflector);
        }
        let along = 0.5 * scale * dot(&product[..reflector.len()], &reflector);
        product.iter_mut().zip(&reflector).for_each(|(p, v)| *p -= along * v);
        for (row, i) in rest.enumerate() {
            let (v, w) = (reflector[row], product[row]);
            let cells = a[i * n + k + 1..(i + 1) * n].iter_mut();
            cells.zip(&reflector).zip(&product).for_each(|((a, x), y)| *a -= v * y + w * x);
        }
    }
    if n >= 2 {
        beside[n - 2] = a[(n - 1) * n + n - 2];
    }
    ((0..n).map(|i| a[i * n + i]).collect(), beside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_known_singular_values() {
        // Orthogonal rows and columns: their lengths are the singular values.
        let values = [3.0, 0.0, 0.0, 0.0, -5.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0];
        for (found, expected) in squared_singular_values(&values, 3).iter().zip([25.0, 9.0, 4.0]) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }

    #[test]
    fn they_sum_up_to_the_squares_at_any_shape() {
        for (period, cycles) in [(1, 4), (2, 3), (7, 20), (24, 5), (30, 30), (12, 2)] {
            let values: Vec<f64> = (0..period * cycles)
                .map(|t| 10.0 + ((t * t) as f64 * 0.37).sin() + (t % period) as f64)
                .collect();
            let squares = squared_singular_values(&values, period);
            assert_eq!(squares.len(), period.min(cycles));
            let (sum, expected) = (squares.iter().sum::<f64>(), dot(&values, &values));
            assert!((sum / expected - 1.0).abs() < 1e-12, "{sum} {expected}");
            // The determinant of a rotated table, by the fourth powers: the trace of the squared Gram matrix.
            let fourth: f64 = squares.iter().map(|square| square * square).sum();
            let rows: Vec<&[f64]> = values.chunks_exact(period).collect();
            let expected: f64 = rows.iter().flat_map(|a| rows.iter().map(|b| dot(a, b).powi(2))).sum();
            assert!((fourth / expected - 1.0).abs() < 1e-12, "{period} {fourth} {expected}");
        }
    }

    #[test]
    fn a_season_that_repeats_exactly_has_one() {
        let values: Vec<f64> = (0..120).map(|t| [2.0, 5.0, 3.0, 8.0][t % 4]).collect();
        let squares = squared_singular_values(&values, 4);
        assert!(squares[1..].iter().all(|square| *square < 1e-13 * squares[0]), "{squares:?}");
    }
}
