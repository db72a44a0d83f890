//! 64-byte aligned buffers, recycled by size class.
//!
//! Numeric code asks for the same few buffer sizes again and again, and the system allocator answers
//! each large request with fresh pages: a 1 MiB buffer costs 256 page faults every time. A [`Buffer`]
//! goes back to a pool when it is dropped, and the next request of its size class gets it in a few
//! nanoseconds, its pages already mapped and perhaps still in cache.
//!
//! ```
//! use foretell_pool::{Buffer, metrics};
//!
//! for _ in 0..1000 {
//!     let mut sum = Buffer::<f32>::zeroed(4096);
//!     let ones = Buffer::filled(4096, 1.0f32);
//!     for (s, x) in sum.iter_mut().zip(&*ones) {
//!         *s += x;
//!     }
//!     assert_eq!(sum[4095], 1.0);
//! } // both buffers go back to the pool
//! # #[cfg(feature = "pool")]
//! assert!(metrics().hits >= 1998); // the system allocator was called for the first round only
//! ```
//!
//! # How it works
//!
//! * **Size classes.** Sizes are rounded up to one of four classes per doubling (multiples of 64 bytes
//!   below 512), so at most a quarter of the requested length is added.
//! * **Two levels.** A released block goes to the releasing thread's own cache, beyond its [`Limits`]
//!   to a shelf that all threads share, and beyond the shelf's limits back to the system. A request
//!   looks in the same order. A buffer may be dropped on any thread; a thread that ends hands its
//!   cache to the shelf.
//! * **Never uninitialised.** Memory that comes from the system is zeroed before its first use, so a recycled
//!   block is always initialised memory. The constructors overwrite all of it, but for [`Buffer::stale`], which hands it
//!   out as it is, and in debug builds full of NaN.
//! * **No abort.** Where the system has no more memory, what is idle goes back to it; if that is too little, the thread panics
//!   with [`OutOfMemory`], which a program catches to say so.
//!   For all other memory there is [`ProgramMemory`].
//! * **Counted.** [`metrics()`] adds up counters that each thread keeps for itself.
//!
//! [`NumberFile`] is memory of another kind: numbers in a file, for those that are more than memory holds.
//!
//! # Features
//!
//! * `pool` (default): recycle. Without it every buffer is a plain aligned allocation that is freed on
//!   drop; the API and the metrics are the same, and each buffer counts as a miss.

mod block;
mod buffer;
mod class;
mod file_numbers;
mod limits;
mod metrics;
mod out_of_memory;
mod program_memory;
mod shelf;
#[cfg(test)]
mod tests;
mod thread_cache;

pub use buffer::{Buffer, Pod};
pub use class::POOLING;
pub use file_numbers::{FileNumbers, NumberFile};
pub use limits::{Limits, limits, set_limits};
pub use metrics::{PoolMetrics, metrics};
pub use out_of_memory::OutOfMemory;
pub use program_memory::ProgramMemory;
pub use thread_cache::{live_bytes_of_thread, trim};

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
