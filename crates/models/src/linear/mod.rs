//! Linear models, perceptrons, and forecasts as sums of basis functions.

pub(crate) mod deep_npts;
pub(crate) mod dlinear;
pub(crate) mod kan;
pub(crate) mod mlp;
pub(crate) mod nbeats;
pub(crate) mod nbeatsx;
pub(crate) mod nhits;
pub(crate) mod nlinear;
pub(crate) mod rlinear;
pub(crate) mod tide;

/// Parts of these models, most of them used by several.
pub(crate) mod shared {
    pub(crate) mod basis;
    pub(crate) mod dense_layers;
    pub(crate) mod nbeats_stacks;
    pub(crate) mod per_stack;
    pub(crate) mod perceptron;
}
