//! Registers of NEON: four numbers.

use std::arch::aarch64::*;
use std::mem::MaybeUninit;

use super::register::Vector;

/// The proof that the machine has NEON.
#[derive(Clone, Copy)]
pub(crate) struct Neon(());

impl Neon {
    /// # Safety
    ///
    /// The machine has these instructions.
    pub(super) unsafe fn new_unchecked() -> Self {
        Self(())
    }
}

/// Made with a token only.
#[derive(Clone, Copy)]
pub(crate) struct F32x4(float32x4_t);

// SAFETY of all calls below: a token, or a register, which is made with one, proves that the machine has the instructions.
impl Vector for F32x4 {
    type Token = Neon;
    const LANES: usize = 4;
    const REGISTERS: usize = 32;

    #[inline(always)]
    fn splat(_: Neon, value: f32) -> Self {
        // SAFETY: the token.
        Self(unsafe { vdupq_n_f32(value) })
    }

    #[inline(always)]
    fn load(_: Neon, part: &[f32]) -> Self {
        let part: &[f32; 4] = part.first_chunk().expect("a whole vector");
        // SAFETY: the token; as many numbers as the register holds are read.
        Self(unsafe { vld1q_f32(part.as_ptr()) })
    }

    #[inline(always)]
    fn load_padded(token: Neon, part: &[f32]) -> Self {
        assert!(part.len() < 4);
        let mut whole = [0.0; 4];
        whole[..part.len()].copy_from_slice(part);
        Self::load(token, &whole)
    }

    /// No instruction of stable Rust asks for a line ahead of its use here.
    #[inline(always)]
    fn prefetch(_: Neon, _: &[f32], _: usize) {}

    #[inline(always)]
    fn store(self, part: &mut [f32]) {
        match part.first_chunk_mut::<4>() {
            // SAFETY: the register; as many numbers as it holds are written.
            Some(place) => unsafe { vst1q_f32(place.as_mut_ptr(), self.0) },
            None => {
                let mut whole = [0.0; 4];
                // SAFETY: as above.
                unsafe { vst1q_f32(whole.as_mut_ptr(), self.0) };
                part.copy_from_slice(&whole[..part.len()]);
            }
        }
    }

    #[inline(always)]
    fn store_first(self, part: &mut [MaybeUninit<f32>]) {
        let place: &mut [_; 4] = part.first_chunk_mut().expect("places for a whole vector");
        // SAFETY: the register; as many numbers as it holds are written.
        unsafe { vst1q_f32(place.as_mut_ptr().cast::<f32>(), self.0) }
    }

    #[inline(always)]
    fn fused(self, factor: Self, term: Self) -> Self {
        // SAFETY: the register.
        Self(unsafe { vfmaq_f32(term.0, self.0, factor.0) })
    }

    #[inline(always)]
    fn or_zero(self, token: Neon) -> Self {
        let zero = Self::splat(token, 0.0).0;
        // SAFETY: the register.
        Self(unsafe { vbslq_f32(vcltq_f32(self.0, zero), zero, self.0) })
    }

    #[inline(always)]
    fn transpose_fours<'a>(_: Neon, row: impl Fn(usize) -> &'a [f32; 4]) -> [Self; 4] {
        // SAFETY: the token; as many numbers as a register holds are read of each row.
        unsafe {
            let [a, b, c, d] = [0, 1, 2, 3].map(|r| vld1q_f32(row(r).as_ptr()));
            let (ab, cd) = (vtrnq_f32(a, b), vtrnq_f32(c, d));
            let low = |x, y| vcombine_f32(vget_low_f32(x), vget_low_f32(y));
            let high = |x, y| vcombine_f32(vget_high_f32(x), vget_high_f32(y));
            [Self(low(ab.0, cd.0)), Self(low(ab.1, cd.1)), Self(high(ab.0, cd.0)), Self(high(ab.1, cd.1))]
        }
    }

    #[inline(always)]
    fn interleave(self, other: Self) -> (Self, Self) {
        // SAFETY: the register.
        unsafe { (Self(vzip1q_f32(self.0, other.0)), Self(vzip2q_f32(self.0, other.0))) }
    }

    #[inline(always)]
    fn upper(self) -> Self {
        // SAFETY: the register.
        Self(unsafe { vcombine_f32(vget_high_f32(self.0), vget_high_f32(self.0)) })
    }

    #[inline(always)]
    fn totals(four: [Self; 4]) -> [f32; 4] {
        four.map(Self::total)
    }

    #[inline(always)]
    fn total(self) -> f32 {
        // SAFETY: the register.
        unsafe { vaddvq_f32(self.0) }
    }
}
