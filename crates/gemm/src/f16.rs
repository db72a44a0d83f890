//! Operands rounded to half precision, in `f32`.

use foretell_pool::Buffer;
use foretell_simd::{from_f16, to_f16};
use half::f16;

use crate::view::MatRef;

/// Numbers that are rounded at a time.
const CHUNK: usize = 1024;

/// The numbers of a matrix rounded to half precision: in the matrix's own layout where that has no gaps, else row
/// after row.
pub(crate) fn rounded(matrix: MatRef<'_, f32>) -> Buffer<f32> {
    let numel = matrix.nrows() * matrix.ncols();
    let mut out = Buffer::<f32>::stale(numel);
    if is_dense(matrix) {
        out.copy_from_slice(&matrix.data()[..numel]);
    } else {
        for (i, row) in out.chunks_exact_mut(matrix.ncols().max(1)).enumerate() {
            for (j, to) in row.iter_mut().enumerate() {
                *to = matrix.data()[i * matrix.row_stride() + j * matrix.col_stride()];
            }
        }
    }
    let mut half = [f16::ZERO; CHUNK];
    for part in out.chunks_mut(CHUNK) {
        let half = &mut half[..part.len()];
        to_f16(part, half);
        from_f16(half, part);
    }
    out
}

/// The numbers from [`rounded`] as a matrix.
pub(crate) fn view<'a>(matrix: MatRef<'_, f32>, rounded: &'a [f32]) -> MatRef<'a, f32> {
    let (rows, cols) = (matrix.nrows(), matrix.ncols());
    match is_dense(matrix) {
        true => MatRef::new(rounded, rows, cols, matrix.row_stride(), matrix.col_stride()),
        false => MatRef::row_major(rounded, rows, cols),
    }
}

/// Whether rows or columns follow each other without gaps.
fn is_dense(matrix: MatRef<'_, f32>) -> bool {
    let strides = (matrix.row_stride(), matrix.col_stride());
    strides == (matrix.ncols(), 1) || strides == (1, matrix.nrows())
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
