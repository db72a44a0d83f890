//! TimesFM 2.5 (Das et al. 2024; `google/timesfm-2.5-200m-transformers`, Apache-2.0): a decoder over patches of a series.
//!
//! 1. Gaps are filled linearly, and values are cut into patches, each scaled by the mean and deviation of all values up to its end. A patch
//!    with the marks of what is before the series becomes a token.
//! 2. A layer attends to the patches before, with rotary positions, norms of queries and keys, and a learned scale of each number of a
//!    head; norms stand before and behind attention and perceptron.
//! 3. The last state becomes mean and quantiles of the next steps in its scale, and once more those of many steps, whose distances from the
//!    median are the quantiles'. The forecast is the mean of the series' and its mirror image's, and not negative if the series never was.
//! 4. Beyond one pass the medians are taken for known values.

mod config;
mod decoder;
mod network;
mod stream;

pub(crate) use config::TimesFmConfig;
pub(crate) use network::TimesFm;
