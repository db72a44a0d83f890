//! The kernels, one file for each or for a family that shares its loop.

pub(crate) mod activation;
pub(crate) mod adam;
pub(crate) mod cell;
pub(crate) mod column_norm;
pub(crate) mod convert;
pub(crate) mod elementwise;
pub(crate) mod ema;
pub(crate) mod erf;
pub(crate) mod exp;
pub(crate) mod ln;
pub(crate) mod losses;
pub(crate) mod norm;
pub(crate) mod normalise;
pub(crate) mod online_softmax;
pub(crate) mod radam;
pub(crate) mod random;
pub(crate) mod reductions;
pub(crate) mod rmsprop;
pub(crate) mod rolling;
mod rolling_rows;
pub(crate) mod sgd;
pub(crate) mod sigmoid;
pub(crate) mod softmax;
pub(crate) mod softmax_columns;
pub(crate) mod sqrt;
pub(crate) mod tanh;
pub(crate) mod unary;
