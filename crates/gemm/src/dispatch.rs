//! One product on one thread, by the kernel that the plan names.

use crate::epilogue::Epilogue;
use crate::general;
use crate::plan::kernel::{Kernel, in_f32};
use crate::product::Product;
use crate::skinny;
use crate::strips;
use crate::tiny;
use crate::vector::Current;

/// Computes the product, with its bias and activation.
#[inline(always)]
pub(crate) fn multiply(mut product: Product<'_, '_>, epilogue: Epilogue<'_>) {
    if product.dst.nrows() == 0 || product.dst.ncols() == 0 {
        return;
    }
    let current = Current::read();
    match in_f32(product.operands(), current.level()) {
        Kernel::Tiny => return tiny::product(product, epilogue, current),
        Kernel::Dots => skinny::dots(product.reborrow(), current),
        Kernel::Row => skinny::row(product.reborrow(), current),
        Kernel::Strips => strips::product(product.reborrow(), current),
        Kernel::General => general::product(product.reborrow()),
    }
    epilogue.run(product.dst);
}
