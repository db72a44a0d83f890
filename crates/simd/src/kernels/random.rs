//! Random numbers as a function of a key and an index.
//!
//! The number at an index depends on nothing but the key and the index: not on the numbers drawn
//! before, the thread, or the SIMD level. The generator is SplitMix64 with an increment of its own
//! for each key (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
//! It is not for cryptography.

use crate::isa::{Simd, WithSimd};

use crate::level::dispatch;
use crate::loops::same_len;

/// The increment of SplitMix64: 2^64 divided by the golden ratio, odd.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finaliser of SplitMix64: a bijection in which each input bit reaches each output bit.
#[inline(always)]
const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Names one sequence of random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key(u64);

impl Key {
    /// The key of a seed.
    pub const fn new(seed: u64) -> Self {
        Self(mix(seed.wrapping_add(GOLDEN)))
    }

    /// A key of its own for each `x`: a step, a shard, an operation. The order of folds matters.
    pub const fn fold(self, x: u64) -> Self {
        Self(mix(self.0 ^ mix(x.wrapping_add(GOLDEN)).wrapping_add(GOLDEN)))
    }

    /// 64 random bits at `index`.
    #[inline]
    pub const fn bits(self, index: u64) -> u64 {
        self.sequence().at(index)
    }

    /// A number uniform in `[0, 1)` at `index`, as [`uniform_fill`] has it there.
    #[inline]
    pub const fn uniform(self, index: u64) -> f32 {
        self.sequence().high(index) as f32 * (1.0 / 16_777_216.0)
    }

    /// The key with its increment, computed once for many indices.
    #[inline(always)]
    const fn sequence(self) -> Sequence {
        let step = mix(self.0 ^ GOLDEN) | 1;
        // An increment with few changes between neighbouring bits mixes badly.
        let changes = (step ^ (step >> 1)).count_ones();
        let step = if changes < 24 { step ^ 0xaaaa_aaaa_aaaa_aaaa } else { step };
        Sequence { start: self.0, step }
    }
}

#[derive(Clone, Copy)]
struct Sequence {
    start: u64,
    step: u64,
}

impl Sequence {
    /// The bits at `first`, `first + 1` and so on: what the index is multiplied by is added instead, which vectors do faster.
    #[inline(always)]
    fn from(self, first: u64) -> impl FnMut() -> u64 {
        let mut z = self.start.wrapping_add(first.wrapping_mul(self.step));
        move || {
            let bits = mix(z);
            z = z.wrapping_add(self.step);
            bits
        }
    }

    #[inline(always)]
    const fn at(self, index: u64) -> u64 {
        mix(self.start.wrapping_add(index.wrapping_mul(self.step)))
    }

    /// The top 24 bits at `index`, as many as an `f32` between 0 and 1 has.
    #[inline(always)]
    const fn high(self, index: u64) -> i32 {
        (self.at(index) >> 40) as i32
    }
}

/// `out[i]` is uniform in `[0, 1)`, a multiple of 2^-24: the number of `key` at index
/// `first_index + i`.
pub fn uniform_fill(key: Key, first_index: u64, out: &mut [f32]) {
    struct Fill<'a>(Sequence, u64, &'a mut [f32]);
    impl WithSimd for Fill<'_> {
        type Output = ();

        // Integer arithmetic and exact conversions: the compiler vectorises the loop for the
        // level, and no level can differ from another.
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            let Fill(sequence, first, out) = self;
            let mut bits = sequence.from(first);
            for x in out {
                *x = (bits() >> 40) as i32 as f32 * (1.0 / 16_777_216.0);
            }
        }
    }
    dispatch(Fill(key.sequence(), first_index, out));
}

/// Numbers that [`dropout`] draws before it uses them: a kilobyte.
const AT_ONCE: usize = 128;

/// Dropout: `out[i]` is `x[i] / (1 - rate)`, or 0 with probability `rate`.
///
/// Which elements are dropped depends on `key` and the index `first_index + i` only, so the
/// gradient passes through the same call with the same key and index. A rate of 0 copies, a rate
/// of 1 drops everything. A dropped element is 0 even if it was NaN.
///
/// The low half of the key's bits at `j` decides on the element at index `2 j`, the high half on that at `2 j + 1`.
///
/// # Panics
/// If the slices differ in length, or if `rate` is not between 0 and 1.
#[track_caller]
pub fn dropout(key: Key, first_index: u64, rate: f32, x: &[f32], out: &mut [f32]) {
    same_len(x.len(), out.len());
    assert!((0.0..=1.0).contains(&rate), "dropout rate {rate} is not between 0 and 1");
    struct Apply<'a> {
        sequence: Sequence,
        first: u64,
        /// Elements of whose 32 random bits the top 24 are below this are dropped.
        below: u32,
        scale: f32,
        x: &'a [f32],
        out: &'a mut [f32],
    }
    impl WithSimd for Apply<'_> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            let Self { sequence, first, below, scale, x, out } = self;
            let one = |random: u32, x: f32| if random >> 8 >= below { x * scale } else { 0.0 };
            let odd = x.len().min((first % 2) as usize);
            let ((x_odd, x), (out_odd, out)) = (x.split_at(odd), out.split_at_mut(odd));
            if let ([x], [out]) = (x_odd, out_odd) {
                *out = one((sequence.at(first / 2) >> 32) as u32, *x);
            }
            let mut bits = sequence.from(first.div_ceil(2));
            // In two loops, which a compiler makes of vectors: of 64 bits, and of 32.
            let mut drawn = [0; AT_ONCE];
            for (x, out) in x.chunks(2 * AT_ONCE).zip(out.chunks_mut(2 * AT_ONCE)) {
                for drawn in &mut drawn[..x.len().div_ceil(2)] {
                    *drawn = bits();
                }
                let halves: &[u32] = bytemuck::cast_slice(&drawn);
                for ((x, out), random) in x.iter().zip(out).zip(halves) {
                    *out = one(*random, *x);
                }
            }
        }
    }
    let below = (f64::from(rate) * 16_777_216.0).ceil() as u32;
    let (sequence, scale) = (key.sequence(), 1.0 / (1.0 - rate));
    dispatch(Apply { sequence, first: first_index, below, scale, x, out });
}

/// Random numbers one after the other: the numbers of a key at 0, 1, 2...
#[derive(Clone, Debug)]
pub struct Stream {
    key: Key,
    next: u64,
}

impl Stream {
    /// Starts at index 0 of `key`.
    pub const fn new(key: Key) -> Self {
        Self { key, next: 0 }
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        let bits = self.key.bits(self.next);
        self.next = self.next.wrapping_add(1);
        bits
    }

    /// Uniform in `[0, 1)`, a multiple of 2^-53.
    pub fn uniform_f64(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A whole number below `n`, each with the same probability (Lemire, 2019).
    ///
    /// # Panics
    /// If `n` is 0.
    #[track_caller]
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "there is no number below 0");
        let mut product = u128::from(self.next_u64()) * u128::from(n);
        if (product as u64) < n {
            let excess = n.wrapping_neg() % n;
            while (product as u64) < excess {
                product = u128::from(self.next_u64()) * u128::from(n);
            }
        }
        (product >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at_every_level, for_every_length};

    #[test]
    fn the_numbers_never_change() {
        let key = Key::new(42);
        assert_eq!(key.bits(0), 0xb29e_d950_786f_5ae3);
        assert_eq!(key.bits(1), 0x0e49_b5cf_8530_e4a6);
        assert_eq!(key.bits(1 << 40), 0x3b31_2f7e_fb03_aa56);
        assert_eq!(key.fold(7).bits(0), 0x80f5_56b3_dc53_8aa2);
        assert_eq!(key.fold(1).fold(2).bits(5), 0x9569_8c2b_ab15_f639);
    }

    #[test]
    fn every_level_draws_the_same() {
        for_every_length(|case| {
            let (key, first) = (Key::new(3).fold(9), u64::MAX - 20);
            let mut u = case.numbers::<f32>();
            uniform_fill(key, first, &mut u);
            for (i, &u) in u.iter().enumerate() {
                let bits = key.bits(first.wrapping_add(i as u64));
                assert_eq!(u, (bits >> 40) as f32 / 16_777_216.0, "{}", case.name);
            }
        });
    }

    #[test]
    fn numbers_are_uniform_and_independent() {
        // 2^20 numbers of two sequences: 256 bins of either, 16 x 16 bins of the pair and of
        // neighbours. Chi-squared with 255 degrees of freedom: mean 255, deviation 22.6.
        let n = 1 << 20;
        let draw = |key: Key| {
            let mut u = vec![0.0; n];
            uniform_fill(key, 0, &mut u);
            u
        };
        let (a, b) = (draw(Key::new(1)), draw(Key::new(1).fold(1)));
        let chi = |bin: &dyn Fn(usize) -> usize| {
            let mut bins = [0.0; 256];
            (0..n - 1).for_each(|i| bins[bin(i)] += 1.0);
            let mean = (n - 1) as f64 / 256.0;
            bins.iter().map(|c: &f64| (c - mean).powi(2) / mean).sum::<f64>()
        };
        let cell = |x: f32| (x * 16.0) as usize;
        for (name, chi) in [
            ("first", chi(&|i| (a[i] * 256.0) as usize)),
            ("second", chi(&|i| (b[i] * 256.0) as usize)),
            ("pair", chi(&|i| cell(a[i]) * 16 + cell(b[i]))),
            ("neighbours", chi(&|i| cell(a[i]) * 16 + cell(a[i + 1]))),
            ("low bits", chi(&|i| (Key::new(1).bits(i as u64) & 255) as usize)),
        ] {
            assert!((150.0..370.0).contains(&chi), "{name}: {chi}");
        }
        let mean = a.iter().map(|&u| f64::from(u)).sum::<f64>() / n as f64;
        assert!((mean - 0.5).abs() < 5.0 * (1.0 / 12.0 / n as f64).sqrt(), "{mean}");
    }

    #[test]
    fn each_bit_of_seed_fold_and_index_matters() {
        let base = Key::new(7);
        for bit in 0..64 {
            let flips = [
                Key::new(7 ^ 1 << bit).bits(3) ^ base.bits(3),
                base.fold(1 << bit).bits(3) ^ base.fold(0).bits(3),
                base.bits(3 ^ 1 << bit) ^ base.bits(3),
            ];
            for flipped in flips {
                assert!((12..=52).contains(&flipped.count_ones()), "bit {bit}: {flipped:x}");
            }
        }
        assert_ne!(base.fold(1).fold(2), base.fold(2).fold(1));
    }

    #[test]
    fn dropout_keeps_its_share_and_its_mask() {
        at_every_level(|level| {
            let n = 100_003;
            let x = vec![2.0; n];
            for rate in [0.0, 0.1, 0.5, 0.9, 1.0] {
                let mut y = vec![7.0; n];
                dropout(Key::new(1), 5, rate, &x, &mut y);
                let kept = y.iter().filter(|&&y| y != 0.0).count() as f64 / n as f64;
                let spread = f64::from(rate * (1.0 - rate) / n as f32).sqrt();
                assert!((kept - f64::from(1.0 - rate)).abs() <= 5.0 * spread + 1e-9, "{level} {rate}");
                assert!(y.iter().all(|&y| y == 0.0 || y == 2.0 / (1.0 - rate)), "{level} {rate}");
                let below = f64::from(rate) * 16_777_216.0;
                for (i, &y) in (5..).zip(&y[..1000]) {
                    let half = (Key::new(1).bits(i / 2) >> (32 * (i % 2))) as u32;
                    assert_eq!(y != 0.0, f64::from(half >> 8) >= below, "{level} {rate} {i}");
                }
                // In pieces: the same mask.
                let mut pieces = vec![7.0; n];
                for (i, (x, y)) in x.chunks(997).zip(pieces.chunks_mut(997)).enumerate() {
                    dropout(Key::new(1), 5 + 997 * i as u64, rate, x, y);
                }
                assert_eq!(y, pieces, "{level} {rate}");
            }
        });
    }

    #[test]
    fn dropped_elements_are_zero_even_if_they_were_nan() {
        let x = [f32::NAN; 64];
        let mut y = [1.0; 64];
        dropout(Key::new(1), 0, 0.5, &x, &mut y);
        assert!(y.contains(&0.0) && y.iter().any(|y| y.is_nan()));
    }

    #[test]
    #[should_panic(expected = "dropout rate 1.5 is not between 0 and 1")]
    fn a_rate_above_one_is_refused() {
        dropout(Key::new(1), 0, 1.5, &[], &mut []);
    }

    #[test]
    fn streams_draw_the_numbers_of_their_key() {
        let mut stream = Stream::new(Key::new(2));
        for i in 0..10 {
            assert_eq!(stream.next_u64(), Key::new(2).bits(i));
        }
        for _ in 0..1000 {
            assert!((0.0..1.0).contains(&stream.uniform_f64()));
        }
    }

    #[test]
    fn whole_numbers_below_a_bound_are_uniform() {
        let mut stream = Stream::new(Key::new(8));
        assert_eq!(stream.below(1), 0);
        let mut counts = [0.0f64; 7];
        for _ in 0..70_000 {
            counts[stream.below(7) as usize] += 1.0;
        }
        let chi: f64 = counts.iter().map(|c| (c - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(chi < 25.0, "{counts:?}");
        // Two thirds of all 64-bit numbers are rejected or not at this bound: none is favoured.
        let bound = u64::MAX / 3 * 2;
        let low = (0..3000).filter(|_| stream.below(bound) < bound / 2).count();
        assert!((1350..1650).contains(&low), "{low}");
    }
}
