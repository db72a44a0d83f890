//! One product.

use crate::bf16::{matmul_as_bf16, pays_in_bf16};
use crate::f16::matmul_as_f16;
use crate::flops::count_products;
use crate::options::{Bias, Options, Rounding};
use crate::tiles;
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
        tiles::run_one(dst, lhs, rhs, options);
    } else {
        // `rounded` counts its product itself.
        rounded(dst, lhs, rhs, options);
    }
}

/// The product of operands that are rounded as the options say; counts it.
pub(crate) fn rounded(
    dst: MatMut<'_, f32>,
    lhs: MatRef<'_, f32>,
    rhs: MatRef<'_, f32>,
    options: Options<'_>,
) {
    match options.rounding {
        Rounding::Bf16 if pays_in_bf16([dst.nrows(), lhs.ncols(), dst.ncols()]) => {
            matmul_as_bf16(dst, lhs, rhs, options);
        }
        Rounding::F16 => matmul_as_f16(dst, lhs, rhs, options),
        Rounding::None | Rounding::Bf16 => {
            count_products(1, [dst.nrows(), lhs.ncols(), dst.ncols()]);
            tiles::run_one(dst, lhs, rhs, options);
        }
    }
}

#[track_caller]
pub(crate) fn assert_shapes(dst: (usize, usize), lhs: (usize, usize), rhs: (usize, usize)) {
    assert!(
        dst == (lhs.0, rhs.1) && lhs.1 == rhs.0,
        "a product of {}x{} and {}x{} does not fit a destination of {}x{}",
        lhs.0,
        lhs.1,
        rhs.0,
        rhs.1,
        dst.0,
        dst.1
    );
}

#[track_caller]
pub(crate) fn assert_bias(bias: Option<Bias<'_>>, rows: usize, cols: usize) {
    match bias {
        Some(Bias::PerColumn(values)) => {
            assert!(values.len() == cols, "a bias of {} values for {cols} columns", values.len());
        }
        Some(Bias::PerRow(values)) => {
            assert!(values.len() == rows, "a bias of {} values for {rows} rows", values.len());
        }
        None => {}
    }
}
