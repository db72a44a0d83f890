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
//! Each is on by default and passed down to the crates below.
//!
//! * `simd`: kernels dispatched at run time to the widest vectors of the machine. Without it they are scalar
//!   code.
//! * `faer`: matrix products that have no kernel of foretell's own by faer's. Without it these are plain loops.
//! * `parallel`: work on several threads. Without it everything runs on the calling thread, with the same bits.
//! * `pool`: buffers are kept for the next owner. Without it each is allocated and freed.
#![forbid(unsafe_code)]

mod half_values;
mod indices;
mod kept;
mod ops;
mod rows;
mod shape;
mod storage;
mod tensor;

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
