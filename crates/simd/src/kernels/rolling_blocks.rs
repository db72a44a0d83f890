//! Sums of moving windows.
//!
//! Those of few elements are joined, `rolling_joins.rs`. For those of many, the series is cut into blocks of one vector. A window
//! is the end of one block, whole blocks, and the beginning of
//! another: sums to the end and from the beginning of each block are a few additions within a register, and those of whole
//! blocks are windows over a series that is shorter by a vector's length. The work for an element does not grow with the
//! window.

use std::marker::PhantomData;

use crate::isa::{Simd, WithSimd};

use super::rolling_joins::by_joins;
use super::rolling_rows::ROW;
use super::rolling_summary::Sum;
use crate::level::dispatch;
use crate::vector::{Lanes, Mask, Vector};

/// The fewest windows that are worked on at once: elements and results stay in the first-level cache.
const PIECE: usize = 4096;

/// `factor` times the sum of the `size` elements up to and with `x[t]`, from `t = size - 1` on, and anything before.
pub(super) fn rolling_sum<T: Lanes>(x: &[T], size: usize, factor: T, out: &mut [T]) {
    if size > x.len() {
        return;
    }
    let lanes = dispatch(LanesOf(PhantomData::<T>));
    if size <= ROW || lanes == 1 {
        by_joins(Sum { factor }, x, size, &mut out[size - 1..]);
    } else {
        by_blocks(x, size, factor, out, lanes);
    }
}

/// Writes `out[t]`, `factor` times the sum of the `size` elements up to and with `x[t]`, from `t = size - 1` on, and anything
/// before. `size` is at least twice the `lanes` of a vector and at most `x.len()`.
fn by_blocks<T: Lanes>(x: &[T], size: usize, factor: T, out: &mut [T], lanes: usize) {
    let windows = x.len() + 1 - size;
    // Most of a piece is its own, however long the windows.
    let piece = PIECE.max(4 * size);
    let blocks = (piece.min(windows) + size).div_ceil(lanes);
    let mut totals = vec![T::default(); blocks];
    let mut inner = vec![T::default(); blocks];
    // A window has an element or more in its first and last block; this many whole ones are between them, or one more.
    let whole = (size - 1) / lanes - 1;
    // A piece writes over the results before its own, so the last one comes first.
    for start in (0..windows).step_by(piece).rev() {
        let end = x.len().min(start + piece + size - 1);
        let (x, out) = (&x[start..end], &mut out[start..end]);
        dispatch(FromFirst { x, out, totals: &mut totals });
        let in_full = x.len() / lanes;
        rolling_sum(&totals[..in_full], whole, T::from_f64(1.0), &mut inner[..in_full]);
        let out = &mut out[size - 1..];
        dispatch(Join { x, size, factor, whole: &inner[whole..], one_more: &totals[whole + 1..], out });
    }
}

/// How many elements a vector has.
struct LanesOf<T>(PhantomData<T>);

impl<T: Lanes> WithSimd for LanesOf<T> {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        T::lanes::<S>()
    }
}

/// Writes the sums from the first element of each block to each of its elements, and those of the blocks.
struct FromFirst<'a, T> {
    x: &'a [T],
    out: &'a mut [T],
    totals: &'a mut [T],
}

impl<T: Lanes> WithSimd for FromFirst<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { x, out, totals } = self;
        let lanes = T::lanes::<S>();
        let addends = Addends::<T, S, true>::new(simd);
        for ((x, out), total) in x.chunks(lanes).zip(out.chunks_mut(lanes)).zip(totals) {
            addends.sums(Vector::read(simd, x)).write(out);
            *total = out[out.len() - 1];
        }
    }
}

/// Adds to the sums from the first element of a block, in `out`, what else is in the windows that end with them.
struct Join<'a, T> {
    x: &'a [T],
    size: usize,
    factor: T,
    /// For the windows that start in each block: the sum of the whole blocks that they all have,
    whole: &'a [T],
    /// and of the one more that some of them have.
    one_more: &'a [T],
    out: &'a mut [T],
}

impl<T: Lanes> WithSimd for Join<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { x, size, factor, whole, one_more, out } = self;
        let lanes = T::lanes::<S>();
        let addends = Addends::<T, S, false>::new(simd);
        // The windows that have no more begin in these lanes.
        let fewer = Mask::first(simd, lanes - (size - 1) % lanes);
        let blocks = x.chunks_exact(lanes).zip(out.chunks_mut(lanes));
        for ((x, out), (&whole, &one_more)) in blocks.zip(whole.iter().zip(one_more)) {
            let sums = addends.sums(Vector::read(simd, x)) + (fewer.select(T::default(), one_more) + whole);
            ((sums + Vector::read(simd, out)) * factor).write(out);
        }
    }
}

/// Additions that make the sums of up to 16 lanes: of lanes 1, 2, 4 and 8 apart.
const STEPS: usize = 4;

/// The lanes that have another one so far apart: before them for sums from the first lane on, else behind them.
struct Addends<T: Lanes, S: Simd, const FROM_FIRST: bool>([Mask<T, S>; STEPS]);

impl<T: Lanes, S: Simd, const FROM_FIRST: bool> Addends<T, S, FROM_FIRST> {
    #[inline(always)]
    fn new(simd: S) -> Self {
        let lanes = opaque(T::lanes::<S>());
        let mut masks = [Mask::first(simd, lanes); STEPS];
        for i in 0..STEPS {
            masks[i] = match FROM_FIRST {
                true => !Mask::first(simd, lanes.min(1 << i)),
                false => Mask::first(simd, lanes.saturating_sub(1 << i)),
            };
        }
        Self(masks)
    }

    /// The sum of each lane and of all before it, or of all behind it.
    #[inline(always)]
    fn sums(&self, mut sums: Vector<T, S>) -> Vector<T, S> {
        let lanes = T::lanes::<S>();
        for i in 0..STEPS {
            if 1 << i < lanes {
                let by = if FROM_FIRST { 1 << i } else { lanes - (1 << i) };
                sums = self.0[i].select(sums + sums.rotate(by), sums);
            }
        }
        sums
    }
}

/// Masks of lanes that the compiler knows become shuffles, of which one a cycle is made, instead of additions under a mask.
#[inline(always)]
fn opaque(lanes: usize) -> usize {
    std::hint::black_box(lanes)
}
