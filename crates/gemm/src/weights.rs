//! Weights that are packed once, in whichever format.

use foretell_pool::Buffer;
use half::slice::HalfBitsSliceExt;

use crate::bf16::{PackedBf16, matmul_bf16};
use crate::int8::{PackedInt8, matmul_int8};
use crate::options::{Options, WeightFormat};
use crate::packed::{Form, Packed, matmul_packed};
use crate::view::{MatMut, MatRef};

/// A right operand that owns its memory, for weights that are packed once and multiplied with many times.
#[derive(Clone, Debug)]
pub struct WeightMatrix {
    values: Values,
    rows: usize,
    cols: usize,
}

#[derive(Clone, Debug)]
enum Values {
    F32 {
        values: Buffer<f32>,
        form: Form,
    },
    /// The bits of numbers as [`PackedBf16`] lays them out.
    Bf16(Buffer<u16>),
    Int8(PackedInt8),
}

impl WeightMatrix {
    /// Packs a matrix of `rows` (the inner dimension) by columns.
    ///
    /// # Panics
    ///
    /// In 8 bits, as [`PackedInt8::new`].
    #[track_caller]
    pub fn new(matrix: MatRef<'_, f32>, format: WeightFormat) -> Self {
        let (rows, cols) = (matrix.nrows(), matrix.ncols());
        let values = match format {
            WeightFormat::F32 => {
                let mut values = Buffer::stale(Packed::len_of(rows, cols));
                let form = Packed::new(matrix, &mut values).form();
                Values::F32 { values, form }
            }
            WeightFormat::Bf16 => {
                let mut place = Buffer::stale(PackedBf16::len_of(rows, cols));
                PackedBf16::new(matrix, place.reinterpret_cast_mut());
                Values::Bf16(place)
            }
            WeightFormat::Int8 => Values::Int8(PackedInt8::new(matrix)),
        };
        Self { values, rows, cols }
    }

    /// A matrix and its transpose in bfloat16, as [`WeightMatrix::new`] makes either, in less time than both.
    pub fn bf16_and_transpose(matrix: MatRef<'_, f32>) -> [Self; 2] {
        let (rows, cols) = (matrix.nrows(), matrix.ncols());
        let [mut place, mut turned] =
            [(rows, cols), (cols, rows)].map(|(rows, cols)| Buffer::stale(PackedBf16::len_of(rows, cols)));
        PackedBf16::pack_both_ways(matrix, place.reinterpret_cast_mut(), turned.reinterpret_cast_mut());
        [(place, rows, cols), (turned, cols, rows)].map(|(place, rows, cols)| Self {
            values: Values::Bf16(place),
            rows,
            cols,
        })
    }

    /// The number of rows: the inner dimension.
    pub fn nrows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn ncols(&self) -> usize {
        self.cols
    }

    /// The memory that a matrix of `rows` by `cols` takes, in bytes.
    pub fn bytes_of(rows: usize, cols: usize, format: WeightFormat) -> usize {
        match format {
            WeightFormat::F32 => Packed::len_of(rows, cols).saturating_mul(size_of::<f32>()),
            WeightFormat::Bf16 => PackedBf16::len_of(rows, cols).saturating_mul(size_of::<u16>()),
            WeightFormat::Int8 => PackedInt8::bytes_of(rows, cols),
        }
    }

    /// The memory it takes, in bytes.
    pub fn bytes(&self) -> usize {
        match &self.values {
            Values::F32 { values, .. } => size_of_val(&**values),
            Values::Bf16(values) => size_of_val(&**values),
            Values::Int8(packed) => packed.bytes(),
        }
    }
}

/// [`matmul`](crate::matmul()) with weights that were packed before: [`matmul_packed`], [`matmul_bf16`] or [`matmul_int8`].
/// The columns of the destination's rows must be adjacent.
///
/// # Panics
///
/// As these.
#[track_caller]
pub fn matmul_weights(dst: MatMut<'_, f32>, lhs: MatRef<'_, f32>, rhs: &WeightMatrix, options: Options<'_>) {
    match &rhs.values {
        Values::F32 { values, form } => {
            matmul_packed(dst, lhs, Packed::from_values(values, rhs.rows, rhs.cols, *form), options);
        }
        Values::Bf16(values) => {
            let rhs = PackedBf16::from_values(values.reinterpret_cast(), rhs.rows, rhs.cols);
            matmul_bf16(dst, lhs, rhs, options);
        }
        Values::Int8(packed) => matmul_int8(dst, lhs, packed, options),
    }
}

#[cfg(test)]
mod tests {
    use foretell_simd::{Level, level};

    use super::*;
    use crate::matmul;

    #[test]
    fn a_matrix_and_its_transpose_are_packed_as_each_alone() {
        let values: Vec<f32> = (0..130 * 130).map(|i| (i as f32 * 0.618).sin()).collect();
        for (n, k) in [(0, 5), (5, 0), (1, 1), (16, 32), (17, 33), (47, 130), (130, 16), (96, 64)] {
            let matrix = MatRef::row_major(&values[..n * k], n, k);
            let bits = |matrix: &WeightMatrix| match &matrix.values {
                Values::Bf16(values) => (matrix.rows, matrix.cols, values.to_vec()),
                Values::F32 { .. } | Values::Int8(_) => panic!("not in bfloat16"),
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
            matmul_weights(MatMut::row_major(&mut dst, m, n), lhs, &held, Options::default());
            let off = dst.iter().zip(&exact).map(|(x, y)| (x - y).abs()).fold(0.0, f32::max);
            assert!(off < bound && (off > 0.0 || format == WeightFormat::F32), "{format:?}: off by {off}");
        }
    }
}
