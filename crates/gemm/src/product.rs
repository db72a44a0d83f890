//! A product as the kernels take it, on one thread.

use crate::options::Accum;
use crate::plan::kernel::Operands;
use crate::view::{MatMut, MatRef};

/// `dst = [dst +] alpha * lhs * rhs`, whose shapes fit together.
pub(crate) struct Product<'d, 'a> {
    pub(crate) dst: MatMut<'d, f32>,
    pub(crate) lhs: MatRef<'a, f32>,
    pub(crate) rhs: MatRef<'a, f32>,
    pub(crate) accum: Accum,
    pub(crate) alpha: f32,
}

impl<'a> Product<'_, 'a> {
    /// The same product for a shorter time.
    #[inline(always)]
    pub(crate) fn reborrow(&mut self) -> Product<'_, 'a> {
        Product { dst: self.dst.reborrow(), ..*self }
    }

    /// The shape and the strides that a plan for it depends on.
    #[inline(always)]
    pub(crate) fn operands(&self) -> Operands {
        Operands::of(&self.dst, self.lhs, self.rhs)
    }

    /// The transposed product, which is the same.
    #[inline(always)]
    pub(crate) fn t(self) -> Self {
        Self { dst: self.dst.t(), lhs: self.rhs.t(), rhs: self.lhs.t(), ..self }
    }

    /// The product or the transposed one, whichever has rows of adjacent elements in its destination.
    #[inline(always)]
    pub(crate) fn by_rows(self) -> Option<Self> {
        match (self.dst.row_stride(), self.dst.col_stride()) {
            (_, 1) => Some(self),
            (1, _) => Some(self.t()),
            _ => None,
        }
    }
}
