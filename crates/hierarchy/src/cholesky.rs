//! Equations of a symmetric, positive definite matrix.

/// The lower triangle L of A = L Lᵀ.
#[derive(Clone, Debug)]
pub(crate) struct Cholesky {
    n: usize,
    /// `[n, n]`; what is above the diagonal means nothing.
    lower: Vec<f64>,
}

impl Cholesky {
    /// Decomposes `matrix [n, n]`, of which the lower triangle is read; nothing if it is not positive definite.
    pub(crate) fn new(n: usize, mut matrix: Vec<f64>) -> Option<Self> {
        assert_eq!(matrix.len(), n * n, "a square matrix");
        for i in 0..n {
            let (above, row) = matrix.split_at_mut(i * n);
            for j in 0..i {
                let other = &above[j * n..][..j + 1];
                row[j] = (row[j] - dot(&row[..j], &other[..j])) / other[j];
            }
            let pivot = row[i] - dot(&row[..i], &row[..i]);
            // A pivot that rounding has left of the diagonal is none.
            if !(pivot.is_finite() && pivot > row[i] * 1e-14) {
                return None;
            }
            row[i] = pivot.sqrt();
        }
        Some(Self { n, lower: matrix })
    }

    /// Solves A x = b for all columns of `b [n, columns]`, in place.
    pub(crate) fn solve(&self, b: &mut [f64], columns: usize) {
        let n = self.n;
        assert_eq!(b.len(), n * columns, "right sides");
        for i in 0..n {
            let (above, row) = b.split_at_mut(i * columns);
            let row = &mut row[..columns];
            for j in 0..i {
                subtract(row, self.lower[i * n + j], &above[j * columns..][..columns]);
            }
            row.iter_mut().for_each(|value| *value /= self.lower[i * n + i]);
        }
        for i in (0..n).rev() {
            let (above, row) = b.split_at_mut(i * columns);
            let row = &mut row[..columns];
            row.iter_mut().for_each(|value| *value /= self.lower[i * n + i]);
            for j in 0..i {
                subtract(&mut above[j * columns..][..columns], self.lower[i * n + j], row);
            }
        }
    }
}

/// `row -= factor * other`
pub(crate) fn subtract(row: &mut [f64], factor: f64, other: &[f64]) {
    row.iter_mut().zip(other).for_each(|(value, other)| *value -= factor * other);
}

/// The inner product, in eight sums, which vectors hold.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a, a_rest) = a.as_chunks::<8>();
    let (b, b_rest) = b.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell_simd::{Key, Stream};

    #[test]
    fn solutions_solve() {
        for n in [0, 1, 2, 7, 8, 19] {
            let mut stream = Stream::new(Key::new(n as u64));
            let factor: Vec<f64> = (0..n * n).map(|_| stream.uniform_f64() - 0.5).collect();
            let row = |i: usize| &factor[i * n..][..n];
            let matrix: Vec<f64> = (0..n * n)
                .map(|place| {
                    dot(row(place / n), row(place % n)) + if place / n == place % n { 0.1 } else { 0.0 }
                })
                .collect();
            let x: Vec<f64> = (0..n * 3).map(|_| stream.uniform_f64()).collect();
            let mut b: Vec<f64> = (0..n * 3)
                .map(|place| (0..n).map(|k| matrix[place / 3 * n + k] * x[k * 3 + place % 3]).sum())
                .collect();
            Cholesky::new(n, matrix).unwrap().solve(&mut b, 3);
            assert!(b.iter().zip(&x).all(|(found, x)| (found - x).abs() < 1e-10), "{n}");
        }
    }

    #[test]
    fn what_is_not_positive_definite_is_refused() {
        assert!(Cholesky::new(2, vec![1.0, 2.0, 2.0, 1.0]).is_none());
        assert!(Cholesky::new(2, vec![1.0, 1.0, 1.0, 1.0]).is_none());
        assert!(Cholesky::new(1, vec![f64::NAN]).is_none());
    }
}
