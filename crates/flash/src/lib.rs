//! Attention over strided slices, forwards and backwards, without the matrix of scores in memory.
//!
//! [`Attention`] is `softmax(scale Q K^T + mask) V` for each head of each window. Heads are read in the layout that a
//! projection writes, by [`Strides`]; scale, mask and softmax are applied to a tile of scores while it is in the
//! cache, and the backward pass computes the scores again from one saved number a row.
//!
//! ```
//! use foretell_flash::{Attention, Operand, OperandMut, Pattern, Sizes, Strides};
//!
//! // 2 windows, 4 heads of 8 numbers, 24 steps that see those before them.
//! let sizes = Sizes { batch: 2, heads: 4, queries: 24, keys: 24, dim: 8, value_dim: 8 };
//! let strides = Strides::packed(24, 4, 8);
//! let x: Vec<f32> = (0..2 * 24 * 32).map(|i| (i as f32 * 0.7).sin()).collect();
//! let x = Operand { data: &x, strides };
//! let (mut out, mut stats) = (vec![0.0; x.data.len()], vec![0.0; sizes.rows()]);
//! let attention = Attention::new(sizes).pattern(Pattern::Causal);
//! attention.forward([x, x, x], OperandMut { data: &mut out, strides }, &mut stats, None);
//! // The first step sees itself only.
//! assert!(out[..32].iter().zip(x.data).all(|(y, x)| (y - x).abs() < 1e-6));
//! ```
//!
//! # What holds
//!
//! * **The bits do not depend on the number of threads**: tiles are cut by the sizes alone. Heads, and
//!   forwards blocks of rows, run on the threads that [`foretell_threads::share`] allows.
//! * **Scratch does not grow with the length** where tiles are used: [`Attention::scratch_bytes`].
//! * A query that sees no key has zeros; scores of any finite size do not overflow; NaN propagates.
//!
//! # Features
//!
//! * `flash`: tiles, and small heads sixteen at a time. Without it the whole matrix of a head's scores is computed at once.
//!
//! Beside these, `default` switches on what the crates below have by default: kernels dispatched at run time (`simd` of `foretell-simd`),
//! threads (`parallel` of `foretell-threads`), recycled buffers (`pool` of `foretell-pool`) and the like. Without it they are off, and
//! everything gives the same results; depend on those crates as well to choose among them.

mod attention;
mod backward;
mod dispatch;
mod forward;
mod pattern;
mod shared;
mod sizes;
mod small;
#[cfg(test)]
mod tests;
mod tiles;

pub use attention::{Algorithm, Attention, AttentionGradients, Dropout, Mask, SavedForBackward};
/// What the numbers of products are rounded to ([`Attention::rounding`]).
pub use foretell_gemm::Rounding;
pub use foretell_simd::Key;
/// The scope in which attention may use several threads.
pub use foretell_threads::share;
pub use pattern::Pattern;
pub use sizes::{Operand, OperandMut, Sizes, Strides};

/// Whether attention goes by tiles, or sixteen heads at a time, where that is faster: the feature `flash`.
pub const FLASH: bool = cfg!(feature = "flash");

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
