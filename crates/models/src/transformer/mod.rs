//! Transformers, and those that look for periods in the spectrum.

pub(crate) mod autoformer;
pub(crate) mod fedformer;
pub(crate) mod informer;
pub(crate) mod patch_tst;
pub(crate) mod tft;
pub(crate) mod timellm;
pub(crate) mod timesnet;
pub(crate) mod vanilla_transformer;

/// Parts of these models, most of them used by several.
pub(crate) mod shared {
    pub(crate) mod decomposed_transformer;
    pub(crate) mod encoder_decoder;
    pub(crate) mod hyper_parameters;
    pub(crate) mod numpy_shuffle;
    pub(crate) mod window_prompt;
}
