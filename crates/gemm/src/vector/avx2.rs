//! Registers of AVX2: eight numbers.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::register::Vector;

/// The proof that the machine has AVX2 and FMA.
#[derive(Clone, Copy)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// # Safety
    ///
    /// The machine has these instructions.
    pub(super) unsafe fn new_unchecked() -> Self {
        Self(())
    }
}

/// Made with a token only.
#[derive(Clone, Copy)]
pub(crate) struct F32x8(__m256);

// SAFETY of all calls below: a token, or a register, which is made with one, proves that the machine has the instructions.
impl Vector for F32x8 {
    type Token = Avx2;
    const LANES: usize = 8;
    const REGISTERS: usize = 16;

    #[inline(always)]
    fn splat(_: Avx2, value: f32) -> Self {
        // SAFETY: the token.
        Self(unsafe { _mm256_set1_ps(value) })
    }

    #[inline(always)]
    fn load(_: Avx2, part: &[f32]) -> Self {
        let part: &[f32; 8] = part.first_chunk().expect("a whole vector");
        // SAFETY: the token; as many numbers as the register holds are read.
        Self(unsafe { _mm256_loadu_ps(part.as_ptr()) })
    }

    #[inline(always)]
    fn load_padded(_: Avx2, part: &[f32]) -> Self {
        assert!(part.len() < 8);
        // SAFETY: the token; the mask is set for the numbers of the slice.
        Self(unsafe { _mm256_maskload_ps(part.as_ptr(), first(part.len())) })
    }

    #[inline(always)]
    fn prefetch(_: Avx2, part: &[f32], at: usize) {
        // SAFETY: the token; an address is no more than a hint.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(part.as_ptr().wrapping_add(at).cast::<i8>()) };
    }

    #[inline(always)]
    fn store(self, part: &mut [f32]) {
        match part.first_chunk_mut::<8>() {
            // SAFETY: the register; as many numbers as it holds are written.
            Some(place) => unsafe { _mm256_storeu_ps(place.as_mut_ptr(), self.0) },
            // SAFETY: the register; the mask is set for the numbers of the slice.
            None => unsafe { _mm256_maskstore_ps(part.as_mut_ptr(), first(part.len()), self.0) },
        }
    }

    #[inline(always)]
    fn store_first(self, part: &mut [MaybeUninit<f32>]) {
        let place: &mut [_; 8] = part.first_chunk_mut().expect("places for a whole vector");
        // SAFETY: the register; as many numbers as it holds are written.
        unsafe { _mm256_storeu_ps(place.as_mut_ptr().cast::<f32>(), self.0) }
    }

    #[inline(always)]
    fn fused(self, factor: Self, term: Self) -> Self {
        // SAFETY: the register.
        Self(unsafe { _mm256_fmadd_ps(self.0, factor.0, term.0) })
    }

    #[inline(always)]
    fn or_zero(self, token: Avx2) -> Self {
        // SAFETY: the register; where neither number is the larger one, the second is taken.
        Self(unsafe { _mm256_max_ps(Self::splat(token, 0.0).0, self.0) })
    }

    #[inline(always)]
    fn transpose_fours<'a>(_: Avx2, row: impl Fn(usize) -> &'a [f32; 4]) -> [Self; 4] {
        // SAFETY: the token; as many numbers as half of a register holds are read of each row.
        unsafe {
            // Every fourth row in the halves of a register: each half is one of a square of four.
            let halves = |r: usize| {
                let [low, high] = [r, r + 4].map(|r| _mm_loadu_ps(row(r).as_ptr()));
                _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(low), high)
            };
            let (a, b, c, d) = (halves(0), halves(1), halves(2), halves(3));
            let (ab, cd) = (_mm256_unpacklo_ps(a, b), _mm256_unpacklo_ps(c, d));
            let (upper_ab, upper_cd) = (_mm256_unpackhi_ps(a, b), _mm256_unpackhi_ps(c, d));
            [
                Self(_mm256_shuffle_ps::<0b01_00_01_00>(ab, cd)),
                Self(_mm256_shuffle_ps::<0b11_10_11_10>(ab, cd)),
                Self(_mm256_shuffle_ps::<0b01_00_01_00>(upper_ab, upper_cd)),
                Self(_mm256_shuffle_ps::<0b11_10_11_10>(upper_ab, upper_cd)),
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
        Self(unsafe { _mm256_permute2f128_ps::<0x11>(self.0, self.0) })
    }

    #[inline(always)]
    fn totals([a, b, c, d]: [Self; 4]) -> [f32; 4] {
        // SAFETY: the registers.
        unsafe { totals([a.0, b.0, c.0, d.0]) }
    }

    #[inline(always)]
    fn total(self) -> f32 {
        // SAFETY: the register.
        unsafe { total(self.0) }
    }
}

// The following are inlined into code that has the instructions, as the functions above are: sums that were handed over in memory
// would leave their registers.

/// The mask of the first `count` lanes.
///
/// # Safety
///
/// The machine has AVX2; so for all of these.
#[inline(always)]
unsafe fn first(count: usize) -> __m256i {
    // SAFETY: the caller's contract.
    unsafe {
        let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        _mm256_cmpgt_epi32(_mm256_set1_epi32(count as i32), lanes)
    }
}

/// # Safety
///
/// As [`first`].
#[inline(always)]
unsafe fn interleave(a: __m256, b: __m256) -> (__m256, __m256) {
    // SAFETY: the caller's contract.
    unsafe {
        let (low, high) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
        (_mm256_permute2f128_ps::<0x20>(low, high), _mm256_permute2f128_ps::<0x31>(low, high))
    }
}

/// # Safety
///
/// As [`first`].
#[inline(always)]
unsafe fn total(x: __m256) -> f32 {
    // SAFETY: the caller's contract.
    unsafe {
        let x = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps::<1>(x));
        let x = _mm_add_ps(x, _mm_movehl_ps(x, x));
        _mm_cvtss_f32(_mm_add_ss(x, _mm_movehdup_ps(x)))
    }
}

/// See [`Vector::totals`].
///
/// # Safety
///
/// As [`first`].
#[inline(always)]
pub(super) unsafe fn totals([a, b, c, d]: [__m256; 4]) -> [f32; 4] {
    // SAFETY: the caller's contract; as many numbers as the register holds are written.
    unsafe {
        // Adjacent pairs twice: each half ends as the partial sums of a, b, c and d.
        let x = _mm256_hadd_ps(_mm256_hadd_ps(a, b), _mm256_hadd_ps(c, d));
        let x = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps::<1>(x));
        let mut totals = [0.0; 4];
        _mm_storeu_ps(totals.as_mut_ptr(), x);
        totals
    }
}
