//! Networks in folders: beside their packages, and damaged.

mod bolt;
mod chronos2;
mod folders;
mod fracast;
mod packages;
mod timesfm;
mod tirex;
mod tuning;
