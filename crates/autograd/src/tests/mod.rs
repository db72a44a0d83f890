//! Operations as callers use them.

mod common;
mod slices;
mod threads;
mod warm;
