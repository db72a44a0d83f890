//! Products with a vector or with a few rows.
//!
//! A general product packs an operand to read it many times; with few rows there is nothing to gain
//! from that, and the time is that of reading the large operand once. Two kernels cover the layouts
//! that matter: [`Dots`], where both operands are adjacent along the inner dimension (`x w^T`, matrix
//! times vector), and [`Rows`], where the large operand is adjacent along the outer one (`x w`).
//! They are plain loops over arrays as wide as a vector, compiled once per vector width.

use std::ops::Range;

use crate::options::Accum;
use crate::product::Product;
use crate::vector::{Current, Job, Vector, run_at};
use crate::view::MatMut;

/// Computes the product as dot products: the rows of the left operand and the columns of the right one are adjacent.
#[inline(always)]
pub(crate) fn dots(product: Product<'_, '_>, current: Current) {
    run_at(current, Dots(few_rows(product)));
}

/// Computes a product of a vector and a matrix that is adjacent along the outer dimension.
#[inline(always)]
pub(crate) fn row(product: Product<'_, '_>, current: Current) {
    run_at(current, Rows(few_rows(product)));
}

/// The product whose left operand is the one with few rows.
#[inline(always)]
fn few_rows<'d, 'a>(product: Product<'d, 'a>) -> Product<'d, 'a> {
    if product.dst.nrows() <= product.dst.ncols() { product } else { product.t() }
}

/// `dst[i][j] = lhs[i] . rhs^T[j]`: rows of the left operand and columns of the right one are adjacent.
struct Dots<'d, 'a>(Product<'d, 'a>);

impl Job for Dots<'_, '_> {
    #[inline(always)]
    fn run<V: Vector>(mut self, token: V::Token) {
        // A tile of `I * J` sums, with `J` operands and one, as large as the registers hold.
        match self.0.dst.nrows() == 1 || V::REGISTERS >= 32 {
            true => self.columns::<V, 8>(token),
            false => self.columns::<V, 2>(token),
        }
    }
}

impl Dots<'_, '_> {
    /// Rows of `rhs` are read once, `J` at a time, and stay in cache for all rows of `lhs`. The larger `J`, the less
    /// often `lhs` is read, which may not fit the nearest cache.
    #[inline(always)]
    fn columns<V: Vector, const J: usize>(&mut self, token: V::Token) {
        let n = self.0.dst.ncols();
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
    fn strip<V: Vector, const J: usize>(&mut self, token: V::Token, j: usize) -> usize {
        let m = self.0.dst.nrows();
        let k = self.0.lhs.ncols();
        let mut rhs: [&[f32]; J] = [&[]; J];
        for b in 0..J {
            rhs[b] = &self.0.rhs.t().row(j + b)[..k];
        }
        let mut i = 0;
        while i < m {
            // Three rows of eight columns do not fit the registers. Four rows go in two pairs: tiles of one row
            // wait for their only sums.
            let height = match m - i {
                1 => 1,
                2 | 4 => 2,
                _ if J == 8 => 2,
                _ => 3,
            };
            // All tiles but the first find the strip in cache, so memory would rest: each fetches its share of the next strip.
            let ahead = if m > 3 { j + J + i * J / m..j + J + (i + height) * J / m } else { 0..0 };
            match height {
                1 => self.tile::<V, 1, J>(token, i, j, rhs, ahead),
                2 => self.tile::<V, 2, J>(token, i, j, rhs, ahead),
                _ => self.tile::<V, 3, J>(token, i, j, rhs, ahead),
            }
            i += height;
        }
        J
    }

    /// `I` rows and `J` columns of the result. On its way it fetches the columns `ahead` of the right operand.
    #[inline(always)]
    fn tile<V: Vector, const I: usize, const J: usize>(
        &mut self,
        token: V::Token,
        i: usize,
        j: usize,
        rhs: [&[f32]; J],
        ahead: Range<usize>,
    ) {
        let k = self.0.lhs.ncols();
        let mut lhs: [&[f32]; I] = [&[]; I];
        for a in 0..I {
            lhs[a] = &self.0.lhs.row(i + a)[..k];
        }
        let mut sums = [[V::splat(token, 0.0); J]; I];
        let whole = k - k % V::LANES;
        for p in (0..whole).step_by(V::LANES) {
            for column in ahead.clone() {
                V::prefetch(token, self.0.rhs.data(), column * self.0.rhs.col_stride() + p);
            }
            sums = add_products(token, sums, (lhs, rhs), p, V::load);
        }
        if whole < k {
            sums = add_products(token, sums, (lhs, rhs), whole, V::load_padded);
        }
        // One after the other, not in a loop, so that the sums stay in their registers.
        self.put(i, j, sums[0]);
        if I > 1 {
            self.put(i + 1, j, sums[1]);
        }
        if I > 2 {
            self.put(i + 2, j, sums[2]);
        }
    }

    /// Adds up the sums of a row of the result and writes them.
    #[inline(always)]
    fn put<V: Vector, const J: usize>(&mut self, i: usize, j: usize, sums: [V; J]) {
        store(&mut self.0.dst, i, j, &row_totals(&sums), self.0.accum, self.0.alpha);
    }
}

#[inline(always)]
fn row_totals<V: Vector, const J: usize>(sums: &[V; J]) -> [f32; J] {
    let mut totals = [0.0; J];
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
fn add_products<V: Vector, const I: usize, const J: usize>(
    token: V::Token,
    mut sums: [[V; J]; I],
    (lhs, rhs): ([&[f32]; I], [&[f32]; J]),
    p: usize,
    load: impl Fn(V::Token, &[f32]) -> V,
) -> [[V; J]; I] {
    let mut factors = [V::splat(token, 0.0); J];
    for b in 0..J {
        factors[b] = load(token, &rhs[b][p..]);
    }
    for a in 0..I {
        let factor = load(token, &lhs[a][p..]);
        for b in 0..J {
            sums[a][b] = factor.fused(factors[b], sums[a][b]);
        }
    }
    sums
}

/// A row vector times a matrix whose rows are adjacent: `dst[0][j] = sum_p lhs[0][p] rhs[p][j]`.
struct Rows<'d, 'a>(Product<'d, 'a>);

impl Job for Rows<'_, '_> {
    #[inline(always)]
    fn run<V: Vector>(mut self, token: V::Token) {
        let n = self.0.dst.ncols();
        let mut j = 0;
        while j < n {
            // At least four sums hide the latency of an addition. So the last columns are computed with as many sums
            // as they fill.
            j += match ((n - j) / V::LANES, (n - j) % V::LANES) {
                (16.., _) if V::REGISTERS >= 32 => self.strip::<V, 16>(token, j),
                (12.., _) if V::REGISTERS >= 32 => self.strip::<V, 12>(token, j),
                (8.., _) => self.strip::<V, 8>(token, j),
                (4.., _) => self.strip::<V, 4>(token, j),
                (3, 0) => self.strip::<V, 3>(token, j),
                (2, 0) => self.strip::<V, 2>(token, j),
                (1, 0) => self.strip::<V, 1>(token, j),
                (3, _) => self.last::<V, 4>(token, j),
                (2, _) => self.last::<V, 3>(token, j),
                (1, _) => self.last::<V, 2>(token, j),
                (0, _) => self.last::<V, 1>(token, j),
            };
        }
    }
}

impl Rows<'_, '_> {
    /// `C` vectors of the result from column `j`; returns the number of columns.
    #[inline(always)]
    fn strip<V: Vector, const C: usize>(&mut self, token: V::Token, j: usize) -> usize {
        let mut sums = [V::splat(token, 0.0); C];
        for p in 0..self.0.lhs.ncols() {
            let factor = V::splat(token, self.0.lhs.data()[p * self.0.lhs.col_stride()]);
            let row = &self.0.rhs.row(p)[j..j + C * V::LANES];
            for c in 0..C {
                sums[c] = factor.fused(V::load(token, &row[c * V::LANES..]), sums[c]);
            }
        }
        for c in 0..C {
            self.store(j + c * V::LANES, V::LANES, sums[c]);
        }
        C * V::LANES
    }

    /// The last columns: `C - 1` vectors, and the rest, which does not fill another.
    #[inline(always)]
    fn last<V: Vector, const C: usize>(&mut self, token: V::Token, j: usize) -> usize {
        let width = self.0.dst.ncols() - j;
        let whole = (C - 1) * V::LANES;
        let mut sums = [V::splat(token, 0.0); C];
        for p in 0..self.0.lhs.ncols() {
            let factor = V::splat(token, self.0.lhs.data()[p * self.0.lhs.col_stride()]);
            let row = &self.0.rhs.row(p)[j..j + width];
            for c in 0..C - 1 {
                sums[c] = factor.fused(V::load(token, &row[c * V::LANES..]), sums[c]);
            }
            sums[C - 1] = factor.fused(V::load_padded(token, &row[whole..]), sums[C - 1]);
        }
        for c in 0..C - 1 {
            self.store(j + c * V::LANES, V::LANES, sums[c]);
        }
        self.store(j + whole, width - whole, sums[C - 1]);
        width
    }

    #[inline(always)]
    fn store<V: Vector>(&mut self, j: usize, width: usize, sums: V) {
        let mut part = [0.0; 16];
        let part = &mut part[..width];
        sums.store(part);
        store(&mut self.0.dst, 0, j, part, self.0.accum, self.0.alpha);
    }
}

/// Puts adjacent sums of row `i` into their places.
#[inline(always)]
fn store(dst: &mut MatMut<'_, f32>, i: usize, j: usize, sums: &[f32], accum: Accum, alpha: f32) {
    let put = |place: &mut f32, sum: f32| match accum {
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
