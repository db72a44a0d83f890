//! Helpers that the tests of several kernels share.

use foretell_simd::{Key, Level, Stream, with_level};

use crate::axis::Axis;

/// Runs `test` at every level of the machine.
pub(crate) fn at_every_level(test: impl Fn(Level)) {
    for level in Level::available() {
        with_level(level, || test(level));
    }
}

/// Numbers between -2 and 2.
pub(crate) fn numbers(len: usize, seed: u64) -> Vec<f32> {
    let mut stream = Stream::new(Key::new(seed));
    (0..len).map(|_| 4.0 * stream.uniform_f64() as f32 - 2.0).collect()
}

/// Dimensions of every place and length: none, one, and no multiple of a vector among them.
pub(crate) const AXES: [Axis; 9] = [
    Axis { outer: 1, len: 0, inner: 1 },
    Axis { outer: 0, len: 3, inner: 2 },
    Axis { outer: 2, len: 1, inner: 1 },
    Axis { outer: 3, len: 7, inner: 1 },
    Axis { outer: 2, len: 129, inner: 1 },
    Axis { outer: 1, len: 5, inner: 3 },
    Axis { outer: 2, len: 4, inner: 17 },
    Axis { outer: 1, len: 33, inner: 65 },
    Axis { outer: 2, len: 2, inner: 200 },
];
