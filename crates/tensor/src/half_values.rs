//! The numbers of a storage in 16 bits.

use foretell_gemm::Rounding;
use foretell_pool::Buffer;
use foretell_simd as simd;
use foretell_threads as threads;
use half::bf16;
use half::slice::HalfBitsSliceExt;

/// The numbers of a storage in 16 bits.
#[derive(Debug)]
pub(crate) struct HalfValues {
    rounding: Rounding,
    bits: Buffer<u16>,
}

impl HalfValues {
    pub(crate) fn of(values: &[f32], rounding: Rounding) -> Self {
        let mut bits = Buffer::stale(values.len());
        threads::rows(values.len(), 1, [&mut bits[..]], |range, [bits]| match rounding {
            Rounding::F16 => simd::to_f16(&values[range], bits.reinterpret_cast_mut()),
            _ => simd::to_bf16(&values[range], bits.reinterpret_cast_mut()),
        });
        Self { rounding, bits }
    }

    pub(crate) fn rounding(&self) -> Rounding {
        self.rounding
    }

    /// All values in bfloat16, if they were rounded to it.
    pub(crate) fn as_bf16(&self) -> Option<&[bf16]> {
        (self.rounding == Rounding::Bf16).then(|| self.bits.reinterpret_cast())
    }

    /// Widens the numbers from `offset` on, as many as `out` has.
    pub(crate) fn widen(&self, offset: usize, out: &mut [f32]) {
        let bits = &self.bits[offset..offset + out.len()];
        threads::rows(bits.len(), 1, [out], |range, [out]| match self.rounding {
            Rounding::F16 => simd::from_f16(bits[range].reinterpret_cast(), out),
            _ => simd::from_bf16(bits[range].reinterpret_cast(), out),
        });
    }
}
