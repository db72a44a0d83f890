//! Numeric kernels over slices, dispatched at run time: AVX-512, AVX2, NEON, scalar

mod bits;
mod drive;
mod kernels;
mod level;
#[cfg(test)]
mod testing;
mod vector;

pub use kernels::activation::{Activation, Saved};
pub use kernels::adam::{AdamStep, adam, adamw};
pub use kernels::convert::{bf16, f16, from_bf16, from_f16, to_bf16, to_f16};
pub use kernels::elementwise::{
    add, add_assign, axpy, div, div_assign, mul, mul_add, mul_assign, scale, sub, sub_assign,
};
pub use kernels::ema::ema;
pub use kernels::erf::{erf, erf_in_place};
pub use kernels::exp::{exp, exp_in_place};
pub use kernels::ln::{ln, ln_in_place};
pub use kernels::losses::PointLoss;
pub use kernels::norm::{
    AffineGrad, layer_norm_rows, layer_norm_rows_backward, rms_norm_rows, rms_norm_rows_backward,
};
pub use kernels::normalise::{
    denormalise, denormalise_in_place, min_max_denormalise, min_max_denormalise_in_place, min_max_normalise,
    min_max_normalise_in_place, normalise, normalise_in_place,
};
pub use kernels::radam::radam;
pub use kernels::random::{Key, Stream, dropout, uniform_fill};
pub use kernels::reductions::{dot, l2_norm, max, mean, mean_variance, min, sum, variance};
pub use kernels::rmsprop::{RmsPropStep, rmsprop};
pub use kernels::rolling::{rolling_mean, rolling_std};
pub use kernels::sgd::{SgdStep, sgd};
pub use kernels::sigmoid::{sigmoid, sigmoid_in_place};
pub use kernels::softmax::{
    log_softmax_rows, log_softmax_rows_backward, softmax_rows, softmax_rows_backward, softmax_rows_in_place,
};
pub use kernels::tanh::{tanh, tanh_in_place};
pub use level::{Level, UnknownLevel, level, with_level};
pub use vector::Float;
