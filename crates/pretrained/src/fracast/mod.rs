//! Fracast-0 (PyPI `fracast`, Apache-2.0; after TinyCast, arXiv 2608.15767): one causal block for all dilations.
//!
//! 1. The window is scaled to its least and largest known value. A step's inputs are its value, whether it is known, its distance
//!    from the end, and its phase in up to four periods that the window's own periodogram has.
//! 2. One block (depthwise causal convolution, dense layer, SwiGLU, each with a root mean square norm behind) is applied at dilations
//!    1, 2, 4, ..., told which by a scale and a shift of each channel.
//! 3. The head makes a state of each step ahead of the mean and the last state of the past, adds what causal convolutions make of the
//!    last states followed by the values that the past had at the same phase, and turns it into quantiles.
//! 4. Beyond one pass the medians are taken for known values, and the window is scaled anew.

mod block;
mod config;
mod encoder;
mod features;
mod head;
mod network;
mod periods;

pub(crate) use config::FracastConfig;
pub(crate) use network::Fracast;
