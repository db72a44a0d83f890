//! TiRex (Auer et al. 2025, `NX-AI/tirex`, NXAI Community License): blocks of xLSTM's scalar memory (sLSTM, Beck et al. 2024) over patches.
//!
//! 1. The known values of a window of fixed length are scaled by their mean and deviation and cut into patches; a patch with the marks of
//!    its known values becomes a token. Patches before the series and those ahead have no known value.
//! 2. A block mixes tokens over time by a cell with exponential gates, whose heads see their own states alone, normalised by head, then
//!    by a gated perceptron.
//! 3. The state of the last token becomes the quantiles of the patch that it stands for. Nothing is fed back: the next patch is that of a
//!    window which ends with one more unknown patch.

mod block;
mod config;
mod network;

pub(crate) use config::TiRexConfig;
pub(crate) use network::TiRex;
