//! The engine in browsers and Node: a module of WebAssembly.
//!
//! What it answers is that of `foretell-requests`. Compiled for another system it holds nothing.
//!
//! The module is built with `excel`, `flash`, `networks`, `pool` and `simd` of the facade's features; the small one with `pool` and `simd`.
#![deny(unsafe_code)]

#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
mod exports;
