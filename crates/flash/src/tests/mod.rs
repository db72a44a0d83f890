//! Attention as callers use it. One program of tests, since each compiles the kernels anew.

mod attention;
mod flops;
