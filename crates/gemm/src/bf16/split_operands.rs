//! Operands of [`bf16x3`](super::bf16x3): how they are packed block by block, and what happens to those that have no pieces.

use std::ops::Range;

use foretell_pool::Buffer;
use half::bf16;
use half::slice::HalfBitsSliceExt;

use crate::bf16::layout::{BlockLayout, DEPTH, Layout, Terms, WIDTH};
use crate::bf16::operand::{Bf16Operand, RightOperand};
use crate::bf16::pack;
use crate::options::Options;
use crate::plan::limits::bf16x3::{BLOCK_COLUMNS, BLOCK_NUMBERS, BLOCK_ROWS, NEAR, NEAR_SUMS};
use crate::tasks;
use crate::view::{MatMut, MatRef};

/// Rows of the left operand that are multiplied at a time with the numbers of some columns.
pub(crate) fn block_rows(columns: usize, numbers: usize) -> usize {
    match numbers <= NEAR {
        true => (NEAR_SUMS / columns / (2 * WIDTH) * 2 * WIDTH).clamp(2 * WIDTH, BLOCK_ROWS),
        false => BLOCK_ROWS,
    }
}

/// Columns of the right operand that are packed at a time: 768 KiB in pieces.
fn block_columns(depth: usize) -> usize {
    (BLOCK_NUMBERS / depth / (4 * WIDTH) * 4 * WIDTH).clamp(4 * WIDTH, BLOCK_COLUMNS)
}

/// Packs columns of a right operand, a block at a time, and calls `with` for each of them; its strips are none where their pieces
/// do not add up to their numbers.
pub(crate) fn pack_columns(strips: RightOperand<'_>, mut with: impl FnMut(Range<usize>, RightOperand<'_>)) {
    let (rows, cols) = (strips.rows, strips.cols);
    let at_once = block_columns(strips.layout().depth).min(cols);
    let mut place = Buffer::<u16>::stale(len_of(rows, at_once));
    for left in (0..cols).step_by(at_once) {
        let cols = left..cols.min(left + at_once);
        let part = strips.columns(cols.clone());
        let values: &mut [bf16] = &mut place.reinterpret_cast_mut()[..len_of(rows, cols.len())];
        let source = part.source.expect("what is packed on the way is at hand");
        let add_up = pack::split_strips(source.t(), BlockLayout::Pairs, values);
        with(cols, RightOperand { values: add_up.then_some(&*values), ..part });
    }
}

/// An operand of this module's products.
pub(crate) fn in_f32(operand: Bf16Operand<'_>) -> MatRef<'_, f32> {
    match operand {
        Bf16Operand::Wide(matrix) => matrix,
        Bf16Operand::Rounded(_) => unreachable!("numbers of bfloat16 are one piece"),
    }
}

/// Packs rows of a left operand; says whether their pieces add up to them.
pub(crate) fn pack_left(lhs: Bf16Operand<'_>, panel: &mut [bf16]) -> bool {
    pack::split_strips(in_f32(lhs), BlockLayout::Rows, panel)
}

/// The numbers of bfloat16 that a right operand takes.
pub(crate) fn len_of(rows: usize, cols: usize) -> usize {
    Layout::of(rows, Terms::Three).len().saturating_mul(cols.next_multiple_of(WIDTH))
}

/// A product in `f32`, of rows that have no pieces: of `rhs` as it was, or as its pieces add up.
pub(crate) fn multiply_in_f32(
    dst: MatMut<'_, f32>,
    lhs: Bf16Operand<'_>,
    rhs: RightOperand<'_>,
    options: Options<'_>,
) {
    let lhs = in_f32(lhs);
    let mut place = Buffer::<f32>::stale(if rhs.source.is_some() { 0 } else { rhs.rows * rhs.cols });
    let rhs = match rhs.source {
        Some(rhs) => rhs,
        None => {
            add_up(rhs, &mut place);
            MatRef::row_major(&place, rhs.rows, rhs.cols)
        }
    };
    tasks::one(dst, lhs, rhs, options);
}

/// Writes what was packed, row-major.
pub(crate) fn add_up(strips: RightOperand<'_>, place: &mut [f32]) {
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
