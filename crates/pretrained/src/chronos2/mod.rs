//! Chronos-2 (Ansari et al. 2025, `amazon-science/chronos-forecasting`, Apache-2.0): an encoder over patches of a series and of the columns
//! beside it.
//!
//! 1. The known values of a series, and those of each column, are scaled by their own mean and deviation and by an inverse hyperbolic
//!    sine, and cut into patches. A patch with its places in time and the marks of its known values becomes a token. Behind the past
//!    stands a token of its own (REG), then one for each patch of the future, which holds what a column is known to become. Patches of
//!    the past without a known value are left out: nothing attends to them.
//! 2. A layer attends over time, with rotary positions (Su et al. 2021), then over the tokens of one place in all series of a group,
//!    then to itself. A group is a series with its columns.
//! 3. The states of the future's patches become all quantiles of their steps at once. So does the past of a long horizon: beyond the
//!    patches of one pass, nine quantiles are paths whose next steps are forecast with them for known, as with columns their own forecasts
//!    where they are not known ahead, and the quantiles of all that is forecast then, each weighed by the probability that it stands for,
//!    are the forecast.

mod config;
mod encoder;
mod network;
mod tokens;
mod unrolled;

pub(crate) use config::Chronos2Config;
pub(crate) use network::Chronos2;
