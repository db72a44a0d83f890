//! Weights that are packed once, in whichever format.

use crate::bf16::PackedBf16;
use crate::int8::PackedInt8;
use crate::options::WeightFormat;
use crate::packed::PackedF32;
use crate::view::MatRef;

/// A right operand that was packed once and is multiplied with many times: it owns its memory.
#[derive(Clone, Debug)]
pub struct WeightMatrix(pub(crate) Packed);

/// The weights in their format.
#[derive(Clone, Debug)]
pub(crate) enum Packed {
    F32(PackedF32),
    Bf16(PackedBf16),
    Int8(PackedInt8),
}

impl WeightMatrix {
    /// Packs a matrix of `rows` (the inner dimension) by columns. In `f32` it is laid out for the kernels of the current
    /// [`level`](foretell_simd::level), at which it is to be multiplied with. In 8 bits a column that is not all finite makes NaN of
    /// whatever is multiplied with it.
    ///
    /// # Panics
    ///
    /// In 8 bits, if it has more than 131,072 rows: sums might not fit 32 bits.
    #[track_caller]
    pub fn new(matrix: MatRef<'_, f32>, format: WeightFormat) -> Self {
        Self(match format {
            WeightFormat::F32 => Packed::F32(PackedF32::new(matrix)),
            WeightFormat::Bf16 => Packed::Bf16(PackedBf16::new(matrix.into())),
            WeightFormat::Int8 => Packed::Int8(PackedInt8::new(matrix)),
        })
    }

    /// A matrix and its transpose in bfloat16, as [`WeightMatrix::new`] makes either, in less time than both.
    pub fn bf16_and_transpose(matrix: MatRef<'_, f32>) -> [Self; 2] {
        PackedBf16::both_ways(matrix).map(|packed| Self(Packed::Bf16(packed)))
    }

    /// The number of rows: the inner dimension.
    pub fn nrows(&self) -> usize {
        self.shape().0
    }

    /// The number of columns.
    pub fn ncols(&self) -> usize {
        self.shape().1
    }

    #[inline(always)]
    pub(crate) fn shape(&self) -> (usize, usize) {
        match &self.0 {
            Packed::F32(packed) => (packed.rows, packed.cols),
            Packed::Bf16(packed) => (packed.rows, packed.cols),
            Packed::Int8(packed) => (packed.rows, packed.cols),
        }
    }

    /// The memory that a matrix of `rows` by `cols` takes, in bytes; in 8 bits without 4 KiB that tiles may read behind it.
    pub fn bytes_of(rows: usize, cols: usize, format: WeightFormat) -> usize {
        match format {
            WeightFormat::F32 => PackedF32::len_of(rows, cols).saturating_mul(size_of::<f32>()),
            WeightFormat::Bf16 => PackedBf16::len_of(rows, cols).saturating_mul(size_of::<u16>()),
            WeightFormat::Int8 => PackedInt8::bytes_of(rows, cols),
        }
    }

    /// The memory it takes, in bytes: see [`WeightMatrix::bytes_of`].
    pub fn bytes(&self) -> usize {
        match &self.0 {
            Packed::F32(packed) => size_of_val(&*packed.values),
            Packed::Bf16(packed) => size_of_val(&*packed.values),
            Packed::Int8(packed) => PackedInt8::bytes_of(packed.rows, packed.cols),
        }
    }
}

#[cfg(test)]
mod tests {
    use foretell_simd::{Level, level};

    use super::*;
    use crate::{MatMut, Options, matmul};

    #[test]
    fn a_matrix_and_its_transpose_are_packed_as_each_alone() {
        let values: Vec<f32> = (0..130 * 130).map(|i| (i as f32 * 0.618).sin()).collect();
        for (n, k) in [(0, 5), (5, 0), (1, 1), (16, 32), (17, 33), (47, 130), (130, 16), (96, 64)] {
            let matrix = MatRef::row_major(&values[..n * k], n, k);
            let bits = |matrix: &WeightMatrix| match &matrix.0 {
                Packed::Bf16(packed) => (packed.rows, packed.cols, packed.values.to_vec()),
                Packed::F32(_) | Packed::Int8(_) => panic!("not in bfloat16"),
            };
            let alone =
                [matrix, matrix.t()].map(|matrix| bits(&WeightMatrix::new(matrix, WeightFormat::Bf16)));
            let together = WeightMatrix::bf16_and_transpose(matrix);
            assert_eq!(together.each_ref().map(bits), alone, "{n}x{k}");
        }
    }

    #[test]
    fn every_format_is_near_f32_in_its_share_of_the_bytes() {
        let (m, k, n) = (3, 96, 64);
        let numbers = |count: usize, seed: usize| -> Vec<f32> {
            (0..count).map(|i| ((i * 7 + seed) as f32 * 0.618).sin()).collect()
        };
        let (a, b) = (numbers(m * k, 1), numbers(n * k, 2));
        let (lhs, rhs) = (MatRef::row_major(&a, m, k), MatRef::row_major(&b, n, k).t());
        let mut exact = vec![0.0; m * n];
        matmul(MatMut::row_major(&mut exact, m, n), lhs, rhs, Options::default());
        // Three numbers of 16 bits each, where tiles of these multiply them.
        let wide = if level() == Level::Amx { 6 } else { 4 };
        for (format, bytes, bound) in [
            (WeightFormat::F32, wide * k * n, 1e-4),
            (WeightFormat::Bf16, 2 * k * n, 0.1),
            (WeightFormat::Int8, k * n + 8 * n, 0.2),
        ] {
            let held = WeightMatrix::new(rhs, format);
            assert_eq!((held.nrows(), held.ncols(), held.bytes()), (k, n, bytes));
            assert_eq!(WeightMatrix::bytes_of(k, n, format), bytes);
            let mut dst = vec![f32::NAN; m * n];
            matmul(MatMut::row_major(&mut dst, m, n), lhs, &held, Options::default());
            let off = dst.iter().zip(&exact).map(|(x, y)| (x - y).abs()).fold(0.0, f32::max);
            assert!(off < bound && (off > 0.0 || format == WeightFormat::F32), "{format:?}: off by {off}");
        }
    }
}
