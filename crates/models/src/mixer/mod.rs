//! Multivariate models: a window holds all series of the panel, which they mix.

pub(crate) mod itransformer;
pub(crate) mod mlp_multivariate;
pub(crate) mod rmok;
pub(crate) mod softs;
pub(crate) mod softs_sharp;
pub(crate) mod stemgnn;
pub(crate) mod timemixer;
pub(crate) mod timexer;
pub(crate) mod tsmixer;
pub(crate) mod tsmixerx;
pub(crate) mod xlinear;

/// Parts of these models, most of them used by several.
pub(crate) mod shared {
    pub(crate) mod mixing;
    pub(crate) mod multivariate;
    pub(crate) mod series_transformer;
    pub(crate) mod star_aggregate;
}
