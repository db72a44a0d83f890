//! Products of up to eight thousand multiply-adds, where a general product spends most of its time before the first
//! of them.
//!
//! A general product packs its operands and looks for the best of many kernels. Here the rows of the right operand
//! are read in place, a vector at a time, and multiplied with single numbers of the left one; only where its columns
//! are adjacent instead, it is transposed on the stack first. Bias and ReLU take place in registers.

use std::mem::MaybeUninit;

use crate::epilogue::{Epilogue, InRegisters, activate};
use crate::options::Accum;
use crate::plan::limits::tiny::MAX_TRANSPOSED;
use crate::product::Product;
use crate::vector::{Current, Job, Vector, run_at, scaled};
use crate::view::MatRef;

/// Numbers of a right operand that is transposed on the stack, with what fills up its rows.
const PLACE: usize = MAX_TRANSPOSED + MAX_TRANSPOSED / 2;

/// Computes a product that the plan gives to this kernel, with its bias and activation.
#[inline(always)]
pub(crate) fn product(mut product: Product<'_, '_>, epilogue: Epilogue<'_>, current: Current) {
    if product.dst.col_stride() != 1 {
        return transposed(product, epilogue, current);
    }
    let (in_registers, left) = epilogue.split();
    run_at(current, Tiny { product: &mut product, in_registers });
    activate(product.dst, left);
}

#[cold]
fn transposed(product: Product<'_, '_>, epilogue: Epilogue<'_>, current: Current) {
    let (in_registers, left) = epilogue.t().split();
    let mut product = product.t();
    run_at(current, Tiny { product: &mut product, in_registers });
    activate(product.dst, left);
}

/// `dst = lhs * rhs`, where rows of `dst` are adjacent elements.
struct Tiny<'p, 'd, 'a, 'b> {
    /// Borrowed: its many words would be copied on their way.
    product: &'p mut Product<'d, 'a>,
    in_registers: InRegisters<'b>,
}

impl Job for Tiny<'_, '_, '_, '_> {
    #[inline(always)]
    fn run<V: Vector>(self, token: V::Token) {
        let Self { product: Product { dst, lhs, rhs, accum, alpha }, in_registers } = self;
        let mut place = [MaybeUninit::uninit(); PLACE];
        let rhs = match rhs.col_stride() == 1 {
            true => *rhs,
            false => transposed_rhs::<V>(token, *rhs, &mut place),
        };
        let product = Product { dst: dst.reborrow(), lhs: *lhs, rhs, accum: *accum, alpha: *alpha };
        let mut rows = Rows { product, in_registers };
        let n = rhs.ncols();
        let whole = n - n % V::LANES;
        for j in (0..whole).step_by(V::LANES) {
            rows.strip(token, j, V::LANES, V::load);
        }
        if whole < n {
            rows.strip(token, whole, n - whole, V::load_padded);
        }
    }
}

/// A copy of a matrix whose rows are adjacent elements.
#[inline(always)]
fn transposed_rhs<'a, V: Vector>(
    token: V::Token,
    rhs: MatRef<'_, f32>,
    place: &'a mut [MaybeUninit<f32>; PLACE],
) -> MatRef<'a, f32> {
    let (k, n) = (rhs.nrows(), rhs.ncols());
    let filled_up = n.next_multiple_of(V::LANES);
    let by_fours = rhs.row_stride() == 1 && k >= 4 && k * filled_up <= PLACE;
    let row_stride = if by_fours { filled_up } else { n };
    if by_fours {
        for j in (0..n).step_by(V::LANES) {
            // The last four begin before the ones before them end. Rows are written as they are read: a vector at a time.
            for p in (0..k).step_by(4).map(|p| p.min(k - 4)) {
                let fours = V::transpose_fours(token, |l| {
                    let at = (j + l).min(n - 1) * rhs.col_stride() + p;
                    // SAFETY: four numbers of a column, which are adjacent.
                    unsafe { &*rhs.data().as_ptr().add(at).cast::<[f32; 4]>() }
                });
                for l in 0..4 {
                    fours[l].store_first(&mut place[(p + l) * row_stride + j..]);
                }
            }
        }
    } else {
        for j in 0..n {
            for p in 0..k {
                // SAFETY: `p` and `j` are below the rows and columns of the view, and `k * n` numbers have room.
                unsafe { place.get_unchecked_mut(p * n + j).write(rhs.get_unchecked(p, j)) };
            }
        }
    }
    // SAFETY: all rows of the copy were just written.
    let data = unsafe { std::slice::from_raw_parts(place.as_ptr().cast::<f32>(), k * row_stride) };
    MatRef { data, rows: k, cols: n, row_stride, col_stride: 1 }
}

/// The product where rows of `rhs`, too, are adjacent elements.
struct Rows<'d, 'a, 'b> {
    product: Product<'d, 'a>,
    in_registers: InRegisters<'b>,
}

impl Rows<'_, '_, '_> {
    /// The `width` columns from `j` on, which are read and written as one vector.
    #[inline(always)]
    fn strip<V: Vector>(
        &mut self,
        token: V::Token,
        j: usize,
        width: usize,
        load: impl Fn(V::Token, &[f32]) -> V + Copy,
    ) {
        let m = self.product.dst.nrows();
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
        let k = self.product.lhs.ncols();
        assert!(
            i + I <= self.product.lhs.nrows()
                && j + width <= self.product.rhs.ncols()
                && k <= self.product.rhs.nrows()
        );
        let mut sums = [V::splat(token, 0.0); I];
        for p in 0..k {
            let start = p * self.product.rhs.row_stride() + j;
            // SAFETY: the columns of row `p` are adjacent, and by the assertion it has those from `j` on.
            let row = load(token, unsafe { self.product.rhs.data().get_unchecked(start..start + width) });
            for a in 0..I {
                // SAFETY: by the assertion there is row `i + a`, and column `p`.
                let factor = unsafe { self.product.lhs.get_unchecked(i + a, p) };
                sums[a] = V::splat(token, factor).fused(row, sums[a]);
            }
        }
        let in_registers = self.in_registers.of_columns(token, j..j + width, &load);
        for a in 0..I {
            let place = &mut self.product.dst.row_mut(i + a)[j..j + width];
            let old = if self.product.accum == Accum::Add { Some(load(token, place)) } else { None };
            let sum = scaled(token, self.product.alpha, sums[a], old);
            in_registers.finish(token, sum, i + a).store(place);
        }
        I
    }
}
