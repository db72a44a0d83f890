//! The differentiable operations: one file each, with its forward pass, its backward pass, a check of the
//! gradient by finite differences, and its results and gradients against PyTorch.

mod activation;
mod arithmetic;
mod concat;
mod dropout;
mod embedding;
mod flip;
mod interpolate;
mod linear;
mod matmul;
mod moving_average;
mod narrow;
mod pad;
mod permute;
mod pool;
mod prelu;
pub(crate) mod recurrent;
mod reduce;
mod repeat;
mod reshape;

#[cfg(test)]
mod check;
#[cfg(test)]
mod torch;
