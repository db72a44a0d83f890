//! Products with weights held in 8 bits.
//!
//! A weight is a whole number between -127 and 127 times the scale of its column (its output channel); the left operand,
//! activations, is rounded the same way row by row when it comes. Products and sums of whole numbers are exact, so they are
//! the same whatever the instructions, and only their scales are `f32`: every level gives the same bits.

mod kernel;
mod lanes;
#[cfg(target_arch = "x86_64")]
mod tiles;

use std::ops::Range;

use foretell_pool::Buffer;

use crate::batch::BatchMut;
use crate::epilogue::epilogue;
use crate::flops::count_products;
use crate::matmul::{assert_bias, assert_shapes};
use crate::options::Options;
use crate::threads;
use crate::view::{MatMut, MatRef};

use kernel::{Job, Kernel};

/// Columns of a strip, and rows whose numbers lie side by side: the 64 bytes of a strip's four rows are a register of 512
/// bits, each lane of 32 bits four rows of one column.
const STRIP: usize = 16;
const K_GROUP: usize = 4;

/// Strips of a block, which lie side by side.
const BLOCK: usize = 4;

/// Bytes after the weights that tiles may read, where the left operand is zero: those of 16 times four rows of a
/// block.
const TAIL_BYTES: usize = 16 * BLOCK * STRIP * K_GROUP;

/// The most rows: sums of that many products fit 32 bits.
const MAX_ROWS: usize = 1 << 17;

/// The largest whole number.
const LARGEST: f32 = 127.0;

/// Multiply-adds that are worth a task of their own, and weights that are, where there are too few rows to share them out.
const TASK: usize = 6 << 20;
const TASK_OF_WEIGHTS: usize = 1 << 19;
const TASKS: usize = 16;

/// The least rows of a task.
const TASK_ROWS: usize = 32;

/// A right operand in 8 bits, packed once for many products: `rows x cols`, where a column is an output channel.
///
/// Symmetric: zero is zero, and a column's number of the largest magnitude becomes 127 or -127. It takes a byte for
/// each number, columns padded to a multiple of 16 and rows to one of 4, and eight bytes for each column.
#[derive(Clone, Debug)]
pub struct PackedInt8 {
    /// Blocks of four strips (the last may have fewer); within a block, four rows of each of its strips after the
    /// other. Then [`TAIL_BYTES`] bytes.
    values: Buffer<i8>,
    /// What a column's whole numbers are multiplied by.
    scales: Buffer<f32>,
    /// The sums of the columns' whole numbers.
    sums: Buffer<i32>,
    rows: usize,
    cols: usize,
}

impl PackedInt8 {
    /// Rounds and packs a matrix. Columns that are not all finite make NaN of whatever is multiplied with them.
    ///
    /// # Panics
    ///
    /// If it has more than 131,072 rows: sums might not fit 32 bits.
    #[track_caller]
    pub fn new(matrix: MatRef<'_, f32>) -> Self {
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

    /// The number of rows: the inner dimension.
    pub fn nrows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn ncols(&self) -> usize {
        self.cols
    }

    /// The memory that a matrix of this shape takes, in bytes, without the 4 KiB behind it that tiles may read.
    pub fn bytes_of(rows: usize, cols: usize) -> usize {
        let (deep, wide) = (rows.next_multiple_of(K_GROUP), cols.next_multiple_of(STRIP));
        wide.saturating_mul(deep.saturating_add(size_of::<f32>() + size_of::<i32>()))
    }

    /// The memory it takes, in bytes: see [`PackedInt8::bytes_of`].
    pub fn bytes(&self) -> usize {
        Self::bytes_of(self.rows, self.cols)
    }

    /// Where a block of strips begins, and the strips it has.
    fn block(&self, block: usize) -> (usize, usize) {
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
fn scales(numbers: impl Iterator<Item = f32>) -> (f32, f32) {
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
fn round(x: f32, inverse: f32) -> u8 {
    // Infinity times zero is NaN, whose lowest byte may be anything; the scale makes the result NaN again.
    (x * inverse + 12_582_912.0).to_bits() as u8
}

/// [`matmul`](crate::matmul()) with a right operand in 8 bits: `dst = activation([dst +] alpha * lhs * rhs + bias)`,
/// where `lhs` is rounded to 8 bits row by row, its largest magnitude to 127 or -127. The columns of the
/// destination's rows must be adjacent.
///
/// A row of `lhs` that is not all finite makes a row of NaN. The product's bits are the same at every level; the activation's
/// may differ.
///
/// # Panics
///
/// As [`matmul`](crate::matmul()), and if the columns of the destination's rows are not adjacent.
#[track_caller]
pub fn matmul_int8(dst: MatMut<'_, f32>, lhs: MatRef<'_, f32>, rhs: &PackedInt8, options: Options<'_>) {
    assert_shapes((dst.nrows(), dst.ncols()), (lhs.nrows(), lhs.ncols()), (rhs.rows, rhs.cols));
    assert_bias(options.bias, dst.nrows(), dst.ncols());
    assert!(dst.ncols() < 2 || dst.col_stride() == 1, "a destination whose rows are not adjacent");
    count_products(1, [dst.nrows(), rhs.rows, dst.ncols()]);
    run(Kernel::of_machine(dst.nrows()), dst, lhs, rhs, options);
}

/// Cuts a product by rows, or where there are too few of them by columns. Sums are exact, so no cut changes a bit.
fn run(kernel: Kernel, dst: MatMut<'_, f32>, lhs: MatRef<'_, f32>, rhs: &PackedInt8, options: Options<'_>) {
    let (m, n) = (dst.nrows(), dst.ncols());
    if m == 0 || n == 0 {
        return;
    }
    let weights = rhs.values.len() - TAIL_BYTES;
    let (by_rows, by_weights) = (weights.saturating_mul(m) / TASK, weights / TASK_OF_WEIGHTS);
    let blocks = rhs.scales.len().div_ceil(BLOCK * STRIP);
    let dst = BatchMut::from(dst);
    if m >= 2 * TASK_ROWS && by_rows > 1 {
        let height = m.div_ceil(by_rows.min(TASKS).min(m / TASK_ROWS));
        return threads::for_each(m.div_ceil(height), 1, |index| {
            let rows = index * height..m.min((index + 1) * height);
            let rounded = Rounded::new(kernel, lhs.rows(rows.clone()));
            // SAFETY: each index is taken once, and its rows belong to no other.
            let part = unsafe { dst.get(0) }.rows(rows.clone());
            let bias = options.bias.map(|bias| bias.part(rows, 0..n));
            columns(kernel, part, &rounded, rhs, 0..blocks, Options { bias, ..options });
        });
    }
    let rounded = Rounded::new(kernel, lhs);
    let tasks = by_rows.max(by_weights).min(TASKS).min(blocks);
    if tasks <= 1 {
        // SAFETY: the only user of the destination.
        return columns(kernel, unsafe { dst.get(0) }, &rounded, rhs, 0..blocks, options);
    }
    let width = blocks.div_ceil(tasks);
    threads::for_each(blocks.div_ceil(width), 1, |index| {
        let part = index * width..blocks.min((index + 1) * width);
        let cols = part.start * BLOCK * STRIP..n.min(part.end * BLOCK * STRIP);
        // SAFETY: each index is taken once, and its columns belong to no other.
        let dst = unsafe { dst.get(0) }.cols(cols.clone());
        let bias = options.bias.map(|bias| bias.part(0..m, cols));
        columns(kernel, dst, &rounded, rhs, part, Options { bias, ..options });
    });
}

/// The product of some blocks of the right operand's columns, which are all that the destination has.
fn columns(
    kernel: Kernel,
    mut dst: MatMut<'_, f32>,
    lhs: &Rounded,
    rhs: &PackedInt8,
    blocks: Range<usize>,
    options: Options<'_>,
) {
    let Options { accum, alpha, bias, activation, .. } = options;
    kernel.run(Job { dst: dst.reborrow(), lhs, rhs, blocks, accum, alpha });
    epilogue(dst, bias, activation);
}

/// A left operand in 8 bits.
struct Rounded {
    /// Row after row, padded to a multiple of four numbers, for tiles of 64, and with rows of any numbers to one of
    /// 16; with 128 added where the kernel takes unsigned bytes.
    values: Buffer<u8>,
    scales: Buffer<f32>,
    /// Bytes of a row.
    width: usize,
}

impl Rounded {
    fn new(kernel: Kernel, matrix: MatRef<'_, f32>) -> Self {
        let (m, k) = (matrix.nrows(), matrix.ncols());
        let (width, height) = (k.next_multiple_of(kernel.depth()), m.next_multiple_of(kernel.height()));
        let mut rounded = Self { values: Buffer::stale(height * width), scales: Buffer::stale(m), width };
        kernel.round(matrix, &mut rounded);
        rounded
    }
}

#[cfg(test)]
#[path = "int8_tests.rs"]
mod tests;
