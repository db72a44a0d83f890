//! The product of one tile on one thread.

use crate::element::Element;
use crate::options::Accum;
use crate::panels;
use crate::skinny;
use crate::tiny;
use crate::view::{MatMut, MatRef};

/// `dst = [dst +] alpha * lhs * rhs`.
#[inline(always)]
pub(crate) fn product<T: Element>(
    mut dst: MatMut<'_, T>,
    lhs: MatRef<'_, T>,
    rhs: MatRef<'_, T>,
    accum: Accum,
    alpha: T,
) {
    if dst.nrows() == 0 || dst.ncols() == 0 {
        return;
    }
    if skinny::dots(&mut dst, lhs, rhs, accum, alpha)
        || tiny::product(&mut dst, lhs, rhs, accum, alpha)
        || skinny::row(&mut dst, lhs, rhs, accum, alpha)
        || panels::product(&mut dst, lhs, rhs, accum, alpha)
    {
        return;
    }
    #[cfg(feature = "faer")]
    faer(dst, lhs, rhs, accum, alpha);
    #[cfg(not(feature = "faer"))]
    reference(dst, lhs, rhs, accum, alpha);
}

#[cfg(feature = "faer")]
fn faer<T: Element>(mut dst: MatMut<'_, T>, lhs: MatRef<'_, T>, rhs: MatRef<'_, T>, accum: Accum, alpha: T) {
    let accum = match accum {
        Accum::Replace => faer::Accum::Replace,
        Accum::Add => faer::Accum::Add,
    };
    let (m, n) = (dst.nrows(), dst.ncols());
    let (rows, cols) = strides((m, dst.row_stride()), (n, dst.col_stride()));
    // SAFETY: the view's elements lie at distinct places, and it borrows them exclusively.
    let dst = unsafe { faer::MatMut::from_raw_parts_mut(dst.as_mut_ptr(), m, n, rows, cols) };
    let read = |mat: MatRef<'_, T>| {
        let (m, n) = (mat.nrows(), mat.ncols());
        let (rows, cols) = strides((m, mat.row_stride()), (n, mat.col_stride()));
        // SAFETY: the view's elements lie within its slice.
        unsafe { faer::MatRef::from_raw_parts(mat.data().as_ptr(), m, n, rows, cols) }
    };
    faer::linalg::matmul::matmul(dst, accum, read(lhs), read(rhs), alpha, faer::Par::Seq);
}

/// The strides that faer sees. The stride of a dimension of one element is never stepped along and
/// may be anything: make it that of a dense layout, by which faer chooses its way.
#[cfg(feature = "faer")]
fn strides((rows, row_stride): (usize, usize), (cols, col_stride): (usize, usize)) -> (isize, isize) {
    match (rows, cols) {
        (0 | 1, 0 | 1) => (1, 1),
        (0 | 1, _) => ((cols * col_stride) as isize, col_stride as isize),
        (_, 0 | 1) => (row_stride as isize, (rows * row_stride) as isize),
        _ => (row_stride as isize, col_stride as isize),
    }
}

/// The definition, one dot product after the other.
#[cfg(not(feature = "faer"))]
fn reference<T: Element>(
    mut dst: MatMut<'_, T>,
    lhs: MatRef<'_, T>,
    rhs: MatRef<'_, T>,
    accum: Accum,
    alpha: T,
) {
    let (a, b) = (lhs.data(), rhs.data());
    for i in 0..dst.nrows() {
        for j in 0..dst.ncols() {
            let (row, col) = (i * lhs.row_stride(), j * rhs.col_stride());
            let mut sum = T::ZERO;
            for p in 0..lhs.ncols() {
                sum += a[row + p * lhs.col_stride()] * b[p * rhs.row_stride() + col];
            }
            let place = dst.at(i, j);
            *place = match accum {
                Accum::Replace => alpha * sum,
                Accum::Add => *place + alpha * sum,
            };
        }
    }
}
