//! The differentiable operations: one file each, with its forward pass, its backward pass, a check of the
//! gradient by finite differences, and its results and gradients against PyTorch.

mod activation;
mod additive_attention;
mod affine_rows;
mod arithmetic;
pub(crate) mod attention;
mod auto_correlation;
pub(crate) mod batch_norm;
mod causal_convolution;
mod concat;
pub(crate) mod convolution;
mod cumulative_sum;
mod decomposition;
mod division;
mod dropout;
mod elementary;
mod embedding;
mod expand;
mod flip;
mod fourier;
mod gated;
mod gather;
pub(crate) mod held_linear;
mod interpolate;
mod linear;
mod linear_columns;
mod lstm_cell;
mod masked_fill;
mod matmul;
mod matrix_memory;
mod maximum;
mod mode_attention;
mod mode_products;
mod modulus;
mod moving_average;
mod narrow;
mod norm;
mod pad;
mod permute;
mod pool;
mod prelu;
mod recompute;
pub(crate) mod recurrent;
mod reduce;
mod repeat;
mod reshape;
mod rotary;
mod rrelu;
mod scalar_memory;
mod softmax;
mod softmax_mean;
pub(crate) mod sparse_attention;
mod spline_basis;
mod stochastic_pool;
mod unfold;
mod wavelet_sums;
mod weighted_sum;

#[cfg(test)]
mod check;
#[cfg(test)]
mod rounding_tests;
#[cfg(test)]
mod torch;
