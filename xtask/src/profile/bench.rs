//! The output of a run of the benchmark, and the bandwidth of the machine's memory.

use std::time::Instant;

use serde_json::Value;

use crate::figures::median;

/// A line of `foretell bench --json`.
pub(super) struct Bench(pub(super) Value);

impl Bench {
    /// A number of it; NaN where there is none.
    pub(super) fn number(&self, key: &str) -> f64 {
        self.0[key].as_f64().unwrap_or(f64::NAN)
    }

    pub(super) fn text(&self, key: &str) -> &str {
        self.0[key].as_str().unwrap_or("unknown")
    }
}

/// Bytes that a plain copy reads and writes in a second, with large blocks of memory, on one thread: the median of nine.
pub(super) fn copy_rate() -> f64 {
    const BYTES: usize = 128 << 20;
    let (from, mut to) = (vec![1u8; BYTES], vec![0u8; BYTES]);
    let copy = |_| {
        let start = Instant::now();
        to.copy_from_slice(&from);
        std::hint::black_box(&to);
        start.elapsed().as_secs_f64()
    };
    let times: Vec<f64> = (0..9).map(copy).collect();
    2.0 * BYTES as f64 / median(&times)
}
