//! One file per command.

pub(crate) mod aggregate;
pub(crate) mod anomalies;
pub(crate) mod bench;
pub(crate) mod completions;
pub(crate) mod cross_validate;
pub(crate) mod decompose;
pub(crate) mod demo;
pub(crate) mod evaluate;
pub(crate) mod explain;
pub(crate) mod features;
pub(crate) mod fit;
pub(crate) mod future;
#[cfg(feature = "pickle")]
pub(crate) mod import;
pub(crate) mod inspect;
pub(crate) mod man;
pub(crate) mod models;
pub(crate) mod plot;
pub(crate) mod predict;
pub(crate) mod quantise;
pub(crate) mod reconcile;
pub(crate) mod report;
#[cfg(feature = "serve")]
pub(crate) mod serve;
pub(crate) mod simulate;
pub(crate) mod tune;
