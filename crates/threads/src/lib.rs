//! Threads, and work shared out to them in blocks that do not depend on how many there are.
//!
//! [`Workers`] are threads. [`share`] is the scope in which operations may use several of them; the operations of the
//! crates above (products of matrices, passes over tensors, kernels) ask [`count`], or call [`rows`], [`sums`], [`pipeline`] and
//! [`sequence`], which do. Where work is cut depends on its shape alone, so the bits of a result do not depend on the number
//! of threads.
//!
//! ```
//! // Doubles each number of 1000 rows, on two threads where that pays.
//! let mut values = vec![1.0f32; 1000 * 300];
//! foretell_threads::share(2, || {
//!     foretell_threads::rows(1000, 300, [&mut values[..]], |_, [rows]| {
//!         rows.iter_mut().for_each(|x| *x *= 2.0);
//!     });
//! });
//! assert!(values.iter().all(|&x| x == 2.0));
//! ```
//!
//! # Features
//!
//! * `parallel` (default): several threads, by rayon. Without it everything runs on the calling thread, with the same
//!   bits.
//!
//! Beside these, `default` switches on what the crates below have by default: kernels dispatched at run time (`simd` of `foretell-simd`),
//! threads (`parallel` of `foretell-threads`), recycled buffers (`pool` of `foretell-pool`) and the like. Without it they are off, and
//! everything gives the same results; depend on those crates as well to choose among them.

#[cfg(feature = "parallel")]
mod helpers;
mod indices;
mod pipeline;
mod rows;
mod scope;
mod sequence;
mod side_by_side;
#[cfg(feature = "parallel")]
mod spin_wait;
mod wanted;
mod workers;

pub use indices::for_each;
pub use pipeline::pipeline;
#[cfg(feature = "parallel")]
pub use rayon::ThreadPool;
pub use rows::{block_height, fill_zero, rows, sums, sums_and_rows};
pub use scope::{count, share};
pub use sequence::sequence;
pub use wanted::{StillWanted, is_wanted, question, while_wanted};
pub use workers::{TooManyThreads, Workers};

/// Whether work may run on several threads: the feature `parallel`.
pub const PARALLEL: bool = cfg!(feature = "parallel");

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
