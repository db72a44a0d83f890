//! Criterion suites over the public API of the crates; see `benches/`.
#![forbid(unsafe_code)]
