//! Products, one or a batch: of whatever the right operand is, rounded as the options say.

use foretell_simd::level;

use crate::batch::{BatchMut, BatchRef};
use crate::bf16::{self, Bf16Operand, bf16x3};
use crate::check::{assert_bias, assert_shapes};
use crate::int8;
use crate::options::{Options, Rounding};
use crate::packed::{Form, PackedF32};
use crate::plan::kernel::{Numbers, Operands, Strides, fast_pairs, numbers};
use crate::plan::{Request, RightLayout};
use crate::record::note;
use crate::rhs::Rhs;
use crate::rounded::RoundedOperand;
use crate::tasks;
use crate::view::{MatMut, MatRef};
use crate::weights::{Packed, WeightMatrix};

/// `dst = activation([dst +] alpha * lhs * rhs + bias)`, where `dst` is `[m, n]`, `lhs` `[m, k]` and
/// `rhs` `[k, n]`: an `f32` matrix, one that is rounded to bfloat16 already, or a [`WeightMatrix`] that was packed before, whatever its
/// format.
///
/// An empty inner dimension makes a product of zeros; empty outer dimensions make nothing.
///
/// # Panics
///
/// If the shapes do not fit together, or the bias does not have one value per row or column. With packed weights also if the
/// columns of the destination's rows are not adjacent, or if weights in `f32` were packed at another
/// [`level`](foretell_simd::level), which only [`with_level`](foretell_simd::with_level) brings about.
#[track_caller]
#[inline]
pub fn matmul<'a>(dst: MatMut<'_, f32>, lhs: MatRef<'_, f32>, rhs: impl Into<Rhs<'a>>, options: Options<'_>) {
    product(dst, lhs, rhs.into(), options);
}

#[track_caller]
fn product(dst: MatMut<'_, f32>, lhs: MatRef<'_, f32>, rhs: Rhs<'_>, options: Options<'_>) {
    let shape = match rhs {
        Rhs::F32(rhs) => (rhs.nrows(), rhs.ncols()),
        Rhs::Bf16(rhs) => (rhs.nrows(), rhs.ncols()),
        Rhs::Packed(weights) => weights.shape(),
    };
    assert_shapes((dst.nrows(), dst.ncols()), (lhs.nrows(), lhs.ncols()), shape);
    assert_bias(options.bias, dst.nrows(), dst.ncols());
    match rhs {
        Rhs::F32(rhs) => one(dst, lhs, rhs, options),
        Rhs::Bf16(rhs) => in_bf16(dst, lhs, rhs.into(), options),
        Rhs::Packed(weights) => packed(dst, lhs, weights, options),
    }
}

/// A product of matrices in `f32` whose shapes and bias fit together; counts it.
#[inline(always)]
fn one(dst: MatMut<'_, f32>, lhs: MatRef<'_, f32>, rhs: MatRef<'_, f32>, options: Options<'_>) {
    let operands = Operands::of(&dst, lhs, rhs);
    let numbers = numbers(operands.shape, options.rounding, level);
    match numbers {
        Numbers::F32 => {
            note(1, move || request(operands, RightLayout::RowMajor, numbers, true));
            tasks::one(dst, lhs, rhs, options);
        }
        Numbers::Bf16x3 => {
            note(1, move || request(operands, RightLayout::RowMajor, numbers, true));
            bf16x3::product(dst, lhs, rhs, options);
        }
        Numbers::Bf16 => in_bf16(dst, lhs, rhs.into(), options),
        Numbers::F16 => {
            let [left, right] = [lhs, rhs].map(RoundedOperand::to_f16);
            let options = Options { rounding: Rounding::None, ..options };
            product(dst, left.view(), right.view().into(), options);
        }
    }
}

/// A product in bfloat16 of operands neither of which is packed; counts it.
fn in_bf16(dst: MatMut<'_, f32>, lhs: MatRef<'_, f32>, rhs: Bf16Operand<'_>, options: Options<'_>) {
    let operands = Operands::with_packed(&dst, lhs.into(), lhs.ncols());
    note(1, move || request(operands, RightLayout::RowMajor, Numbers::Bf16, true));
    bf16::product(dst, lhs.into(), rhs, options);
}

/// A product with packed weights; counts it.
#[inline(always)]
fn packed(dst: MatMut<'_, f32>, lhs: MatRef<'_, f32>, weights: &WeightMatrix, options: Options<'_>) {
    assert!(dst.ncols() < 2 || dst.col_stride() == 1, "a destination whose rows are not adjacent");
    let options = Options { rounding: Rounding::None, ..options };
    let operands = Operands::with_packed(&dst, lhs.into(), lhs.ncols());
    let note = |layout| note(1, move || request(operands, layout, Numbers::F32, true));
    match &weights.0 {
        Packed::F32(packed @ PackedF32 { form: Form::RowMajor, .. }) => {
            one(dst, lhs, packed.as_rows(), options);
        }
        Packed::F32(PackedF32 { form: Form::Strips, values, .. }) => {
            note(RightLayout::PackedF32);
            tasks::packed(dst, lhs, values, options);
        }
        Packed::F32(PackedF32 { form: Form::Bf16x3, values, .. }) => {
            note(RightLayout::PackedF32);
            bf16x3::product_packed(dst, lhs, values, options);
        }
        Packed::Bf16(weights) => {
            note(RightLayout::PackedBf16);
            bf16::product_packed(dst, lhs.into(), weights, options);
        }
        Packed::Int8(weights) => {
            note(RightLayout::PackedInt8);
            int8::product(dst, lhs, weights, options);
        }
    }
}

/// The request for the plan of a product.
fn request(operands: Operands, rhs: RightLayout, numbers: Numbers, is_single: bool) -> Request {
    let threads = foretell_threads::count();
    Request { operands, rhs, numbers, is_single, threads, fast_pairs: fast_pairs() }
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
    let [m, k, n] = [dst.first.nrows(), lhs.first.ncols(), dst.first.ncols()];
    assert_shapes((m, n), (lhs.first.nrows(), k), (rhs.first.nrows(), rhs.first.ncols()));
    assert_bias(options.bias, m, n);
    let shape = [m, k, n];
    // Products that would be rounded if they were larger are made one by one, as single ones are: in parts where these are.
    if options.rounding == Rounding::None && numbers(shape, Rounding::None, level) == Numbers::F32 {
        if dst.count > 0 {
            let strides = Strides { row: dst.first.row_stride(), col: dst.first.col_stride() };
            let (lhs, rhs) = (lhs.get(0).into(), rhs.get(0).into());
            note(dst.count, || {
                let operands = Operands { shape, dst: strides, lhs, rhs };
                request(operands, RightLayout::RowMajor, Numbers::F32, false)
            });
        }
        return tasks::batch(dst, lhs, rhs, options);
    }
    tasks::for_each_product(&dst, k, |index| {
        // SAFETY: each index is taken once, and matrices have no element in common.
        let whole = unsafe { dst.get(index) };
        one(whole, lhs.get(index), rhs.get(index), options);
    });
}
