//! The training of Foretell0 on synthetic series, by runs that follow each other.
//!
//! A run takes steps of a batch of windows, each a function of the seed and its number, so that the same run gives the
//! same weights to the last bit, whether it was interrupted or not. It keeps its state in a file (weights, moments, their average), from
//! which it resumes after a kill; a run on another machine continues from the weights in the repository, with fresh moments.
#![forbid(unsafe_code)]

pub mod evaluate;
pub mod schedule;
pub mod state;
pub mod training;
pub mod windows;
