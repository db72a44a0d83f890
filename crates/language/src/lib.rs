//! A frozen language model that lies in a folder of the user's, in Hugging Face's layout (`config.json`, `model.safetensors`,
//! `tokenizer.json`), for models that forecast with one: GPT-2 (Radford et al. 2019, "Language models are unsupervised multitask
//! learners").
//!
//! ```no_run
//! use foretell_autograd::{Tensor, Var};
//! use foretell_language::LanguageModel;
//!
//! let model = LanguageModel::open("gpt2".as_ref())?;
//! let prompts = model.tokens(&["The trend is upward"], 16);
//! // Three vectors behind the prompt, and the states that the model has of them.
//! let x = Var::constant(Tensor::zeros([1, 3, model.width()]));
//! assert_eq!(&*model.read_after(&prompts, &x).shape(), [1, 3, model.width()]);
//! # Ok::<(), foretell_language::LanguageModelError>(())
//! ```
//!
//! # Features
//!
//! Each but `timellm` is on by default and passed down to the crates below.
//!
//! * `flash`: attention in tiles, without the matrix of scores in memory. Without it the whole matrix of a head's scores is
//!   computed at once.
//! * `simd`: kernels dispatched at run time to the widest vectors of the machine. Without it they are scalar
//!   code.
//! * `faer`: matrix products that have no kernel of foretell's own by faer's. Without it these are plain loops.
//! * `parallel`: work on several threads. Without it everything runs on the calling thread, with the same bits.
//! * `pool`: buffers are kept for the next owner. Without it each is allocated and freed.
//! * `pickle`: passed down to the reader of safetensors; nothing here depends on it.
//! * `timellm`: the reader of tokenizers. Without it [`LanguageModel::open`] is an error that says so.
#![forbid(unsafe_code)]

mod block;
mod config;
mod error;
mod folder;
mod gpt2;
mod language_model;
mod tokens;

pub use error::LanguageModelError;
pub use language_model::LanguageModel;

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
