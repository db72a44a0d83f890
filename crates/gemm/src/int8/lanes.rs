//! The instructions for sums of products of bytes, a type for each set of them.

use super::operands::STRIP;

/// The instructions that a kernel needs.
///
/// # Safety
///
/// The machine has the instructions, and pointers are to as many weights or sums as are read or written.
pub(crate) trait Lanes {
    /// 32-bit sums of [`Lanes::COLUMNS`] columns, and as many times four weights.
    type Register: Copy;
    const COLUMNS: usize;
    /// The number that the whole numbers of the left operand are XORed with: 0x80 where unsigned bytes are wanted, which adds
    /// 128.
    const FLIP: u8;
    /// Rows and strips of a tile, as large as the registers hold, and strips of a tile of one row.
    const ROWS: usize;
    const STRIPS: usize;
    const STRIPS_OF_ROW: usize;

    unsafe fn zero() -> Self::Register;
    /// Four numbers of the left operand, in each lane.
    unsafe fn splat(four: [u8; 4]) -> Self::Register;
    /// Reads as many bytes as a register has.
    unsafe fn load(weights: *const i8) -> Self::Register;
    /// Adds the products of four bytes each to each lane.
    unsafe fn add(sums: Self::Register, four: Self::Register, weights: Self::Register) -> Self::Register;
    /// The sums of two registers, lane by lane.
    unsafe fn join(a: Self::Register, b: Self::Register) -> Self::Register;
    unsafe fn store(sums: Self::Register, place: *mut i32);

    /// `before + (sums - flip * column_sums) * (scale * scales) * alpha` for the columns of a strip; integers wrap around.
    #[inline(always)]
    unsafe fn scaled(
        before: &[f32; STRIP],
        [sums, column_sums]: [&[i32; STRIP]; 2],
        flip: i32,
        scales: &[f32; STRIP],
        [scale, alpha]: [f32; 2],
    ) -> [f32; STRIP] {
        let mut values = *before;
        for l in 0..STRIP {
            let sum = sums[l].wrapping_sub(column_sums[l].wrapping_mul(flip));
            values[l] += sum as f32 * (scale * scales[l]) * alpha;
        }
        values
    }
}

/// One column at a time, in plain code.
pub(crate) struct Scalar;

impl Lanes for Scalar {
    type Register = [i32; 4];
    const COLUMNS: usize = 1;
    const FLIP: u8 = 0;
    const ROWS: usize = 1;
    const STRIPS: usize = 1;
    const STRIPS_OF_ROW: usize = 1;

    #[inline(always)]
    unsafe fn zero() -> [i32; 4] {
        [0; 4]
    }

    #[inline(always)]
    unsafe fn splat(four: [u8; 4]) -> [i32; 4] {
        four.map(|byte| i32::from(byte as i8))
    }

    #[inline(always)]
    unsafe fn load(weights: *const i8) -> [i32; 4] {
        // SAFETY: the caller's contract; bytes are aligned anywhere.
        unsafe { weights.cast::<[i8; 4]>().read() }.map(i32::from)
    }

    #[inline(always)]
    unsafe fn add(mut sums: [i32; 4], four: [i32; 4], weights: [i32; 4]) -> [i32; 4] {
        for l in 0..4 {
            sums[l] += four[l] * weights[l];
        }
        sums
    }

    #[inline(always)]
    unsafe fn join(mut a: [i32; 4], b: [i32; 4]) -> [i32; 4] {
        for l in 0..4 {
            a[l] += b[l];
        }
        a
    }

    #[inline(always)]
    unsafe fn store(sums: [i32; 4], place: *mut i32) {
        // SAFETY: the caller's contract.
        unsafe { place.write(sums.iter().sum()) };
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod x86 {
    use std::arch::x86_64::*;

    use super::{Lanes, STRIP};

    /// AVX512-VNNI: `vpdpbusd`, 64 products of unsigned by signed bytes.
    pub(crate) struct Avx512Vnni;

    /// AVX-VNNI: the same with registers of 256 bits.
    pub(crate) struct AvxVnni;

    /// AVX2, where `vpmaddubsw` adds two products in 16 bits. Its first operand is unsigned, so the sign goes to the
    /// other one: two products of at most 127 by 127 fit, which two of 255 by 127 would not.
    pub(crate) struct Avx2;

    impl Lanes for Avx512Vnni {
        type Register = __m512i;
        const COLUMNS: usize = 16;
        const FLIP: u8 = 0x80;
        const ROWS: usize = 6;
        const STRIPS: usize = 4;
        const STRIPS_OF_ROW: usize = 4;

        #[inline(always)]
        unsafe fn zero() -> __m512i {
            // SAFETY: the machine has the instructions.
            unsafe { _mm512_setzero_si512() }
        }

        #[inline(always)]
        unsafe fn splat(four: [u8; 4]) -> __m512i {
            // SAFETY: as above.
            unsafe { _mm512_set1_epi32(i32::from_le_bytes(four)) }
        }

        #[inline(always)]
        unsafe fn load(weights: *const i8) -> __m512i {
            // SAFETY: as above; the caller's contract.
            unsafe { _mm512_loadu_si512(weights.cast()) }
        }

        #[inline(always)]
        unsafe fn add(sums: __m512i, four: __m512i, weights: __m512i) -> __m512i {
            // SAFETY: as above.
            unsafe { _mm512_dpbusd_epi32(sums, four, weights) }
        }

        #[inline(always)]
        unsafe fn join(a: __m512i, b: __m512i) -> __m512i {
            // SAFETY: as above.
            unsafe { _mm512_add_epi32(a, b) }
        }

        #[inline(always)]
        unsafe fn store(sums: __m512i, place: *mut i32) {
            // SAFETY: as above; the caller's contract.
            unsafe { _mm512_storeu_si512(place.cast(), sums) };
        }

        // Left to itself the compiler vectorises the plain loop in some builds and not in others.
        #[inline(always)]
        unsafe fn scaled(
            before: &[f32; STRIP],
            [sums, column_sums]: [&[i32; STRIP]; 2],
            flip: i32,
            scales: &[f32; STRIP],
            [scale, alpha]: [f32; 2],
        ) -> [f32; STRIP] {
            const { assert!(STRIP == Self::COLUMNS) };
            let mut values = [0.0; STRIP];
            // SAFETY: as above; each place has as many numbers as a register.
            unsafe {
                let column_sums = _mm512_loadu_si512(column_sums.as_ptr().cast());
                let flipped = _mm512_mullo_epi32(column_sums, _mm512_set1_epi32(flip));
                let sums = _mm512_sub_epi32(_mm512_loadu_si512(sums.as_ptr().cast()), flipped);
                let scales = _mm512_mul_ps(_mm512_set1_ps(scale), _mm512_loadu_ps(scales.as_ptr()));
                let scaled =
                    _mm512_mul_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(sums), scales), _mm512_set1_ps(alpha));
                _mm512_storeu_ps(
                    values.as_mut_ptr(),
                    _mm512_add_ps(_mm512_loadu_ps(before.as_ptr()), scaled),
                );
            }
            values
        }
    }

    macro_rules! registers_of_256_bits {
        ($name:ident, $flip:literal, $add:expr) => {
            impl Lanes for $name {
                type Register = __m256i;
                const COLUMNS: usize = 8;
                const FLIP: u8 = $flip;
                const ROWS: usize = 4;
                const STRIPS: usize = 1;
                const STRIPS_OF_ROW: usize = 2;

                #[inline(always)]
                unsafe fn zero() -> __m256i {
                    // SAFETY: the machine has the instructions.
                    unsafe { _mm256_setzero_si256() }
                }

                #[inline(always)]
                unsafe fn splat(four: [u8; 4]) -> __m256i {
                    // SAFETY: as above.
                    unsafe { _mm256_set1_epi32(i32::from_le_bytes(four)) }
                }

                #[inline(always)]
                unsafe fn load(weights: *const i8) -> __m256i {
                    // SAFETY: as above; the caller's contract.
                    unsafe { _mm256_loadu_si256(weights.cast()) }
                }

                #[inline(always)]
                unsafe fn add(sums: __m256i, four: __m256i, weights: __m256i) -> __m256i {
                    // SAFETY: as above.
                    unsafe { $add(sums, four, weights) }
                }

                #[inline(always)]
                unsafe fn join(a: __m256i, b: __m256i) -> __m256i {
                    // SAFETY: as above.
                    unsafe { _mm256_add_epi32(a, b) }
                }

                #[inline(always)]
                unsafe fn store(sums: __m256i, place: *mut i32) {
                    // SAFETY: as above; the caller's contract.
                    unsafe { _mm256_storeu_si256(place.cast(), sums) };
                }
            }
        };
    }
    registers_of_256_bits!(AvxVnni, 0x80, _mm256_dpbusd_avx_epi32);
    registers_of_256_bits!(Avx2, 0, add_by_pairs);

    /// # Safety
    ///
    /// The machine has AVX2.
    #[inline(always)]
    unsafe fn add_by_pairs(sums: __m256i, four: __m256i, weights: __m256i) -> __m256i {
        // SAFETY: the caller's contract.
        unsafe {
            let pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(four), _mm256_sign_epi8(weights, four));
            _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)))
        }
    }
}

#[cfg(target_arch = "aarch64")]
pub(crate) mod neon {
    use std::arch::aarch64::*;
    use std::arch::asm;

    use super::Lanes;

    /// NEON: products of 16 bits, added up in pairs, twice.
    pub(crate) struct Neon;

    /// NEON with `sdot`, whose intrinsic is not stable.
    pub(crate) struct NeonDot;

    macro_rules! registers_of_128_bits {
        ($name:ident, $add:expr) => {
            impl Lanes for $name {
                type Register = int8x16_t;
                const COLUMNS: usize = 4;
                const FLIP: u8 = 0;
                const ROWS: usize = 4;
                const STRIPS: usize = 1;
                const STRIPS_OF_ROW: usize = 2;

                #[inline(always)]
                unsafe fn zero() -> int8x16_t {
                    // SAFETY: the machine has the instructions.
                    unsafe { vdupq_n_s8(0) }
                }

                #[inline(always)]
                unsafe fn splat(four: [u8; 4]) -> int8x16_t {
                    // SAFETY: as above.
                    unsafe { vreinterpretq_s8_s32(vdupq_n_s32(i32::from_le_bytes(four))) }
                }

                #[inline(always)]
                unsafe fn load(weights: *const i8) -> int8x16_t {
                    // SAFETY: as above; the caller's contract.
                    unsafe { vld1q_s8(weights) }
                }

                #[inline(always)]
                unsafe fn add(sums: int8x16_t, four: int8x16_t, weights: int8x16_t) -> int8x16_t {
                    // SAFETY: as above.
                    unsafe { vreinterpretq_s8_s32($add(vreinterpretq_s32_s8(sums), four, weights)) }
                }

                #[inline(always)]
                unsafe fn join(a: int8x16_t, b: int8x16_t) -> int8x16_t {
                    // SAFETY: as above.
                    unsafe {
                        let sum = vaddq_s32(vreinterpretq_s32_s8(a), vreinterpretq_s32_s8(b));
                        vreinterpretq_s8_s32(sum)
                    }
                }

                #[inline(always)]
                unsafe fn store(sums: int8x16_t, place: *mut i32) {
                    // SAFETY: as above; the caller's contract.
                    unsafe { vst1q_s32(place, vreinterpretq_s32_s8(sums)) };
                }
            }
        };
    }
    registers_of_128_bits!(Neon, add_widened);
    registers_of_128_bits!(NeonDot, add_dots);

    /// # Safety
    ///
    /// The machine has NEON.
    #[inline(always)]
    unsafe fn add_widened(sums: int32x4_t, four: int8x16_t, weights: int8x16_t) -> int32x4_t {
        // SAFETY: the caller's contract.
        unsafe {
            let low = vmull_s8(vget_low_s8(four), vget_low_s8(weights));
            let high = vmull_high_s8(four, weights);
            vaddq_s32(sums, vpaddq_s32(vpaddlq_s16(low), vpaddlq_s16(high)))
        }
    }

    /// # Safety
    ///
    /// The machine has NEON with dot products.
    #[inline(always)]
    unsafe fn add_dots(mut sums: int32x4_t, four: int8x16_t, weights: int8x16_t) -> int32x4_t {
        // SAFETY: the caller's contract; the instruction touches these registers only.
        unsafe {
            asm!(
                ".arch_extension dotprod",
                "sdot {sums:v}.4s, {four:v}.16b, {weights:v}.16b",
                sums = inout(vreg) sums,
                four = in(vreg) four,
                weights = in(vreg) weights,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        sums
    }
}
