//! Registers of WebAssembly: four numbers.
//!
//! A module that is built without these instructions has no [`Level::Simd128`](foretell_simd::Level::Simd128), and one that has them runs
//! on no machine without: so they are safe to call.

use std::arch::wasm32::*;
use std::mem::MaybeUninit;

use super::register::Vector;

/// The proof that the module has the instructions.
#[derive(Clone, Copy)]
pub(crate) struct Simd128(());

impl Simd128 {
    pub(super) fn of_module() -> Self {
        Self(())
    }
}

/// Made with a token only.
#[derive(Clone, Copy)]
pub(crate) struct F32x4(v128);

impl Vector for F32x4 {
    type Token = Simd128;
    const LANES: usize = 4;
    /// Those of the machines of most users, x86-64 without wider vectors.
    const REGISTERS: usize = 16;

    #[inline(always)]
    fn splat(_: Simd128, value: f32) -> Self {
        Self(f32x4_splat(value))
    }

    #[inline(always)]
    fn load(_: Simd128, part: &[f32]) -> Self {
        let part: &[f32; 4] = part.first_chunk().expect("a whole vector");
        // SAFETY: as many numbers as the register holds are read; they may lie anywhere.
        Self(unsafe { v128_load(part.as_ptr().cast()) })
    }

    #[inline(always)]
    fn load_padded(token: Simd128, part: &[f32]) -> Self {
        assert!(part.len() < 4);
        let mut whole = [0.0; 4];
        whole[..part.len()].copy_from_slice(part);
        Self::load(token, &whole)
    }

    /// WebAssembly cannot ask for a line ahead of its use.
    #[inline(always)]
    fn prefetch(_: Simd128, _: &[f32], _: usize) {}

    #[inline(always)]
    fn store(self, part: &mut [f32]) {
        match part.first_chunk_mut::<4>() {
            // SAFETY: as many numbers as the register holds are written; they may lie anywhere.
            Some(place) => unsafe { v128_store(place.as_mut_ptr().cast(), self.0) },
            None => {
                let mut whole = [0.0_f32; 4];
                // SAFETY: as above.
                unsafe { v128_store(whole.as_mut_ptr().cast(), self.0) };
                part.copy_from_slice(&whole[..part.len()]);
            }
        }
    }

    #[inline(always)]
    fn store_first(self, part: &mut [MaybeUninit<f32>]) {
        let place: &mut [_; 4] = part.first_chunk_mut().expect("places for a whole vector");
        // SAFETY: as many numbers as the register holds are written; they may lie anywhere.
        unsafe { v128_store(place.as_mut_ptr().cast(), self.0) }
    }

    /// Rounded twice: the one instruction that rounds once is of Relaxed SIMD, whose results depend on the machine.
    #[inline(always)]
    fn fused(self, factor: Self, term: Self) -> Self {
        Self(f32x4_add(f32x4_mul(self.0, factor.0), term.0))
    }

    #[inline(always)]
    fn or_zero(self, _: Simd128) -> Self {
        // The bits of what is below zero are taken away.
        Self(v128_andnot(self.0, f32x4_lt(self.0, f32x4_splat(0.0))))
    }

    #[inline(always)]
    fn transpose_fours<'a>(token: Simd128, row: impl Fn(usize) -> &'a [f32; 4]) -> [Self; 4] {
        let [a, b, c, d] = [0, 1, 2, 3].map(|r| Self::load(token, row(r)));
        let ((ac, ac_high), (bd, bd_high)) = (a.interleave(c), b.interleave(d));
        let ((first, second), (third, fourth)) = (ac.interleave(bd), ac_high.interleave(bd_high));
        [first, second, third, fourth]
    }

    #[inline(always)]
    fn interleave(self, other: Self) -> (Self, Self) {
        (
            Self(i32x4_shuffle::<0, 4, 1, 5>(self.0, other.0)),
            Self(i32x4_shuffle::<2, 6, 3, 7>(self.0, other.0)),
        )
    }

    #[inline(always)]
    fn upper(self) -> Self {
        Self(i32x4_shuffle::<2, 3, 2, 3>(self.0, self.0))
    }

    #[inline(always)]
    fn totals(four: [Self; 4]) -> [f32; 4] {
        four.map(Self::total)
    }

    #[inline(always)]
    fn total(self) -> f32 {
        let pairs = f32x4_add(self.0, self.upper().0);
        f32x4_extract_lane::<0>(pairs) + f32x4_extract_lane::<1>(pairs)
    }
}
