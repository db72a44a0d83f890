//! Packing of `f32` as three bfloat16 numbers.
//!
//! A block of a strip is three blocks, one after the other, each as [`pack`](super) lays out its one: the numbers rounded to
//! bfloat16; what is left, cut off after 8 bits; and the rest, which 8 bits hold. The largest piece is rounded and not cut off, so
//! that what the products of the smaller ones leave out is as often positive as negative.
//!
//! The inner dimension is in another order: the neighbours of a pair are 16 numbers apart instead of one. So a pair of registers
//! makes a register of pairs by a shift and a choice, whichever dimension is adjacent in memory, and no number changes its lane.

use half::bf16;

use super::{DEPTH, Form, WIDTH, row_of_block};
use crate::view::MatRef;

/// Packs a strip; says whether its pieces add up to its numbers. Those of numbers that are not finite, or that round to infinity, do
/// not.
pub(super) fn pack_strip(rows: MatRef<'_, f32>, form: Form, place: &mut [bf16]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if foretell_simd::level().has_avx512() && (rows.row_stride() == 1 || rows.col_stride() == 1) {
        // SAFETY: the machine has the instructions.
        return unsafe { x86::pack_strip(rows, form, place) };
    }
    pack_any(rows, form, place)
}

/// Packs rows that may lie anywhere.
fn pack_any(rows: MatRef<'_, f32>, form: Form, place: &mut [bf16]) -> bool {
    let mut add_up = true;
    for (block, place) in place.chunks_exact_mut(3 * WIDTH * DEPTH).enumerate() {
        for o in 0..WIDTH {
            for (p, x) in row_of_block(rows, block, o).into_iter().enumerate() {
                let at = match form {
                    Form::Rows => o * DEPTH + p % 16 * 2 + p / 16,
                    Form::Pairs => (p % 16 * WIDTH + o) * 2 + p / 16,
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

    use super::super::x86::{first, turn};
    use super::{DEPTH, Form, WIDTH};
    use crate::view::MatRef;

    /// Packs rows of which the elements along one dimension are adjacent.
    #[target_feature(enable = "avx512f")]
    pub(super) fn pack_strip(rows: MatRef<'_, f32>, form: Form, place: &mut [bf16]) -> bool {
        let (outer, k) = (rows.nrows(), rows.ncols());
        let found = if rows.col_stride() == 1 { Form::Rows } else { Form::Pairs };
        let len = 3 * WIDTH * DEPTH;
        // Register `l` of one half of a block's inner dimension: of a row, or of a place along the inner dimension.
        let at = |block: usize, half: usize, l: usize| {
            let p = block * DEPTH + 16 * half;
            match found {
                Form::Rows => (l * rows.row_stride() + p, if l < outer { k.saturating_sub(p) } else { 0 }),
                Form::Pairs => ((p + l) * rows.col_stride(), if p + l < k { outer } else { 0 }),
            }
        };
        let from = |at: usize| rows.data().as_ptr().wrapping_add(at);
        let register = |block: usize, half: usize, l: usize| {
            let (at, count) = at(block, half, l);
            // SAFETY: the numbers belong to the matrix.
            unsafe { _mm512_maskz_loadu_epi32(first(count), from(at).cast()) }
        };
        let mut poison = [_mm512_setzero_ps(); 2];
        match (found, form) {
            // Along rows, as they are adjacent.
            (Form::Rows, Form::Rows) => {
                for l in 0..WIDTH {
                    for (block, place) in place.chunks_exact_mut(len).enumerate() {
                        split([register(block, 0, l), register(block, 1, l)], l, place, &mut poison);
                    }
                }
            }
            (Form::Pairs, Form::Pairs) => {
                for (block, place) in place.chunks_exact_mut(len).enumerate() {
                    for l in 0..WIDTH {
                        split([register(block, 0, l), register(block, 1, l)], l, place, &mut poison);
                    }
                }
            }
            _ => {
                for (block, place) in place.chunks_exact_mut(len).enumerate() {
                    let mut halves = [[_mm512_setzero_si512(); WIDTH]; 2];
                    for (half, square) in halves.iter_mut().enumerate() {
                        for (l, to) in square.iter_mut().enumerate() {
                            *to = register(block, half, l);
                            // What comes next lies far from this.
                            let next = from(at(block + 1, half, l).0).cast();
                            _mm_prefetch::<_MM_HINT_T0>(next);
                        }
                        turn(square);
                    }
                    for l in 0..WIDTH {
                        split([halves[0][l], halves[1][l]], l, place, &mut poison);
                    }
                }
            }
        }
        // What is left of a number that has no pieces is none.
        let poison = _mm512_add_ps(poison[0], poison[1]);
        _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(poison, poison) == 0
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
