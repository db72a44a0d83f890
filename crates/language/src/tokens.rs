//! Text as tokens, by a `tokenizer.json`.

use crate::error::LanguageModelError;

#[cfg(feature = "timellm")]
pub(crate) struct Tokens(tokenizers::Tokenizer);

#[cfg(feature = "timellm")]
impl Tokens {
    pub(crate) fn parse(text: &[u8]) -> Result<Self, LanguageModelError> {
        let damaged = |error: tokenizers::Error| LanguageModelError::Damaged {
            file: "tokenizer.json",
            reason: error.to_string(),
        };
        let mut tokenizer = tokenizers::Tokenizer::from_bytes(text).map_err(damaged)?;
        // The file may ask for what Hugging Face's model asks for when it is called, not here.
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(damaged)?;
        Ok(Self(tokenizer))
    }

    /// The largest token that there is.
    pub(crate) fn largest(&self) -> u32 {
        self.0.get_vocab(true).into_values().max().unwrap_or_default()
    }

    /// The tokens of a text.
    pub(crate) fn of(&self, text: &str) -> Vec<u32> {
        // A tokenizer refuses a text only where a model of words has no token for an unknown one; then nothing is said.
        self.0.encode_fast(text, true).map(|encoding| encoding.get_ids().to_vec()).unwrap_or_default()
    }
}

/// Without the reader of tokenizers there are none.
#[cfg(not(feature = "timellm"))]
pub(crate) enum Tokens {}

#[cfg(not(feature = "timellm"))]
impl Tokens {
    pub(crate) fn parse(_: &[u8]) -> Result<Self, LanguageModelError> {
        Err(LanguageModelError::WithoutFeature)
    }

    pub(crate) fn largest(&self) -> u32 {
        match *self {}
    }

    pub(crate) fn of(&self, _: &str) -> Vec<u32> {
        match *self {}
    }
}
