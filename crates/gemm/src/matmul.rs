//! Products of `f32`, one or a batch: rounded as the options say, in bf16x3 or by vectors.

use foretell_simd::level;

use crate::batch::{BatchMut, BatchRef};
use crate::bf16::bf16x3;
use crate::bf16::matmul_as_bf16;
use crate::check::{assert_bias, assert_shapes};
use crate::f16;
use crate::flops::count_products;
use crate::options::{Options, Rounding};
use crate::plan::kernel::{Numbers, numbers};
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
    match numbers(shape, options.rounding, level) {
        Numbers::F32 => {
            count_products(1, shape);
            tasks::one(dst, lhs, rhs, options);
        }
        Numbers::Bf16x3 => {
            count_products(1, shape);
            bf16x3::product(dst, lhs, rhs, options);
        }
        Numbers::Bf16 => matmul_as_bf16(dst, lhs, rhs, options),
        Numbers::F16 => matmul_as_f16(dst, lhs, rhs, options),
    }
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
        count_products(dst.count, shape);
        return tasks::batch(dst, lhs, rhs, options);
    }
    tasks::for_each_product(&dst, lhs.cols, |index| {
        // SAFETY: each index is taken once, and matrices have no element in common.
        let whole = unsafe { dst.get(index) };
        one(whole, lhs.get(index), rhs.get(index), options);
    });
}
