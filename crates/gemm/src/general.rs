//! Products that have no kernel of our own: by faer, in its sequential mode, or without it by a plain loop.

use crate::options::Accum;
use crate::product::Product;
#[cfg(feature = "faer")]
use crate::view::MatRef;

#[cfg(feature = "faer")]
pub(crate) fn product(product: Product<'_, '_>) {
    let Product { mut dst, lhs, rhs, accum, alpha } = product;
    let accum = match accum {
        Accum::Replace => faer::Accum::Replace,
        Accum::Add => faer::Accum::Add,
    };
    let (m, n) = (dst.nrows(), dst.ncols());
    let (rows, cols) = strides((m, dst.row_stride()), (n, dst.col_stride()));
    // SAFETY: the view's elements lie at distinct places, and it borrows them exclusively.
    let dst = unsafe { faer::MatMut::from_raw_parts_mut(dst.as_mut_ptr(), m, n, rows, cols) };
    let read = |mat: MatRef<'_, f32>| {
        let (m, n) = (mat.nrows(), mat.ncols());
        let (rows, cols) = strides((m, mat.row_stride()), (n, mat.col_stride()));
        // SAFETY: the view's elements lie within its slice.
        unsafe { faer::MatRef::from_raw_parts(mat.data().as_ptr(), m, n, rows, cols) }
    };
    faer::linalg::matmul::matmul(dst, accum, read(lhs), read(rhs), alpha, faer::Par::Seq);
}

/// The definition, one dot product after the other.
#[cfg(not(feature = "faer"))]
pub(crate) fn product(product: Product<'_, '_>) {
    let Product { mut dst, lhs, rhs, accum, alpha } = product;
    let (a, b) = (lhs.data(), rhs.data());
    for i in 0..dst.nrows() {
        for j in 0..dst.ncols() {
            let (row, col) = (i * lhs.row_stride(), j * rhs.col_stride());
            let mut sum = 0.0;
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
