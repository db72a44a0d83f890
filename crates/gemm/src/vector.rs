//! Vector registers, as far as our own kernels need them.
//!
//! Every register is made with a token, which exists only where the machine has the instructions; so whoever holds a
//! register or a token has the proof, and all functions of [`Vector`] are safe. For speed they must be inlined into code
//! that is compiled for these instructions, which [`Number::run`](crate::element::Number::run) sees to.

use std::mem::MaybeUninit;

/// A register of several elements.
pub trait Vector<T>: Copy {
    /// The proof that the machine has the instructions.
    type Token: Copy;
    /// Elements.
    const LANES: usize;
    /// Registers of this kind that the machine has.
    const REGISTERS: usize;

    fn splat(token: Self::Token, value: T) -> Self;
    /// The first elements of a slice that has enough of them.
    fn load(token: Self::Token, part: &[T]) -> Self;
    /// Fewer elements than fill the register, followed by zeros.
    fn load_padded(token: Self::Token, part: &[T]) -> Self;
    /// Asks for the line of the cache that element `at` lies in, which may lie beyond the slice.
    fn prefetch(token: Self::Token, part: &[T], at: usize);
    /// As many elements as the slice has, if the register does.
    fn store(self, part: &mut [T]);
    /// All elements, to the first places of a slice that has enough of them.
    fn store_first(self, part: &mut [MaybeUninit<T>]);
    /// `self * factor + term`, rounded once.
    fn fused(self, factor: Self, term: Self) -> Self;
    /// The elements in turns, `self[0], other[0], self[1], ...`, in two registers.
    fn interleave(self, other: Self) -> (Self, Self);
    /// The upper half of the elements, twice.
    fn upper(self) -> Self;
    /// The sums of the elements of four registers.
    fn totals(four: [Self; 4]) -> [T; 4];
    /// The sum of the elements.
    fn total(self) -> T;
}

/// The token of a set of instructions.
macro_rules! token {
    ($(#[$attribute:meta])* $name:ident) => {
        $(#[$attribute])*
        #[derive(Clone, Copy)]
        pub(crate) struct $name(());

        impl $name {
            /// # Safety
            ///
            /// The machine has these instructions.
            pub(crate) unsafe fn new_unchecked() -> Self {
                Self(())
            }
        }
    };
}

macro_rules! vector {
    ($name:ident, $token:ty, $register:ty, $type:ty, $lanes:literal, $registers:literal,
     $splat:expr, $load:expr, $padded:expr, $prefetch:expr, $store:expr, $store_part:expr, $fused:expr,
     $interleave:expr, $upper:expr, $totals:expr, $total:expr) => {
        /// Made with a token only.
        #[derive(Clone, Copy)]
        pub(crate) struct $name($register);

        impl Vector<$type> for $name {
            type Token = $token;
            const LANES: usize = $lanes;
            const REGISTERS: usize = $registers;

            #[inline(always)]
            fn splat(_: $token, value: $type) -> Self {
                // SAFETY: the token proves that the machine has the instructions.
                Self(unsafe { $splat(value) })
            }

            #[inline(always)]
            fn load(_: $token, part: &[$type]) -> Self {
                let part: &[$type; $lanes] = part.first_chunk().expect("a whole vector");
                // SAFETY: as in `splat`; as many elements as the register holds are read.
                Self(unsafe { $load(part.as_ptr()) })
            }

            #[inline(always)]
            fn load_padded(_: $token, part: &[$type]) -> Self {
                assert!(part.len() < $lanes);
                // SAFETY: as in `splat`; only the elements of the slice are read.
                Self(unsafe { $padded(part) })
            }

            #[inline(always)]
            fn prefetch(_: $token, part: &[$type], at: usize) {
                // SAFETY: as in `splat`; an address is no more than a hint.
                unsafe { $prefetch(part.as_ptr().wrapping_add(at).cast::<i8>()) };
            }

            #[inline(always)]
            fn store(self, part: &mut [$type]) {
                match part.first_chunk_mut::<$lanes>() {
                    // SAFETY: the register was made with a token; as many elements as it holds are written.
                    Some(place) => unsafe { $store(place.as_mut_ptr(), self.0) },
                    // SAFETY: the register was made with a token; only the elements of the slice are written.
                    None => unsafe { $store_part(part, self.0) },
                }
            }

            #[inline(always)]
            fn fused(self, factor: Self, term: Self) -> Self {
                // SAFETY: the register was made with a token.
                Self(unsafe { $fused(self.0, factor.0, term.0) })
            }

            #[inline(always)]
            fn store_first(self, part: &mut [MaybeUninit<$type>]) {
                let place: &mut [_; $lanes] = part.first_chunk_mut().expect("places for a whole vector");
                // SAFETY: the register was made with a token; as many elements as the register holds are written.
                unsafe { $store(place.as_mut_ptr().cast::<$type>(), self.0) }
            }

            #[inline(always)]
            fn interleave(self, other: Self) -> (Self, Self) {
                // SAFETY: the register was made with a token.
                let (low, high) = unsafe { $interleave(self.0, other.0) };
                (Self(low), Self(high))
            }

            #[inline(always)]
            fn upper(self) -> Self {
                // SAFETY: the register was made with a token.
                Self(unsafe { $upper(self.0) })
            }

            #[inline(always)]
            fn totals([a, b, c, d]: [Self; 4]) -> [$type; 4] {
                // SAFETY: the register was made with a token.
                unsafe { $totals([a.0, b.0, c.0, d.0]) }
            }

            #[inline(always)]
            fn total(self) -> $type {
                // SAFETY: the register was made with a token.
                unsafe { $total(self.0) }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod x86 {
    use std::arch::x86_64::*;

    use super::{MaybeUninit, Vector};

    token! {
        /// AVX-512 F, BW, CD, DQ and VL, AVX2 and FMA.
        Avx512
    }
    token! {
        /// AVX2 and FMA.
        Avx2
    }

    vector!(
        F32x16,
        Avx512,
        __m512,
        f32,
        16,
        32,
        _mm512_set1_ps,
        _mm512_loadu_ps,
        padded_f32x16,
        _mm_prefetch::<_MM_HINT_T0>,
        _mm512_storeu_ps,
        part_f32x16,
        _mm512_fmadd_ps,
        interleave_f32x16,
        |x| _mm512_shuffle_f32x4::<0xEE>(x, x),
        totals_f32x16,
        _mm512_reduce_add_ps
    );
    vector!(
        F64x8,
        Avx512,
        __m512d,
        f64,
        8,
        32,
        _mm512_set1_pd,
        _mm512_loadu_pd,
        padded_f64x8,
        _mm_prefetch::<_MM_HINT_T0>,
        _mm512_storeu_pd,
        part_f64x8,
        _mm512_fmadd_pd,
        interleave_f64x8,
        |x| _mm512_shuffle_f64x2::<0xEE>(x, x),
        totals_f64x8,
        _mm512_reduce_add_pd
    );
    vector!(
        F32x8,
        Avx2,
        __m256,
        f32,
        8,
        16,
        _mm256_set1_ps,
        _mm256_loadu_ps,
        padded_f32x8,
        _mm_prefetch::<_MM_HINT_T0>,
        _mm256_storeu_ps,
        part_f32x8,
        _mm256_fmadd_ps,
        interleave_f32x8,
        |x| _mm256_permute2f128_ps::<0x11>(x, x),
        totals_f32x8,
        total_f32x8
    );
    vector!(
        F64x4,
        Avx2,
        __m256d,
        f64,
        4,
        16,
        _mm256_set1_pd,
        _mm256_loadu_pd,
        padded_f64x4,
        _mm_prefetch::<_MM_HINT_T0>,
        _mm256_storeu_pd,
        part_f64x4,
        _mm256_fmadd_pd,
        interleave_f64x4,
        |x| _mm256_permute2f128_pd::<0x11>(x, x),
        totals_f64x4,
        total_f64x4
    );

    /// # Safety
    ///
    /// The slice is shorter than the register; so for all of these.
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn padded_f32x16(part: &[f32]) -> __m512 {
        // SAFETY: the mask has a bit for each element of the slice.
        unsafe { _mm512_maskz_loadu_ps((1 << part.len()) - 1, part.as_ptr()) }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn padded_f64x8(part: &[f64]) -> __m512d {
        // SAFETY: the mask has a bit for each element of the slice.
        unsafe { _mm512_maskz_loadu_pd((1 << part.len()) - 1, part.as_ptr()) }
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn padded_f32x8(part: &[f32]) -> __m256 {
        let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        let mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(part.len() as i32), lanes);
        // SAFETY: the mask is set for the elements of the slice.
        unsafe { _mm256_maskload_ps(part.as_ptr(), mask) }
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn padded_f64x4(part: &[f64]) -> __m256d {
        let lanes = _mm256_setr_epi64x(0, 1, 2, 3);
        let mask = _mm256_cmpgt_epi64(_mm256_set1_epi64x(part.len() as i64), lanes);
        // SAFETY: the mask is set for the elements of the slice.
        unsafe { _mm256_maskload_pd(part.as_ptr(), mask) }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn part_f32x16(part: &mut [f32], x: __m512) {
        // SAFETY: the mask has a bit for each element of the slice.
        unsafe { _mm512_mask_storeu_ps(part.as_mut_ptr(), (1 << part.len()) - 1, x) }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn part_f64x8(part: &mut [f64], x: __m512d) {
        // SAFETY: the mask has a bit for each element of the slice.
        unsafe { _mm512_mask_storeu_pd(part.as_mut_ptr(), (1 << part.len()) - 1, x) }
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn part_f32x8(part: &mut [f32], x: __m256) {
        let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        let mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(part.len() as i32), lanes);
        // SAFETY: the mask is set for the elements of the slice.
        unsafe { _mm256_maskstore_ps(part.as_mut_ptr(), mask, x) }
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn part_f64x4(part: &mut [f64], x: __m256d) {
        let lanes = _mm256_setr_epi64x(0, 1, 2, 3);
        let mask = _mm256_cmpgt_epi64(_mm256_set1_epi64x(part.len() as i64), lanes);
        // SAFETY: the mask is set for the elements of the slice.
        unsafe { _mm256_maskstore_pd(part.as_mut_ptr(), mask, x) }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn interleave_f32x16(a: __m512, b: __m512) -> (__m512, __m512) {
        let low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        let high = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
        (_mm512_permutex2var_ps(a, low, b), _mm512_permutex2var_ps(a, high, b))
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn interleave_f64x8(a: __m512d, b: __m512d) -> (__m512d, __m512d) {
        let low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
        let high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
        (_mm512_permutex2var_pd(a, low, b), _mm512_permutex2var_pd(a, high, b))
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn interleave_f32x8(a: __m256, b: __m256) -> (__m256, __m256) {
        let (low, high) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
        (_mm256_permute2f128_ps::<0x20>(low, high), _mm256_permute2f128_ps::<0x31>(low, high))
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn interleave_f64x4(a: __m256d, b: __m256d) -> (__m256d, __m256d) {
        let (low, high) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
        (_mm256_permute2f128_pd::<0x20>(low, high), _mm256_permute2f128_pd::<0x31>(low, high))
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn total_f32x8(x: __m256) -> f32 {
        let x = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps::<1>(x));
        let x = _mm_add_ps(x, _mm_movehl_ps(x, x));
        _mm_cvtss_f32(_mm_add_ss(x, _mm_movehdup_ps(x)))
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn total_f64x4(x: __m256d) -> f64 {
        let x = _mm_add_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd::<1>(x));
        _mm_cvtsd_f64(_mm_add_sd(x, _mm_unpackhi_pd(x, x)))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
    fn totals_f32x16([a, b, c, d]: [__m512; 4]) -> [f32; 4] {
        totals_f32x8([halved_f32x16(a), halved_f32x16(b), halved_f32x16(c), halved_f32x16(d)])
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn halved_f32x16(x: __m512) -> __m256 {
        _mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps::<1>(x))
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn totals_f32x8([a, b, c, d]: [__m256; 4]) -> [f32; 4] {
        // Adjacent pairs twice: each half ends as the partial sums of a, b, c and d.
        let x = _mm256_hadd_ps(_mm256_hadd_ps(a, b), _mm256_hadd_ps(c, d));
        let x = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps::<1>(x));
        let mut totals = [0.0; 4];
        // SAFETY: as many elements as the register holds are written.
        unsafe { _mm_storeu_ps(totals.as_mut_ptr(), x) };
        totals
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
    fn totals_f64x8([a, b, c, d]: [__m512d; 4]) -> [f64; 4] {
        totals_f64x4([halved_f64x8(a), halved_f64x8(b), halved_f64x8(c), halved_f64x8(d)])
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn halved_f64x8(x: __m512d) -> __m256d {
        _mm256_add_pd(_mm512_castpd512_pd256(x), _mm512_extractf64x4_pd::<1>(x))
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn totals_f64x4([a, b, c, d]: [__m256d; 4]) -> [f64; 4] {
        let (ab, cd) = (_mm256_hadd_pd(a, b), _mm256_hadd_pd(c, d));
        let low = _mm256_permute2f128_pd::<0x20>(ab, cd);
        let high = _mm256_permute2f128_pd::<0x31>(ab, cd);
        let mut totals = [0.0; 4];
        // SAFETY: as many elements as the register holds are written.
        unsafe { _mm256_storeu_pd(totals.as_mut_ptr(), _mm256_add_pd(low, high)) };
        totals
    }
}

#[cfg(target_arch = "aarch64")]
pub(crate) mod neon {
    use std::arch::aarch64::*;

    use super::{MaybeUninit, Vector};

    token! {
        /// NEON.
        Neon
    }

    /// No instruction of stable Rust asks for a line ahead of its use here.
    ///
    /// # Safety
    /// Always safe to call; unsafe as what it stands in for is.
    unsafe fn no_prefetch(_: *const i8) {}

    /// A slice shorter than the register, continued.
    fn filled<T: Copy, const N: usize>(part: &[T], rest: T) -> [T; N] {
        let mut whole = [rest; N];
        whole[..part.len()].copy_from_slice(part);
        whole
    }

    /// Copies the first elements of what `store` writes to a shorter slice.
    fn begin<T: Copy + Default, const N: usize>(part: &mut [T], store: impl FnOnce(&mut [T; N])) {
        let mut whole = [T::default(); N];
        store(&mut whole);
        part.copy_from_slice(&whole[..part.len()]);
    }

    vector!(
        F32x4,
        Neon,
        float32x4_t,
        f32,
        4,
        32,
        vdupq_n_f32,
        vld1q_f32,
        |part| vld1q_f32(filled::<_, 4>(part, 0.0).as_ptr()),
        no_prefetch,
        vst1q_f32,
        |part: &mut [f32], x| begin(part, |whole: &mut [f32; 4]| vst1q_f32(whole.as_mut_ptr(), x)),
        |a, b, sum| vfmaq_f32(sum, a, b),
        |a, b| (vzip1q_f32(a, b), vzip2q_f32(a, b)),
        |x| vcombine_f32(vget_high_f32(x), vget_high_f32(x)),
        |[a, b, c, d]: [float32x4_t; 4]| [vaddvq_f32(a), vaddvq_f32(b), vaddvq_f32(c), vaddvq_f32(d)],
        vaddvq_f32
    );
    vector!(
        F64x2,
        Neon,
        float64x2_t,
        f64,
        2,
        32,
        vdupq_n_f64,
        vld1q_f64,
        |part| vld1q_f64(filled::<_, 2>(part, 0.0).as_ptr()),
        no_prefetch,
        vst1q_f64,
        |part: &mut [f64], x| begin(part, |whole: &mut [f64; 2]| vst1q_f64(whole.as_mut_ptr(), x)),
        |a, b, sum| vfmaq_f64(sum, a, b),
        |a, b| (vzip1q_f64(a, b), vzip2q_f64(a, b)),
        |x| vdupq_laneq_f64::<1>(x),
        |[a, b, c, d]: [float64x2_t; 4]| [vaddvq_f64(a), vaddvq_f64(b), vaddvq_f64(c), vaddvq_f64(d)],
        vaddvq_f64
    );
}
