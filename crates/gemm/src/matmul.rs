//! Products of `f32`, one or a batch: rounded as the options say, in bf16x3 or by vectors.

use foretell_simd::level;

use crate::batch::{BatchMut, BatchRef};
use crate::bf16::bf16x3;
use crate::bf16::{fast_pairs, matmul_as_bf16};
use crate::check::{assert_bias, assert_shapes};
use crate::f16;
use crate::options::{Options, Rounding};
use crate::plan::kernel::{Numbers, Operands, Strides, numbers};
use crate::plan::{Request, RightLayout};
use crate::record::note;
use crate::tasks;
use crate::view::{MatMut, MatRef};

/// `dst = activation([dst +] alpha * lhs * rhs + bias)`, where `dst` is `[m, n]`, `lhs` `[m, k]` and
/// `rhs` `[k, n]`.
///
/// An empty inner dimension makes a product of zeros; empty outer dimensions make nothing.
///
/// # Panics
///
/// If the shapes do not fit together, or the bias does not have one value per row or column.
#[track_caller]
pub fn matmul(dst: MatMut<'_, f32>, lhs: MatRef<'_, f32>, rhs: MatRef<'_, f32>, options: Options<'_>) {
    assert_shapes((dst.nrows(), dst.ncols()), (lhs.nrows(), lhs.ncols()), (rhs.nrows(), rhs.ncols()));
    assert_bias(options.bias, dst.nrows(), dst.ncols());
    one(dst, lhs, rhs, options);
}

/// A product whose shapes and bias fit together; counts it.
#[inline(always)]
fn one(dst: MatMut<'_, f32>, lhs: MatRef<'_, f32>, rhs: MatRef<'_, f32>, options: Options<'_>) {
    let shape = [dst.nrows(), lhs.ncols(), dst.ncols()];
    let numbers = numbers(shape, options.rounding, level);
    let whole = |operands| request(operands, numbers, true);
    match numbers {
        Numbers::F32 => {
            note(1, || whole(Operands::of(&dst, lhs, rhs)));
            tasks::one(dst, lhs, rhs, options);
        }
        Numbers::Bf16x3 => {
            note(1, || whole(Operands::of(&dst, lhs, rhs)));
            bf16x3::product(dst, lhs, rhs, options);
        }
        Numbers::Bf16 => matmul_as_bf16(dst, lhs, rhs, options),
        Numbers::F16 => matmul_as_f16(dst, lhs, rhs, options),
    }
}

/// The request for the plan of a product whose right operand was not packed before.
fn request(operands: Operands, numbers: Numbers, is_single: bool) -> Request {
    let threads = foretell_threads::count();
    let rhs = RightLayout::RowMajor;
    Request { operands, rhs, numbers, is_single, threads, fast_pairs: fast_pairs() }
}

/// [`matmul`] of operands that are rounded to half precision first (beyond 65,504 to infinity). It multiplies in
/// `f32`, so it saves no time: what 16 bits save is the memory of operands that were kept in them.
///
/// # Panics
///
/// As [`matmul`].
#[track_caller]
pub fn matmul_as_f16(dst: MatMut<'_, f32>, lhs: MatRef<'_, f32>, rhs: MatRef<'_, f32>, options: Options<'_>) {
    let (left, right) = (f16::rounded(lhs), f16::rounded(rhs));
    let options = Options { rounding: Rounding::None, ..options };
    matmul(dst, f16::view(lhs, &left), f16::view(rhs, &right), options);
}

/// [`matmul`](crate::matmul()) for each matrix of a batch; the options, bias included, hold for each.
/// Threads share out all tasks of all products. Last digits may differ from those of [`matmul`](crate::matmul()), which cuts a
/// single product along a long inner dimension.
///
/// # Panics
///
/// If counts or shapes do not fit together, or the bias does not have one value per row or column.
#[track_caller]
pub fn matmul_batched(dst: BatchMut<'_>, lhs: BatchRef<'_>, rhs: BatchRef<'_>, options: Options<'_>) {
    assert!(
        dst.count == lhs.count && dst.count == rhs.count,
        "batches of {} and {} matrices do not fit {} destinations",
        lhs.count,
        rhs.count,
        dst.count
    );
    assert_shapes((dst.rows, dst.cols), (lhs.rows, lhs.cols), (rhs.rows, rhs.cols));
    assert_bias(options.bias, dst.rows, dst.cols);
    let shape = [dst.rows, lhs.cols, dst.cols];
    // Products that would be rounded if they were larger are made one by one, as single ones are: in parts where these are.
    if options.rounding == Rounding::None && numbers(shape, Rounding::None, level) == Numbers::F32 {
        if dst.count > 0 {
            let strides = Strides { row: dst.row_stride, col: dst.col_stride };
            let (lhs, rhs) = (lhs.get(0).into(), rhs.get(0).into());
            note(dst.count, || request(Operands { shape, dst: strides, lhs, rhs }, Numbers::F32, false));
        }
        return tasks::batch(dst, lhs, rhs, options);
    }
    tasks::for_each_product(&dst, lhs.cols, |index| {
        // SAFETY: each index is taken once, and matrices have no element in common.
        let whole = unsafe { dst.get(index) };
        one(whole, lhs.get(index), rhs.get(index), options);
    });
}
