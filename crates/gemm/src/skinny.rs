//! Products with a vector or with a few rows.
//!
//! A general product packs an operand to read it many times; with few rows there is nothing to gain
//! from that, and the time is that of reading the large operand once. Two kernels cover the layouts
//! that matter: [`Dots`], where both operands are adjacent along the inner dimension (`x w^T`, matrix
//! times vector), and [`Rows`], where the large operand is adjacent along the outer one (`x w`).
//! They are plain loops over arrays as wide as a vector, compiled once per vector width.

use crate::element::Element;
use crate::options::Accum;
use crate::vector::Vector;
use crate::view::{MatMut, MatRef};

/// Up to this many rows, packing may cost more than it saves.
const FEW: usize = 32;

/// A kernel that is compiled for several vector widths.
pub trait Job<T> {
    /// Must be inlined, so that it is compiled for the caller's instructions.
    fn run<V: Vector<T>>(self, token: V::Token);
}

/// Computes the product as dot products, if it has few rows and they are long.
#[inline(always)]
pub(crate) fn dots<T: Element>(
    dst: &mut MatMut<'_, T>,
    lhs: MatRef<'_, T>,
    rhs: MatRef<'_, T>,
    accum: Accum,
    alpha: T,
) -> bool {
    // Short dot products spend their time on adding up vectors' elements (measured against faer).
    let worthwhile = FEW.min((lhs.ncols() / 8).saturating_sub(2));
    if worthwhile < dst.nrows().min(dst.ncols()) {
        return false;
    }
    let (dst, lhs, rhs) = few_rows(dst, lhs, rhs);
    lhs.col_stride() == 1
        && rhs.row_stride() == 1
        && T::run(Dots { dst, lhs, rhs: rhs.t(), accum, alpha }).is_none()
}

/// Computes the product if one operand is a vector and the other adjacent along the outer dimension.
#[inline(always)]
pub(crate) fn row<T: Element>(
    dst: &mut MatMut<'_, T>,
    lhs: MatRef<'_, T>,
    rhs: MatRef<'_, T>,
    accum: Accum,
    alpha: T,
) -> bool {
    let (dst, lhs, rhs) = few_rows(dst, lhs, rhs);
    dst.nrows() == 1 && rhs.col_stride() == 1 && T::run(Rows { dst, lhs, rhs, accum, alpha }).is_none()
}

/// The product whose left operand is the one with few rows.
#[inline(always)]
fn few_rows<'d, 'a, T>(
    dst: &'d mut MatMut<'_, T>,
    lhs: MatRef<'a, T>,
    rhs: MatRef<'a, T>,
) -> (MatMut<'d, T>, MatRef<'a, T>, MatRef<'a, T>) {
    let dst = dst.reborrow();
    if dst.nrows() <= dst.ncols() { (dst, lhs, rhs) } else { (dst.t(), rhs.t(), lhs.t()) }
}

/// `dst[i][j] = lhs[i] . rhs[j]`: rows that are adjacent, and dot products of them.
struct Dots<'a, T> {
    dst: MatMut<'a, T>,
    lhs: MatRef<'a, T>,
    /// Transposed: `[n, k]`.
    rhs: MatRef<'a, T>,
    accum: Accum,
    alpha: T,
}

impl<T: Element> Job<T> for Dots<'_, T> {
    #[inline(always)]
    fn run<V: Vector<T>>(mut self, token: V::Token) {
        // A tile of `I * J` sums, with `J` operands and one, as large as the registers hold.
        match self.dst.nrows() == 1 || V::REGISTERS >= 32 {
            true => self.columns::<V, 8>(token),
            false => self.columns::<V, 2>(token),
        }
    }
}

impl<T: Element> Dots<'_, T> {
    /// Rows of `rhs` are read once, `J` at a time, and stay in cache for all rows of `lhs`. The more, the less
    /// often `lhs` is read, which may not fit the nearest cache.
    #[inline(always)]
    fn columns<V: Vector<T>, const J: usize>(&mut self, token: V::Token) {
        let n = self.dst.ncols();
        let mut j = 0;
        while j < n {
            j += match n - j {
                left if left >= J => self.strip::<V, J>(token, j),
                4.. => self.strip::<V, 4>(token, j),
                _ => self.strip::<V, 1>(token, j),
            };
        }
    }

    #[inline(always)]
    fn strip<V: Vector<T>, const J: usize>(&mut self, token: V::Token, j: usize) -> usize {
        let m = self.dst.nrows();
        let k = self.lhs.ncols();
        let mut rhs: [&[T]; J] = [&[]; J];
        for b in 0..J {
            rhs[b] = &self.rhs.row(j + b)[..k];
        }
        let mut i = 0;
        while i < m {
            // Three rows of eight columns do not fit the registers. Four rows go in two pairs: tiles of one row
            // wait for their only sums.
            i += match m - i {
                1 => self.tile::<V, 1, J>(token, i, j, rhs),
                2 | 4 => self.tile::<V, 2, J>(token, i, j, rhs),
                _ if J == 8 => self.tile::<V, 2, J>(token, i, j, rhs),
                _ => self.tile::<V, 3, J>(token, i, j, rhs),
            };
        }
        J
    }

    /// `I` rows and `J` columns of the result; returns `I`.
    #[inline(always)]
    fn tile<V: Vector<T>, const I: usize, const J: usize>(
        &mut self,
        token: V::Token,
        i: usize,
        j: usize,
        rhs: [&[T]; J],
    ) -> usize {
        let k = self.lhs.ncols();
        let mut lhs: [&[T]; I] = [&[]; I];
        for a in 0..I {
            lhs[a] = &self.lhs.row(i + a)[..k];
        }
        let mut sums = [[V::splat(token, T::ZERO); J]; I];
        let whole = k - k % V::LANES;
        for p in (0..whole).step_by(V::LANES) {
            add_products(token, &mut sums, (lhs, rhs), p, V::load);
        }
        if whole < k {
            add_products(token, &mut sums, (lhs, rhs), whole, V::load_padded);
        }
        for a in 0..I {
            store(&mut self.dst, i + a, j, &row_totals(&sums[a]), self.accum, self.alpha);
        }
        I
    }
}

#[inline(always)]
fn row_totals<T: Element, V: Vector<T>, const J: usize>(sums: &[V; J]) -> [T; J] {
    let mut totals = [T::ZERO; J];
    if J.is_multiple_of(4) {
        for b in (0..J).step_by(4) {
            let four = V::totals([sums[b], sums[b + 1], sums[b + 2], sums[b + 3]]);
            totals[b..b + 4].copy_from_slice(&four);
        }
    } else {
        for b in 0..J {
            totals[b] = sums[b].total();
        }
    }
    totals
}

/// `sums[a][b] += lhs[a] * rhs[b]`, for the elements from `p` that `load` takes.
#[inline(always)]
fn add_products<T: Element, V: Vector<T>, const I: usize, const J: usize>(
    token: V::Token,
    sums: &mut [[V; J]; I],
    (lhs, rhs): ([&[T]; I], [&[T]; J]),
    p: usize,
    load: impl Fn(V::Token, &[T]) -> V,
) {
    let mut factors = [V::splat(token, T::ZERO); J];
    for b in 0..J {
        factors[b] = load(token, &rhs[b][p..]);
    }
    for a in 0..I {
        let factor = load(token, &lhs[a][p..]);
        for b in 0..J {
            sums[a][b] = factor.fused(factors[b], sums[a][b]);
        }
    }
}

/// A row vector times a matrix whose rows are adjacent: `dst[0][j] = sum_p lhs[0][p] rhs[p][j]`.
struct Rows<'a, T> {
    dst: MatMut<'a, T>,
    lhs: MatRef<'a, T>,
    rhs: MatRef<'a, T>,
    accum: Accum,
    alpha: T,
}

impl<T: Element> Job<T> for Rows<'_, T> {
    #[inline(always)]
    fn run<V: Vector<T>>(mut self, token: V::Token) {
        let n = self.dst.ncols();
        let mut j = 0;
        while j < n {
            j += match (n - j) / V::LANES {
                16.. if V::REGISTERS >= 32 => self.strip::<V, 16>(token, j),
                8.. => self.strip::<V, 8>(token, j),
                2.. => self.strip::<V, 2>(token, j),
                1 => self.strip::<V, 1>(token, j),
                0 => self.tail::<V>(token, j),
            };
        }
    }
}

impl<T: Element> Rows<'_, T> {
    /// `C` vectors of the result from column `j`; returns the number of columns.
    #[inline(always)]
    fn strip<V: Vector<T>, const C: usize>(&mut self, token: V::Token, j: usize) -> usize {
        let mut sums = [V::splat(token, T::ZERO); C];
        for p in 0..self.lhs.ncols() {
            let factor = V::splat(token, self.lhs.data()[p * self.lhs.col_stride()]);
            let row = &self.rhs.row(p)[j..j + C * V::LANES];
            for c in 0..C {
                sums[c] = factor.fused(V::load(token, &row[c * V::LANES..]), sums[c]);
            }
        }
        for c in 0..C {
            self.store(j + c * V::LANES, V::LANES, sums[c]);
        }
        C * V::LANES
    }

    /// The last columns, fewer than a vector.
    #[inline(always)]
    fn tail<V: Vector<T>>(&mut self, token: V::Token, j: usize) -> usize {
        let width = self.dst.ncols() - j;
        let mut sums = V::splat(token, T::ZERO);
        for p in 0..self.lhs.ncols() {
            let factor = V::splat(token, self.lhs.data()[p * self.lhs.col_stride()]);
            sums = factor.fused(V::load_padded(token, &self.rhs.row(p)[j..]), sums);
        }
        self.store(j, width, sums);
        width
    }

    #[inline(always)]
    fn store<V: Vector<T>>(&mut self, j: usize, width: usize, sums: V) {
        let mut part = [T::ZERO; 16];
        let part = &mut part[..width];
        sums.store(part);
        store(&mut self.dst, 0, j, part, self.accum, self.alpha);
    }
}

/// Puts adjacent sums of row `i` into their places.
#[inline(always)]
fn store<T: Element>(dst: &mut MatMut<'_, T>, i: usize, j: usize, sums: &[T], accum: Accum, alpha: T) {
    let put = |place: &mut T, sum: T| match accum {
        Accum::Replace => *place = alpha * sum,
        Accum::Add => *place += alpha * sum,
    };
    if dst.col_stride() == 1 {
        for (place, sum) in dst.row_mut(i)[j..j + sums.len()].iter_mut().zip(sums) {
            put(place, *sum);
        }
    } else {
        for (l, sum) in sums.iter().enumerate() {
            put(dst.at(i, j + l), *sum);
        }
    }
}
