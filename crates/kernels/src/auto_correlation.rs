//! Auto-correlation (Wu, Xu, Wang, Long 2021, "Autoformer", arXiv 2106.13008, section 3.2): the correlation of two
//! sequences of vectors at each delay, and weighted sums of a sequence at some delays.
//!
//! Sequences `[batch, rows, width]` are circular with `steps` steps: a shorter one is padded with zeros, of a longer
//! one only the first `steps` rows count.
//!
//! ```text
//! correlation[τ] = 1/width Σ_t q[t + τ] · k[t]          sum[t] = Σ_i w[i] x[t + τ[i]]          (indices modulo steps)
//! ```
//!
//! The paper takes the Fourier transform of each of the `width` numbers. `correlation` is the sum of the wrapped
//! diagonals of the matrix of all products `k qᵀ`, so one product of matrices makes it: `2 steps² width` operations at
//! the rate of a product of matrices. For 96 steps of 128 numbers that is 2.4 million, where 256 transforms, which read
//! every 128th number, are 0.4 million at a tenth of the rate; and nothing is transposed.
//!
//! A row later is `width` numbers further on, so a sum at some delays is a few stretches of the result, each a sum of
//! weighted stretches of the sequence; a vector of the result stays in a register for all delays.

use std::ops::Range;

use foretell_gemm::{MatMut, MatRef, Options, matmul};
use foretell_pool::Buffer;
use foretell_simd as simd;
use foretell_threads as threads;

/// A batch of circular sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CircularBatch {
    /// The number of sequences.
    pub batch: usize,
    /// Steps of a circle.
    pub steps: usize,
    /// Width of a step's vector.
    pub width: usize,
}

/// Which way a delay points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the step that is `τ` later.
    Ahead,
    /// To the step that is `τ` earlier.
    Behind,
}

/// Delays for each sequence of a batch, and a weight for each, `[batch, n]` both.
#[derive(Clone, Copy, Debug)]
pub struct Delays<'a> {
    /// Steps, fewer than the circle has.
    pub delays: &'a [u32],
    /// The weight of each.
    pub weights: &'a [f32],
}

/// Rows of a product of all pairs that are summed along their diagonals while they are in the cache.
const PRODUCT_ROWS: usize = 64;

impl CircularBatch {
    /// For a batch of `len` values: the rows of each sequence that count, and the values of a sequence.
    #[track_caller]
    fn rows(&self, what: &str, len: usize) -> (usize, usize) {
        let Self { batch, steps, width } = *self;
        let whole = batch > 0 && width > 0 && len.is_multiple_of(batch * width);
        assert!(whole, "{what} of {len} values on {self:?}");
        let rows = len / (batch * width);
        (rows.min(steps), rows * width)
    }

    /// The correlation of `q` and `k` at each delay: `[batch, steps]`.
    ///
    /// # Panics
    /// If a length does not fit, or there are no sequences.
    #[track_caller]
    pub fn correlation(&self, q: &[f32], k: &[f32], correlation: &mut [f32]) {
        let Self { batch, steps, width } = *self;
        let ((q_rows, q_len), (k_rows, k_len)) = (self.rows("queries", q.len()), self.rows("keys", k.len()));
        assert_eq!(
            (q_rows, correlation.len()),
            (steps, batch * steps),
            "queries and correlations of {self:?}"
        );
        threads::rows(batch, steps * width, [correlation], |range, [correlation]| {
            let height = PRODUCT_ROWS.min(k_rows);
            let mut products = Buffer::<f32>::zeroed(height * steps);
            for (b, correlation) in range.zip(correlation.chunks_exact_mut(steps)) {
                let q = MatRef::row_major(&q[b * q_len..][..steps * width], steps, width);
                let k = &k[b * k_len..][..k_rows * width];
                correlation.fill(0.0);
                for (block, k) in k.chunks(height * width).enumerate() {
                    let rows = k.len() / width;
                    let products = &mut products[..rows * steps];
                    let options = Options::default().alpha(1.0 / width as f32);
                    let k = MatRef::row_major(k, rows, width);
                    matmul(MatMut::row_major(products, rows, steps), k, q.t(), options);
                    for (i, products) in products.chunks_exact(steps).enumerate() {
                        let (before, after) = products.split_at(block * height + i);
                        let (first, last) = correlation.split_at_mut(after.len());
                        simd::add_assign(first, after);
                        simd::add_assign(last, before);
                    }
                }
            }
        });
    }

    /// Adds to `sums [batch, rows, width]` those of `x [batch, rows, width]` at the delays of each sequence. Where a weight is
    /// 0, nothing is read.
    ///
    /// # Panics
    /// If a length does not fit, there are no sequences, or a delay is not below `steps`.
    #[track_caller]
    pub fn add_delayed(&self, x: &[f32], at: Delays<'_>, direction: Direction, sums: &mut [f32]) {
        let Self { batch, steps, width } = *self;
        let ((rows, len), (sum_rows, sum_len)) =
            (self.rows("a sequence", x.len()), self.rows("sums", sums.len()));
        let count = self.check(at);
        threads::rows(batch, count * steps * width / 8, [sums], |range, [sums]| {
            let (mut starts, mut at_starts) = (Buffer::<usize>::zeroed(count), Buffer::<f32>::zeroed(count));
            for (b, sums) in range.zip(sums.chunks_exact_mut(sum_len)) {
                let x = &x[b * len..][..rows * width];
                let (delays, weights) = (&at.delays[b * count..][..count], &at.weights[b * count..][..count]);
                let mut row = 0;
                while row < sum_rows {
                    // As many rows of the result as have their sources in as many rows one after another.
                    let (mut together, mut found) = (sum_rows - row, 0);
                    for (&delay, &weight) in delays.iter().zip(weights).filter(|(_, weight)| **weight != 0.0)
                    {
                        let from = (row + direction.steps(delay, steps)) % steps;
                        let end = if from < rows { rows } else { steps };
                        together = together.min(end - from);
                        if from < rows {
                            (starts[found], at_starts[found]) = (from * width, weight);
                            found += 1;
                        }
                    }
                    let sums = &mut sums[row * width..][..together * width];
                    simd::add_weighted_rows(x, &starts[..found], &at_starts[..found], sums);
                    row += together;
                }
            }
        });
    }

    /// The products of `g [batch, steps, width]` with `x [batch, rows, width]` at each delay, summed over the steps:
    /// `[batch, n]`, the gradient of the weights of [`CircularBatch::add_delayed`] ahead.
    ///
    /// # Panics
    /// If a length does not fit, there are no sequences, or a delay is not below `steps`.
    #[track_caller]
    pub fn products(&self, g: &[f32], x: &[f32], delays: &[u32], products: &mut [f32]) {
        let Self { batch, steps, width } = *self;
        let ((g_rows, g_len), (rows, len)) =
            (self.rows("gradients", g.len()), self.rows("a sequence", x.len()));
        assert_eq!(g_rows, steps, "gradients on {self:?}");
        let count = self.check(Delays { delays, weights: products });
        threads::rows(batch, count * steps * width / 4, [products], |range, [products]| {
            for (b, products) in range.zip(products.chunks_exact_mut(count.max(1))) {
                let (g, x) = (&g[b * g_len..][..g_len], &x[b * len..][..rows * width]);
                for (&delay, product) in delays[b * count..][..count].iter().zip(products) {
                    *product = 0.0;
                    for (at, from) in self.runs(0..steps, delay as usize, rows) {
                        let n = at.len() * width;
                        *product += simd::dot(&g[at.start * width..][..n], &x[from * width..][..n]);
                    }
                }
            }
        });
    }

    /// The number of delays of a sequence.
    #[track_caller]
    fn check(&self, Delays { delays, weights }: Delays<'_>) -> usize {
        let fit = delays.len() == weights.len() && delays.len().is_multiple_of(self.batch);
        assert!(fit, "{} delays and {} weights on {self:?}", delays.len(), weights.len());
        assert!(delays.iter().all(|&delay| (delay as usize) < self.steps), "a delay beyond {self:?}");
        delays.len() / self.batch
    }

    /// The runs of rows within `at` whose source, `shift` steps later on the circle, is among the first `rows`: each
    /// with the first row of its source.
    fn runs(
        &self,
        at: Range<usize>,
        shift: usize,
        rows: usize,
    ) -> impl Iterator<Item = (Range<usize>, usize)> {
        // Before the circle closes, then after.
        let turn = (self.steps - shift).clamp(at.start, at.end);
        let before = (at.start..turn, at.start + shift);
        let after = (turn..at.end, (turn + shift) % self.steps);
        [before, after].into_iter().filter_map(move |(at, from)| {
            let len = at.len().min(rows.saturating_sub(from));
            (len > 0).then_some((at.start..at.start + len, from))
        })
    }
}

impl Direction {
    /// Steps ahead on a circle.
    fn steps(self, delay: u32, steps: usize) -> usize {
        match self {
            Self::Ahead => delay as usize,
            Self::Behind => (steps - delay as usize) % steps,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at_every_level, numbers};

    /// Row `row` of sequence `b`, if it is there.
    fn row(x: &[f32], circles: CircularBatch, b: usize, row: usize) -> Vec<f64> {
        let CircularBatch { batch, width, .. } = circles;
        let len = x.len() / batch;
        let values = x[b * len..][..len].chunks_exact(width).nth(row);
        values.map_or(vec![0.0; width], |values| values.iter().map(|&x| f64::from(x)).collect())
    }

    fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    const CASES: [(CircularBatch, usize); 7] = [
        (CircularBatch { batch: 2, steps: 5, width: 3 }, 5),
        (CircularBatch { batch: 1, steps: 1, width: 4 }, 1),
        (CircularBatch { batch: 3, steps: 6, width: 7 }, 4),
        (CircularBatch { batch: 2, steps: 4, width: 2 }, 9),
        (CircularBatch { batch: 1, steps: 150, width: 17 }, 150),
        (CircularBatch { batch: 2, steps: 70, width: 130 }, 66),
        (CircularBatch { batch: 9, steps: 48, width: 64 }, 48),
    ];

    #[test]
    fn agrees_with_plain_sums() {
        at_every_level(|level| {
            for (circles, rows) in CASES {
                let CircularBatch { batch, steps, width } = circles;
                let (q, x) = (numbers(batch * steps * width, 1), numbers(batch * rows * width, 2));
                let scale = (steps * width) as f64;
                let mut correlation = vec![f32::NAN; batch * steps];
                circles.correlation(&q, &x, &mut correlation);
                let count = steps.min(4);
                let delays: Vec<u32> = (0..batch * count).map(|i| (i * 7 % steps) as u32).collect();
                let weights = numbers(batch * count, 3);
                let at = Delays { delays: &delays, weights: &weights };
                let (mut ahead, mut behind) = (vec![1.0; q.len()], vec![1.0; x.len()]);
                circles.add_delayed(&x, at, Direction::Ahead, &mut ahead);
                circles.add_delayed(&q, at, Direction::Behind, &mut behind);
                let mut products = vec![f32::NAN; batch * count];
                circles.products(&q, &x, &delays, &mut products);
                for b in 0..batch {
                    let seen = |t: usize| if t < rows { row(&x, circles, b, t) } else { vec![0.0; width] };
                    for tau in 0..steps {
                        let sum: f64 =
                            (0..steps).map(|t| dot(&row(&q, circles, b, (t + tau) % steps), &seen(t))).sum();
                        let (found, expected) = (f64::from(correlation[b * steps + tau]), sum / width as f64);
                        assert!(
                            (found - expected).abs() < 1e-6 * scale,
                            "{level} {circles:?} {found} {expected}"
                        );
                    }
                    for i in 0..count {
                        let tau = delays[b * count + i] as usize;
                        let sum: f64 =
                            (0..steps).map(|t| dot(&row(&q, circles, b, t), &seen((t + tau) % steps))).sum();
                        let found = f64::from(products[b * count + i]);
                        assert!((found - sum).abs() < 1e-5 * scale, "{level} {circles:?}: {found} {sum}");
                    }
                    for t in 0..steps {
                        let (mut one, mut other) = (vec![1.0; width], vec![1.0; width]);
                        for i in 0..count {
                            let (tau, w) =
                                (delays[b * count + i] as usize, f64::from(weights[b * count + i]));
                            let ahead = seen((t + tau) % steps);
                            let behind = row(&q, circles, b, (t + steps - tau) % steps);
                            for c in 0..width {
                                one[c] += w * ahead[c];
                                other[c] += w * behind[c];
                            }
                        }
                        let close = |found: Vec<f64>, expected: &[f64]| {
                            found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-4)
                        };
                        assert!(close(row(&ahead, circles, b, t), &one), "{level} {circles:?} step {t}");
                        let there = t < rows;
                        assert!(
                            !there || close(row(&behind, circles, b, t), &other),
                            "{level} {circles:?} {t}"
                        );
                    }
                    // Rows beyond the circle are left alone.
                    let beyond = (steps..rows).flat_map(|t| row(&behind, circles, b, t)).all(|x| x == 1.0);
                    assert!(beyond, "{level} {circles:?}");
                }
            }
        });
    }

    #[test]
    #[should_panic(expected = "a delay beyond")]
    fn delays_are_of_the_circle() {
        let circles = CircularBatch { batch: 1, steps: 3, width: 1 };
        let at = Delays { delays: &[3], weights: &[1.0] };
        circles.add_delayed(&[0.0; 3], at, Direction::Ahead, &mut [0.0; 3]);
    }
}
