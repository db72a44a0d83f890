//! Hyper-parameters by search.

mod board;
mod job;
pub(crate) mod search;
pub(crate) mod search_range;
pub(crate) mod search_space;
mod search_state;
pub(crate) mod search_trial;
pub(crate) mod tuned;
