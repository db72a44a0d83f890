//! Packing of `f32` as three bfloat16 numbers.
//!
//! A block of a strip is three blocks, one after the other, each as [`strip`](super::strip) lays out its one: the numbers rounded to
//! bfloat16; what is left, cut off after 8 bits; and the rest, which 8 bits hold. The largest piece is rounded and not cut off, so
//! that what the products of the smaller ones leave out is as often positive as negative.
//!
//! The inner dimension is in another order: the neighbours of a pair are 16 numbers apart instead of one. So a pair of registers
//! makes a register of pairs by a shift and a choice, whichever dimension is adjacent in memory, and no number changes its lane.

use half::bf16;

use crate::bf16::layout::{BlockLayout, DEPTH, WIDTH};
use crate::bf16::pack::strip::row_of_block;
use crate::view::MatRef;

/// Numbers of a block.
const BLOCK: usize = 3 * WIDTH * DEPTH;

/// Packs strips; says whether their pieces add up to their numbers. Those of numbers that are not finite, or that round to infinity, do
/// not.
pub(crate) fn pack_strips(rows: MatRef<'_, f32>, form: BlockLayout, place: &mut [bf16]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if foretell_simd::level().has_avx512() && (rows.row_stride() == 1 || rows.col_stride() == 1) {
        // SAFETY: the machine has the instructions.
        return unsafe { x86::pack_strips(rows, form, place) };
    }
    let (outer, len) = (rows.nrows(), place.len() / rows.nrows().div_ceil(WIDTH));
    let strips = (0..outer).step_by(WIDTH).zip(place.chunks_exact_mut(len));
    strips.fold(true, |add_up, (top, place)| {
        pack_any(rows.rows(top..outer.min(top + WIDTH)), form, place) && add_up
    })
}

/// Packs the rows of a strip, which may lie anywhere.
fn pack_any(rows: MatRef<'_, f32>, form: BlockLayout, place: &mut [bf16]) -> bool {
    let mut add_up = true;
    for (block, place) in place.chunks_exact_mut(BLOCK).enumerate() {
        for o in 0..WIDTH {
            for (p, x) in row_of_block(rows, block, o).into_iter().enumerate() {
                let at = match form {
                    BlockLayout::Rows => o * DEPTH + p % 16 * 2 + p / 16,
                    BlockLayout::Pairs => (p % 16 * WIDTH + o) * 2 + p / 16,
                };
                let (pieces, adds_up) = split(x);
                add_up &= adds_up;
                for (piece, place) in pieces.into_iter().zip(place.chunks_exact_mut(WIDTH * DEPTH)) {
                    place[at] = piece;
                }
            }
        }
    }
    add_up
}

/// The pieces of a number, and whether they add up to it.
fn split(x: f32) -> ([bf16; 3], bool) {
    let upper = |bits: u32| (f32::from_bits(bits & 0xffff_0000), bf16::from_bits((bits >> 16) as u16));
    let (rounded, first) = upper(x.to_bits().wrapping_add(0x8000));
    let left = x - rounded;
    let (cut, second) = upper(left.to_bits());
    let left = left - cut;
    ([first, second, upper(left.to_bits()).1], left.is_finite())
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use half::bf16;

    use super::BLOCK;
    use crate::bf16::layout::{BlockLayout, DEPTH, WIDTH};
    use crate::bf16::pack::strip::x86::{first, transpose_square};
    use crate::view::MatRef;

    /// Packs strips of which the elements along one dimension are adjacent. Memory is read in its own order: what a
    /// product packs comes from the third cache more often than not.
    #[target_feature(enable = "avx512f")]
    pub(crate) fn pack_strips(rows: MatRef<'_, f32>, form: BlockLayout, place: &mut [bf16]) -> bool {
        let found = if rows.col_stride() == 1 { BlockLayout::Rows } else { BlockLayout::Pairs };
        let poison = match found {
            BlockLayout::Rows => along_rows(rows, form, place),
            BlockLayout::Pairs => along_columns(rows, form, place),
        };
        // What is left of a number that has no pieces is none.
        let poison = _mm512_add_ps(poison[0], poison[1]);
        _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(poison, poison) == 0
    }

    /// Packs rows whose elements are adjacent: strip by strip.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn along_rows(rows: MatRef<'_, f32>, form: BlockLayout, place: &mut [bf16]) -> [__m512; 2] {
        let mut poison = [_mm512_setzero_ps(); 2];
        let (outer, k, stride) = (rows.nrows(), rows.ncols(), rows.row_stride());
        let count = outer.div_ceil(WIDTH);
        let len = place.len() / count;
        for (strip, place) in place.chunks_exact_mut(len).enumerate() {
            let first_row = strip * WIDTH;
            let height = (outer - first_row).min(WIDTH);
            let from = |l: usize, p: usize| rows.data().as_ptr().wrapping_add((first_row + l) * stride + p);
            let register = |l: usize, p: usize, mask: __mmask16| {
                // SAFETY: the numbers belong to the matrix.
                unsafe { _mm512_maskz_loadu_epi32(if l < height { mask } else { 0 }, from(l, p).cast()) }
            };
            let masks = |p: usize| [first(k.saturating_sub(p)), first(k.saturating_sub(p + 16))];
            if form == BlockLayout::Rows {
                for l in 0..WIDTH {
                    for (block, place) in place.chunks_exact_mut(BLOCK).enumerate() {
                        let p = block * DEPTH;
                        let [low, high] = masks(p);
                        split([register(l, p, low), register(l, p + 16, high)], l, place, &mut poison);
                    }
                }
                continue;
            }
            for (block, place) in place.chunks_exact_mut(BLOCK).enumerate() {
                let mut halves = [[_mm512_setzero_si512(); WIDTH]; 2];
                let p = block * DEPTH;
                for ((half, square), mask) in halves.iter_mut().enumerate().zip(masks(p)) {
                    for (l, to) in square.iter_mut().enumerate() {
                        *to = register(l, p + 16 * half, mask);
                        // What comes next is far from this.
                        _mm_prefetch::<_MM_HINT_T0>(from(l, p + DEPTH + 16 * half).cast());
                    }
                    transpose_square(square);
                }
                for l in 0..WIDTH {
                    split([halves[0][l], halves[1][l]], l, place, &mut poison);
                }
            }
        }
        poison
    }

    /// Packs rows of which the elements of a column are adjacent: 32 columns after 32.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn along_columns(rows: MatRef<'_, f32>, form: BlockLayout, place: &mut [bf16]) -> [__m512; 2] {
        let mut poison = [_mm512_setzero_ps(); 2];
        let (outer, k, stride) = (rows.nrows(), rows.ncols(), rows.col_stride());
        let count = outer.div_ceil(WIDTH);
        let len = place.len() / count;
        let from = |strip: usize, p: usize| rows.data().as_ptr().wrapping_add(p * stride + strip * WIDTH);
        let register = |strip: usize, p: usize, mask: __mmask16| {
            // SAFETY: the numbers belong to the matrix.
            unsafe { _mm512_maskz_loadu_epi32(if p < k { mask } else { 0 }, from(strip, p).cast()) }
        };
        let last = first(outer - (count - 1) * WIDTH);
        for block in 0..len / BLOCK {
            let p = block * DEPTH;
            if form == BlockLayout::Pairs {
                for l in 0..WIDTH {
                    for strip in 0..count {
                        let mask = if strip + 1 < count { !0 } else { last };
                        let place = &mut place[strip * len + block * BLOCK..][..BLOCK];
                        let numbers = [register(strip, p + l, mask), register(strip, p + 16 + l, mask)];
                        split(numbers, l, place, &mut poison);
                    }
                }
                continue;
            }
            // The rows of the next block are fetched, one line of the cache after the other.
            let (mut ahead, mut fetched) = (from(0, p + DEPTH), 0);
            for strip in 0..count {
                let mask = if strip + 1 < count { !0 } else { last };
                let mut halves = [[_mm512_setzero_si512(); WIDTH]; 2];
                for (half, square) in halves.iter_mut().enumerate() {
                    for (l, to) in square.iter_mut().enumerate() {
                        *to = register(strip, p + 16 * half + l, mask);
                        _mm_prefetch::<_MM_HINT_T0>(ahead.cast());
                        (ahead, fetched) = match fetched + 1 < count {
                            true => (ahead.wrapping_add(WIDTH), fetched + 1),
                            false => (ahead.wrapping_sub((count - 1) * WIDTH).wrapping_add(stride), 0),
                        };
                    }
                    transpose_square(square);
                }
                let place = &mut place[strip * len + block * BLOCK..][..BLOCK];
                for l in 0..WIDTH {
                    split([halves[0][l], halves[1][l]], l, place, &mut poison);
                }
            }
        }
        poison
    }

    /// Writes the pieces of 32 numbers as register `l` of each piece of a block.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn split(numbers: [__m512i; 2], l: usize, place: &mut [bf16], poison: &mut [__m512; 2]) {
        let (half, upper) = (_mm512_set1_epi32(0x8000), _mm512_set1_epi32(0xffff_0000_u32 as i32));
        let sub = |x: __m512i, y: __m512i| {
            _mm512_castps_si512(_mm512_sub_ps(_mm512_castsi512_ps(x), _mm512_castsi512_ps(y)))
        };
        let rounded = numbers.map(|x| _mm512_and_si512(_mm512_add_epi32(x, half), upper));
        let left = [sub(numbers[0], rounded[0]), sub(numbers[1], rounded[1])];
        let cut = left.map(|x| _mm512_and_si512(x, upper));
        let rest = [sub(left[0], cut[0]), sub(left[1], cut[1])];
        for (poison, x) in poison.iter_mut().zip(rest) {
            *poison = _mm512_fmadd_ps(_mm512_castsi512_ps(x), _mm512_setzero_ps(), *poison);
        }
        for (piece, [low, high]) in [rounded, cut, rest].into_iter().enumerate() {
            // The upper halves of the numbers, in turns: `low >> 16 | high & upper`.
            const OR_AND: i32 = 0xf8;
            let pairs = _mm512_ternarylogic_epi32::<OR_AND>(_mm512_srli_epi32::<16>(low), high, upper);
            let place = &mut place[piece * WIDTH * DEPTH + l * DEPTH..][..DEPTH];
            // SAFETY: 32 numbers of 16 bits are written.
            unsafe { _mm512_storeu_si512(place.as_mut_ptr().cast(), pairs) };
        }
    }
}
