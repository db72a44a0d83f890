//! All that the public signatures of a crate use is named by it: each file names one crate.

mod autograd;
mod checkpoint;
mod data;
mod kernels;
mod models;
mod nn;
mod tensor;
mod train;
