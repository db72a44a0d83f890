//! Helpers that the tests of all kernels share: every level, telling lengths, hard numbers, distances.

use crate::level::{Level, with_level};
#[cfg(feature = "simd")]
use crate::level::{Target, with_target};
use crate::vector::Float;
use crate::{Key, Stream};

/// Runs `test` at every level of the machine and at an emulated width.
pub(crate) fn at_every_level(test: impl Fn(&str)) {
    for level in Level::available() {
        with_level(level, || test(&level.to_string()));
    }
    // The emulated width is pulp's too.
    #[cfg(feature = "simd")]
    with_target(Target::Emulated, || test("emulated"));
}

/// Runs `test` at every level for lengths around the lane counts, primes, powers of two, random
/// ones and large ones; `case` makes the data and names the failure.
pub(crate) fn for_every_length(test: impl Fn(&mut Case)) {
    at_every_level(|level| {
        let mut stream = Stream::new(Key::new(1));
        let mut lengths: Vec<usize> = (0..=18).collect();
        lengths.extend([31, 32, 33, 63, 64, 65, 127, 131, 509, 512, 521, 1024, 2049, 8191]);
        lengths.extend((0..6).map(|_| stream.below(3000) as usize));
        for len in lengths {
            test(&mut Case { name: format!("{level}, length {len}"), len, stream: stream.clone() });
            stream.next_u64();
        }
    });
}

/// One length at one level.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) len: usize,
    stream: Stream,
}

impl Case {
    /// `len` numbers between `low` and `high`, at an address that is aligned for nothing wider
    /// than one of them.
    pub(crate) fn between<T: Float>(&mut self, low: f64, high: f64) -> Unaligned<T> {
        let stream = &mut self.stream;
        Unaligned::new(self.len, |_| T::from_f64(low + (high - low) * stream.uniform_f64()))
    }

    /// Numbers between -2 and 2.
    pub(crate) fn numbers<T: Float>(&mut self) -> Unaligned<T> {
        self.between(-2.0, 2.0)
    }

    /// Numbers among which one in three is NaN, infinite, zero, subnormal, tiny or huge.
    pub(crate) fn hard<T: Float>(&mut self) -> Unaligned<T> {
        let stream = &mut self.stream;
        Unaligned::new(self.len, |_| {
            let hard = HARD[stream.below(HARD.len() as u64) as usize];
            let plain = stream.uniform_f64() * 4.0 - 2.0;
            T::from_f64(if stream.below(3) == 0 { hard } else { plain })
        })
    }
}

/// Numbers at the edges of `f32`.
pub(crate) const HARD: [f64; 14] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    0.0,
    -0.0,
    1e-45,
    -1e-45,
    1e-39,
    -1e-39,
    f32::MIN_POSITIVE as f64,
    f32::MAX as f64,
    f32::MIN as f64,
    1.0,
    -1.0,
];

/// A slice that starts one element after an address aligned for the widest vector.
#[derive(Clone, Debug)]
pub(crate) struct Unaligned<T> {
    store: Vec<T>,
    start: usize,
    len: usize,
}

impl<T: Float> Unaligned<T> {
    fn new(len: usize, mut value: impl FnMut(usize) -> T) -> Self {
        let store = vec![T::default(); len + 32];
        let start = store.as_ptr().align_offset(64) % 16 + 1;
        let mut new = Self { store, start, len };
        for i in 0..len {
            new[i] = value(i);
        }
        new
    }
}

impl<T> std::ops::Deref for Unaligned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.store[self.start..self.start + self.len]
    }
}

impl<T> std::ops::DerefMut for Unaligned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.store[self.start..self.start + self.len]
    }
}

/// The distance of `a` from the exact `b`, in units of the last place of `b` as a `T`: 0 if both
/// are NaN or the same infinity, infinite if one only is.
pub(crate) fn ulps<T: Float>(a: T, b: f64) -> f64 {
    let exact = T::from_f64(b).to_f64();
    let a = a.to_f64();
    if a.is_nan() && b.is_nan() || a == exact {
        return 0.0;
    }
    if !(a.is_finite() && exact.is_finite()) {
        return f64::INFINITY;
    }
    (a - b).abs() / ulp::<T>(b)
}

/// The unit of the last place of a `T` as large as `x`.
fn ulp<T>(x: f64) -> f64 {
    let (digits, least) = if size_of::<T>() == 4 { (23, -149) } else { (52, -1022) };
    let exponent = (x.abs().to_bits() >> 52) as i32 - 1023;
    2f64.powi((exponent - digits).max(least))
}

/// Asserts that each element is within `limit` ULP of the exact value.
#[track_caller]
pub(crate) fn assert_ulps<T: Float>(
    actual: &[T],
    expected: impl IntoIterator<Item = f64>,
    limit: f64,
    name: &str,
) {
    let mut count = 0;
    for (i, (&a, b)) in actual.iter().zip(expected).enumerate() {
        assert!(ulps(a, b) <= limit, "{name}: element {i} is {a:?}, expected {b:?}");
        count += 1;
    }
    assert_eq!(count, actual.len(), "{name}: too few expected values");
}

/// Asserts `|actual - expected| <= bound`, NaN and infinities being equal to themselves.
#[track_caller]
pub(crate) fn assert_within<T: Float>(actual: T, expected: f64, bound: f64, name: &str) {
    let a = actual.to_f64();
    let same = a.is_nan() && expected.is_nan() || a == expected;
    assert!(same || (a - expected).abs() <= bound, "{name}: {a:?}, expected {expected:?} +- {bound:e}");
}

/// The greatest distance in ULP over a walk of the bit patterns of `f32` with step `stride`, at
/// every level of the machine, of `kernel` from `exact`.
pub(crate) fn worst_ulps(
    stride: usize,
    kernel: impl Fn(&[f32], &mut [f32]),
    exact: impl Fn(f64) -> f64,
) -> f64 {
    worst_units(stride, kernel, exact, |_, y| y)
}

/// [`worst_ulps`] with the distance in ULP of `unit(x, y)`, where `y` is the exact value.
pub(crate) fn worst_units(
    stride: usize,
    kernel: impl Fn(&[f32], &mut [f32]),
    exact: impl Fn(f64) -> f64,
    unit: impl Fn(f64, f64) -> f64,
) -> f64 {
    let mut worst = (0.0, f32::NAN, 0.0);
    let mut bits = (0..=u32::MAX).step_by(stride);
    loop {
        let x: Vec<f32> = bits.by_ref().take(4096).map(f32::from_bits).collect();
        if x.is_empty() {
            break;
        }
        let expected: Vec<f64> = x.iter().map(|&x| exact(x.into())).collect();
        let mut y = vec![0.0; x.len()];
        for level in Level::available() {
            with_level(level, || kernel(&x, &mut y));
            for i in 0..x.len() {
                let own = ulps(y[i], expected[i]);
                let distance = if own > 0.0 && own.is_finite() {
                    (f64::from(y[i]) - expected[i]).abs() / ulp::<f32>(unit(x[i].into(), expected[i]))
                } else {
                    own
                };
                if distance > worst.0 {
                    worst = (distance, x[i], y[i]);
                }
            }
        }
    }
    println!("worst: {:.3} ULP at {:?}, where the result is {:?}", worst.0, worst.1, worst.2);
    worst.0
}

/// A stride that visits about 430,000 patterns of all exponents and both signs.
pub(crate) const SAMPLE: usize = 9973;

/// The error function to about 1e-14 relative: a series of positive terms below 3, a continued
/// fraction above (Abramowitz and Stegun, 7.1.6 and 7.1.14).
pub(crate) fn erf(x: f64) -> f64 {
    let size = x.abs();
    let value = if size.is_nan() {
        size
    } else if size < 3.0 {
        let (mut term, mut sum, mut n) = (size, size, 0.0);
        while term > sum * 1e-17 {
            n += 1.0;
            term *= 2.0 * size * size / (2.0 * n + 1.0);
            sum += term;
        }
        sum * std::f64::consts::FRAC_2_SQRT_PI * (-size * size).exp()
    } else if size < 6.0 {
        let fraction = (1..60).rev().fold(size, |below, k| size + f64::from(k) / 2.0 / below);
        1.0 - (-size * size).exp() / (fraction * std::f64::consts::PI.sqrt())
    } else {
        1.0
    };
    value.copysign(x)
}

/// The sum with the error of each addition kept (Neumaier, 1974).
pub(crate) fn exact_sum(terms: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0f64, 0.0);
    for x in terms {
        let new = sum + x;
        lost += if sum.abs() >= x.abs() { (sum - new) + x } else { (x - new) + sum };
        sum = new;
    }
    sum + lost
}

/// The start and the gradients of seven steps of the optimiser tests. The expected ends come from
/// `torch.optim` 2.15 in `f64` with the same numbers.
pub(crate) const START: [f32; 4] = [0.5, -1.25, 2.0, 0.0];
pub(crate) const GRADIENTS: [[f32; 4]; 7] = [
    [0.1, -0.2, 0.3, 1.0],
    [0.05, 0.4, -0.3, -2.0],
    [1.0, 0.0, 0.25, 0.5],
    [-0.7, 0.1, 0.2, 0.3],
    [0.3, 0.3, -0.1, 0.2],
    [0.2, -0.6, 0.4, 0.1],
    [0.1, 0.2, 0.3, 0.4],
];

/// Runs an optimiser over [`GRADIENTS`] at every level, the four parameters repeated to several
/// lengths, and compares the ends: `step(params, grads, state, velocity, number)`.
pub(crate) fn assert_optimises(
    expected: [f64; 4],
    step: impl Fn(&mut [f32], &[f32], &mut [f32], &mut [f32], u64),
) {
    at_every_level(|level| {
        for repeats in [1, 3, 4, 9, 33] {
            let mut params = START.repeat(repeats);
            let mut first = vec![0.0; params.len()];
            let mut second = first.clone();
            for (number, gradient) in (1..).zip(GRADIENTS) {
                let gradient = gradient.repeat(repeats);
                step(&mut params, &gradient, &mut first, &mut second, number);
            }
            for (i, &p) in params.iter().enumerate() {
                assert_within(p, expected[i % 4], 2e-6, &format!("{level}, parameter {i}"));
            }
        }
    });
}
