//! One product on one thread, by the kernel that the plan names.

use crate::general;
use crate::plan::kernel::{Kernel, in_f32};
use crate::product::Product;
use crate::skinny;
use crate::strips;
use crate::tiny;
use crate::vector::Current;

/// Computes the product.
#[inline(always)]
pub(crate) fn multiply(product: Product<'_, '_>) {
    if product.dst.nrows() == 0 || product.dst.ncols() == 0 {
        return;
    }
    let current = Current::read();
    match in_f32(product.operands(), current.level()) {
        Kernel::Dots => skinny::dots(product, current),
        Kernel::Tiny => tiny::product(product, current),
        Kernel::Row => skinny::row(product, current),
        Kernel::Strips => strips::product(product, current),
        Kernel::General => general::product(product),
    }
}
