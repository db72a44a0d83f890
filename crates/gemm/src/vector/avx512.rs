//! Registers of AVX-512: sixteen numbers.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::{avx2, register::Vector};

/// The proof that the machine has AVX-512 F, BW, CD, DQ and VL, AVX2 and FMA.
#[derive(Clone, Copy)]
pub(crate) struct Avx512(());

impl Avx512 {
    /// # Safety
    ///
    /// The machine has these instructions.
    pub(super) unsafe fn new_unchecked() -> Self {
        Self(())
    }
}

/// Made with a token only.
#[derive(Clone, Copy)]
pub(crate) struct F32x16(__m512);

// SAFETY of all calls below: a token, or a register, which is made with one, proves that the machine has the instructions.
impl Vector for F32x16 {
    type Token = Avx512;
    const LANES: usize = 16;
    const REGISTERS: usize = 32;

    #[inline(always)]
    fn splat(_: Avx512, value: f32) -> Self {
        // SAFETY: the token.
        Self(unsafe { _mm512_set1_ps(value) })
    }

    #[inline(always)]
    fn load(_: Avx512, part: &[f32]) -> Self {
        let part: &[f32; 16] = part.first_chunk().expect("a whole vector");
        // SAFETY: the token; as many numbers as the register holds are read.
        Self(unsafe { _mm512_loadu_ps(part.as_ptr()) })
    }

    #[inline(always)]
    fn load_padded(_: Avx512, part: &[f32]) -> Self {
        assert!(part.len() < 16);
        // SAFETY: the token; the mask has a bit for each number of the slice.
        Self(unsafe { _mm512_maskz_loadu_ps((1 << part.len()) - 1, part.as_ptr()) })
    }

    #[inline(always)]
    fn prefetch(_: Avx512, part: &[f32], at: usize) {
        // SAFETY: the token; an address is no more than a hint.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(part.as_ptr().wrapping_add(at).cast::<i8>()) };
    }

    #[inline(always)]
    fn store(self, part: &mut [f32]) {
        match part.first_chunk_mut::<16>() {
            // SAFETY: the register; as many numbers as it holds are written.
            Some(place) => unsafe { _mm512_storeu_ps(place.as_mut_ptr(), self.0) },
            // SAFETY: the register; the mask has a bit for each number of the slice, which is shorter than the register.
            None => unsafe { _mm512_mask_storeu_ps(part.as_mut_ptr(), (1 << part.len()) - 1, self.0) },
        }
    }

    #[inline(always)]
    fn store_first(self, part: &mut [MaybeUninit<f32>]) {
        let place: &mut [_; 16] = part.first_chunk_mut().expect("places for a whole vector");
        // SAFETY: the register; as many numbers as it holds are written.
        unsafe { _mm512_storeu_ps(place.as_mut_ptr().cast::<f32>(), self.0) }
    }

    #[inline(always)]
    fn fused(self, factor: Self, term: Self) -> Self {
        // SAFETY: the register.
        Self(unsafe { _mm512_fmadd_ps(self.0, factor.0, term.0) })
    }

    #[inline(always)]
    fn or_zero(self, token: Avx512) -> Self {
        // SAFETY: the register; where neither number is the larger one, the second is taken.
        Self(unsafe { _mm512_max_ps(Self::splat(token, 0.0).0, self.0) })
    }

    #[inline(always)]
    fn transpose_fours<'a>(_: Avx512, row: impl Fn(usize) -> &'a [f32; 4]) -> [Self; 4] {
        // SAFETY: the token; as many numbers as a quarter of a register holds are read of each row.
        unsafe {
            // Every fourth row in the quarters of a register: each quarter is one of a square of four.
            let quarters = |r: usize| {
                let [a, b, c, d] = [r, r + 4, r + 8, r + 12].map(|r| _mm_loadu_ps(row(r).as_ptr()));
                let low = _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(a), b);
                let high = _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(c), d);
                _mm512_insertf32x8::<1>(_mm512_castps256_ps512(low), high)
            };
            let (a, b, c, d) = (quarters(0), quarters(1), quarters(2), quarters(3));
            let (ab, cd) = (_mm512_unpacklo_ps(a, b), _mm512_unpacklo_ps(c, d));
            let (upper_ab, upper_cd) = (_mm512_unpackhi_ps(a, b), _mm512_unpackhi_ps(c, d));
            [
                Self(_mm512_shuffle_ps::<0b01_00_01_00>(ab, cd)),
                Self(_mm512_shuffle_ps::<0b11_10_11_10>(ab, cd)),
                Self(_mm512_shuffle_ps::<0b01_00_01_00>(upper_ab, upper_cd)),
                Self(_mm512_shuffle_ps::<0b11_10_11_10>(upper_ab, upper_cd)),
            ]
        }
    }

    #[inline(always)]
    fn interleave(self, other: Self) -> (Self, Self) {
        // SAFETY: the register.
        let (low, high) = unsafe { interleave(self.0, other.0) };
        (Self(low), Self(high))
    }

    #[inline(always)]
    fn upper(self) -> Self {
        // SAFETY: the register.
        Self(unsafe { _mm512_shuffle_f32x4::<0xEE>(self.0, self.0) })
    }

    #[inline(always)]
    fn totals([a, b, c, d]: [Self; 4]) -> [f32; 4] {
        // SAFETY: the registers.
        unsafe { totals([a.0, b.0, c.0, d.0]) }
    }

    #[inline(always)]
    fn total(self) -> f32 {
        // SAFETY: the register.
        unsafe { _mm512_reduce_add_ps(self.0) }
    }
}

// The following are inlined into code that has the instructions, as the functions above are: sums that were handed over in memory
// would leave their registers.

/// # Safety
///
/// The machine has AVX-512 F.
#[inline(always)]
unsafe fn interleave(a: __m512, b: __m512) -> (__m512, __m512) {
    // SAFETY: the caller's contract.
    unsafe {
        let low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        let high = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
        (_mm512_permutex2var_ps(a, low, b), _mm512_permutex2var_ps(a, high, b))
    }
}

/// # Safety
///
/// The machine has AVX-512 F and DQ, and AVX2.
#[inline(always)]
unsafe fn totals([a, b, c, d]: [__m512; 4]) -> [f32; 4] {
    // SAFETY: the caller's contract.
    unsafe { avx2::totals([halved(a), halved(b), halved(c), halved(d)]) }
}

/// # Safety
///
/// As [`totals`].
#[inline(always)]
unsafe fn halved(x: __m512) -> __m256 {
    // SAFETY: the caller's contract.
    unsafe { _mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps::<1>(x)) }
}
