//! Attention, softmax, norms and linear layers for [candle](https://docs.rs/candle-core) on CPUs, each one operation with
//! its gradient.
//!
//! candle composes these of products, passes over elements and copies; here each is a kernel of foretell: attention does
//! not write the matrix of scores to memory, a norm reads its rows once, bias and activation are applied to a product while
//! it is in the cache. The functions take and give candle's tensors, and candle's `backward` goes through them.
//!
//! ```
//! use candle_core::{Device, Tensor, Var};
//! use foretell_candle::{Activation, FlashAttention, layer_norm, linear};
//!
//! // 2 windows of 24 steps of 32 numbers; one layer projects them to queries, keys and values, for 4 heads of 8.
//! let x = Tensor::randn(0f32, 1.0, (2, 24, 32), &Device::Cpu)?;
//! let weight = Var::randn(0f32, 0.2, (96, 32), &Device::Cpu)?;
//! let packed = linear(&x, &weight, None, Activation::Identity)?.reshape((2, 24, 3, 4, 8))?;
//! // Views of `packed`: heads are read without a copy.
//! let [q, k, v] = [0, 1, 2].map(|i| packed.get_on_dim(2, i)?.transpose(1, 2));
//! let seen = FlashAttention::causal().apply(&q?, &k?, &v?)?;
//! // The result has the memory order of the queries, so that this copies nothing.
//! let joined = seen.transpose(1, 2)?.reshape((2, 24, 32))?;
//! let normal = layer_norm(&joined, &Tensor::ones(32, x.dtype(), x.device())?, None, 1e-5)?;
//! let gradients = normal.sqr()?.sum_all()?.backward()?;
//! assert_eq!(gradients.get(&weight).unwrap().dims(), [96, 32]);
//! # Ok::<(), candle_core::Error>(())
//! ```
//!
//! # Guarantees
//!
//! * **F32 on the CPU.** Anything else is an [`OpError`] that says what to do; nothing is converted silently.
//! * **Copies.** Operands are read without a copy if their rows are contiguous: of attention any batch, head and step strides,
//!   of a linear layer any weight. Other views are copied once, as candle's `contiguous` does. Results are contiguous, but
//!   for attention's, which have the memory order of the queries.
//! * **Gradients** go to all operands that candle tracks, and to no others. A linear layer does not compute those of the
//!   others; attention and norms, whose gradients come from one pass, compute all and drop these. They are not
//!   differentiable themselves, as candle's are not by default.
//! * **Threads** are those of rayon's pool, which candle uses too (`RAYON_NUM_THREADS`). Their number changes no bit of a
//!   result.
//!
//! # Features
//!
//! The only one, `default`, switches on what the crates below have by default: kernels dispatched at run time (`simd` of `foretell-simd`),
//! threads (`parallel` of `foretell-threads`), recycled buffers (`pool` of `foretell-pool`) and the like. Without it they are off, and
//! everything gives the same results; depend on those crates as well to choose among them.
#![forbid(unsafe_code)]

mod attention;
mod convert;
mod error;
mod linear;
mod norm;
mod operand;
mod optional_operand;
mod softmax;

pub use attention::FlashAttention;
pub use convert::{from_candle, to_candle};
pub use error::{OpError, Result};
pub use foretell_flash::{Dropout, Key, Pattern};
pub use foretell_simd::Activation;
pub use linear::linear;
pub use norm::{layer_norm, rms_norm};
pub use softmax::softmax;

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
