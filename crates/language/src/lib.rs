//! A frozen language model that is in a folder of the user's, in Hugging Face's layout (`config.json`, `model.safetensors`,
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
//! * `timellm`: the reader of tokenizers. Without it [`LanguageModel::open`] is an error that says so.
//!
//! Beside these, `default` switches on what the crates below have by default: kernels dispatched at run time (`simd` of `foretell-simd`),
//! threads (`parallel` of `foretell-threads`), recycled buffers (`pool` of `foretell-pool`) and the like. Without it they are off, and
//! everything gives the same results; depend on those crates as well to choose among them.
#![forbid(unsafe_code)]

mod block;
mod config;
mod error;
mod folder;
mod gpt2;
mod language_model;
mod tokens;
#[cfg(all(test, feature = "timellm"))]
mod warm_tests;

pub use error::LanguageModelError;
pub use language_model::LanguageModel;

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
