//! Networks in folders: beside their packages, and damaged.

mod bolt;
mod folders;
mod fracast;
mod packages;
