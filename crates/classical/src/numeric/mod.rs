//! Numbers that several methods need, in `f64`.

pub(crate) mod bfgs;
pub(crate) mod box_cox;
pub(crate) mod decompose;
pub(crate) mod least_squares;
pub(crate) mod nelder_mead;
pub(crate) mod size;
pub(crate) mod stl;
