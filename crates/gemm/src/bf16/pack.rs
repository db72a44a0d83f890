//! Rounding to bfloat16 and packing; and packing of `f32` as three bfloat16 numbers.
//!
//! Either operand is packed as a matrix `[outer, k]`, in strips of 16 of its rows, whose inner dimension is cut into
//! blocks of 32. A block of a left operand has its rows one after the other; a block of a right one has pairs of
//! neighbours along `k`, of all 16 rows. If each pair is taken as one 32-bit number, both are squares of 16 by 16,
//! one the transpose of the other. So registers are filled along whichever dimension is adjacent in memory, and
//! transposed where the block needs the other one.

mod split;
mod strip;

use std::sync::atomic::{AtomicBool, Ordering};

use half::bf16;

use strip::{Source, pack_strip};

use crate::bf16::layout::{BlockLayout, DEPTH, WIDTH, depth};
use crate::plan::limits::bf16::PACKED_AT_ONCE;
use crate::plan::limits::bf16x3::STRIPS_AT_ONCE;
use crate::view::MatRef;

/// Packs a matrix `[outer, k]`; what is beyond it becomes zeros.
pub(crate) fn strips<S: Source>(matrix: MatRef<'_, S>, form: BlockLayout, place: &mut [bf16]) {
    each_strip(matrix, WIDTH * depth(matrix.ncols()), 1, place, |rows, place| pack_strip(rows, form, place));
}

/// Packs a matrix `[outer, k]` in three pieces a number: see [`split`]. Says whether they add up to the numbers.
pub(crate) fn split_strips(matrix: MatRef<'_, f32>, form: BlockLayout, place: &mut [bf16]) -> bool {
    let add_up = AtomicBool::new(true);
    // Each thread gets some.
    let at_once = matrix.nrows().div_ceil(WIDTH).div_ceil(foretell_threads::count()).clamp(1, STRIPS_AT_ONCE);
    each_strip(matrix, 3 * WIDTH * depth(matrix.ncols()), at_once, place, |rows, place| {
        if !split::pack_strips(rows, form, place) {
            add_up.store(false, Ordering::Relaxed);
        }
    });
    add_up.into_inner()
}

/// Calls `pack` with up to `at_once` strips of a matrix and their places of `len` numbers each, until all are packed.
fn each_strip<S: Source>(
    matrix: MatRef<'_, S>,
    len: usize,
    at_once: usize,
    place: &mut [bf16],
    pack: impl Fn(MatRef<'_, S>, &mut [bf16]) + Sync,
) {
    let outer = matrix.nrows();
    let count = outer.div_ceil(WIDTH);
    assert_eq!(place.len(), count * len);
    let (group, count) = (PACKED_AT_ONCE.div_ceil(len * at_once), count.div_ceil(at_once));
    let strips = Places(place.as_mut_ptr(), place.len());
    let some = |index: usize| {
        let rows = index * at_once * WIDTH..outer.min((index + 1) * at_once * WIDTH);
        // SAFETY: each strip is taken once, and is within the place.
        let place = unsafe { strips.part(index * at_once * len, rows.len().div_ceil(WIDTH) * len) };
        pack(matrix.rows(rows), place);
    };
    match count > group {
        true => foretell_threads::for_each(count, group, some),
        false => (0..count).for_each(some),
    }
}

/// Packs a matrix `[n, k]` and its transpose, each as [`strips`] does in pairs, and reads it once.
///
/// The transpose alone would take two and a half times as long as the matrix where rows lie a page apart: of a strip's columns
/// every row has one line of the cache.
pub(crate) fn both_ways<S: Source>(matrix: MatRef<'_, S>, place: &mut [bf16], transposed: &mut [bf16]) {
    let (n, k) = (matrix.nrows(), matrix.ncols());
    let (depth_n, depth_k) = (depth(n), depth(k));
    assert_eq!(place.len(), n.next_multiple_of(WIDTH) * depth_k);
    assert_eq!(transposed.len(), k.next_multiple_of(WIDTH) * depth_n);
    let (strips, transposed) =
        (Places(place.as_mut_ptr(), place.len()), Places(transposed.as_mut_ptr(), transposed.len()));
    // As many rows as a block of the transpose has.
    let band = |band: usize| {
        let rows = matrix.rows(band * DEPTH..n.min((band + 1) * DEPTH));
        for first in (0..rows.nrows()).step_by(WIDTH) {
            // SAFETY: each strip is taken once, and is within the place.
            let place = unsafe { strips.part((band * DEPTH + first) * depth_k, WIDTH * depth_k) };
            pack_strip(rows.rows(first..rows.nrows().min(first + WIDTH)), BlockLayout::Pairs, place);
        }
        for first in (0..k).step_by(WIDTH) {
            // SAFETY: each block of each strip is taken once, and is within the place.
            let place = unsafe { transposed.part(first * depth_n + band * DEPTH * WIDTH, DEPTH * WIDTH) };
            pack_strip(rows.t().rows(first..k.min(first + WIDTH)), BlockLayout::Pairs, place);
        }
    };
    let (count, group) = (depth_n / DEPTH, PACKED_AT_ONCE.div_ceil(DEPTH * depth_k));
    match count > group {
        true => foretell_threads::for_each(count, group, band),
        false => (0..count).for_each(band),
    }
}

/// Rounds a single row; what is beyond it becomes zeros.
pub(crate) fn row(row: MatRef<'_, f32>, place: &mut [bf16]) {
    let (values, rest) = place.split_at_mut(row.ncols());
    match row.col_stride() {
        1 => foretell_simd::to_bf16(&row.row(0)[..values.len()], values),
        stride => {
            for (p, value) in values.iter_mut().enumerate() {
                *value = bf16::from_f32(row.data()[p * stride]);
            }
        }
    }
    rest.fill(bf16::ZERO);
}

/// The place of all strips, to be cut between them.
struct Places(*mut bf16, usize);

// SAFETY: parts that have nothing in common are written, as of `&mut [bf16]`.
unsafe impl Sync for Places {}

impl Places {
    /// # Safety
    ///
    /// No two parts that are used at a time have an element in common.
    #[allow(clippy::mut_from_ref, reason = "the caller sees to it that parts are distinct")]
    unsafe fn part(&self, start: usize, len: usize) -> &mut [bf16] {
        assert!(start + len <= self.1);
        // SAFETY: within the place; exclusive by the caller's contract.
        unsafe { std::slice::from_raw_parts_mut(self.0.add(start), len) }
    }
}
