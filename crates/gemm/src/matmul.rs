//! Products of `f32`, one or a batch: rounded as the options say, in bf16x3 or by vectors.

use crate::batch::{BatchMut, BatchRef};
use crate::bf16::bf16x3;
use crate::bf16::{matmul_as_bf16, pays_in_bf16};
use crate::check::{assert_bias, assert_shapes};
use crate::f16;
use crate::flops::count_products;
use crate::options::{Options, Rounding};
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
    if options.rounding == Rounding::None {
        count_products(1, [dst.nrows(), lhs.ncols(), dst.ncols()]);
        in_f32(dst, lhs, rhs, options);
    } else {
        // `rounded` counts its product itself.
        rounded(dst, lhs, rhs, options);
    }
}

/// The product of operands that are rounded as the options say; counts it.
fn rounded(dst: MatMut<'_, f32>, lhs: MatRef<'_, f32>, rhs: MatRef<'_, f32>, options: Options<'_>) {
    match options.rounding {
        Rounding::Bf16 if pays_in_bf16([dst.nrows(), lhs.ncols(), dst.ncols()]) => {
            matmul_as_bf16(dst, lhs, rhs, options);
        }
        Rounding::F16 => matmul_as_f16(dst, lhs, rhs, options),
        Rounding::None | Rounding::Bf16 => {
            count_products(1, [dst.nrows(), lhs.ncols(), dst.ncols()]);
            in_f32(dst, lhs, rhs, options);
        }
    }
}

/// A product whose shapes and bias fit together.
#[inline(always)]
fn in_f32(dst: MatMut<'_, f32>, lhs: MatRef<'_, f32>, rhs: MatRef<'_, f32>, options: Options<'_>) {
    if bf16x3::takes([dst.nrows(), lhs.ncols(), dst.ncols()]) {
        return bf16x3::product(dst, lhs, rhs, options);
    }
    tasks::one(dst, lhs, rhs, options);
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
    if options.rounding == Rounding::None {
        count_products(dst.count, [dst.rows, lhs.cols, dst.cols]);
        if !bf16x3::takes([dst.rows, lhs.cols, dst.cols]) {
            return tasks::batch(dst, lhs, rhs, options);
        }
        return tasks::for_each_product(&dst, lhs.cols, |index| {
            // SAFETY: each index is taken once, and matrices have no element in common.
            let whole = unsafe { dst.get(index) };
            bf16x3::product(whole, lhs.get(index), rhs.get(index), options);
        });
    }
    tasks::for_each_product(&dst, lhs.cols, |index| {
        // SAFETY: each index is taken once, and matrices have no element in common.
        let whole = unsafe { dst.get(index) };
        // `rounded` counts its product itself.
        rounded(whole, lhs.get(index), rhs.get(index), options);
    });
}
