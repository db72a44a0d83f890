//! One product on one thread, by the first kernel that takes it.

use crate::general;
use crate::product::Product;
use crate::skinny;
use crate::strips;
use crate::tiny;

/// Computes the product.
#[inline(always)]
pub(crate) fn multiply(mut product: Product<'_, '_>) {
    if product.dst.nrows() == 0 || product.dst.ncols() == 0 {
        return;
    }
    let done = skinny::dots(product.reborrow())
        || tiny::product(product.reborrow())
        || skinny::row(product.reborrow())
        || strips::product(product.reborrow());
    if !done {
        general::product(product);
    }
}
