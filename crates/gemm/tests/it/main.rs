//! Products as callers make them. One program of tests, since each compiles the kernels anew.

mod border;
mod common;
mod epilogue;
mod products;
#[cfg(feature = "parallel")]
mod threads;
