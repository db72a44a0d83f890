//! Packing of one strip in bfloat16, each number as one.

#[cfg(target_arch = "x86_64")]
use foretell_simd::level;
use half::bf16;

use crate::bf16::layout::{BlockLayout, DEPTH, WIDTH};
use crate::view::MatRef;

/// A number that is packed: `f32`, which is rounded, or one that was rounded before.
pub(crate) trait Source: Copy + Sync {
    fn widen(self) -> f32;

    /// The first numbers of 16 from one place and the first of 16 from another, as many as stand beside the places; zeros
    /// beyond them.
    ///
    /// # Safety
    /// The machine has AVX-512 with BF16, BW and VL, and the numbers can be read.
    #[cfg(target_arch = "x86_64")]
    unsafe fn two_parts(low: (*const Self, usize), high: (*const Self, usize)) -> std::arch::x86_64::__m512i;
}

/// Packs the rows of a strip; what is beyond them becomes zeros.
pub(crate) fn pack_strip<S: Source>(rows: MatRef<'_, S>, form: BlockLayout, place: &mut [bf16]) {
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
fn pack_any<S: Source>(rows: MatRef<'_, S>, form: BlockLayout, place: &mut [bf16]) {
    for (block, place) in place.chunks_exact_mut(WIDTH * DEPTH).enumerate() {
        for o in 0..WIDTH {
            let mut rounded = [bf16::ZERO; DEPTH];
            foretell_simd::to_bf16(&row_of_block(rows, block, o), &mut rounded);
            match form {
                BlockLayout::Rows => place[o * DEPTH..(o + 1) * DEPTH].copy_from_slice(&rounded),
                BlockLayout::Pairs => {
                    for (pair, values) in rounded.chunks_exact(2).enumerate() {
                        place[(pair * WIDTH + o) * 2..][..2].copy_from_slice(values);
                    }
                }
            }
        }
    }
}

/// Row `o` of a block; zeros beyond the matrix.
pub(crate) fn row_of_block<S: Source>(rows: MatRef<'_, S>, block: usize, o: usize) -> [f32; DEPTH] {
    let (start, mut row) = (block * DEPTH, [0.0; DEPTH]);
    if o < rows.nrows() && start < rows.ncols() {
        let (data, stride) = (&rows.data()[o * rows.row_stride()..], rows.col_stride());
        let inner = start..rows.ncols().min(start + DEPTH);
        row.iter_mut().zip(inner).for_each(|(value, p)| *value = data[p * stride].widen());
    }
    row
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod x86 {
    use std::arch::x86_64::*;

    use half::bf16;

    use super::Source;
    use crate::bf16::layout::{BlockLayout, DEPTH, WIDTH};
    use crate::view::MatRef;

    /// Packs rows of which the elements along one dimension are adjacent.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bf16")]
    pub(crate) fn pack_strip<S: Source>(rows: MatRef<'_, S>, form: BlockLayout, place: &mut [bf16]) {
        let k = rows.ncols();
        for (block, place) in place.chunks_exact_mut(WIDTH * DEPTH).enumerate() {
            let start = block * DEPTH;
            let inner = k.saturating_sub(start).min(DEPTH);
            let (mut square, found) = match rows.col_stride() == 1 {
                true => (along_inner(rows, start, inner), BlockLayout::Rows),
                false => (along_outer(rows, start, inner), BlockLayout::Pairs),
            };
            if found != form {
                transpose_square(&mut square);
            }
            for (register, to) in square.iter().zip(place.chunks_exact_mut(DEPTH)) {
                // SAFETY: 32 numbers of 16 bits are written.
                unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), *register) };
            }
        }
    }

    /// The mask of the first `count` of 16 elements.
    #[inline(always)]
    pub(crate) fn first(count: usize) -> __mmask16 {
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
    pub(crate) unsafe fn round(
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
    pub(crate) unsafe fn load(
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

    /// Transposes the square of 32-bit numbers that the registers make up: see `transpose_square` in `vector.rs`.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(crate) fn transpose_square(square: &mut [__m512i; 16]) {
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
