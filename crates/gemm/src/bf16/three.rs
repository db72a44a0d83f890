//! Products of `f32` by tiles of bfloat16, where the machine multiplies these at sixteen times the rate of `f32`.
//!
//! A number of `f32` is the sum of three of bfloat16: it rounded, what is left cut off after 8
//! bits, and the rest, which 8 bits hold.
//! Of the nine products of two such numbers' pieces three are below `2^-24` of the whole and are left out; the other six are
//! exact in `f32` and are summed up there (Henry, Tang, Heinecke: Leveraging the bfloat16 Artificial Intelligence Datatype For
//! Higher-Precision Computations, 2019, arXiv:1904.06376). A tile rounds to the sum once for 32 products of pieces, so six times for
//! 32 of the inner dimension, where a chain of fused multiply-adds rounds 32 times. The vectors' kernel, which adds up sums of
//! 128, has 1.7 times the error at an inner dimension of 64, and 0.6 and 0.3 of it at 512 and 2000.
//!
//! Numbers and pieces below `2^-126` count as zeros: the machine's tiles know no subnormal numbers. Numbers that are not finite,
//! and those that round to infinity in bfloat16, have no pieces: the 32 rows of the left operand around one, and all rows if the right
//! operand has one, are multiplied in `f32`.

use std::ops::Range;

use foretell_pool::Buffer;
use foretell_simd::{Activation, Level, level};
use half::bf16;
use half::slice::HalfBitsSliceExt;

use super::blocks::{Layout, Pieces, Strips, run};
use super::kernel::Kernel;
use super::{Bf16Operand, DEPTH, Form, WIDTH, in_parts, pack};
use crate::options::{Accum, Bias, Options};
use crate::tiles;
use crate::view::{MatMut, MatRef};

/// The inner dimension goes by so much at a time, unless an operand was packed before.
const INNER: usize = 512;

/// The most rows of the left operand that are multiplied at a time: a right one that the second cache does not hold is read once for
/// so many.
pub(super) const BLOCK_ROWS: usize = 256;

/// The most numbers of bfloat16 of a right operand that the second cache holds, 1.5 MiB, and the sums that are written at a time
/// with such a one, 64 KiB: few enough to stay near until their rows are whole. With 1024 rows a step of TimeXer took 5 % longer.
const NEAR: usize = 3 << 18;
const NEAR_SUMS: usize = 1 << 14;

/// Rows of the left operand that are multiplied at a time with the numbers of some columns.
pub(super) fn block_rows(columns: usize, numbers: usize) -> usize {
    match numbers <= NEAR {
        true => (NEAR_SUMS / columns / (2 * WIDTH) * 2 * WIDTH).clamp(2 * WIDTH, BLOCK_ROWS),
        false => BLOCK_ROWS,
    }
}

/// Columns of the right operand that are packed at a time: 768 KiB in pieces.
fn block_columns(depth: usize) -> usize {
    ((1 << 17) / depth / (4 * WIDTH) * 4 * WIDTH).clamp(4 * WIDTH, 1024)
}

/// The least rows and columns, inner dimension, and multiply-adds that are worth packing both operands. Measured on Granite
/// Rapids, in pieces beside vectors: 32x64x64 0.74 of the rate, 96x96x32 0.92, 64x128x128 1.15, 64x96x512 1.33.
const LEAST_SIDE: usize = 48;
const LEAST_INNER: usize = 32;
const LEAST_WORK: usize = 1 << 20;

/// The least columns of a right operand that is packed in pieces: 32x64x64 then makes 1.5 of the rate of vectors, 16x64x64 1.16.
const LEAST_PACKED_COLUMNS: usize = 64;

/// Whether a product of `[m, k]` and `[k, n]` is made by tiles of bfloat16, which depends on the shape and the level alone.
pub(crate) fn takes([m, k, n]: [usize; 3]) -> bool {
    m.min(n) >= LEAST_SIDE
        && k >= LEAST_INNER
        && m.saturating_mul(k).saturating_mul(n) >= LEAST_WORK
        && level() == Level::Amx
}

/// A product that is.
pub(crate) fn product(
    dst: MatMut<'_, f32>,
    lhs: MatRef<'_, f32>,
    rhs: MatRef<'_, f32>,
    options: Options<'_>,
) {
    // Sums are written along rows.
    let (dst, lhs, rhs, options) = match dst.row_stride() < dst.col_stride() {
        true => (dst.t(), rhs.t(), lhs.t(), Options { bias: options.bias.map(Bias::t), ..options }),
        false => (dst, lhs, rhs, options),
    };
    in_parts(dst, lhs.into(), rhs.into(), options, |mut dst, lhs, rhs, options| {
        let (lhs, rhs) = (in_f32(lhs), in_f32(rhs));
        let k = lhs.ncols();
        let sums = Options { bias: None, activation: Activation::Identity, ..options };
        for start in (0..k).step_by(INNER) {
            let inner = start..k.min(start + INNER);
            let accum = if start == 0 { options.accum } else { Accum::Add };
            // A bias is added to the whole sums, as vectors do.
            let options = if inner.end == k { options } else { sums };
            let (lhs, rhs) = (lhs.cols(inner.clone()), rhs.rows(inner));
            short_product(dst.reborrow(), lhs, rhs, Options { accum, ..options });
        }
    });
}

/// A product whose inner dimension is at most [`INNER`]. Of the operands the one with fewer rows or columns is packed first, as all
/// tasks read it, the other one block by block.
fn short_product(dst: MatMut<'_, f32>, lhs: MatRef<'_, f32>, rhs: MatRef<'_, f32>, options: Options<'_>) {
    let kernel = Kernel::of_machine();
    let strips = Strips {
        values: None,
        rows: rhs.nrows(),
        cols: rhs.ncols(),
        pieces: Pieces::Three,
        source: Some(rhs),
    };
    if lhs.nrows() < rhs.ncols() {
        return run(kernel, dst, lhs.into(), strips, options);
    }
    let mut place = Buffer::<u16>::stale(len_of(rhs.nrows(), rhs.ncols()));
    let values: &mut [bf16] = place.reinterpret_cast_mut();
    match pack::strips_of_three(rhs.t(), Form::Pairs, values) {
        true => run(kernel, dst, lhs.into(), Strips { values: Some(values), ..strips }, options),
        false => tiles::in_whole(dst, lhs, rhs, options),
    }
}

/// Packs columns of a right operand, a block at a time, and calls `with` for each of them; its strips are none where their pieces
/// do not add up to their numbers.
pub(super) fn pack_columns(strips: Strips<'_>, mut with: impl FnMut(Range<usize>, Strips<'_>)) {
    let (rows, cols) = (strips.rows, strips.cols);
    let at_once = block_columns(strips.layout().depth).min(cols);
    let mut place = Buffer::<u16>::stale(len_of(rows, at_once));
    for left in (0..cols).step_by(at_once) {
        let cols = left..cols.min(left + at_once);
        let part = strips.columns(cols.clone());
        let values: &mut [bf16] = &mut place.reinterpret_cast_mut()[..len_of(rows, cols.len())];
        let source = part.source.expect("what is packed on the way is at hand");
        let add_up = pack::strips_of_three(source.t(), Form::Pairs, values);
        with(cols, Strips { values: add_up.then_some(&*values), ..part });
    }
}

/// An operand of this module's products.
fn in_f32(operand: Bf16Operand<'_>) -> MatRef<'_, f32> {
    match operand {
        Bf16Operand::Wide(matrix) => matrix,
        Bf16Operand::Rounded(_) => unreachable!("numbers of bfloat16 are one piece"),
    }
}

/// Packs rows of a left operand; says whether their pieces add up to them.
pub(super) fn pack_left(lhs: Bf16Operand<'_>, panel: &mut [bf16]) -> bool {
    pack::strips_of_three(in_f32(lhs), Form::Rows, panel)
}

/// The numbers of bfloat16 that a right operand takes.
fn len_of(rows: usize, cols: usize) -> usize {
    Layout::of(rows, Pieces::Three).len().saturating_mul(cols.next_multiple_of(WIDTH))
}

/// In how many numbers a right operand of `rows` by columns is packed for products of some rows, if so.
pub(crate) fn packed_len(rows: usize, cols: usize) -> Option<usize> {
    let packs = cols >= LEAST_PACKED_COLUMNS && rows >= LEAST_INNER && level() == Level::Amx;
    packs.then(|| len_of(rows, cols).div_ceil(2))
}

/// Packs it, and says whether its pieces add up to it, without which the place is not to be used.
pub(crate) fn pack(matrix: MatRef<'_, f32>, place: &mut [f32]) -> bool {
    assert_eq!(2 * place.len(), len_of(matrix.nrows(), matrix.ncols()));
    // SAFETY: numbers of 32 bits are as many pairs of numbers of 16, of which any bits are valid.
    let values =
        unsafe { std::slice::from_raw_parts_mut(place.as_mut_ptr().cast::<bf16>(), 2 * place.len()) };
    pack::strips_of_three(matrix.t(), Form::Pairs, values)
}

/// The product with what was packed.
pub(crate) fn product_packed(
    dst: MatMut<'_, f32>,
    lhs: MatRef<'_, f32>,
    packed: &[f32],
    options: Options<'_>,
) {
    assert!(level() == Level::Amx, "pieces of numbers at the level {}", level());
    let (rows, cols) = (lhs.ncols(), dst.ncols());
    assert_eq!(2 * packed.len(), len_of(rows, cols));
    // SAFETY: as in `pack`.
    let values = unsafe { std::slice::from_raw_parts(packed.as_ptr().cast::<bf16>(), 2 * packed.len()) };
    let rhs = Strips { values: Some(values), rows, cols, pieces: Pieces::Three, source: None };
    run(Kernel::of_machine(), dst, lhs.into(), rhs, options);
}

/// A product in `f32`, of rows that have no pieces: of `rhs` as it was, or as its pieces add up.
pub(super) fn whole(dst: MatMut<'_, f32>, lhs: Bf16Operand<'_>, rhs: Strips<'_>, options: Options<'_>) {
    let lhs = in_f32(lhs);
    let mut place = Buffer::<f32>::stale(if rhs.source.is_some() { 0 } else { rhs.rows * rhs.cols });
    let rhs = match rhs.source {
        Some(rhs) => rhs,
        None => {
            add_up(rhs, &mut place);
            MatRef::row_major(&place, rhs.rows, rhs.cols)
        }
    };
    tiles::in_whole(dst, lhs, rhs, options);
}

/// Writes what was packed, row-major.
fn add_up(strips: Strips<'_>, place: &mut [f32]) {
    let values = strips.values.expect("what is not at hand was packed");
    let len = strips.layout().len();
    for (j, column) in (0..strips.cols).map(|j| (j, j % WIDTH)) {
        let strip = &values[j / WIDTH * WIDTH * len..][..WIDTH * len];
        for p in 0..strips.rows {
            let block = &strip[p / DEPTH * 3 * WIDTH * DEPTH..];
            let at = |piece: usize| {
                let pairs = &block[piece * WIDTH * DEPTH..][..WIDTH * DEPTH];
                pairs[(p % 16 * WIDTH + column) * 2 + p % DEPTH / 16].to_f32()
            };
            place[p * strips.cols + j] = at(0) + (at(1) + at(2));
        }
    }
}

#[cfg(test)]
#[path = "three_tests.rs"]
mod tests;
