//! The training of several models on one panel, and its state on disk.

pub(crate) mod agreement;
pub(crate) mod all_models;
mod beside;
pub(crate) mod checkpointing;
mod checks;
pub(crate) mod cut_short;
pub(crate) mod data_doubts;
pub(crate) mod divergence;
pub(crate) mod forecasting;
pub(crate) mod interruption;
mod level_breaks;
pub(crate) mod model_state;
mod odd_values;
pub(crate) mod plan;
pub(crate) mod start;
pub(crate) mod students;
pub(crate) mod turns;
mod usual_sums;
