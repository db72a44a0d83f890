//! The product of one tile on one thread.

use crate::options::Accum;
use crate::panels;
use crate::skinny;
use crate::tiny;
use crate::view::{MatMut, MatRef};

/// `dst = [dst +] alpha * lhs * rhs`, whose shapes fit together.
pub(crate) struct Product<'d, 'a> {
    pub(crate) dst: MatMut<'d, f32>,
    pub(crate) lhs: MatRef<'a, f32>,
    pub(crate) rhs: MatRef<'a, f32>,
    pub(crate) accum: Accum,
    pub(crate) alpha: f32,
}

impl<'a> Product<'_, 'a> {
    /// Computes the product, by the first kernel that takes it.
    #[inline(always)]
    pub(crate) fn run(mut self) {
        if self.dst.nrows() == 0 || self.dst.ncols() == 0 {
            return;
        }
        let done = skinny::dots(self.reborrow())
            || tiny::product(self.reborrow())
            || skinny::row(self.reborrow())
            || panels::product(self.reborrow());
        if !done {
            self.run_fallback();
        }
    }

    #[inline(always)]
    fn reborrow(&mut self) -> Product<'_, 'a> {
        let &mut Self { ref mut dst, lhs, rhs, accum, alpha } = self;
        Product { dst: dst.reborrow(), lhs, rhs, accum, alpha }
    }

    /// The transposed product, which is the same.
    #[inline(always)]
    pub(crate) fn t(self) -> Self {
        Self { dst: self.dst.t(), lhs: self.rhs.t(), rhs: self.lhs.t(), ..self }
    }

    /// The product or the transposed one, whichever has rows of adjacent elements in its destination.
    #[inline(always)]
    pub(crate) fn by_rows(self) -> Option<Self> {
        match (self.dst.row_stride(), self.dst.col_stride()) {
            (_, 1) => Some(self),
            (1, _) => Some(self.t()),
            _ => None,
        }
    }

    /// The multiply-adds, as far as they can be counted.
    #[inline(always)]
    pub(crate) fn work(&self) -> usize {
        self.dst.nrows().saturating_mul(self.dst.ncols()).saturating_mul(self.lhs.ncols())
    }

    #[cfg(feature = "faer")]
    fn run_fallback(self) {
        let Self { mut dst, lhs, rhs, accum, alpha } = self;
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
    fn run_fallback(self) {
        let Self { mut dst, lhs, rhs, accum, alpha } = self;
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
