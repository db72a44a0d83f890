//! Products by a kernel of our own, for vectors of 512 bits and, in narrower tiles, for those of WebAssembly.
//!
//! A strip of columns of the right operand, as wide as four vectors, is packed on the stack, a block of its rows at a time;
//! it stays in the nearest cache while all rows of the left operand pass by. Six of these at a time are read without a copy,
//! number by number, whether or not their matrix is transposed, and make a tile of 6 by 4 vectors in registers: 24 fused
//! multiply-adds for ten loads. So only the right operand is packed, which for layers of 128 units and more costs less than
//! packing both, as general kernels do. Where its columns are adjacent instead of its rows (the weights of a linear
//! layer), it is transposed by shuffles of registers on the way. What many products of few rows read is packed once, as a
//! whole: [`WeightMatrix`](crate::WeightMatrix).
//!
//! A large left operand whose columns are adjacent (the gradient of weights) has each number of a row on another page:
//! blocks of it are gathered where several strips read them.

use std::mem::MaybeUninit;
use std::ops::Range;

use foretell_pool::Buffer;
use foretell_simd::level;

use crate::options::Accum;
use crate::plan::limits::strips::{DEPTH, FAR, GAP, ROWS, STRIP};
use crate::product::Product;
use crate::vector::{Current, Job, Vector, load, run, run_at, scaled, transpose_square};
use crate::view::{MatMut, MatRef};

/// Rows of a tile, and its vectors.
const HEIGHT: usize = 6;
const VECTORS: usize = STRIP / 16;

/// Computes a product that the plan gives to this kernel.
pub(crate) fn product(product: Product<'_, '_>, current: Current) {
    let Some(Product { dst, lhs, rhs, accum, alpha }) = product.by_rows() else {
        unreachable!("strips for a destination whose rows and columns have gaps")
    };
    run_at(current, Strips { dst, lhs, rhs: Right::Matrix(rhs), accum, alpha });
}

/// The strips that [`pack`] has packed, or its columns from `first` on, a multiple of [`STRIP`].
#[derive(Clone, Copy)]
pub(crate) struct PackedStrips<'a> {
    pub(crate) values: &'a [f32],
    /// Columns of the whole matrix.
    pub(crate) cols: usize,
    pub(crate) first: usize,
}

/// The product with strips, as many columns of them as the destination has, whose rows are adjacent.
pub(crate) fn product_with_packed(
    dst: MatMut<'_, f32>,
    lhs: MatRef<'_, f32>,
    strips: PackedStrips<'_>,
    accum: Accum,
    alpha: f32,
) {
    assert!(level().has_avx512(), "strips for vectors of 512 bits at the level {}", level());
    assert!(strips.first.is_multiple_of(STRIP) && strips.first + dst.ncols() <= strips.cols);
    run(Strips { dst, lhs, rhs: Right::Packed(strips), accum, alpha });
}

/// Elements that a packed matrix takes, at any width of vectors.
pub(crate) fn packed_len(rows: usize, cols: usize) -> usize {
    rows.saturating_mul(cols.next_multiple_of(16))
}

/// Packs a whole right operand, whose rows or columns are adjacent: block after block of its rows, each strip after strip.
/// It does nothing and says so where the machine has no vectors that are wide enough.
pub(crate) fn pack(rhs: MatRef<'_, f32>, strips: &mut [f32]) -> bool {
    assert_eq!(strips.len(), packed_len(rhs.nrows(), rhs.ncols()));
    let fits = level().has_avx512() && (rhs.col_stride() == 1 || rhs.row_stride() == 1);
    fits && run(Pack { rhs, strips }).is_none()
}

struct Pack<'a> {
    rhs: MatRef<'a, f32>,
    strips: &'a mut [f32],
}

impl Job for Pack<'_> {
    #[inline(always)]
    fn run<V: Vector>(self, token: V::Token) {
        let (n, k) = (self.rhs.ncols(), self.rhs.nrows());
        // SAFETY: an element may be taken for one that may be without a value; only values are written.
        let mut rest = unsafe { &mut *(&raw mut *self.strips as *mut [MaybeUninit<f32>]) };
        for start in (0..k).step_by(DEPTH) {
            let inner = start..k.min(start + DEPTH);
            let mut j = 0;
            while j < n {
                let vectors = width::<V>(n - j);
                let strip =
                    rest.split_off_mut(..inner.len() * vectors * V::LANES).expect("a place for each strip");
                match vectors {
                    VECTORS => pack_strip::<V, VECTORS>(token, self.rhs, strip, inner.clone(), j),
                    2 => pack_strip::<V, 2>(token, self.rhs, strip, inner.clone(), j),
                    _ => pack_strip::<V, 1>(token, self.rhs, strip, inner.clone(), j),
                }
                j += vectors * V::LANES;
            }
        }
    }
}

/// `dst = lhs * rhs`, where rows of `dst` are adjacent elements.
struct Strips<'a> {
    dst: MatMut<'a, f32>,
    lhs: MatRef<'a, f32>,
    rhs: Right<'a>,
    accum: Accum,
    alpha: f32,
}

/// A right operand.
#[derive(Clone, Copy)]
enum Right<'a> {
    /// Rows or columns are adjacent.
    Matrix(MatRef<'a, f32>),
    /// As [`pack`] leaves it.
    Packed(PackedStrips<'a>),
}

/// A block of a strip, `[depth, width]`, on lines of the cache.
#[repr(align(64))]
struct Strip([MaybeUninit<f32>; DEPTH * VECTORS * 16]);

impl Job for Strips<'_> {
    #[inline(always)]
    fn run<V: Vector>(mut self, token: V::Token) {
        let (m, n, k) = (self.dst.nrows(), self.dst.ncols(), self.lhs.ncols());
        let mut strip = Strip([MaybeUninit::uninit(); DEPTH * VECTORS * 16]);
        let gathers = self.lhs.row_stride() == 1
            && self.lhs.col_stride() != 1
            && n > VECTORS * V::LANES
            && m.saturating_mul(k) > FAR;
        let mut gathered = Buffer::<f32>::stale(if gathers { (m.min(ROWS) + GAP) * DEPTH } else { 0 });
        for top in (0..m).step_by(ROWS) {
            let rows = top..m.min(top + ROWS);
            for start in (0..k).step_by(DEPTH) {
                let inner = start..k.min(start + DEPTH);
                let lhs = self.lhs.rows(rows.clone()).cols(inner.clone());
                let mut block = Block {
                    dst: self.dst.reborrow().rows(rows.clone()),
                    lhs: if gathers { gather(lhs, &mut gathered) } else { lhs },
                    adds: self.accum == Accum::Add || start > 0,
                    alpha: self.alpha,
                };
                let mut j = 0;
                while j < n {
                    let right = (self.rhs, inner.clone(), j);
                    j += match width::<V>(n - j) {
                        VECTORS => block.strip::<V, VECTORS>(token, &mut strip, right),
                        2 => block.strip::<V, 2>(token, &mut strip, right),
                        _ => block.strip::<V, 1>(token, &mut strip, right),
                    };
                }
            }
        }
    }
}

/// A copy of a matrix whose columns are adjacent.
#[inline(always)]
fn gather<'a>(lhs: MatRef<'_, f32>, place: &'a mut [f32]) -> MatRef<'a, f32> {
    let (columns, m) = (lhs.t(), lhs.nrows());
    let pitch = m + GAP;
    for (p, to) in place.chunks_exact_mut(pitch).take(lhs.ncols()).enumerate() {
        to[..m].copy_from_slice(columns.row(p));
    }
    MatRef::new(place, m, lhs.ncols(), 1, pitch)
}

/// The part of a product that a block of the inner dimension adds to some rows of the destination.
struct Block<'d, 'a> {
    dst: MatMut<'d, f32>,
    lhs: MatRef<'a, f32>,
    /// Whether it is added to what the destination holds.
    adds: bool,
    alpha: f32,
}

impl Block<'_, '_> {
    /// Up to `J` vectors of columns from `j`, of the rows `inner` of the right operand; returns the number of columns.
    #[inline(always)]
    fn strip<V: Vector, const J: usize>(
        &mut self,
        token: V::Token,
        strip: &mut Strip,
        (rhs, inner, j): (Right<'_>, Range<usize>, usize),
    ) -> usize {
        let len = inner.len() * J * V::LANES;
        let packed = match rhs {
            Right::Matrix(rhs) => {
                let packed = &mut strip.0[..len];
                pack_strip::<V, J>(token, rhs, packed, inner, j);
                // SAFETY: all of it was written.
                unsafe { &*(&raw const *packed as *const [f32]) }
            }
            Right::Packed(PackedStrips { values, cols, first }) => {
                let block = inner.start * cols.next_multiple_of(V::LANES);
                &values[block + inner.len() * (first + j)..][..len]
            }
        };
        let (m, mut i) = (self.dst.nrows(), 0);
        while i < m {
            i += match m - i {
                HEIGHT.. => self.tile::<V, HEIGHT, J>(token, packed, i, j),
                4.. => self.tile::<V, 4, J>(token, packed, i, j),
                2.. => self.tile::<V, 2, J>(token, packed, i, j),
                _ => self.tile::<V, 1, J>(token, packed, i, j),
            };
        }
        J * V::LANES
    }

    /// `I` rows from `i` and up to `J` vectors of columns from `j`, with a packed strip; returns `I`.
    #[inline(always)]
    fn tile<V: Vector, const I: usize, const J: usize>(
        &mut self,
        token: V::Token,
        packed: &[f32],
        i: usize,
        j: usize,
    ) -> usize {
        let (data, row_stride, col_stride) = (self.lhs.data(), self.lhs.row_stride(), self.lhs.col_stride());
        let depth = packed.len() / (J * V::LANES);
        assert!(i + I <= self.lhs.nrows() && depth <= self.lhs.ncols());
        // What the sums are added to is fetched while they are made.
        for a in 0..I {
            let row = &self.dst.row_mut(i + a)[j..];
            for c in 0..J {
                V::prefetch(token, row, c * V::LANES);
            }
        }
        // So are the next rows of the left operand, which the first strip reads from afar.
        if j == 0 && col_stride == 1 {
            for a in i + I..i + 2 * I {
                for p in (0..depth).step_by(V::LANES) {
                    V::prefetch(token, data, a * row_stride + p);
                }
            }
        }
        let mut sums = [[V::splat(token, 0.0); J]; I];
        let mut place = i * row_stride;
        for row in packed.chunks_exact(J * V::LANES) {
            let mut factors = [V::splat(token, 0.0); J];
            for c in 0..J {
                factors[c] = V::load(token, &row[c * V::LANES..]);
            }
            for a in 0..I {
                // SAFETY: an element of the left operand, by the assertion; its view is within the slice.
                let x = V::splat(token, unsafe { *data.get_unchecked(place + a * row_stride) });
                for c in 0..J {
                    sums[a][c] = x.fused(factors[c], sums[a][c]);
                }
            }
            place += col_stride;
        }
        // One after the other, not in a loop, so that the sums stay in their registers.
        self.put(token, i, j, sums[0]);
        if I > 1 {
            self.put(token, i + 1, j, sums[1]);
        }
        if I > 2 {
            self.put(token, i + 2, j, sums[2]);
            self.put(token, i + 3, j, sums[3]);
        }
        if I > 4 {
            self.put(token, i + 4, j, sums[4]);
            self.put(token, i + 5, j, sums[5]);
        }
        I
    }

    /// Takes sums into a row of the destination.
    #[inline(always)]
    fn put<V: Vector, const J: usize>(&mut self, token: V::Token, i: usize, j: usize, sums: [V; J]) {
        let (adds, alpha) = (self.adds, self.alpha);
        let row = &mut self.dst.row_mut(i)[j..];
        for c in 0..J {
            let end = row.len().min((c + 1) * V::LANES);
            let place = &mut row[end.min(c * V::LANES)..end];
            let old = if adds { Some(load(token, place)) } else { None };
            scaled(token, alpha, sums[c], old).store(place);
        }
    }
}

/// The vectors of the next strip, of this many columns that are left: a tile of six rows by four vectors and what it reads fits 32
/// registers, one by two vectors fits 16.
#[inline(always)]
fn width<V: Vector>(columns: usize) -> usize {
    match columns.div_ceil(V::LANES) {
        VECTORS.. if V::REGISTERS >= 32 => VECTORS,
        2.. => 2,
        _ => 1,
    }
}

/// Packs a block of `J` vectors of columns from `j`, `[depth, width]`; all of it is written.
#[inline(always)]
pub(crate) fn pack_strip<V: Vector, const J: usize>(
    token: V::Token,
    rhs: MatRef<'_, f32>,
    packed: &mut [MaybeUninit<f32>],
    inner: Range<usize>,
    j: usize,
) {
    match rhs.col_stride() == 1 {
        true => pack_rows::<V, J>(token, rhs, packed, inner, j),
        false => pack_columns::<V, J>(token, rhs, packed, inner, j),
    }
}

/// Packs columns from `j` of a right operand whose rows are adjacent; beyond the last there are zeros.
#[inline(always)]
fn pack_rows<V: Vector, const J: usize>(
    token: V::Token,
    rhs: MatRef<'_, f32>,
    packed: &mut [MaybeUninit<f32>],
    inner: Range<usize>,
    j: usize,
) {
    for (p, to) in inner.zip(packed.chunks_exact_mut(J * V::LANES)) {
        let row = &rhs.row(p)[j..];
        for c in 0..J {
            load::<V>(token, row.get(c * V::LANES..).unwrap_or_default())
                .store_first(&mut to[c * V::LANES..(c + 1) * V::LANES]);
        }
    }
}

/// Packs columns from `j` of a right operand whose columns are adjacent; beyond the last there are zeros. Columns lie far from
/// each other, so the next ones are asked for ahead of their use.
#[inline(always)]
fn pack_columns<V: Vector, const J: usize>(
    token: V::Token,
    rhs: MatRef<'_, f32>,
    packed: &mut [MaybeUninit<f32>],
    inner: Range<usize>,
    j: usize,
) {
    let (columns, n) = (rhs.t(), rhs.ncols());
    for c in 0..J {
        let first = j + c * V::LANES;
        for p in (0..inner.len()).step_by(V::LANES) {
            let part = inner.start + p..inner.end;
            // A square of as many columns as a register holds numbers.
            let mut square = [V::splat(token, 0.0); 16];
            for l in 0..V::LANES {
                if first + l < n {
                    square[l] = load::<V>(token, &columns.row(first + l)[part.clone()]);
                    V::prefetch(
                        token,
                        columns.data(),
                        (first + l + V::LANES) * columns.row_stride() + part.start,
                    );
                }
            }
            transpose_square::<V>(&mut square);
            for l in 0..V::LANES.min(part.len()) {
                let at = ((p + l) * J + c) * V::LANES;
                square[l].store_first(&mut packed[at..at + V::LANES]);
            }
        }
    }
}
