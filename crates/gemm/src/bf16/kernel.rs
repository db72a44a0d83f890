//! The kernels that multiply packed operands.
//!
//! * Tiles of AMX, at the level of that name: on Sapphire Rapids 3.1 TFLOP/s a core in registers, 15 times what it does in
//!   `f32`. They alone multiply numbers in three pieces.
//! * Dot products of pairs (AVX512-BF16) on AMD's machines, where they do twice the work of a fused multiply-add. On
//!   Intel's they do half of it, and are not used.
//! * Everywhere else the numbers are widened again and multiplied in `f32`: the same roundings, half the bytes of weights. Of many rows and
//!   columns they are widened before ([`widened_operands`](super::widened_operands)).

#[cfg(target_arch = "x86_64")]
mod pairs;
pub(crate) mod product;
#[cfg(target_arch = "x86_64")]
mod tiles;
mod widened;

use foretell_simd::level;
use half::bf16;

use product::{Finish, Product};

use crate::bf16::layout::{DEPTH, Layout, Terms, WIDTH};
use crate::plan;
use crate::plan::kernel::Bf16Kernel;
use crate::view::MatMut;

/// The ways to multiply packed operands: see the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kernel {
    #[cfg(target_arch = "x86_64")]
    Tiles,
    #[cfg(target_arch = "x86_64")]
    Pairs,
    Widened,
}

impl Kernel {
    /// The best one at the current level.
    pub(crate) fn of_machine() -> Self {
        match plan::kernel::in_bf16(level(), plan::kernel::fast_pairs) {
            #[cfg(target_arch = "x86_64")]
            Bf16Kernel::Tiles => Self::Tiles,
            #[cfg(target_arch = "x86_64")]
            Bf16Kernel::Pairs => Self::Pairs,
            _ => Self::Widened,
        }
    }

    /// Whether operands of a product of this many rows and columns are widened before.
    pub(crate) fn widens_before(self, rows: usize, cols: usize) -> bool {
        self == Self::Widened && plan::kernel::widens_before([rows, 0, cols], Bf16Kernel::Widened)
    }

    /// Whether the machine has the instructions, at the current level.
    pub(crate) fn runs(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            use foretell_simd::Level;

            match self {
                Self::Tiles => level() == Level::Amx,
                Self::Pairs => level().has_avx512() && is_x86_feature_detected!("avx512bf16"),
                Self::Widened => true,
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        true
    }

    /// Whether it has the tiles of AMX, which alone multiply numbers in three pieces.
    pub(crate) fn has_tiles(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Tiles => true,
            _ => false,
        }
    }

    /// `dst = [dst +] alpha * panel * strips + bias`, of a left operand in [`BlockLayout::Rows`](super::layout::BlockLayout), or a single row as it
    /// is, and a right one in [`BlockLayout::Pairs`](super::layout::BlockLayout).
    pub(crate) fn multiply(
        self,
        dst: MatMut<'_, f32>,
        panel: &[bf16],
        strips: &[bf16],
        layout: Layout,
        finish: Finish<'_>,
    ) {
        debug_assert!(self.runs());
        let (len, height) = (layout.len(), if layout.is_row(panel) { 1 } else { WIDTH });
        assert!(layout.depth > 0 && layout.depth.is_multiple_of(DEPTH));
        assert_eq!(panel.len(), dst.nrows().next_multiple_of(height) * len);
        assert_eq!(strips.len(), dst.ncols().next_multiple_of(WIDTH) * len);
        assert!(layout.terms == Terms::One || self.has_tiles(), "{self:?} does not multiply {layout:?}");
        let product = Product { dst, panel, strips, strip: len * WIDTH, height, finish };
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Tiles => match layout.terms {
                // SAFETY: this kernel is chosen only where the machine has its instructions.
                Terms::One => unsafe { product.by_tiles::<1>() },
                // SAFETY: as above.
                Terms::Three => unsafe { product.by_tiles::<3>() },
            },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Self::Pairs => unsafe { product.by_pairs() },
            Self::Widened => product.widened(),
        }
    }
}
