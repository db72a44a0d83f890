//! Products of small complex matrices, many at a time, whose real and imaginary parts lie apart.
//!
//! As one product of real matrices of twice the size, either operand would have to be written out, one of them twice.
//! Here a row of the right operand and a number of the left one, in two parts each, are read where they lie, and the
//! four products of their parts are summed in registers: each number that is read takes part in two of them, and the
//! result is written once.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr::NonNull;

use foretell_pool::Buffer;
use foretell_threads as threads;

use crate::batch::{BatchMut, BatchRef, assert_within, matmul_batched};
use crate::element::Number;
use crate::flops::count_products;
use crate::matmul::assert_shapes;
use crate::options::{Accum, Options, Rounding};
use crate::panels::{load, pack_strip};
use crate::skinny::Job;
use crate::tiles::TASK;
use crate::vector::Vector;
use crate::view::{MatMut, MatRef, distinct};

/// Matrices that are walked side by side, block of rows by block of rows: neighbours in memory where they are the heads
/// of an attention.
const GROUP: usize = 8;

/// Complex matrices to read, one every `batch_stride` elements.
#[derive(Clone, Copy, Debug)]
pub struct ComplexBatchRef<'a> {
    parts: [BatchRef<'a, f32>; 2],
    conjugated: bool,
}

/// Complex matrices to write, one every `batch_stride` elements. All elements lie at distinct places.
#[derive(Debug)]
pub struct ComplexBatchMut<'a> {
    parts: [BatchMut<'a, f32>; 2],
}

impl<'a> ComplexBatchRef<'a> {
    /// A view of `data` with the given strides: the real part of element `(b, i, j)` is
    /// `data[b * batch_stride + i * row_stride + j * col_stride]`, the imaginary part lies `imaginary` elements behind it.
    ///
    /// # Panics
    ///
    /// If the last element lies beyond the slice.
    #[track_caller]
    pub fn new(
        data: &'a [f32],
        imaginary: usize,
        (count, batch_stride): (usize, usize),
        size: (usize, usize),
        strides: (usize, usize),
    ) -> Self {
        // Empty matrices may begin past the end of their slice.
        let part = |start| data.get(start..).unwrap_or_default();
        let parts =
            [0, imaginary].map(|start| BatchRef::new(part(start), count, batch_stride, size, strides));
        Self { parts, conjugated: false }
    }

    /// The transpose of each matrix, at no cost.
    #[must_use]
    pub fn t(self) -> Self {
        Self { parts: self.parts.map(BatchRef::t), ..self }
    }

    /// The conjugate of each matrix, at no cost.
    #[must_use]
    pub fn conj(self) -> Self {
        Self { conjugated: !self.conjugated, ..self }
    }

    fn size(&self) -> (usize, usize) {
        (self.parts[0].rows, self.parts[0].cols)
    }

    /// The factor of the imaginary parts.
    fn sign(&self) -> f32 {
        if self.conjugated { -1.0 } else { 1.0 }
    }
}

impl<'a> ComplexBatchMut<'a> {
    /// A view of `data`, whose rows are adjacent elements: the real part of element `(b, i, j)` is
    /// `data[b * batch_stride + i * row_stride + j]`, the imaginary part lies `imaginary` elements behind it.
    ///
    /// # Panics
    ///
    /// If the last element lies beyond the slice, or if elements may share a place: ordered by size, each stride must step
    /// over everything that the smaller ones reach.
    #[track_caller]
    pub fn new(
        data: &'a mut [f32],
        imaginary: usize,
        (count, batch_stride): (usize, usize),
        (rows, cols): (usize, usize),
        row_stride: usize,
    ) -> Self {
        let (size, strides) = ((rows, cols), (row_stride, 1));
        let last = data.get_mut(imaginary..).unwrap_or_default();
        assert_within(last.len(), count, batch_stride, size, strides);
        assert!(
            distinct([(2, imaginary), (count, batch_stride), (rows, row_stride), (cols, 1)]),
            "elements of {count} complex destinations of {rows}x{cols} with strides {batch_stride} and {row_stride}, \
             their parts {imaginary} apart, overlap"
        );
        let imaginary = NonNull::from(last).cast();
        // SAFETY: either part lies within the slice, all elements of both at distinct places.
        let parts = unsafe {
            [NonNull::from(data).cast(), imaginary]
                .map(|start| BatchMut::from_raw(start, (count, batch_stride), size, strides))
        };
        Self { parts }
    }
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
    mut dst: ComplexBatchMut<'_>,
    lhs: ComplexBatchRef<'_>,
    rhs: ComplexBatchRef<'_>,
    accum: Accum,
    rounding: Rounding,
) {
    let (count, size) = (dst.parts[0].count, (dst.parts[0].rows, dst.parts[0].cols));
    let counts = [lhs, rhs].map(|operand| operand.parts[0].count);
    assert!(counts == [count; 2], "batches of {counts:?} complex matrices do not fit {count} destinations");
    assert_shapes(size, lhs.size(), rhs.size());
    let adjacent = rhs.parts[0].col_stride == 1 || rhs.t().parts[0].col_stride == 1;
    if adjacent && rounding != Rounding::F16 && f32::run(Nothing).is_none() {
        let (rows, depth, cols) = (size.0, lhs.size().1, size.1);
        count_products(4 * count, [rows, depth, cols]);
        let work = 4 * rows.saturating_mul(depth).saturating_mul(cols).max(1);
        let group = GROUP.max(TASK / work);
        let one = |index: usize| {
            let range = index * group..count.min((index + 1) * group);
            let job = Complex { dst: &dst, lhs, rhs, accum, range };
            let left = f32::run(job);
            debug_assert!(left.is_none(), "there are vectors");
        };
        return threads::for_each(count.div_ceil(group), 1, one);
    }
    let [re, im] = &mut dst.parts;
    let options = Options { rounding, ..Options::default() };
    let add = |dst: &mut BatchMut<'_, f32>, of: [usize; 2], accum, alpha| {
        matmul_batched(
            dst.reborrow(),
            lhs.parts[of[0]],
            rhs.parts[of[1]],
            Options { accum, alpha, ..options },
        );
    };
    add(re, [0, 0], accum, 1.0);
    add(re, [1, 1], Accum::Add, -lhs.sign() * rhs.sign());
    add(im, [0, 1], accum, rhs.sign());
    add(im, [1, 0], Accum::Add, lhs.sign());
}

/// Finds out whether there are vectors.
struct Nothing;

impl Job<f32> for Nothing {
    #[inline(always)]
    fn run<V: Vector<f32>>(self, _: V::Token) {}
}

/// Some matrices of a batch, which nobody else writes meanwhile.
struct Complex<'d, 'a> {
    dst: &'d ComplexBatchMut<'d>,
    lhs: ComplexBatchRef<'a>,
    rhs: ComplexBatchRef<'a>,
    accum: Accum,
    range: Range<usize>,
}

impl Job<f32> for Complex<'_, '_> {
    #[inline(always)]
    fn run<V: Vector<f32>>(self, token: V::Token) {
        let adjacent = self.rhs.parts[0].col_stride == 1;
        if adjacent { self.in_place::<V>(token) } else { self.packed::<V>(token) }
    }
}

impl Complex<'_, '_> {
    /// Products with rows that are read where they lie. Matrices are neighbours, so blocks of their rows are.
    #[inline(always)]
    fn in_place<V: Vector<f32>>(self, token: V::Token) {
        let rows = self.lhs.size().0;
        for first in self.range.clone().step_by(GROUP) {
            let mut top = 0;
            while top < rows {
                let height = height::<V>(rows - top);
                for index in first..self.range.end.min(first + GROUP) {
                    let rhs = self.rhs.parts.map(|part| part.get(index));
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

    /// Products with columns, which are turned over by strips.
    #[inline(always)]
    fn packed<V: Vector<f32>>(self, token: V::Token) {
        let ((rows, depth), cols) = (self.lhs.size(), self.rhs.size().1);
        let mut strips = Buffer::<f32>::stale(2 * depth * V::LANES);
        for index in self.range.clone() {
            let rhs = self.rhs.parts.map(|part| part.get(index));
            for j in (0..cols).step_by(V::LANES) {
                for (rhs, strip) in rhs.into_iter().zip(strips.chunks_exact_mut((depth * V::LANES).max(1))) {
                    // SAFETY: numbers as good as any, and what is written to them are numbers.
                    let strip = unsafe { &mut *(&raw mut *strip as *mut [MaybeUninit<f32>]) };
                    pack_strip::<f32, V, 1>(token, rhs, strip, 0..depth, j);
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
    fn block<V: Vector<f32>>(
        &self,
        token: V::Token,
        index: usize,
        (top, height): (usize, usize),
        rhs: [MatRef<'_, f32>; 2],
        j: usize,
    ) {
        let lhs = self.lhs.parts.map(|part| part.get(index));
        // SAFETY: nobody else writes this matrix, and its parts have no element in common.
        let dst = unsafe { [self.dst.parts[0].get(index), self.dst.parts[1].get(index)] };
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

/// Rows that are multiplied at a time, of so many that are left: four sums of each are held in registers.
#[inline(always)]
fn height<V: Vector<f32>>(rows: usize) -> usize {
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
    fn run<V: Vector<f32>, const I: usize>(self, token: V::Token) {
        match self.rhs[0].ncols() == V::LANES {
            true => self.multiply::<V, I>(token, V::load),
            false => self.multiply::<V, I>(token, V::load_padded),
        }
    }

    #[inline(always)]
    fn multiply<V: Vector<f32>, const I: usize>(
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
    fn put<V: Vector<f32>>(&mut self, token: V::Token, a: usize, width: usize, sums: [V; 4]) {
        let [lhs_sign, rhs_sign] = self.signs;
        let splat = |x| V::splat(token, x);
        let columns = self.left..self.left + width;
        for (part, first, second, signs) in
            [(0, sums[0], sums[1], [1.0, -lhs_sign * rhs_sign]), (1, sums[2], sums[3], [rhs_sign, lhs_sign])]
        {
            let place = &mut self.dst[part].row_mut(self.top + a)[columns.clone()];
            let old = if self.adds { load::<f32, V>(token, place) } else { splat(0.0) };
            splat(signs[1]).fused(second, splat(signs[0]).fused(first, old)).store(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell_simd::{Level, with_level};

    fn numbers(len: usize, seed: usize) -> Vec<f32> {
        (0..len).map(|i| ((i * 37 + seed * 11) % 101) as f32 / 50.0 - 1.0).collect()
    }

    /// The parts of an element, times the factor of the imaginary one.
    fn at(data: &[f32], imaginary: usize, place: usize, sign: f64) -> [f64; 2] {
        [f64::from(data[place]), sign * f64::from(data[place + imaginary])]
    }

    #[derive(Clone, Copy, Debug)]
    struct Case {
        count: usize,
        size: [usize; 3],
        turned: [bool; 2],
        conjugated: [bool; 2],
        accum: Accum,
        rounding: Rounding,
    }

    /// Matrices are heads side by side in wide rows, or turned, lie one behind the other.
    fn check(case: Case) {
        let Case { count, size: [m, k, n], turned, conjugated, accum, rounding } = case;
        let layout = |rows: usize, cols: usize, turned: bool| match turned {
            false => (2 * count * cols * rows, count * cols * rows, cols, (count * cols, 1)),
            true => (2 * count * cols * rows, count * cols * rows, rows * cols, (1, rows)),
        };
        let (len, apart, step, strides) = layout(m, k, turned[0]);
        let (other_len, other_apart, other_step, other_strides) = layout(k, n, turned[1]);
        let (a, b) = (numbers(len, 1), numbers(other_len, 2));
        let before = numbers(2 * m * count * n + 3, 3);
        let mut found = before.clone();
        let lhs = ComplexBatchRef::new(&a, apart, (count, step), (m, k), strides);
        let rhs = ComplexBatchRef::new(&b, other_apart, (count, other_step), (k, n), other_strides);
        let lhs = if conjugated[0] { lhs.conj() } else { lhs };
        let rhs = if conjugated[1] { rhs.conj() } else { rhs };
        let dst_apart = m * count * n;
        let dst = ComplexBatchMut::new(&mut found, dst_apart, (count, n), (m, n), count * n);
        matmul_complex_batched(dst, lhs, rhs, accum, rounding);
        let sign = conjugated.map(|is| if is { -1.0 } else { 1.0 });
        let bound = if rounding == Rounding::F16 { 4e-3 } else { 1e-5 };
        let mut expected: Vec<f64> = before.iter().map(|&x| f64::from(x)).collect();
        for (index, i, j) in (0..count * m * n).map(|at| (at / (m * n), at / n % m, at % n)) {
            let mut sum = [0.0; 2];
            for p in 0..k {
                let x = at(&a, apart, index * step + i * strides.0 + p * strides.1, sign[0]);
                let place = index * other_step + p * other_strides.0 + j * other_strides.1;
                let y = at(&b, other_apart, place, sign[1]);
                sum[0] += x[0] * y[0] - x[1] * y[1];
                sum[1] += x[0] * y[1] + x[1] * y[0];
            }
            for (part, sum) in sum.into_iter().enumerate() {
                let place = &mut expected[part * dst_apart + index * n + i * count * n + j];
                *place = if accum == Accum::Add { *place + sum } else { sum };
            }
        }
        for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
            let close = (f64::from(*found) - expected).abs() <= bound * k.max(1) as f64;
            assert!(close, "{case:?}: {found} at {i}, expected {expected}");
        }
    }

    #[test]
    fn every_size_layout_and_sign_at_every_level() {
        let sizes = [[1, 1, 1], [5, 3, 16], [4, 16, 17], [7, 19, 8], [2, 0, 3], [0, 2, 3], [3, 33, 37]];
        for level in Level::available() {
            with_level(level, || {
                for (size, count) in sizes.into_iter().flat_map(|size| [(size, 1), (size, 11), (size, 0)]) {
                    for bits in 0..16 {
                        let [a, b, c, d] = [1, 2, 4, 8].map(|bit| bits & bit > 0);
                        let accum = if bits % 3 == 0 { Accum::Add } else { Accum::Replace };
                        let rounding = [Rounding::None, Rounding::Bf16, Rounding::F16][bits % 5 % 3];
                        check(Case { count, size, turned: [a, b], conjugated: [c, d], accum, rounding });
                    }
                }
            });
        }
    }

    #[test]
    fn the_bits_do_not_depend_on_the_threads() {
        let (count, m, k, n) = (40, 32, 16, 16);
        let (a, b) = (numbers(2 * count * m * k, 1), numbers(2 * count * k * n, 2));
        let product = |threads: usize| {
            let mut out = vec![f32::NAN; 2 * count * m * n];
            foretell_threads::share(threads, || {
                let lhs = ComplexBatchRef::new(&a, count * m * k, (count, k), (m, k), (count * k, 1));
                let rhs = ComplexBatchRef::new(&b, count * k * n, (count, k * n), (k, n), (n, 1));
                let dst = ComplexBatchMut::new(&mut out, count * m * n, (count, n), (m, n), count * n);
                matmul_complex_batched(dst, lhs, rhs, Accum::Replace, Rounding::None);
            });
            out
        };
        let one = product(1);
        assert!(one == product(2) && one == product(3));
    }

    #[test]
    #[should_panic(expected = "overlap")]
    fn parts_of_a_destination_must_not_overlap() {
        ComplexBatchMut::new(&mut [0.0; 12], 4, (1, 0), (2, 4), 4);
    }

    #[test]
    #[should_panic(expected = "exceed")]
    fn views_must_lie_within_their_slice() {
        ComplexBatchRef::new(&[0.0; 12], 6, (1, 0), (2, 4), (4, 1));
    }

    #[test]
    #[should_panic(expected = "a product of 2x3 and 2x2 does not fit")]
    fn shapes_must_fit() {
        let x = [0.0; 12];
        let lhs = ComplexBatchRef::new(&x, 6, (1, 0), (2, 3), (3, 1));
        let rhs = ComplexBatchRef::new(&x, 4, (1, 0), (2, 2), (2, 1));
        let mut out = [0.0; 8];
        let dst = ComplexBatchMut::new(&mut out, 4, (1, 0), (2, 2), 2);
        matmul_complex_batched(dst, lhs, rhs, Accum::Replace, Rounding::None);
    }
}
