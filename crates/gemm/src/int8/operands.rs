//! Operands in 8 bits.

use foretell_pool::Buffer;

use crate::view::MatRef;

/// Columns of a strip, and rows whose numbers lie side by side: the 64 bytes of a strip's four rows are a register of 512
/// bits, each lane of 32 bits four rows of one column.
pub(crate) const STRIP: usize = 16;
pub(crate) const K_GROUP: usize = 4;

/// Strips of a block, which lie side by side.
pub(crate) const BLOCK: usize = 4;

/// Bytes after the weights that tiles may read, where the left operand is zero: those of 16 times four rows of a
/// block.
pub(crate) const TAIL_BYTES: usize = 16 * BLOCK * STRIP * K_GROUP;

/// The most rows: sums of that many products fit 32 bits.
pub(crate) const MAX_ROWS: usize = 1 << 17;

/// The largest whole number.
pub(crate) const LARGEST: f32 = 127.0;

/// A right operand in 8 bits, packed once for many products: `rows x cols`, where a column is an output channel.
///
/// Symmetric: zero is zero, and a column's number of the largest magnitude becomes 127 or -127. It takes a byte for
/// each number, columns padded to a multiple of 16 and rows to one of 4, and eight bytes for each column.
#[derive(Clone, Debug)]
pub(crate) struct PackedInt8 {
    /// Blocks of four strips (the last may have fewer); within a block, four rows of each of its strips after the
    /// other. Then [`TAIL_BYTES`] bytes.
    pub(crate) values: Buffer<i8>,
    /// The factors of the columns' whole numbers.
    pub(crate) scales: Buffer<f32>,
    /// The sums of the columns' whole numbers.
    pub(crate) sums: Buffer<i32>,
    pub(crate) rows: usize,
    pub(crate) cols: usize,
}

impl PackedInt8 {
    /// Rounds and packs a matrix. Columns that are not all finite make NaN of whatever is multiplied with them.
    ///
    /// # Panics
    ///
    /// If it has more than 131,072 rows: sums might not fit 32 bits.
    #[track_caller]
    pub(crate) fn new(matrix: MatRef<'_, f32>) -> Self {
        let (rows, cols) = (matrix.nrows(), matrix.ncols());
        assert!(rows <= MAX_ROWS, "{rows} rows of a matrix in 8 bits, which may have {MAX_ROWS}");
        let (deep, wide) = (rows.next_multiple_of(K_GROUP), cols.next_multiple_of(STRIP));
        let mut packed = Self {
            values: Buffer::zeroed(deep * wide + TAIL_BYTES),
            scales: Buffer::zeroed(wide),
            sums: Buffer::zeroed(wide),
            rows,
            cols,
        };
        // SAFETY: rows and columns are the matrix's.
        let at = |i: usize, j: usize| unsafe { matrix.get_unchecked(i, j) };
        for j in 0..cols {
            let (scale, inverse) = scales((0..rows).map(|i| at(i, j)));
            packed.scales[j] = scale;
            for i in 0..rows {
                let whole = round(at(i, j), inverse) as i8;
                packed.sums[j] += i32::from(whole);
                let place = packed.place(i, j);
                packed.values[place] = whole;
            }
        }
        packed
    }

    /// The memory that a matrix of this shape takes, in bytes, without the 4 KiB behind it that tiles may read.
    pub(crate) fn bytes_of(rows: usize, cols: usize) -> usize {
        let (deep, wide) = (rows.next_multiple_of(K_GROUP), cols.next_multiple_of(STRIP));
        wide.saturating_mul(deep.saturating_add(size_of::<f32>() + size_of::<i32>()))
    }

    /// Where a block of strips begins, and the strips it has.
    pub(crate) fn block(&self, block: usize) -> (usize, usize) {
        let first = block * BLOCK;
        let strips = (self.scales.len() / STRIP - first).min(BLOCK);
        (first * STRIP * self.rows.next_multiple_of(K_GROUP), strips)
    }

    fn place(&self, i: usize, j: usize) -> usize {
        let (start, strips) = self.block(j / (BLOCK * STRIP));
        let strip = j / STRIP % BLOCK;
        start + ((i / K_GROUP * strips + strip) * STRIP + j % STRIP) * K_GROUP + i % K_GROUP
    }
}

/// The scale of numbers whose largest magnitude becomes 127, and the factor by which they are multiplied before
/// rounding: zero and zero where all are (next to) zero, NaN and zero where one is not finite.
#[inline(always)]
pub(crate) fn scales(numbers: impl Iterator<Item = f32>) -> (f32, f32) {
    // Ordered as whole numbers: those that are not finite are the largest.
    let bits = numbers.map(|x| x.to_bits() & 0x7fff_ffff).fold(0, u32::max);
    let (largest, inverse) = (f32::from_bits(bits), LARGEST / f32::from_bits(bits));
    match (largest.is_finite(), inverse.is_finite()) {
        (true, true) => (largest / LARGEST, inverse),
        (true, false) => (0.0, 0.0),
        (false, _) => (f32::NAN, 0.0),
    }
}

/// The nearest whole number of `x * inverse`, ties to even, in the lowest byte: in the sum the last binary place is
/// worth one.
#[inline(always)]
pub(crate) fn round(x: f32, inverse: f32) -> u8 {
    // Infinity times zero is NaN, whose lowest byte may be anything; the scale makes the result NaN again.
    (x * inverse + 12_582_912.0).to_bits() as u8
}

/// A left operand in 8 bits.
pub(crate) struct Rounded {
    /// Row after row, padded to a multiple of four numbers, for tiles of 64, and with rows of any numbers to one of
    /// 16; with 128 added where the kernel takes unsigned bytes.
    pub(crate) values: Buffer<u8>,
    pub(crate) scales: Buffer<f32>,
    /// Bytes of a row.
    pub(crate) width: usize,
}
