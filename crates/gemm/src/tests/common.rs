//! The naive reference, and matrices to try it on.

use crate::{Accum, MatMut, MatRef};

/// Numbers in `-1..1` from the 64-bit mixing generator of Steele, Lea and Flood.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    pub(crate) fn value(&mut self) -> f32 {
        ((self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0) as f32
    }

    pub(crate) fn values(&mut self, len: usize) -> Vec<f32> {
        (0..len).map(|_| self.value()).collect()
    }
}

/// How a matrix is laid out in its slice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) row_stride: usize,
    pub(crate) col_stride: usize,
}

impl Layout {
    pub(crate) fn row_major(rows: usize, cols: usize) -> Self {
        Self { rows, cols, row_stride: cols, col_stride: 1 }
    }

    pub(crate) fn col_major(rows: usize, cols: usize) -> Self {
        Self { rows, cols, row_stride: 1, col_stride: rows }
    }

    /// Row-major or column-major, with or without gaps.
    pub(crate) fn random(rows: usize, cols: usize, random: &mut Random) -> Self {
        let gap = [0, 0, 1, 5][random.below(4)];
        let step = [1, 1, 1, 2, 3][random.below(5)];
        if random.below(2) == 0 {
            Self { rows, cols, row_stride: cols * step + gap, col_stride: step }
        } else {
            Self { rows, cols, row_stride: step, col_stride: rows * step + gap }
        }
    }

    pub(crate) fn len(self) -> usize {
        if self.rows == 0 || self.cols == 0 {
            return 0;
        }
        (self.rows - 1) * self.row_stride + (self.cols - 1) * self.col_stride + 1
    }

    pub(crate) fn at(self, i: usize, j: usize) -> usize {
        i * self.row_stride + j * self.col_stride
    }

    pub(crate) fn view(self, data: &[f32]) -> MatRef<'_, f32> {
        MatRef::new(data, self.rows, self.cols, self.row_stride, self.col_stride)
    }

    pub(crate) fn view_mut(self, data: &mut [f32]) -> MatMut<'_, f32> {
        MatMut::new(data, self.rows, self.cols, self.row_stride, self.col_stride)
    }
}

/// Compares a result with the definition: every element within the rounding of its sum, and nothing
/// between the elements touched.
pub(crate) fn assert_product(
    (dst, before, result): (Layout, &[f32], &[f32]),
    (lhs, a): (Layout, &[f32]),
    (rhs, b): (Layout, &[f32]),
    accum: Accum,
    alpha: f64,
) {
    let mut expected: Vec<Option<f64>> = vec![None; result.len()];
    for i in 0..dst.rows {
        for j in 0..dst.cols {
            let terms = (0..lhs.cols).map(|p| f64::from(a[lhs.at(i, p)]) * f64::from(b[rhs.at(p, j)]));
            let sum = terms.fold((0.0, 0.0), |(sum, size), term| (sum + term, size + f64::abs(term)));
            let old = if accum == Accum::Add { f64::from(before[dst.at(i, j)]) } else { 0.0 };
            let value = old + alpha * sum.0;
            let size = old.abs() + alpha.abs() * sum.1;
            let bound = f64::from(f32::EPSILON) * (lhs.cols + 4) as f64 * size;
            let found = f64::from(result[dst.at(i, j)]);
            assert!(
                (found - value).abs() <= bound,
                "({i}, {j}) of {dst:?} = {lhs:?} x {rhs:?}, {accum:?}, alpha {alpha}: {found}, expected {value}"
            );
            expected[dst.at(i, j)] = Some(value);
        }
    }
    for (place, expected) in expected.iter().enumerate() {
        if expected.is_none() {
            assert_eq!(result[place].to_bits(), before[place].to_bits(), "gap at {place} of {dst:?}");
        }
    }
}
