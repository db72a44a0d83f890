//! Shapes, strides, storage and views, and the operations on them that need no gradient.
//!
//! A [`Tensor`] is a view: a shape, strides and an offset into a reference-counted `f32` buffer. Taking a slice or a transpose
//! copies no numbers, nor does a reshape of a contiguous tensor. The buffers come from `foretell-pool`, so a program that
//! repeats the same shapes stops calling the system allocator after its first round.
//!
//! A tensor has at most six dimensions ([`MAX_RANK`]); one more panics with the shape.
//!
//! Nothing here knows of gradients; `foretell-autograd` adds them. A shape mistake is a bug in the
//! calling code and panics at the caller's line with both shapes.
//!
//! ```
//! use foretell_tensor::Tensor;
//!
//! let x = Tensor::from_slice(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3]);
//! let column_sums = x.sum(0);
//! assert_eq!(column_sums.to_vec(), [5.0, 7.0, 9.0]);
//! assert_eq!(x.transpose(0, 1).narrow(0, 1, 2).to_vec(), [2.0, 5.0, 3.0, 6.0]);
//! ```
//!
//! # Features
//!
//! The only one, `default`, switches on what the crates below have by default: kernels dispatched at run time (`simd` of `foretell-simd`),
//! threads (`parallel` of `foretell-threads`), recycled buffers (`pool` of `foretell-pool`) and the like. Without it they are off, and
//! everything gives the same results; depend on those crates as well to choose among them.
#![forbid(unsafe_code)]

mod half_values;
mod indices;
mod kept;
mod ops;
mod rows;
mod shape;
mod storage;
mod tensor;
pub mod trace;
#[cfg(test)]
mod trace_tests;

pub use foretell_pool::{Buffer, Pod};
pub use indices::Indices;
pub use kept::KeptTensor;
pub use ops::pad::Padding;
pub use shape::{MAX_RANK, Shape};
pub use storage::Storage;
pub use tensor::Tensor;

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
