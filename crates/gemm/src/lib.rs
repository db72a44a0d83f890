//! Matrix products over strided views: `dst = activation(alpha * lhs * rhs + bias)` in one call.
//!
//! For fast single-threaded or reproducibly parallel products of `f32` matrices without a linear-algebra
//! library around them: views are borrowed slices with strides, so any transpose or sub-matrix is free, and what
//! usually follows a product (bias, activation) is applied to each block of the result while it is still in cache.
//!
//! ```
//! use foretell_gemm::{Activation, Bias, MatMut, MatRef, Options, matmul};
//!
//! // A dense layer, y = relu(x w^T + b): x is [2, 3], w is [2, 3], y is [2, 2].
//! let x = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0];
//! let w = [1.0f32, 0.0, -1.0, 0.5, 0.5, 0.5];
//! let b = [1.0, 1.0];
//! let mut y = [f32::NAN; 4]; // replaced without being read
//! matmul(
//!     MatMut::row_major(&mut y, 2, 2),
//!     MatRef::row_major(&x, 2, 3),
//!     MatRef::row_major(&w, 2, 3).t(),
//!     Options::default().bias(Bias::PerColumn(&b)).activation(Activation::Relu),
//! );
//! assert_eq!(y, [0.0, 4.0, 0.0, 8.5]);
//! ```
//!
//! # Fewer bits
//!
//! Weights that are multiplied with many times are best packed once, as a [`WeightMatrix`]: in `f32`, in bfloat16 with half the
//! bytes, or in 8 bits with a quarter of them and a scale for each column. [`WeightFormat::best_for`] says whether that saves time.
//! [`matmul`] takes them in place of a matrix ([`Rhs`]), and rounds the left operand as they are rounded.
//!
//! Products in bfloat16 sum up in `f32`. They run on the tiles of Intel's AMX, on AVX512-BF16 where it is the faster way, and
//! elsewhere in `f32`, on numbers that are rounded before. Numbers below `2^-126` may count as zeros, as operands and as sums: machines that multiply bfloat16
//! numbers do not compute with them. [`Options::rounding`] asks [`matmul`] and [`matmul_batched`] to round both operands, to bfloat16
//! only where it saves time ([`Rounding::of_product`]), or to half precision, which they multiply in `f32`.
//!
//! In 8 bits the left operand is rounded row by row, its largest magnitude to 127 or -127. Sums of whole numbers are exact: every
//! machine gives the same bits, with tiles of AMX, AVX512-VNNI, AVX-VNNI, AVX2, NEON and plain code; the activation's may differ.
//!
//! # `f32` in three pieces of bfloat16: bf16x3
//!
//! Tiles of AMX multiply bfloat16 at sixteen times the rate at which AVX-512 multiplies `f32`. At the level of that name
//! ([`foretell_simd::Level::Amx`]) a number of `f32` is taken as the sum of three of bfloat16, and larger products are made of six
//! such products, as near the exact ones as a chain of fused multiply-adds. `FORETELL_SIMD=avx512` leaves them to AVX-512.
//!
//! # Complex numbers
//!
//! [`matmul_complex_batched`] multiplies many small complex matrices, whose real and imaginary parts lie apart.
//!
//! # Transposes
//!
//! [`transpose()`] writes out the transpose of a matrix, where a product cannot read it as a view. [`interleave()`] lays rows
//! of sixteen places out for [`foretell_simd::interleaved_products`], products of sixteen small matrices at once.
//!
//! # Plans
//!
//! [`explain`] says what is done for a product: in which numbers, by which kernel, in how many tasks. [`PlanRecorder`] lists the
//! products of a running program with their plans.
//!
//! # Words
//!
//! * *Tile*: the rows and columns of a result whose sums are made together, in registers, or in a tile of AMX.
//! * *Strip*: the columns of a right operand, or the rows of a left one, that are as many as a tile has, packed one after the other
//!   along the inner dimension.
//! * *Panel*: some rows of a left operand, packed in strips, that are multiplied with one strip of the right operand after the other.
//! * *Block*: what of an operand, or of a strip, is taken at a time so that it stays in a cache.
//! * *Task*: the rows and columns of a result that one thread computes. *Part*: a range of a long inner dimension, summed up apart.
//! * *Piece*: one of the three numbers of bfloat16 that make up one of `f32`.
//!
//! # What holds
//!
//! * **Checked border.** Views check their bounds and that the elements of a destination do not
//!   overlap; [`matmul`] checks the shapes. A mistake panics with the figures.
//! * **IEEE values.** NaN and infinity propagate; [`Accum::Replace`] never reads the destination;
//!   zero-sized dimensions work (a product over an empty inner dimension is zero). Tiles of AMX know no subnormal numbers: at
//!   that level operands, and pieces of operands, below `2^-126` may count as zeros.
//! * **The bits do not depend on the number of threads.** A product is cut by its shape
//!   alone, into tasks or, along a long inner dimension, into parts that are added up in their order; one thread computes
//!   the same ones as many. The bits do depend on the level of the machine, and those of a row may depend on how many
//!   rows and columns there are.
//!
//! # Features
//!
//! * `faer` (default): products that have no kernel of our own by [faer](https://docs.rs/faer)'s, always its sequential
//!   mode. Without it, a plain loop with the same API.
//!
//! Beside these, `default` switches on what the crates below have by default: kernels dispatched at run time (`simd` of `foretell-simd`),
//! threads (`parallel` of `foretell-threads`), recycled buffers (`pool` of `foretell-pool`) and the like. Without it they are off, and
//! everything gives the same results; depend on those crates as well to choose among them.

#[cfg(target_arch = "x86_64")]
mod amx;
mod batch;
mod bf16;
mod check;
mod complex;
mod dispatch;
mod epilogue;
mod flops;
mod general;
mod int8;
mod interleave;
mod matmul;
mod options;
mod packed;
mod parts;
mod plan;
mod product;
mod record;
mod rhs;
mod rounded;
mod skinny;
mod strips;
mod tasks;
#[cfg(test)]
mod tests;
mod tiny;
mod transpose;
mod vector;
mod view;
mod weights;

pub use batch::{BatchMut, BatchRef};
pub use complex::{BatchDims, ComplexBatchMut, ComplexBatchRef, matmul_complex_batched};
pub use flops::{FlopCounter, count_products};
pub use foretell_simd::{Activation, Level};
/// The scope in which a product may use several threads: `share(threads, || matmul(..))` with those of rayon's pool.
pub use foretell_threads::share;
pub use interleave::{Lines, deinterleave, interleave};
pub use matmul::{matmul, matmul_batched};
pub use options::{Accum, Bias, Options, Rounding, WeightFormat};
pub use plan::{Plan, ProductShape, RightLayout, explain};
pub use record::{PlanRecorder, RecordedProduct};
pub use rhs::Rhs;
pub use transpose::transpose;
pub use view::{MatMut, MatRef};
pub use weights::WeightMatrix;

/// Whether products run on faer's kernels: the feature `faer`.
pub const FAER: bool = cfg!(feature = "faer");

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
