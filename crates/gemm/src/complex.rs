//! Products of small complex matrices, many at a time, whose real and imaginary parts lie apart.
//!
//! As one product of real matrices of twice the size, either operand would have to be written out, one of them twice.
//! Here a row of the right operand and a number of the left one, in two parts each, are read without a copy, and the
//! four products of their parts are summed in registers: each number that is read takes part in two of them, and the
//! result is written once.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr::NonNull;

use foretell_pool::Buffer;

use crate::check::assert_shapes;
use crate::flops::count_products;
use crate::matmul::matmul;
use crate::options::{Accum, Options, Rounding};
use crate::plan::limits::tasks::TASK;
use crate::strips::pack_strip;
use crate::vector::{Job, Vector, load, run};
use crate::view::{MatMut, MatRef, distinct, extent};

/// Matrices that are walked side by side, block of rows by block of rows: neighbours in memory where they are the heads
/// of an attention.
const GROUP: usize = 8;

/// The dimensions of a batch of matrices, the outer one first: how many there are, and the elements from one to the next.
pub type BatchDims = [(usize, usize); 2];

/// Complex matrices to read, in a batch of two dimensions.
#[derive(Clone, Copy)]
pub struct ComplexBatchRef<'a> {
    parts: [&'a [f32]; 2],
    batch: BatchDims,
    size: (usize, usize),
    strides: (usize, usize),
    conjugated: bool,
}

/// Complex matrices to write, in a batch of two dimensions. All elements lie at distinct places.
pub struct ComplexBatchMut<'a> {
    parts: [NonNull<f32>; 2],
    batch: BatchDims,
    size: (usize, usize),
    row_stride: usize,
    borrow: PhantomData<&'a mut [f32]>,
}

// SAFETY: an exclusive borrow of its elements, as `&mut [f32]` is.
unsafe impl Send for ComplexBatchMut<'_> {}
// SAFETY: a shared one gives no access but through the unsafe `get`, which hands out `&mut`.
unsafe impl Sync for ComplexBatchMut<'_> {}

impl<'a> ComplexBatchRef<'a> {
    /// A view of `data` with the given strides: the real part of element `(b, c, i, j)` is
    /// `data[b * batch[0].1 + c * batch[1].1 + i * strides.0 + j * strides.1]`, the imaginary part is `imaginary` elements
    /// behind it.
    ///
    /// # Panics
    ///
    /// If the last element is beyond the slice.
    #[track_caller]
    pub fn new(
        data: &'a [f32],
        imaginary: usize,
        batch: BatchDims,
        size: (usize, usize),
        strides: (usize, usize),
    ) -> Self {
        let last = data.get(imaginary..).unwrap_or_default();
        assert_within(last.len(), batch, size, strides);
        Self { parts: [data, last], batch, size, strides, conjugated: false }
    }

    /// The transpose of each matrix, at no cost.
    #[must_use]
    pub fn t(self) -> Self {
        let ((rows, cols), (row_stride, col_stride)) = (self.size, self.strides);
        Self { size: (cols, rows), strides: (col_stride, row_stride), ..self }
    }

    /// The conjugate of each matrix, at no cost.
    #[must_use]
    pub fn conj(self) -> Self {
        Self { conjugated: !self.conjugated, ..self }
    }

    #[inline(always)]
    fn get(&self, index: usize) -> [MatRef<'a, f32>; 2] {
        let ((rows, cols), (row_stride, col_stride)) = (self.size, self.strides);
        let start = if rows * cols == 0 { 0 } else { place(self.batch, index) };
        self.parts.map(|part| MatRef { data: &part[start..], rows, cols, row_stride, col_stride })
    }

    /// The factor of the imaginary parts.
    fn sign(&self) -> f32 {
        if self.conjugated { -1.0 } else { 1.0 }
    }
}

impl<'a> ComplexBatchMut<'a> {
    /// A view of `data`, whose rows are adjacent elements: the real part of element `(b, c, i, j)` is
    /// `data[b * batch[0].1 + c * batch[1].1 + i * row_stride + j]`, the imaginary part is `imaginary` elements behind it.
    ///
    /// # Panics
    ///
    /// If the last element is beyond the slice, or if elements may share a place: ordered by size, each stride must step
    /// over everything that the smaller ones reach.
    #[track_caller]
    pub fn new(
        data: &'a mut [f32],
        imaginary: usize,
        batch: BatchDims,
        size: (usize, usize),
        row_stride: usize,
    ) -> Self {
        let last = data.len().saturating_sub(imaginary);
        assert_within(last, batch, size, (row_stride, 1));
        assert!(
            distinct([(2, imaginary), batch[0], batch[1], (size.0, row_stride), (size.1, 1)]),
            "elements of {batch:?} complex destinations of {size:?} with rows {row_stride} apart and parts {imaginary} \
             apart overlap"
        );
        let (len, real) = (data.len(), NonNull::from(data).cast::<f32>());
        // SAFETY: within the slice, or just behind it.
        let parts = [real, unsafe { real.add(imaginary.min(len)) }];
        Self { parts, batch, size, row_stride, borrow: PhantomData }
    }

    /// A matrix of the batch, its two parts.
    ///
    /// # Safety
    ///
    /// While it is used, no element of it is used otherwise.
    #[inline(always)]
    unsafe fn get(&self, index: usize) -> [MatMut<'_, f32>; 2] {
        let (rows, cols) = self.size;
        let start = if rows * cols == 0 { 0 } else { place(self.batch, index) };
        // SAFETY: parts of a borrowed matrix, whose elements lie within the slice at distinct places; the caller sees to
        // exclusiveness.
        self.parts.map(|part| unsafe { MatMut::from_raw(part.add(start), rows, cols, self.row_stride, 1) })
    }
}

/// Where a matrix of a batch begins.
#[inline(always)]
fn place([outer, inner]: BatchDims, index: usize) -> usize {
    assert!(index < outer.0 * inner.0);
    index / inner.0 * outer.1 + index % inner.0 * inner.1
}

#[track_caller]
fn assert_within(len: usize, batch: BatchDims, size: (usize, usize), strides: (usize, usize)) {
    let extent = extent(&[batch[0], batch[1], (size.0, strides.0), (size.1, strides.1)]);
    assert!(
        extent.is_some_and(|extent| extent <= len),
        "{batch:?} complex matrices of {size:?} with strides {strides:?} exceed their parts of {len} elements"
    );
}

/// `dst = lhs * rhs` or `dst += lhs * rhs` for each matrix of a batch. Threads share out the matrices.
///
/// `rounding` to half precision is that of [`matmul`](crate::matmul()). To bfloat16 nothing is rounded: that saves no time,
/// the matrices being small and packed for no product.
///
/// # Panics
///
/// If counts or shapes do not fit together.
#[track_caller]
pub fn matmul_complex_batched(
    dst: ComplexBatchMut<'_>,
    lhs: ComplexBatchRef<'_>,
    rhs: ComplexBatchRef<'_>,
    accum: Accum,
    rounding: Rounding,
) {
    let counts = [dst.batch, lhs.batch, rhs.batch].map(|batch| batch.map(|(count, _)| count));
    assert!(
        counts == [counts[0]; 3],
        "batches of {:?} and {:?} complex matrices do not fit {:?} destinations",
        counts[1],
        counts[2],
        counts[0]
    );
    assert_shapes(dst.size, lhs.size, rhs.size);
    // By real products, those that are large enough would be rounded, and on some machines only.
    let rounding = if rounding == Rounding::Bf16 { Rounding::None } else { rounding };
    let ((rows, cols), depth, count) = (dst.size, lhs.size.1, counts[0][0] * counts[0][1]);
    let adjacent = rhs.strides.0 == 1 || rhs.strides.1 == 1;
    let fused = adjacent && rounding != Rounding::F16 && run(Nothing).is_none();
    if fused {
        count_products(4 * count, [rows, depth, cols]);
    }
    let work = 4 * rows.saturating_mul(depth).saturating_mul(cols).max(1);
    let group = (TASK / work).next_multiple_of(GROUP).max(GROUP);
    foretell_threads::for_each(count.div_ceil(group), 1, |index| {
        let range = index * group..count.min((index + 1) * group);
        let job = Complex { dst: &dst, lhs, rhs, accum, range };
        let left = if fused { run(job) } else { Some(job) };
        for index in left.map_or(0..0, |job| job.range) {
            // SAFETY: each index is taken once, and matrices have no element in common.
            by_parts(unsafe { dst.get(index) }, [lhs, rhs], index, accum, rounding);
        }
    });
}

/// A matrix of the batch by four real products.
fn by_parts(
    [re, im]: [MatMut<'_, f32>; 2],
    [lhs, rhs]: [ComplexBatchRef<'_>; 2],
    index: usize,
    accum: Accum,
    rounding: Rounding,
) {
    let signs = [lhs.sign(), rhs.sign()];
    let (lhs, rhs) = (lhs.get(index), rhs.get(index));
    let add = |dst: &mut MatMut<'_, f32>, [a, b]: [usize; 2], accum, alpha| {
        matmul(dst.reborrow(), lhs[a], rhs[b], Options { accum, alpha, rounding, ..Options::default() });
    };
    let (mut re, mut im) = (re, im);
    add(&mut re, [0, 0], accum, 1.0);
    add(&mut re, [1, 1], Accum::Add, -signs[0] * signs[1]);
    add(&mut im, [0, 1], accum, signs[1]);
    add(&mut im, [1, 0], Accum::Add, signs[0]);
}

/// Finds out whether there are vectors.
struct Nothing;

impl Job for Nothing {
    #[inline(always)]
    fn run<V: Vector>(self, _: V::Token) {}
}

/// Some matrices of a batch, which no one else writes meanwhile.
struct Complex<'d, 'a> {
    dst: &'d ComplexBatchMut<'d>,
    lhs: ComplexBatchRef<'a>,
    rhs: ComplexBatchRef<'a>,
    accum: Accum,
    range: Range<usize>,
}

impl Job for Complex<'_, '_> {
    #[inline(always)]
    fn run<V: Vector>(self, token: V::Token) {
        let adjacent = self.rhs.strides.1 == 1;
        if adjacent { self.in_place::<V>(token) } else { self.packed::<V>(token) }
    }
}

impl Complex<'_, '_> {
    /// Products with rows that are read without a copy. Matrices are neighbours, so blocks of their rows are.
    #[inline(always)]
    fn in_place<V: Vector>(self, token: V::Token) {
        let rows = self.lhs.size.0;
        for first in self.range.clone().step_by(GROUP) {
            let mut top = 0;
            while top < rows {
                let height = height::<V>(rows - top);
                for index in first..self.range.end.min(first + GROUP) {
                    let rhs = self.rhs.get(index);
                    let cols = rhs[0].ncols();
                    for j in (0..cols).step_by(V::LANES) {
                        let width = V::LANES.min(cols - j);
                        self.block::<V>(
                            token,
                            index,
                            (top, height),
                            rhs.map(|rhs| rhs.cols(j..j + width)),
                            j,
                        );
                    }
                }
                top += height;
            }
        }
    }

    /// Products with columns, which are transposed by strips.
    #[inline(always)]
    fn packed<V: Vector>(self, token: V::Token) {
        let ((rows, depth), cols) = (self.lhs.size, self.rhs.size.1);
        let mut strips = Buffer::<f32>::stale(2 * depth * V::LANES);
        for index in self.range.clone() {
            let rhs = self.rhs.get(index);
            for j in (0..cols).step_by(V::LANES) {
                for (rhs, strip) in rhs.into_iter().zip(strips.chunks_exact_mut((depth * V::LANES).max(1))) {
                    // SAFETY: numbers as good as any, and what is written to them are numbers.
                    let strip = unsafe { &mut *(&raw mut *strip as *mut [MaybeUninit<f32>]) };
                    pack_strip::<V, 1>(token, rhs, strip, 0..depth, j);
                }
                let width = V::LANES.min(cols - j);
                let (re, im) = strips.split_at(depth * V::LANES);
                let strip = [re, im].map(|strip| MatRef::new(strip, depth, width, V::LANES, 1));
                let mut top = 0;
                while top < rows {
                    let height = height::<V>(rows - top);
                    self.block::<V>(token, index, (top, height), strip, j);
                    top += height;
                }
            }
        }
    }

    /// A block of rows of a matrix, times up to a vector of columns, those from `j` on.
    #[inline(always)]
    fn block<V: Vector>(
        &self,
        token: V::Token,
        index: usize,
        (top, height): (usize, usize),
        rhs: [MatRef<'_, f32>; 2],
        j: usize,
    ) {
        let lhs = self.lhs.get(index);
        // SAFETY: no one else writes this matrix, and its parts have no element in common.
        let dst = unsafe { self.dst.get(index) };
        let signs = [self.lhs.sign(), self.rhs.sign()];
        let tile = Tile { dst, lhs, rhs, signs, adds: self.accum == Accum::Add, top, left: j };
        match height {
            1 => tile.run::<V, 1>(token),
            2 => tile.run::<V, 2>(token),
            3 => tile.run::<V, 3>(token),
            _ => tile.run::<V, 4>(token),
        }
    }
}

/// Rows that are multiplied at a time, of this many that are left: four sums of each are held in registers.
#[inline(always)]
fn height<V: Vector>(rows: usize) -> usize {
    rows.min(if V::REGISTERS > 16 { 4 } else { 2 })
}

/// Some rows of a product, from `top` on, and up to a vector of its columns, from `left` on.
struct Tile<'d, 'a, 'b> {
    dst: [MatMut<'d, f32>; 2],
    lhs: [MatRef<'a, f32>; 2],
    /// These columns alone.
    rhs: [MatRef<'b, f32>; 2],
    signs: [f32; 2],
    adds: bool,
    top: usize,
    left: usize,
}

impl Tile<'_, '_, '_> {
    #[inline(always)]
    fn run<V: Vector, const I: usize>(self, token: V::Token) {
        match self.rhs[0].ncols() == V::LANES {
            true => self.multiply::<V, I>(token, V::load),
            false => self.multiply::<V, I>(token, V::load_padded),
        }
    }

    #[inline(always)]
    fn multiply<V: Vector, const I: usize>(
        mut self,
        token: V::Token,
        load_part: impl Fn(V::Token, &[f32]) -> V,
    ) {
        let ([lhs_re, lhs_im], [rhs_re, rhs_im]) = (self.lhs, self.rhs);
        let (depth, width) = (lhs_re.ncols(), rhs_re.ncols());
        assert!(self.top + I <= lhs_re.nrows() && depth <= rhs_re.nrows());
        let zero = V::splat(token, 0.0);
        let mut sums = [[zero; 4]; I];
        for p in 0..depth {
            let start = p * rhs_re.row_stride();
            // SAFETY: the columns of row `p` are adjacent, and by the assertion there is one; both parts are alike.
            let (re, im) = unsafe {
                let row = start..start + width;
                (rhs_re.data().get_unchecked(row.clone()), rhs_im.data().get_unchecked(row))
            };
            let (re, im) = (load_part(token, re), load_part(token, im));
            for a in 0..I {
                // SAFETY: by the assertion there is row `top + a`, and column `p`; both parts are alike.
                let (x, y) =
                    unsafe { (lhs_re.get_unchecked(self.top + a, p), lhs_im.get_unchecked(self.top + a, p)) };
                let (x, y) = (V::splat(token, x), V::splat(token, y));
                sums[a][0] = x.fused(re, sums[a][0]);
                sums[a][1] = y.fused(im, sums[a][1]);
                sums[a][2] = x.fused(im, sums[a][2]);
                sums[a][3] = y.fused(re, sums[a][3]);
            }
        }
        // One after the other, not in a loop, so that the sums stay in their registers.
        self.put(token, 0, width, sums[0]);
        if I > 1 {
            self.put(token, 1, width, sums[1]);
        }
        if I > 2 {
            self.put(token, 2, width, sums[2]);
        }
        if I > 3 {
            self.put(token, 3, width, sums[3]);
        }
    }

    /// Takes the sums of products of real parts, of imaginary ones, and of either kind with the other, into a row.
    #[inline(always)]
    fn put<V: Vector>(&mut self, token: V::Token, a: usize, width: usize, sums: [V; 4]) {
        let [lhs_sign, rhs_sign] = self.signs;
        let splat = |x| V::splat(token, x);
        let columns = self.left..self.left + width;
        for (part, first, second, signs) in
            [(0, sums[0], sums[1], [1.0, -lhs_sign * rhs_sign]), (1, sums[2], sums[3], [rhs_sign, lhs_sign])]
        {
            let place = &mut self.dst[part].row_mut(self.top + a)[columns.clone()];
            let old = if self.adds { load::<V>(token, place) } else { splat(0.0) };
            splat(signs[1]).fused(second, splat(signs[0]).fused(first, old)).store(place);
        }
    }
}

#[cfg(test)]
#[path = "complex_tests.rs"]
mod tests;
