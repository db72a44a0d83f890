//! Products with weights held in 8 bits.
//!
//! A weight is a whole number between -127 and 127 times the scale of its column (its output channel); the left operand,
//! activations, is rounded the same way row by row when it comes. Products and sums of whole numbers are exact, so they are
//! the same whatever the instructions, and only their scales are `f32`: every level gives the same bits. A row of the left operand
//! that is not all finite makes a row of NaN.

mod kernel;
mod lanes;
mod operands;
#[cfg(target_arch = "x86_64")]
mod tiles;
mod vectors;

use std::ops::Range;

use foretell_pool::Buffer;

use crate::batch::BatchMut;
use crate::epilogue::Epilogue;
use crate::options::Options;
use crate::plan;
use crate::plan::cut::Int8Cut;
use crate::view::{MatMut, MatRef};

use kernel::Kernel;
pub(crate) use operands::PackedInt8;
use operands::{BLOCK, Rounded, STRIP, TAIL_BYTES};
use vectors::Job;

/// A product with a right operand in 8 bits. The columns of the destination's rows are adjacent.
pub(crate) fn product(dst: MatMut<'_, f32>, lhs: MatRef<'_, f32>, rhs: &PackedInt8, options: Options<'_>) {
    run(Kernel::of_machine(dst.nrows()), dst, lhs, rhs, options);
}

/// Cuts a product by rows, or where there are too few of them by columns. Sums are exact, so no cut changes a bit.
fn run(kernel: Kernel, dst: MatMut<'_, f32>, lhs: MatRef<'_, f32>, rhs: &PackedInt8, options: Options<'_>) {
    let (m, n) = (dst.nrows(), dst.ncols());
    if m == 0 || n == 0 {
        return;
    }
    let blocks = rhs.scales.len().div_ceil(BLOCK * STRIP);
    let cut = plan::cut::in_int8(m, rhs.values.len() - TAIL_BYTES, blocks);
    let dst = BatchMut::from(dst);
    if let Int8Cut::Rows(height) = cut {
        return foretell_threads::for_each(m.div_ceil(height), 1, |index| {
            let rows = index * height..m.min((index + 1) * height);
            let lhs = rounded(kernel, lhs.rows(rows.clone()));
            // SAFETY: each index is taken once, and its rows belong to no other.
            let part = unsafe { dst.get(0) }.rows(rows.clone());
            let bias = options.bias.map(|bias| bias.part(rows, 0..n));
            columns(kernel, part, &lhs, rhs, 0..blocks, Options { bias, ..options });
        });
    }
    let lhs = rounded(kernel, lhs);
    let Int8Cut::Blocks(width) = cut else {
        // SAFETY: the only user of the destination.
        return columns(kernel, unsafe { dst.get(0) }, &lhs, rhs, 0..blocks, options);
    };
    foretell_threads::for_each(blocks.div_ceil(width), 1, |index| {
        let part = index * width..blocks.min((index + 1) * width);
        let cols = part.start * BLOCK * STRIP..n.min(part.end * BLOCK * STRIP);
        // SAFETY: each index is taken once, and its columns belong to no other.
        let dst = unsafe { dst.get(0) }.cols(cols.clone());
        let bias = options.bias.map(|bias| bias.part(0..m, cols));
        columns(kernel, dst, &lhs, rhs, part, Options { bias, ..options });
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
    Epilogue { bias, activation }.run(dst);
}

/// Rounds a left operand row by row, for a kernel.
fn rounded(kernel: Kernel, matrix: MatRef<'_, f32>) -> Rounded {
    let (m, k) = (matrix.nrows(), matrix.ncols());
    let (width, height) = (k.next_multiple_of(kernel.depth()), m.next_multiple_of(kernel.height()));
    let mut rounded = Rounded { values: Buffer::stale(height * width), scales: Buffer::stale(m), width };
    kernel.round(matrix, &mut rounded);
    rounded
}

#[cfg(test)]
#[path = "int8_tests.rs"]
mod tests;
