//! Windows cut from a panel, as tensors with their targets and weights: the inputs of models in training and forecasts.
//!
//! [`foretell_data`] counts and cuts windows as plain slices, [`foretell_nn`] defines a model's inputs; here the first become
//! the second.
//!
//! # Features
//!
//! Each is on by default, unless it says otherwise, and passed down to the crates below.
//!
//! * `flash`: attention in tiles, without the matrix of scores in memory. Without it the whole matrix of a head's scores is
//!   computed at once.
//! * `simd`: kernels dispatched at run time to the widest vectors of the machine. Without it they are scalar
//!   code.
//! * `faer`: matrix products that have no kernel of foretell's own by faer's. Without it these are plain loops.
//! * `parallel`: work on several threads. Without it everything runs on the calling thread, with the same bits.
//! * `pool`: buffers are kept for the next owner. Without it each is allocated and freed.
//! * `amp`: products in bfloat16, half precision and int8, chosen at run time. Without it all are in `f32`, and any other
//!   precision is a panic.
//! * `parquet`, off by default: Parquet files, Arrow record batches and text in zstd. It takes long to build and compiles
//!   zstd, which is C.
//! * `tzdb`: the database of time zones is built in. Without it zones are looked up in the system's, if it has
//!   one; UTC and offsets such as `+02:00` need none.
#![forbid(unsafe_code)]

mod batch;
mod shift_target;

pub use batch::{Batch, Cut};
pub use foretell_data::{Cutter, WindowRef};
pub use foretell_nn::{Dims, Loss, Targets, Tensor, Windows};

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
