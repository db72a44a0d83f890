//! Products of up to eight thousand multiply-adds, where most of the time goes by before the first of them.
//!
//! A general product packs its operands and looks for the best of many kernels. Here the rows of the right operand are
//! read where they lie, a vector at a time, and multiplied with single numbers of the left one; only where its columns
//! are adjacent instead, it is turned over on the stack first.

use std::mem::MaybeUninit;

use crate::element::Element;
use crate::options::Accum;
use crate::skinny::Job;
use crate::vector::Vector;
use crate::view::{MatMut, MatRef};

/// The most multiply-adds.
const MOST: usize = 1 << 13;

/// The most elements that are turned over.
const TURNED: usize = 512;

/// Computes the product if it is small enough, and the rows or the columns of the destination are adjacent.
#[inline(always)]
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
        return T::run(Tiny { dst, lhs, rhs, accum, alpha }).is_none();
    }
    let (k, n) = (rhs.nrows(), rhs.ncols());
    if k * n > TURNED {
        return false;
    }
    let mut turned = [MaybeUninit::uninit(); TURNED];
    for j in 0..n {
        for p in 0..k {
            // SAFETY: `p` and `j` are below the rows and columns of the view, and `k * n` values have room.
            unsafe { turned.get_unchecked_mut(p * n + j).write(rhs.get_unchecked(p, j)) };
        }
    }
    // SAFETY: these values were just written.
    let turned = unsafe { std::slice::from_raw_parts(turned.as_ptr().cast::<T>(), k * n) };
    let rhs = MatRef::row_major(turned, k, n);
    T::run(Tiny { dst, lhs, rhs, accum, alpha }).is_none()
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
    fn run<V: Vector<T>>(mut self, token: V::Token) {
        let n = self.dst.ncols();
        let whole = n - n % V::LANES;
        for j in (0..whole).step_by(V::LANES) {
            self.strip(token, j, V::LANES, V::load);
        }
        if whole < n {
            self.strip(token, whole, n - whole, V::load_padded);
        }
    }
}

impl<T: Element> Tiny<'_, T> {
    /// The `width` columns from `j` on, which are read and written as one vector.
    #[inline(always)]
    fn strip<V: Vector<T>>(
        &mut self,
        token: V::Token,
        j: usize,
        width: usize,
        load: impl Fn(V::Token, &[T]) -> V + Copy,
    ) {
        let m = self.dst.nrows();
        let mut i = 0;
        while i < m {
            i += match m - i {
                1 => self.tile::<V, 1, 4>(token, (i, j), width, load),
                2 => self.tile::<V, 2, 4>(token, (i, j), width, load),
                3 => self.tile::<V, 3, 2>(token, (i, j), width, load),
                4 => self.tile::<V, 4, 2>(token, (i, j), width, load),
                5 => self.tile::<V, 5, 1>(token, (i, j), width, load),
                6 => self.tile::<V, 6, 1>(token, (i, j), width, load),
                7 => self.tile::<V, 7, 1>(token, (i, j), width, load),
                _ => self.tile::<V, 8, 1>(token, (i, j), width, load),
            };
        }
    }

    /// `I` rows of a strip; returns `I`. Every sum is made of `C` sums, as a single one would wait for itself.
    #[inline(always)]
    fn tile<V: Vector<T>, const I: usize, const C: usize>(
        &mut self,
        token: V::Token,
        (i, j): (usize, usize),
        width: usize,
        load: impl Fn(V::Token, &[T]) -> V,
    ) -> usize {
        let k = self.lhs.ncols();
        assert!(i + I <= self.lhs.nrows() && j + width <= self.rhs.ncols() && k <= self.rhs.nrows());
        let mut sums = [[V::splat(token, T::ZERO); C]; I];
        let whole = k - k % C;
        for p in (0..whole).step_by(C) {
            for c in 0..C {
                // SAFETY: the assertion; `p + c` is below `k`.
                unsafe { self.add_products(token, &mut sums, c, (i, p + c, j), width, &load) };
            }
        }
        for p in whole..k {
            // SAFETY: the assertion; `p` is below `k`.
            unsafe { self.add_products(token, &mut sums, 0, (i, p, j), width, &load) };
        }
        for a in 0..I {
            let mut sum = sums[a][0];
            for c in 1..C {
                sum = V::splat(token, T::ONE).fused(sums[a][c], sum);
            }
            let place = &mut self.dst.row_mut(i + a)[j..j + width];
            let sum = match self.accum {
                Accum::Add => V::splat(token, self.alpha).fused(sum, load(token, place)),
                Accum::Replace if self.alpha == T::ONE => sum,
                Accum::Replace => V::splat(token, self.alpha).fused(sum, V::splat(token, T::ZERO)),
            };
            sum.store(place);
        }
        I
    }

    /// Adds the products of column `p` of the left operand and of row `p` of the right one to the sums `c`.
    ///
    /// # Safety
    ///
    /// The operands have the rows `i..i + I`, the index `p`, and the columns `j..j + width`.
    #[inline(always)]
    unsafe fn add_products<V: Vector<T>, const I: usize, const C: usize>(
        &self,
        token: V::Token,
        sums: &mut [[V; C]; I],
        c: usize,
        (i, p, j): (usize, usize, usize),
        width: usize,
        load: &impl Fn(V::Token, &[T]) -> V,
    ) {
        let start = p * self.rhs.row_stride() + j;
        // SAFETY: the columns of row `p` are adjacent, and those from `j` on are there.
        let row = load(token, unsafe { self.rhs.data().get_unchecked(start..start + width) });
        for a in 0..I {
            // SAFETY: the caller's contract.
            let factor = unsafe { self.lhs.get_unchecked(i + a, p) };
            sums[a][c] = V::splat(token, factor).fused(row, sums[a][c]);
        }
    }
}
