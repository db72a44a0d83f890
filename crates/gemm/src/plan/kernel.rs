//! Which kernel takes a product, and in which numbers it is multiplied.

use foretell_simd::Level;

use super::cut::{parts, work};
use super::limits::{bf16, bf16x3, int8, skinny, strips, tiny};
use crate::options::{Rounding, WeightFormat};
use crate::view::{MatMut, MatRef};

/// Elements from row to row of a matrix, and from column to column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Strides {
    pub(crate) row: usize,
    pub(crate) col: usize,
}

impl Strides {
    fn t(self) -> Self {
        Self { row: self.col, col: self.row }
    }
}

impl From<MatRef<'_, f32>> for Strides {
    #[inline(always)]
    fn from(matrix: MatRef<'_, f32>) -> Self {
        Self { row: matrix.row_stride(), col: matrix.col_stride() }
    }
}

impl From<&MatMut<'_, f32>> for Strides {
    #[inline(always)]
    fn from(matrix: &MatMut<'_, f32>) -> Self {
        Self { row: matrix.row_stride(), col: matrix.col_stride() }
    }
}

/// The shape `[m, k, n]` and the strides of a product.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operands {
    pub(crate) shape: [usize; 3],
    pub(crate) dst: Strides,
    pub(crate) lhs: Strides,
    pub(crate) rhs: Strides,
}

impl Operands {
    #[inline(always)]
    pub(crate) fn of(dst: &MatMut<'_, f32>, lhs: MatRef<'_, f32>, rhs: MatRef<'_, f32>) -> Self {
        let shape = [dst.nrows(), lhs.ncols(), dst.ncols()];
        Self { shape, dst: dst.into(), lhs: lhs.into(), rhs: rhs.into() }
    }

    /// Those of a product with an operand that was packed before, whose own strides count for nothing.
    #[inline(always)]
    pub(crate) fn with_packed(dst: &MatMut<'_, f32>, lhs: Strides, k: usize) -> Self {
        let (m, n) = (dst.nrows(), dst.ncols());
        Self { shape: [m, k, n], dst: dst.into(), lhs, rhs: Strides { row: n, col: 1 } }
    }

    #[inline(always)]
    pub(crate) fn t(self) -> Self {
        let [m, k, n] = self.shape;
        Self { shape: [n, k, m], dst: self.dst.t(), lhs: self.rhs.t(), rhs: self.lhs.t() }
    }

    /// These or the transposed ones, whichever have rows of adjacent elements in their destination.
    #[inline(always)]
    fn by_rows(self) -> Option<Self> {
        match (self.dst.row, self.dst.col) {
            (_, 1) => Some(self),
            (1, _) => Some(self.t()),
            _ => None,
        }
    }
}

/// A kernel for products in `f32` on one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kernel {
    /// Dot products of adjacent numbers, for few rows.
    Dots,
    /// The right operand read in place, or transposed on the stack.
    Tiny,
    /// A vector times a matrix.
    Row,
    /// The right operand packed in strips, with vectors of 512 bits or, where there is no faer that knows them, of WebAssembly.
    Strips,
    /// That of faer, or without it a plain loop.
    General,
}

/// The first kernel that takes a product of a part of a result that is not empty.
#[inline(always)]
pub(crate) fn in_f32(operands: Operands, level: Level) -> Kernel {
    let Operands { shape: [m, k, n], lhs, rhs, .. } = operands;
    if level == Level::Scalar {
        return Kernel::General;
    }
    let few = skinny::MAX_ROWS.min((k / skinny::NUMBERS_PER_ROW).saturating_sub(skinny::MORE_ROWS));
    if m.min(n) <= few && lhs.col == 1 && rhs.row == 1 {
        return Kernel::Dots;
    }
    let by_rows = operands.by_rows();
    if work(m, n, k) <= tiny::MAX_WORK
        && let Some(Operands { shape: [_, k, n], rhs, .. }) = by_rows
        && (rhs.col == 1 || k * n <= tiny::MAX_TRANSPOSED)
    {
        return Kernel::Tiny;
    }
    let outer = if m <= n { rhs.col } else { lhs.row };
    if m.min(n) == 1 && outer == 1 {
        return Kernel::Row;
    }
    if level.has_avx512()
        && let Some(Operands { shape: [m, k, n], lhs, rhs, .. }) = by_rows
        && m >= strips::LEAST_ROWS
        && n >= strips::LEAST_COLUMNS
        && work(m, n, k) >= strips::LEAST_WORK
        && (k <= strips::LONGEST_ROW || lhs.row == 1)
        && (rhs.col == 1 || rhs.row == 1)
    {
        return Kernel::Strips;
    }
    // Here faer has plain loops, which any packing gains upon.
    if level == Level::Simd128
        && let Some(Operands { rhs, .. }) = by_rows
        && (rhs.col == 1 || rhs.row == 1)
    {
        return Kernel::Strips;
    }
    Kernel::General
}

/// The kernel for a product, whole or a task of it, whose right operand is packed in strips: a tiny one reads it without a
/// copy, as far as it is row-major. The sums, one chain of additions each, are the same either way.
#[inline(always)]
pub(crate) fn of_strips([m, k, n]: [usize; 3]) -> Kernel {
    let is_tiny = work(m, n, k) <= tiny::MAX_WORK;
    if is_tiny && strips::row_stride(k, n).is_some() { Kernel::Tiny } else { Kernel::Strips }
}

/// In which numbers a product is multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbers {
    F32,
    /// `f32` in three pieces of bfloat16.
    Bf16x3,
    /// Rounded to bfloat16.
    Bf16,
    /// Rounded to half precision, multiplied as `f32`.
    F16,
}

/// The numbers of a product of `[m, k]` and `[k, n]` neither of which is packed. Small products do not ask for the level.
#[inline(always)]
pub(crate) fn numbers(shape: [usize; 3], rounding: Rounding, level: impl Fn() -> Level) -> Numbers {
    match rounding {
        Rounding::F16 => Numbers::F16,
        Rounding::Bf16 if pays_in_bf16(shape) => Numbers::Bf16,
        Rounding::None | Rounding::Bf16 if takes_bf16x3(shape, &level) => Numbers::Bf16x3,
        Rounding::None | Rounding::Bf16 => Numbers::F32,
    }
}

/// Whether a product is made by tiles of bfloat16, each number in three pieces.
#[inline(always)]
fn takes_bf16x3([m, k, n]: [usize; 3], level: impl Fn() -> Level) -> bool {
    m.min(n) >= bf16x3::LEAST_SIDE
        && k >= bf16x3::LEAST_INNER
        && work(m, n, k) >= bf16x3::LEAST_WORK
        && level() == Level::Amx
}

/// Whether a right operand of `rows` by columns is packed in three pieces a number, for products of some rows.
pub(crate) fn packs_bf16x3(rows: usize, cols: usize, level: Level) -> bool {
    level == Level::Amx && cols >= bf16x3::LEAST_PACKED_COLUMNS && rows >= bf16x3::LEAST_INNER
}

/// Whether a product takes less time in bfloat16 than in `f32`, both operands yet to be packed, on a machine with tiles.
fn pays_in_bf16([m, k, n]: [usize; 3]) -> bool {
    m.min(n).min(k) >= bf16::LEAST_SIDE && work(m, n, k) >= bf16::LEAST_WORK
}

/// See [`WeightFormat::best_for`].
pub(crate) fn best_format(
    shape: [usize; 3],
    rounding: Rounding,
    level: Level,
    fast_pairs: impl FnOnce() -> bool,
) -> Option<WeightFormat> {
    match rounding {
        Rounding::None => pays_packed(shape, level).then_some(WeightFormat::F32),
        // What is not packed before is added up in parts where the inner dimension is long.
        Rounding::Bf16 => {
            let same_bits = parts(shape, bf16::PART).is_none();
            let has_bf16 = in_bf16(level, fast_pairs) != Bf16Kernel::Widened;
            (has_bf16 && pays_in_bf16(shape) && same_bits).then_some(WeightFormat::Bf16)
        }
        Rounding::F16 => None,
    }
}

/// Whether a product in `f32` takes less time if its right operand was packed before.
///
/// For the fewest rows a right operand is not packed at all, and of more than a thousand its packing is a small share of the
/// time. Products with rows longer than 768, which go to faer if nothing is packed, gain too: three layers of 1024 units take a
/// batch of 128 in 0.66 instead of 0.83 ms, of 1024 in 5.9 instead of 6.4 (two cores of a Zen 5).
fn pays_packed([m, k, n]: [usize; 3], level: Level) -> bool {
    let least = if level == Level::Amx { strips::LEAST_ROWS_OF_TILES } else { strips::LEAST_ROWS };
    level.has_avx512()
        && (least..=strips::MOST_ROWS_TO_PACK_FOR).contains(&m)
        && n >= strips::LEAST_COLUMNS
        && k.saturating_mul(n) >= strips::LEAST_WORK
}

/// The kernels that multiply packed numbers of bfloat16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bf16Kernel {
    /// Tiles of AMX.
    Tiles,
    /// Dot products of pairs.
    Pairs,
    /// Numbers widened again.
    Widened,
}

/// `fast_pairs`: whether the machine has dot products of pairs that do twice the work of a fused multiply-add, as AMD's have.
#[inline(always)]
pub(crate) fn in_bf16(level: Level, fast_pairs: impl FnOnce() -> bool) -> Bf16Kernel {
    match level {
        Level::Amx => Bf16Kernel::Tiles,
        Level::Avx512 if fast_pairs() => Bf16Kernel::Pairs,
        _ => Bf16Kernel::Widened,
    }
}

/// Whether a product in bfloat16 widens its operands to `f32` once, before it multiplies: on machines without instructions for bfloat16, where
/// each number is used many times. With few rows or columns the kernel widens each number when it multiplies it.
#[inline(always)]
pub(crate) fn widens_before([m, _, n]: [usize; 3], kernel: Bf16Kernel) -> bool {
    kernel == Bf16Kernel::Widened && m.min(n) >= bf16::LEAST_SIDE
}

/// Whether tiles of AMX take a product of this many rows with weights in 8 bits.
pub(crate) fn int8_by_tiles(rows: usize, level: Level) -> bool {
    level == Level::Amx && rows >= int8::LEAST_ROWS_OF_TILES
}

/// Whether the machine has dot products of pairs that do twice the work of a fused multiply-add: AMD's do.
pub(crate) fn fast_pairs() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx512bf16") && is_amd();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

#[cfg(target_arch = "x86_64")]
fn is_amd() -> bool {
    use std::sync::OnceLock;

    static AMD: OnceLock<bool> = OnceLock::new();
    *AMD.get_or_init(|| {
        let vendor = std::arch::x86_64::__cpuid(0);
        [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes).concat() == b"AuthenticAMD"
    })
}
