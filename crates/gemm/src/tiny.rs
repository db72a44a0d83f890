//! Products of up to two thousand multiply-adds, where most of the time goes by before the first of them.
//!
//! A general product packs its operands and looks for the best of many kernels. Here the rows of the right operand are
//! read where they lie, a vector at a time, and multiplied with single numbers of the left one; only where its columns
//! are adjacent instead, it is turned over on the stack first.

use foretell_simd::level;

use crate::element::Element;
use crate::options::Accum;
use crate::skinny::Job;
use crate::vector::Vector;
use crate::view::{MatMut, MatRef};

/// The most multiply-adds.
const MOST: usize = 1 << 11;

/// The most elements that are turned over.
const TURNED: usize = 512;

/// Computes the product if it is small enough, and the rows or the columns of the destination are adjacent.
pub(crate) fn product<T: Element>(
    dst: &mut MatMut<'_, T>,
    lhs: MatRef<'_, T>,
    rhs: MatRef<'_, T>,
    accum: Accum,
    alpha: T,
) -> bool {
    if dst.nrows().saturating_mul(dst.ncols()).saturating_mul(lhs.ncols()) > MOST {
        return false;
    }
    let dst = dst.reborrow();
    // From here on rows of the destination are adjacent elements.
    let (dst, lhs, rhs) = match (dst.row_stride(), dst.col_stride()) {
        (_, 1) => (dst, lhs, rhs),
        (1, _) => (dst.t(), rhs.t(), lhs.t()),
        _ => return false,
    };
    if rhs.col_stride() == 1 {
        return T::run(Tiny { dst, lhs, rhs, accum, alpha }, level()).is_none();
    }
    let (k, n) = (rhs.nrows(), rhs.ncols());
    if k * n > TURNED {
        return false;
    }
    let mut turned = [T::ZERO; TURNED];
    for j in 0..n {
        for p in 0..k {
            turned[p * n + j] = rhs.data()[p * rhs.row_stride() + j * rhs.col_stride()];
        }
    }
    let rhs = MatRef::row_major(&turned[..k * n], k, n);
    T::run(Tiny { dst, lhs, rhs, accum, alpha }, level()).is_none()
}

/// `dst = lhs * rhs`, where rows of `dst` and of `rhs` are adjacent elements.
struct Tiny<'a, T> {
    dst: MatMut<'a, T>,
    lhs: MatRef<'a, T>,
    rhs: MatRef<'a, T>,
    accum: Accum,
    alpha: T,
}

impl<T: Element> Job<T> for Tiny<'_, T> {
    #[inline(always)]
    fn run<V: Vector<T>>(mut self) {
        let (m, n) = (self.dst.nrows(), self.dst.ncols());
        for j in (0..n).step_by(V::LANES) {
            let mut i = 0;
            while i < m {
                i += match m - i {
                    1 => self.tile::<V, 1>(i, j),
                    2 => self.tile::<V, 2>(i, j),
                    3 => self.tile::<V, 3>(i, j),
                    4 => self.tile::<V, 4>(i, j),
                    5 => self.tile::<V, 5>(i, j),
                    6 => self.tile::<V, 6>(i, j),
                    7 => self.tile::<V, 7>(i, j),
                    _ => self.tile::<V, 8>(i, j),
                };
            }
        }
    }
}

impl<T: Element> Tiny<'_, T> {
    /// `I` rows and up to a vector of columns of the result; returns `I`.
    #[inline(always)]
    fn tile<V: Vector<T>, const I: usize>(&mut self, i: usize, j: usize) -> usize {
        let columns = j..self.dst.ncols().min(j + V::LANES);
        let load = |part: &[T]| if part.len() == V::LANES { V::load(part) } else { V::load_padded(part) };
        let (data, row_stride, col_stride) = (self.lhs.data(), self.lhs.row_stride(), self.lhs.col_stride());
        let mut sums = [V::splat(T::ZERO); I];
        for p in 0..self.lhs.ncols() {
            let row = load(&self.rhs.row(p)[columns.clone()]);
            for a in 0..I {
                sums[a] = V::splat(data[(i + a) * row_stride + p * col_stride]).fused(row, sums[a]);
            }
        }
        for a in 0..I {
            let place = &mut self.dst.row_mut(i + a)[columns.clone()];
            let sum = match self.accum {
                Accum::Add => V::splat(self.alpha).fused(sums[a], load(place)),
                Accum::Replace if self.alpha == T::ONE => sums[a],
                Accum::Replace => V::splat(self.alpha).fused(sums[a], V::splat(T::ZERO)),
            };
            sum.store(place);
        }
        I
    }
}
