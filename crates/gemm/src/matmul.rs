//! One product.

use crate::element::Element;
use crate::flops::count_products;
use crate::options::{Bias, Options, Rounding};
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
pub fn matmul<T: Element>(
    dst: MatMut<'_, T>,
    lhs: MatRef<'_, T>,
    rhs: MatRef<'_, T>,
    options: Options<'_, T>,
) {
    assert_shapes((dst.nrows(), dst.ncols()), (lhs.nrows(), lhs.ncols()), (rhs.nrows(), rhs.ncols()));
    assert_bias(options.bias, dst.nrows(), dst.ncols());
    if options.rounding == Rounding::None {
        count_products(1, [dst.nrows(), lhs.ncols(), dst.ncols()]);
        T::product(dst, lhs, rhs, options);
    } else {
        // `rounded` counts its product itself.
        T::rounded(dst, lhs, rhs, options);
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
pub(crate) fn assert_bias<T>(bias: Option<Bias<'_, T>>, rows: usize, cols: usize) {
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
