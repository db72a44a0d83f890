//! Layers: named parameters and a forward pass, one file each.

pub(crate) mod activation;
pub(crate) mod attention;
pub(crate) mod attentive_lstm;
pub(crate) mod auto_correlation;
pub(crate) mod batch_norm;
pub(crate) mod causal_conv1d;
pub(crate) mod data_embedding;
pub(crate) mod distilling;
pub(crate) mod embedding;
pub(crate) mod fourier_attention;
pub(crate) mod gated_linear;
pub(crate) mod gated_residual;
pub(crate) mod interpretable_attention;
pub(crate) mod layer_norm;
pub(crate) mod linear;
pub(crate) mod linear_pair;
pub(crate) mod mlp;
pub(crate) mod number_embedding;
pub(crate) mod recurrent;
pub(crate) mod res_lstm;
pub(crate) mod rev_in;
pub(crate) mod seasonal_norm;
pub(crate) mod spline_linear;
pub(crate) mod static_encoder;
pub(crate) mod transformer;
pub(crate) mod variable_selection;
