//! Rounding to bfloat16 and packing; and packing of `f32` as three bfloat16 numbers.
//!
//! Either operand is packed as a matrix `[outer, k]`, in strips of 16 of its rows, whose inner dimension is cut into
//! blocks of 32. A block of a left operand has its rows one after the other; a block of a right one has pairs of
//! neighbours along `k`, of all 16 rows. If each pair is taken as one 32-bit number, both are squares of 16 by 16,
//! one the transpose of the other. So registers are filled along whichever dimension is adjacent in memory, and
//! transposed where the block needs the other one.

mod pieces;

use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(target_arch = "x86_64")]
use foretell_simd::level;
use half::bf16;

use super::{DEPTH, WIDTH, depth};
use crate::threads;
use crate::view::MatRef;

/// The layout of a block of a strip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `[16, 32]`: a tile of a left operand.
    Rows,
    /// `[16, 16, 2]`: pairs along the inner dimension, each of 16 columns of a right operand.
    Pairs,
}

/// A number that is packed: `f32`, which is rounded, or one that was rounded before.
pub(super) trait Source: Copy + Sync {
    fn widen(self) -> f32;

    /// The first numbers of 16 from one place and the first of 16 from another, as many as stand beside the places; zeros
    /// beyond them.
    ///
    /// # Safety
    /// The machine has AVX-512 with BF16, BW and VL, and the numbers can be read.
    #[cfg(target_arch = "x86_64")]
    unsafe fn two_parts(low: (*const Self, usize), high: (*const Self, usize)) -> std::arch::x86_64::__m512i;
}

/// Packs a matrix `[outer, k]`; what lies beyond it becomes zeros.
pub(super) fn strips<S: Source>(matrix: MatRef<'_, S>, form: Form, place: &mut [bf16]) {
    each_strip(matrix, WIDTH * depth(matrix.ncols()), 1, place, |rows, place| pack_strip(rows, form, place));
}

/// Packs a matrix `[outer, k]` in three pieces a number: see [`pieces`]. Says whether they add up to the numbers.
pub(super) fn strips_of_three(matrix: MatRef<'_, f32>, form: Form, place: &mut [bf16]) -> bool {
    let add_up = AtomicBool::new(true);
    // Each thread gets some.
    let at_once = matrix.nrows().div_ceil(WIDTH).div_ceil(foretell_threads::count()).clamp(1, AT_ONCE);
    each_strip(matrix, 3 * WIDTH * depth(matrix.ncols()), at_once, place, |rows, place| {
        if !pieces::pack_strips(rows, form, place) {
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
    let (group, count) = (GROUP.div_ceil(len * at_once), count.div_ceil(at_once));
    let strips = Strips(place.as_mut_ptr(), place.len());
    let some = |index: usize| {
        let rows = index * at_once * WIDTH..outer.min((index + 1) * at_once * WIDTH);
        // SAFETY: each strip is taken once, and lies within the place.
        let place = unsafe { strips.part(index * at_once * len, rows.len().div_ceil(WIDTH) * len) };
        pack(matrix.rows(rows), place);
    };
    match count > group {
        true => threads::for_each(count, group, some),
        false => (0..count).for_each(some),
    }
}

/// Packs a matrix `[n, k]` and its transpose, each as [`strips`] does in pairs, and reads it once.
///
/// The transpose alone would take two and a half times as long as the matrix where rows lie a page apart: of a strip's columns
/// every row has one line of the cache.
pub(super) fn both_ways<S: Source>(matrix: MatRef<'_, S>, place: &mut [bf16], turned: &mut [bf16]) {
    let (n, k) = (matrix.nrows(), matrix.ncols());
    let (depth_n, depth_k) = (depth(n), depth(k));
    assert_eq!(place.len(), n.next_multiple_of(WIDTH) * depth_k);
    assert_eq!(turned.len(), k.next_multiple_of(WIDTH) * depth_n);
    let (strips, turned) =
        (Strips(place.as_mut_ptr(), place.len()), Strips(turned.as_mut_ptr(), turned.len()));
    // As many rows as a block of the transpose has.
    let band = |band: usize| {
        let rows = matrix.rows(band * DEPTH..n.min((band + 1) * DEPTH));
        for first in (0..rows.nrows()).step_by(WIDTH) {
            // SAFETY: each strip is taken once, and lies within the place.
            let place = unsafe { strips.part((band * DEPTH + first) * depth_k, WIDTH * depth_k) };
            pack_strip(rows.rows(first..rows.nrows().min(first + WIDTH)), Form::Pairs, place);
        }
        for first in (0..k).step_by(WIDTH) {
            // SAFETY: each block of each strip is taken once, and lies within the place.
            let place = unsafe { turned.part(first * depth_n + band * DEPTH * WIDTH, DEPTH * WIDTH) };
            pack_strip(rows.t().rows(first..k.min(first + WIDTH)), Form::Pairs, place);
        }
    };
    let (count, group) = (depth_n / DEPTH, GROUP.div_ceil(DEPTH * depth_k));
    match count > group {
        true => threads::for_each(count, group, band),
        false => (0..count).for_each(band),
    }
}

/// Rounds a single row; what lies beyond it becomes zeros.
pub(super) fn row(row: MatRef<'_, f32>, place: &mut [bf16]) {
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

/// Strips in three pieces that are packed together: where numbers of different strips are adjacent, 512 bytes of them are read in turn.
const AT_ONCE: usize = 8;

/// Numbers that are worth a task of their own.
const GROUP: usize = 1 << 14;

/// The place of all strips, to be cut between them.
struct Strips(*mut bf16, usize);

// SAFETY: parts that have nothing in common are written, as of `&mut [bf16]`.
unsafe impl Sync for Strips {}

impl Strips {
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

fn pack_strip<S: Source>(rows: MatRef<'_, S>, form: Form, place: &mut [bf16]) {
    #[cfg(target_arch = "x86_64")]
    if level().has_avx512()
        && (rows.row_stride() == 1 || rows.col_stride() == 1)
        && is_x86_feature_detected!("avx512bf16")
    {
        // SAFETY: the machine has the instructions: of AVX-512, the level has BW and VL too.
        return unsafe { x86::pack_strip(rows, form, place) };
    }
    pack_any(rows, form, place);
}

impl Source for f32 {
    #[inline(always)]
    fn widen(self) -> f32 {
        self
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn two_parts(low: (*const Self, usize), high: (*const Self, usize)) -> std::arch::x86_64::__m512i {
        // SAFETY: the caller's contract.
        unsafe { x86::round(low, high) }
    }
}

impl Source for bf16 {
    #[inline(always)]
    fn widen(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn two_parts(low: (*const Self, usize), high: (*const Self, usize)) -> std::arch::x86_64::__m512i {
        // SAFETY: the caller's contract.
        unsafe { x86::load(low, high) }
    }
}

/// Packs rows that may lie anywhere.
fn pack_any<S: Source>(rows: MatRef<'_, S>, form: Form, place: &mut [bf16]) {
    for (block, place) in place.chunks_exact_mut(WIDTH * DEPTH).enumerate() {
        for o in 0..WIDTH {
            let mut rounded = [bf16::ZERO; DEPTH];
            foretell_simd::to_bf16(&row_of_block(rows, block, o), &mut rounded);
            match form {
                Form::Rows => place[o * DEPTH..(o + 1) * DEPTH].copy_from_slice(&rounded),
                Form::Pairs => {
                    for (pair, values) in rounded.chunks_exact(2).enumerate() {
                        place[(pair * WIDTH + o) * 2..][..2].copy_from_slice(values);
                    }
                }
            }
        }
    }
}

/// Row `o` of a block; zeros beyond the matrix.
fn row_of_block<S: Source>(rows: MatRef<'_, S>, block: usize, o: usize) -> [f32; DEPTH] {
    let (start, mut row) = (block * DEPTH, [0.0; DEPTH]);
    if o < rows.nrows() && start < rows.ncols() {
        let (data, stride) = (&rows.data()[o * rows.row_stride()..], rows.col_stride());
        let inner = start..rows.ncols().min(start + DEPTH);
        row.iter_mut().zip(inner).for_each(|(value, p)| *value = data[p * stride].widen());
    }
    row
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use half::bf16;

    use super::{DEPTH, Form, Source, WIDTH};
    use crate::view::MatRef;

    /// Packs rows of which the elements along one dimension are adjacent.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bf16")]
    pub(super) fn pack_strip<S: Source>(rows: MatRef<'_, S>, form: Form, place: &mut [bf16]) {
        let k = rows.ncols();
        for (block, place) in place.chunks_exact_mut(WIDTH * DEPTH).enumerate() {
            let start = block * DEPTH;
            let inner = k.saturating_sub(start).min(DEPTH);
            let (mut square, found) = match rows.col_stride() == 1 {
                true => (along_inner(rows, start, inner), Form::Rows),
                false => (along_outer(rows, start, inner), Form::Pairs),
            };
            if found != form {
                turn(&mut square);
            }
            for (register, to) in square.iter().zip(place.chunks_exact_mut(DEPTH)) {
                // SAFETY: 32 numbers of 16 bits are written.
                unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), *register) };
            }
        }
    }

    /// The mask of the first `count` of 16 elements.
    #[inline(always)]
    pub(super) fn first(count: usize) -> __mmask16 {
        ((1u32 << count.min(16)) - 1) as __mmask16
    }

    /// A register for each row: `inner` numbers from `start`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bf16")]
    fn along_inner<S: Source>(rows: MatRef<'_, S>, start: usize, inner: usize) -> [__m512i; 16] {
        let mut square = [_mm512_setzero_si512(); 16];
        for (o, register) in square.iter_mut().enumerate().take(rows.nrows()) {
            let row = rows.data().as_ptr().wrapping_add(o * rows.row_stride() + start);
            let more = (row.wrapping_add(16), inner.saturating_sub(16));
            // SAFETY: the numbers belong to the row; the machine has the instructions.
            *register = unsafe { S::two_parts((row, inner), more) };
        }
        square
    }

    /// A register for each pair of neighbours along the inner dimension, among the `inner` numbers from `start`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bf16")]
    fn along_outer<S: Source>(rows: MatRef<'_, S>, start: usize, inner: usize) -> [__m512i; 16] {
        let mut square = [_mm512_setzero_si512(); 16];
        let order = _mm512_set_epi16(
            31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6, 21, 5, 20, 4, 19, 3,
            18, 2, 17, 1, 16, 0,
        );
        // Of a missing column no number is read.
        let column = |p: usize| {
            let from = rows.data().as_ptr().wrapping_add((start + p) * rows.col_stride());
            (from, if p < inner { rows.nrows() } else { 0 })
        };
        for (pair, register) in square.iter_mut().enumerate().take(inner.div_ceil(2)) {
            // SAFETY: the numbers belong to the columns; the machine has the instructions.
            let both = unsafe { S::two_parts(column(2 * pair), column(2 * pair + 1)) };
            *register = _mm512_permutexvar_epi16(order, both);
        }
        square
    }

    /// [`Source::two_parts`] of numbers that are rounded.
    ///
    /// # Safety
    /// The machine has the instructions, and the numbers can be read.
    #[inline(always)]
    pub(super) unsafe fn round(
        (low, count): (*const f32, usize),
        (high, more): (*const f32, usize),
    ) -> __m512i {
        // SAFETY: the caller's contract.
        unsafe {
            let low = _mm512_maskz_loadu_ps(first(count), low);
            bits(_mm512_cvtne2ps_pbh(_mm512_maskz_loadu_ps(first(more), high), low))
        }
    }

    /// [`round`] of numbers that were rounded before.
    ///
    /// # Safety
    /// As [`round`].
    #[inline(always)]
    pub(super) unsafe fn load(
        (low, count): (*const bf16, usize),
        (high, more): (*const bf16, usize),
    ) -> __m512i {
        // SAFETY: the caller's contract.
        unsafe {
            let low = _mm256_maskz_loadu_epi16(first(count), low.cast());
            let high = _mm256_maskz_loadu_epi16(first(more), high.cast());
            _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1)
        }
    }

    /// The same register as one of integers.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bf16")]
    fn bits(x: __m512bh) -> __m512i {
        // SAFETY: both are 64 bytes, of which any are valid.
        unsafe { std::mem::transmute(x) }
    }

    /// Transposes the square of 32-bit numbers that the registers make up: see `turn` in `vector.rs`.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn turn(square: &mut [__m512i; 16]) {
        let low = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
        let high = _mm512_set_epi32(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8);
        for _ in 0..4 {
            let before = *square;
            for l in 0..8 {
                square[2 * l] = _mm512_permutex2var_epi32(before[l], low, before[l + 8]);
                square[2 * l + 1] = _mm512_permutex2var_epi32(before[l], high, before[l + 8]);
            }
        }
    }
}
