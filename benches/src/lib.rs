//! Criterion suites over the public API of the crates, and a table of the figures they are held to.
//!
//! ```sh
//! cargo bench -p foretell-benches --bench simd                # kernels, each level beside the scalar one
//! cargo bench -p foretell-benches --bench simd -- 'l2/exp'    # those whose name matches
//! cargo bench -p foretell-benches --bench pool                # buffers beside the system allocator's
//! cargo bench -p foretell-benches --bench gemm                # products beside bare faer
//! cargo bench -p foretell-benches --bench bf16                # products in bfloat16 beside those in f32
//! cargo bench -p foretell-benches --bench flash               # attention, in tiles beside the whole matrix of scores
//! cargo bench -p foretell-benches --bench latency             # the forecast of one series, as a service makes it
//! cargo bench -p foretell-benches --bench recurrent_step      # one step of a recurrent network that keeps its state
//! cargo bench -p foretell-benches --bench layers              # recurrent layers alone, and sums; beside PyTorch: torch_layers.py
//! cargo bench -p foretell-benches --bench zoo                 # models: trainings and forecasts
//! cargo bench -p foretell-benches --bench panels              # panels read, built, grown, forecasts written
//! cargo bench -p foretell-benches --bench features            # columns computed from a panel: lags, windows, calendars
//! cargo bench -p foretell-benches --bench directories         # trained models saved and loaded
//! cargo bench -p foretell-benches --bench parallel            # work handed to threads, beside rayon
//! cargo bench -p foretell-benches --bench mixed_precision     # master weights and gradients in 16 bits
//! cargo bench -p foretell-benches --bench targets             # the table; takes a filter, too
//! ```
//!
//! Criterion measures one function after the other: good for a kernel's own history, on a machine of
//! one's own. A shared machine changes its speed while a suite runs, so the table's ratios come from
//! [`turns`]: all contenders in every round, the median over the rounds.
#![forbid(unsafe_code)]

use std::time::{Duration, Instant};

use criterion::Criterion;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use foretell_pool::Buffer;
use foretell_simd::{mean_variance, normalise};

/// The settings that all suites share: a hundred functions within minutes, no plots.
pub fn criterion() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(50))
        .measurement_time(Duration::from_millis(250))
        .sample_size(20)
        .nresamples(2000)
        .without_plots()
}

/// Numbers between -3 and 3 that no compiler foresees, from a line of the cache on, as those of tensors are.
pub fn wave(n: usize, step: f64) -> Buffer<f32> {
    let mut numbers = zeros(n);
    for (i, x) in numbers.iter_mut().enumerate() {
        *x = (i as f64 * step).sin() as f32 * 3.0;
    }
    numbers
}

/// A place for results, from a line of the cache on too.
pub fn zeros(n: usize) -> Buffer<f32> {
    Buffer::zeroed(n)
}

/// The same numbers as `f64`.
pub fn wide(x: &[f32]) -> Vec<f64> {
    x.iter().map(|&x| x.into()).collect()
}

/// Mean, deviation and normalisation: the steps that standardise a series.
pub fn standardise(x: &[f64], out: &mut [f64]) {
    let (mean, variance) = mean_variance(x);
    normalise(x, mean, variance.sqrt(), out);
}

/// The GELU of Hendrycks and Gimpel by the standard library's `tanh`.
pub fn gelu_by_std(x: f32) -> f32 {
    0.5 * x * (1.0 + (0.797_884_6 * (x + 0.044_715 * x * x * x)).tanh())
}

/// `y[m, n] = x[m, k] * w[n, k]^T` by faer alone, on one thread.
pub fn bare_faer(x: &[f32], w: &[f32], y: &mut [f32], (m, k, n): (usize, usize, usize)) {
    let (x, w) = (MatRef::from_row_major_slice(x, m, k), MatRef::from_row_major_slice(w, n, k).transpose());
    matmul(MatMut::from_row_major_slice_mut(y, m, n), Accum::Replace, x, w, 1.0, Par::Seq);
}

/// The seconds that each contender took in each round.
pub struct Rounds(Vec<Vec<f64>>);

/// Runs all contenders in every round, each as often as `least` lasts, for as many rounds.
pub fn turns(rounds: usize, least: Duration, contenders: &mut [&mut dyn FnMut()]) -> Rounds {
    let time = |run: &mut dyn FnMut(), repeats: u32| {
        let start = Instant::now();
        (0..repeats).for_each(|_| run());
        start.elapsed().as_secs_f64() / f64::from(repeats)
    };
    let repeats: Vec<u32> = contenders
        .iter_mut()
        .map(|run| {
            let once = (0..3).map(|_| time(run, 1)).fold(f64::MAX, f64::min);
            (least.as_secs_f64() / once.max(1e-9)).ceil().max(1.0) as u32
        })
        .collect();
    let round = |_| contenders.iter_mut().zip(&repeats).map(|(run, &repeats)| time(run, repeats)).collect();
    Rounds((0..rounds).map(round).collect())
}

impl Rounds {
    /// The median time of a contender, in seconds.
    pub fn seconds(&self, contender: usize) -> f64 {
        median(self.0.iter().map(|round| round[contender]))
    }

    /// How many times faster than `slow` the contender `fast` is: the median over the rounds.
    pub fn ratio(&self, slow: usize, fast: usize) -> f64 {
        median(self.0.iter().map(|round| round[slow] / round[fast]))
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
