//! Products as callers make them. One program of tests, since each compiles the kernels anew.

mod border;
mod common;
mod epilogue;
mod flops;
mod products;
mod threads;
