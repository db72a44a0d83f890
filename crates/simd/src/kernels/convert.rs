//! Conversion between `f32` and the two 16-bit formats.
//!
//! Plain integer code without branches, that the compiler vectorises for the level: the result is
//! the same at every level. Narrowing rounds to nearest, ties to even; NaN stays NaN.

use crate::isa::{Simd, WithSimd};
pub use half::{bf16, f16};

use crate::level::dispatch;
use crate::loops::same_len;

struct Convert<'a, A, B, F> {
    x: &'a [A],
    out: &'a mut [B],
    one: F,
}

impl<A: Copy, B, F: Fn(A) -> B> WithSimd for Convert<'_, A, B, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (out, &x) in self.out.iter_mut().zip(self.x) {
            *out = (self.one)(x);
        }
    }
}

#[track_caller]
fn convert<A: Copy, B>(x: &[A], out: &mut [B], one: impl Fn(A) -> B) {
    same_len(x.len(), out.len());
    dispatch(Convert { x, out, one });
}

#[inline(always)]
fn narrow_bf16(x: f32) -> bf16 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
    // Rounding might carry a NaN into infinity: its quiet bit is set instead.
    let quiet = bits >> 16 | 0x40;
    bf16::from_bits(if x.is_nan() { quiet } else { rounded } as u16)
}

#[inline(always)]
fn widen_bf16(x: bf16) -> f32 {
    f32::from_bits(u32::from(x.to_bits()) << 16)
}

#[inline(always)]
fn narrow_f16(x: f32) -> f16 {
    let bits = x.to_bits();
    let size = bits & 0x7fff_ffff;
    // Normal: the exponent loses 112, 13 bits of the fraction are rounded away.
    let normal = size.wrapping_sub(112 << 23).wrapping_add(0xfff + (size >> 13 & 1)) >> 13;
    // Subnormal: adding 1/2 leaves the multiple of 2^-24 in the low bits, rounded by the sum.
    let subnormal = (f32::from_bits(size) + 0.5).to_bits().wrapping_sub(0x3f00_0000);
    let quiet = 0x7e00 | size >> 13 & 0x3ff;
    let result = if size > 0x7f80_0000 {
        quiet
    } else if size >= 0x4780_0000 {
        0x7c00
    } else if size < 0x3880_0000 {
        subnormal
    } else {
        normal
    };
    f16::from_bits((result | bits >> 16 & 0x8000) as u16)
}

#[inline(always)]
fn widen_f16(x: f16) -> f32 {
    let bits = u32::from(x.to_bits());
    let size = (bits & 0x7fff) << 13;
    let exponent = size & 0x0f80_0000;
    // Infinity and NaN get the largest exponent, all others the difference of the two biases.
    let normal = size + if exponent == 0x0f80_0000 { 224 << 23 } else { 112 << 23 };
    // Subnormal: as a fraction of 2^-14, whose leading one is subtracted again.
    let subnormal = f32::from_bits(size + (113 << 23)) - f32::from_bits(113 << 23);
    let result = if exponent == 0 { subnormal.to_bits() } else { normal };
    // A signalling NaN becomes quiet.
    let quiet = if size > 0x0f80_0000 { 0x0040_0000 } else { 0 };
    f32::from_bits(result | quiet | (bits & 0x8000) << 16)
}

/// `out[i]` is `x[i]` rounded to a bfloat16.
///
/// # Panics
/// If the slices differ in length.
#[track_caller]
pub fn to_bf16(x: &[f32], out: &mut [bf16]) {
    convert(x, out, narrow_bf16);
}

/// `out[i]` is `x[i]`, exactly.
///
/// # Panics
/// If the slices differ in length.
#[track_caller]
pub fn from_bf16(x: &[bf16], out: &mut [f32]) {
    convert(x, out, widen_bf16);
}

/// `out[i]` is `x[i]` rounded to a half-precision number; beyond 65,504 to infinity.
///
/// # Panics
/// If the slices differ in length.
#[track_caller]
pub fn to_f16(x: &[f32], out: &mut [f16]) {
    convert(x, out, narrow_f16);
}

/// `out[i]` is `x[i]`, exactly.
///
/// # Panics
/// If the slices differ in length.
#[track_caller]
pub fn from_f16(x: &[f16], out: &mut [f32]) {
    convert(x, out, widen_f16);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::at_every_level;

    /// Numbers around every boundary of the two formats, and a walk over all others.
    fn inputs() -> Vec<f32> {
        let mut x: Vec<f32> = (0..=u32::MAX).step_by(99_991).map(f32::from_bits).collect();
        for bits in 0..=u16::MAX {
            // Each 16-bit number, and the points half-way to the next with their neighbours.
            let (half, brain) = (f16::from_bits(bits).to_f32(), bf16::from_bits(bits).to_f32());
            x.extend([half, brain]);
            let next = f16::from_bits(bits.wrapping_add(1)).to_f32();
            let middle = (half + next) / 2.0;
            x.extend([middle, middle.next_up(), middle.next_down()]);
            let middle = f32::from_bits(u32::from(bits) << 16 | 0x8000);
            x.extend([middle, middle.next_up(), middle.next_down()]);
        }
        x
    }

    #[test]
    fn as_the_crate_half() {
        let x = inputs();
        at_every_level(|level| {
            let mut half = vec![f16::ZERO; x.len()];
            let mut brain = vec![bf16::ZERO; x.len()];
            to_f16(&x, &mut half);
            to_bf16(&x, &mut brain);
            for (i, &x) in x.iter().enumerate() {
                assert_eq!(brain[i].to_bits(), bf16::from_f32(x).to_bits(), "{level}: {x:e}");
                let same = half[i].to_bits() == f16::from_f32(x).to_bits();
                assert!(same || half[i].is_nan() && x.is_nan(), "{level}: {x:e}");
            }
        });
    }

    #[test]
    fn widening_is_exact() {
        let half: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
        let brain: Vec<bf16> = (0..=u16::MAX).map(bf16::from_bits).collect();
        at_every_level(|level| {
            let mut x = vec![0.0; half.len()];
            from_f16(&half, &mut x);
            for (x, half) in x.iter().zip(&half) {
                assert_eq!(x.to_bits(), half.to_f32().to_bits(), "{level}: {half:?}");
            }
            from_bf16(&brain, &mut x);
            for (x, brain) in x.iter().zip(&brain) {
                assert_eq!(x.to_bits(), u32::from(brain.to_bits()) << 16, "{level}: {brain:?}");
            }
        });
    }

    #[test]
    fn any_length_and_address() {
        at_every_level(|level| {
            for len in 0..70 {
                let x: Vec<f32> = (0..len + 1).map(|i| i as f32 * 0.3).collect();
                let mut half = vec![f16::ZERO; len + 1];
                to_f16(&x[1..], &mut half[1..]);
                let mut back = vec![-1.0; len + 1];
                from_f16(&half[1..], &mut back[1..]);
                assert_eq!(back[0], -1.0);
                for i in 1..=len {
                    assert_eq!(back[i], f16::from_f32(x[i]).to_f32(), "{level}, length {len}");
                }
            }
        });
    }
}
