//! Products of machines without instructions for bfloat16: both operands are rounded, or widened, once, and multiplied in `f32`.

use foretell_pool::Buffer;
use half::bf16;
use half::slice::HalfBitsSliceExt;

use crate::bf16::layout::{WIDTH, depth};
use crate::bf16::operand::{Bf16Operand, PackedBf16};
use crate::options::Options;
use crate::rounded::RoundedOperand;
use crate::tasks;
use crate::view::{MatMut, MatRef};

/// A product of two operands neither of which is packed.
pub(crate) fn product(
    dst: MatMut<'_, f32>,
    lhs: Bf16Operand<'_>,
    rhs: Bf16Operand<'_>,
    options: Options<'_>,
) {
    let [lhs, rhs] = [lhs, rhs].map(rounded);
    tasks::one(dst, lhs.view(), rhs.view(), options);
}

/// A product with a right operand that was packed before.
pub(crate) fn product_packed(
    dst: MatMut<'_, f32>,
    lhs: Bf16Operand<'_>,
    rhs: &PackedBf16,
    options: Options<'_>,
) {
    let values = unpacked(rhs);
    tasks::one(dst, rounded(lhs).view(), MatRef::row_major(&values, rhs.rows, rhs.cols), options);
}

fn rounded(operand: Bf16Operand<'_>) -> RoundedOperand {
    match operand {
        Bf16Operand::Wide(matrix) => RoundedOperand::to_bf16(matrix),
        Bf16Operand::Rounded(matrix) => RoundedOperand::from_bf16(matrix),
    }
}

/// What was packed, row-major.
fn unpacked(packed: &PackedBf16) -> Buffer<f32> {
    let PackedBf16 { values, rows, cols } = packed;
    let (rows, cols) = (*rows, *cols);
    let strips: &[bf16] = values.reinterpret_cast();
    let mut out = Buffer::<f32>::stale(rows * cols);
    for (strip, left) in strips.chunks_exact(depth(rows) * WIDTH).zip((0..cols).step_by(WIDTH)) {
        let width = WIDTH.min(cols - left);
        for (pair, top) in strip.chunks_exact(2 * WIDTH).zip((0..rows).step_by(2)) {
            let (mut even, mut odd) = ([0.0; WIDTH], [0.0; WIDTH]);
            for l in 0..WIDTH {
                even[l] = f32::from_bits(u32::from(pair[2 * l].to_bits()) << 16);
                odd[l] = f32::from_bits(u32::from(pair[2 * l + 1].to_bits()) << 16);
            }
            out[top * cols + left..][..width].copy_from_slice(&even[..width]);
            if top + 1 < rows {
                out[(top + 1) * cols + left..][..width].copy_from_slice(&odd[..width]);
            }
        }
    }
    out
}
