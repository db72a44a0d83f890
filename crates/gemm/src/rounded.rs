//! Operands rounded to 16 bits, in `f32`.

use std::ops::Range;

use foretell_pool::Buffer;
use foretell_simd::{from_bf16, from_f16, to_bf16, to_f16};
use half::{bf16, f16};

use crate::view::MatRef;

/// Numbers that are rounded at a time.
const CHUNK: usize = 1024;

/// The numbers of a matrix rounded to 16 bits: column by column where those are adjacent, else row by row.
pub(crate) struct RoundedOperand {
    values: Buffer<f32>,
    rows: usize,
    cols: usize,
    by_columns: bool,
}

impl RoundedOperand {
    /// Rounded to half precision.
    pub(crate) fn to_f16(matrix: MatRef<'_, f32>) -> Self {
        Self::of(matrix, |x, out| {
            let half = &mut [f16::ZERO; CHUNK][..x.len()];
            to_f16(x, half);
            from_f16(half, out);
        })
    }

    /// Rounded to bfloat16.
    pub(crate) fn to_bf16(matrix: MatRef<'_, f32>) -> Self {
        Self::of(matrix, |x, out| {
            let half = &mut [bf16::ZERO; CHUNK][..x.len()];
            to_bf16(x, half);
            from_bf16(half, out);
        })
    }

    /// Of numbers that were rounded before.
    pub(crate) fn from_bf16(matrix: MatRef<'_, bf16>) -> Self {
        Self::of(matrix, from_bf16)
    }

    /// Calls `convert` with up to [`CHUNK`] adjacent numbers and their places, on the threads that may be used.
    fn of<T: Copy + Default + Sync>(
        matrix: MatRef<'_, T>,
        convert: impl Fn(&[T], &mut [f32]) + Sync,
    ) -> Self {
        let (rows, cols) = (matrix.nrows(), matrix.ncols());
        let by_columns = matrix.col_stride() != 1 && matrix.row_stride() == 1;
        let lines = if by_columns { matrix.t() } else { matrix };
        let mut values = Buffer::<f32>::stale(rows * cols);
        let fill = |range: Range<usize>, out: &mut [f32]| {
            for (line, out) in range.zip(out.chunks_exact_mut(lines.ncols().max(1))) {
                let start = line * lines.row_stride();
                for (part, out) in out.chunks_mut(CHUNK).enumerate() {
                    let first = part * CHUNK;
                    if lines.col_stride() == 1 {
                        convert(&lines.data()[start + first..][..out.len()], out);
                        continue;
                    }
                    let mut gathered = [T::default(); CHUNK];
                    let gathered = &mut gathered[..out.len()];
                    for (place, x) in gathered.iter_mut().enumerate() {
                        *x = lines.data()[start + (first + place) * lines.col_stride()];
                    }
                    convert(gathered, out);
                }
            }
        };
        if !values.is_empty() {
            foretell_threads::rows(lines.nrows(), lines.ncols(), [&mut values[..]], |range, [out]| {
                fill(range, out);
            });
        }
        Self { values, rows, cols, by_columns }
    }

    pub(crate) fn view(&self) -> MatRef<'_, f32> {
        match self.by_columns {
            true => MatRef::new(&self.values, self.rows, self.cols, 1, self.rows),
            false => MatRef::row_major(&self.values, self.rows, self.cols),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MatMut, Options, Rounding, matmul};

    fn in_f16() -> Options<'static> {
        Options { rounding: Rounding::F16, ..Options::default() }
    }

    #[test]
    fn operands_are_rounded_wherever_they_lie() {
        let (m, k, n) = (5, 7, 3);
        // One in ten thousand above what half precision holds.
        let numbers = |count: usize, step: f32| -> Vec<f32> {
            (0..count).map(|i| (i as f32 * step).sin() * 1.0001).collect()
        };
        let (a, b) = (numbers(2 * m * k, 0.7), numbers(2 * k * n, 0.3));
        let layouts = |x: usize, y: usize| [(y, 1), (1, x), (2 * y, 2)];
        for (row, col) in layouts(m, k) {
            for (other_row, other_col) in layouts(k, n) {
                let lhs = MatRef::new(&a, m, k, row, col);
                let rhs = MatRef::new(&b, k, n, other_row, other_col);
                let mut dst = vec![f32::NAN; m * n];
                matmul(MatMut::row_major(&mut dst, m, n), lhs, rhs, in_f16());
                for i in 0..m {
                    for j in 0..n {
                        let exact: f64 = (0..k)
                            .map(|p| {
                                let a = f16::from_f32(a[i * row + p * col]).to_f64();
                                a * f16::from_f32(b[p * other_row + j * other_col]).to_f64()
                            })
                            .sum();
                        let found = f64::from(dst[i * n + j]);
                        assert!((found - exact).abs() < 1e-6, "({i}, {j}): {found}, expected {exact}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_stride_of_zero_repeats_a_number() {
        let (x, rhs) = ([2.0, 3.0], [1.0, 10.0, 100.0]);
        let mut dst = [f32::NAN; 2];
        matmul(
            MatMut::row_major(&mut dst, 2, 1),
            MatRef::new(&x, 2, 3, 1, 0),
            MatRef::row_major(&rhs, 3, 1),
            in_f16(),
        );
        assert_eq!(dst, [222.0, 333.0]);
    }

    #[test]
    fn beyond_the_largest_number_is_infinity_and_nothing_is_nothing() {
        let mut dst = [0.0; 2];
        let rhs = [1.0, -1.0];
        matmul(
            MatMut::row_major(&mut dst, 1, 2),
            MatRef::row_major(&[65_536.0], 1, 1),
            MatRef::row_major(&rhs, 1, 2),
            in_f16(),
        );
        assert_eq!(dst, [f32::INFINITY, f32::NEG_INFINITY]);
        let empty = MatRef::row_major(&[], 1, 0);
        let rhs = MatRef::<f32>::row_major(&[], 0, 2);
        matmul(MatMut::row_major(&mut dst, 1, 2), empty, rhs, in_f16());
        assert_eq!(dst, [0.0; 2]);
    }
}
