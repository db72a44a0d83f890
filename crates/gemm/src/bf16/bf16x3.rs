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

use foretell_pool::Buffer;
use foretell_simd::{Activation, Level, level};
use half::bf16;
use half::slice::HalfBitsSliceExt;

use crate::bf16::kernel::Kernel;
use crate::bf16::layout::{BlockLayout, Terms};
use crate::bf16::operand::RightOperand;
use crate::bf16::pack;
use crate::bf16::split_operands::{in_f32, len_of};
use crate::bf16::tasks::{in_parts, run};
use crate::options::{Accum, Bias, Options};
use crate::plan;
use crate::plan::limits::bf16x3::INNER;
use crate::tasks;
use crate::view::{MatMut, MatRef};

/// A product of two operands neither of which is packed.
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
    let strips = RightOperand {
        values: None,
        rows: rhs.nrows(),
        cols: rhs.ncols(),
        terms: Terms::Three,
        source: Some(rhs),
    };
    if lhs.nrows() < rhs.ncols() {
        return run(kernel, dst, lhs.into(), strips, options);
    }
    let mut place = Buffer::<u16>::stale(len_of(rhs.nrows(), rhs.ncols()));
    let values: &mut [bf16] = place.reinterpret_cast_mut();
    match pack::split_strips(rhs.t(), BlockLayout::Pairs, values) {
        true => run(kernel, dst, lhs.into(), RightOperand { values: Some(values), ..strips }, options),
        false => tasks::one(dst, lhs, rhs, options),
    }
}

/// In how many numbers a right operand of `rows` by columns is packed for products of some rows, if so.
pub(crate) fn packed_len(rows: usize, cols: usize) -> Option<usize> {
    plan::kernel::packs_bf16x3(rows, cols, level()).then(|| len_of(rows, cols).div_ceil(2))
}

/// Packs it, and says whether its pieces add up to it, without which the place is not to be used.
pub(crate) fn pack(matrix: MatRef<'_, f32>, place: &mut [f32]) -> bool {
    assert_eq!(2 * place.len(), len_of(matrix.nrows(), matrix.ncols()));
    // SAFETY: numbers of 32 bits are as many pairs of numbers of 16, of which any bits are valid.
    let values =
        unsafe { std::slice::from_raw_parts_mut(place.as_mut_ptr().cast::<bf16>(), 2 * place.len()) };
    pack::split_strips(matrix.t(), BlockLayout::Pairs, values)
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
    let rhs = RightOperand { values: Some(values), rows, cols, terms: Terms::Three, source: None };
    run(Kernel::of_machine(), dst, lhs.into(), rhs, options);
}

#[cfg(test)]
#[path = "bf16x3_tests.rs"]
mod tests;
