//! Products of up to eight thousand multiply-adds, where a general product spends most of its time before the first
//! of them.
//!
//! A general product packs its operands and looks for the best of many kernels. Here the rows of the right operand
//! are read in place, a vector at a time, and multiplied with single numbers of the left one; only where its columns
//! are adjacent instead, it is transposed on the stack first.

use std::mem::MaybeUninit;

use crate::options::Accum;
use crate::plan::limits::tiny::MAX_TRANSPOSED;
use crate::product::Product;
use crate::vector::{Current, Job, Vector, run_at};
use crate::view::MatRef;

/// Computes a product that the plan gives to this kernel.
#[inline(always)]
pub(crate) fn product(product: Product<'_, '_>, current: Current) {
    let Some(product) = product.by_rows() else {
        unreachable!("a tiny product for a destination whose rows and columns have gaps")
    };
    let rhs = product.rhs;
    if rhs.col_stride() == 1 {
        run_at(current, Tiny(product));
        return;
    }
    let (k, n) = (rhs.nrows(), rhs.ncols());
    let mut turned = [MaybeUninit::uninit(); MAX_TRANSPOSED];
    for j in 0..n {
        for p in 0..k {
            // SAFETY: `p` and `j` are below the rows and columns of the view, and `k * n` values have room.
            unsafe { turned.get_unchecked_mut(p * n + j).write(rhs.get_unchecked(p, j)) };
        }
    }
    // SAFETY: these values were just written.
    let turned = unsafe { std::slice::from_raw_parts(turned.as_ptr().cast::<f32>(), k * n) };
    let Product { dst, lhs, accum, alpha, .. } = product;
    run_at(current, Tiny(Product { dst, lhs, rhs: MatRef::row_major(turned, k, n), accum, alpha }));
}

/// `dst = lhs * rhs`, where rows of `dst` and of `rhs` are adjacent elements.
struct Tiny<'d, 'a>(Product<'d, 'a>);

impl Job for Tiny<'_, '_> {
    #[inline(always)]
    fn run<V: Vector>(mut self, token: V::Token) {
        let n = self.0.dst.ncols();
        let whole = n - n % V::LANES;
        for j in (0..whole).step_by(V::LANES) {
            self.strip(token, j, V::LANES, V::load);
        }
        if whole < n {
            self.strip(token, whole, n - whole, V::load_padded);
        }
    }
}

impl Tiny<'_, '_> {
    /// The `width` columns from `j` on, which are read and written as one vector.
    #[inline(always)]
    fn strip<V: Vector>(
        &mut self,
        token: V::Token,
        j: usize,
        width: usize,
        load: impl Fn(V::Token, &[f32]) -> V + Copy,
    ) {
        let m = self.0.dst.nrows();
        let mut i = 0;
        while i < m {
            i += match m - i {
                1 => self.tile::<V, 1>(token, (i, j), width, load),
                2 => self.tile::<V, 2>(token, (i, j), width, load),
                3 => self.tile::<V, 3>(token, (i, j), width, load),
                4 => self.tile::<V, 4>(token, (i, j), width, load),
                5 => self.tile::<V, 5>(token, (i, j), width, load),
                6 => self.tile::<V, 6>(token, (i, j), width, load),
                7 => self.tile::<V, 7>(token, (i, j), width, load),
                _ => self.tile::<V, 8>(token, (i, j), width, load),
            };
        }
    }

    /// `I` rows of a strip; returns `I`.
    #[inline(always)]
    fn tile<V: Vector, const I: usize>(
        &mut self,
        token: V::Token,
        (i, j): (usize, usize),
        width: usize,
        load: impl Fn(V::Token, &[f32]) -> V,
    ) -> usize {
        let k = self.0.lhs.ncols();
        assert!(i + I <= self.0.lhs.nrows() && j + width <= self.0.rhs.ncols() && k <= self.0.rhs.nrows());
        let mut sums = [V::splat(token, 0.0); I];
        for p in 0..k {
            let start = p * self.0.rhs.row_stride() + j;
            // SAFETY: the columns of row `p` are adjacent, and by the assertion it has those from `j` on.
            let row = load(token, unsafe { self.0.rhs.data().get_unchecked(start..start + width) });
            for a in 0..I {
                // SAFETY: by the assertion there is row `i + a`, and column `p`.
                let factor = unsafe { self.0.lhs.get_unchecked(i + a, p) };
                sums[a] = V::splat(token, factor).fused(row, sums[a]);
            }
        }
        for a in 0..I {
            let place = &mut self.0.dst.row_mut(i + a)[j..j + width];
            let sum = match self.0.accum {
                Accum::Add => V::splat(token, self.0.alpha).fused(sums[a], load(token, place)),
                Accum::Replace if self.0.alpha == 1.0 => sums[a],
                Accum::Replace => V::splat(token, self.0.alpha).fused(sums[a], V::splat(token, 0.0)),
            };
            sum.store(place);
        }
        I
    }
}
