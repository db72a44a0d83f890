//! The figures that simd, pool and gemm are held to, as a table in Markdown.
//!
//! `cargo bench -p foretell-benches --bench targets [-- FILTER]`. Contenders take turns in one
//! process; figures are medians, and so is each ratio. Arguments that begin with a dash are cargo's.
//!
//! With the argument `serve` it answers each line of its input with the nanoseconds of a product of
//! one row, 1x512x512, on one thread: `benches/torch_row.py` lets it take turns with PyTorch.

use std::hint::black_box;
use std::time::Duration;

use foretell_benches::{bare_faer, gelu_by_std, standardise, turns, wave, wide};
use foretell_gemm::{Bias, MatMut, MatRef, Options, WeightFormat, WeightMatrix, matmul};
use foretell_pool::Buffer;
use foretell_simd::*;
use foretell_threads::share;

/// `x[m, k] * w[n, k]^T`.
const SHAPES: [(usize, usize, usize); 9] = [
    (1, 512, 512),
    (32, 64, 64),
    (32, 128, 128),
    (32, 512, 512),
    (256, 96, 512),
    (1024, 128, 128),
    (1024, 512, 512),
    (4096, 64, 256),
    (2048, 2048, 2048),
];

/// `[m, k]` by `[k, n]`, up to 64^3.
const SMALL_SHAPES: [(usize, usize, usize); 14] = [
    (3, 3, 3),
    (2, 8, 8),
    (2, 16, 16),
    (4, 8, 4),
    (4, 16, 16),
    (7, 13, 9),
    (8, 4, 8),
    (8, 16, 16),
    (16, 8, 16),
    (16, 16, 16),
    (4, 64, 64),
    (20, 20, 20),
    (32, 32, 32),
    (64, 64, 64),
];

const ROUNDS: usize = 41;
const LEAST: Duration = Duration::from_micros(500);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    if arguments.iter().any(|a| a == "serve") {
        return serve();
    }
    let wanted = arguments.into_iter().next().unwrap_or_default();
    println!("| figure | measured | target | met |\n|---|---|---|---|");
    let table = Table { wanted: &wanted };
    for section in [levels, functions, absolute, streams, pool, products, small_products] {
        section(&table);
    }
}

/// Measures and prints what the filter wants.
struct Table<'a> {
    wanted: &'a str,
}

impl Table<'_> {
    fn wants(&self, name: &str) -> bool {
        name.contains(self.wanted)
    }

    fn row(&self, name: &str, measured: &str, target: &str, met: bool) {
        println!("| {name} | {measured} | {target} | {} |", if met { "yes" } else { "**no**" });
    }

    /// How many times the second contender is faster than the first.
    fn faster(&self, name: &str, least: f64, slow: &mut dyn FnMut(), fast: &mut dyn FnMut()) {
        if self.wants(name) {
            let ratio = turns(ROUNDS, LEAST, &mut [slow, fast]).ratio(0, 1);
            self.row(name, &format!("{ratio:.2}x"), &format!(">= {least}x"), ratio >= least);
        }
    }

    /// The time of the second contender as a multiple of the first one's.
    fn beside(&self, name: &str, most: f64, first: &mut dyn FnMut(), second: &mut dyn FnMut()) {
        if self.wants(name) {
            let rounds = turns(ROUNDS, LEAST, &mut [first, second]);
            let ratio = rounds.ratio(1, 0);
            let [of_second, of_first] = [1, 0].map(|contender| rounds.seconds(contender) * 1e9);
            let measured = format!("{ratio:.2}x ({of_second:.0}, {of_first:.0} ns)");
            self.row(name, &measured, &format!("<= {most}x"), ratio <= most);
        }
    }

    /// The best level of the machine beside the scalar one, and the bytes per second of both beside
    /// those of a copy: what the cache allows.
    fn level(&self, name: &str, bytes: usize, run: &dyn Fn(&mut Arrays)) {
        let name = format!("{name}: best level beside scalar");
        if !self.wants(&name) {
            return;
        }
        let [mut a, mut b, mut c] = [(); 3].map(|()| Arrays::new());
        let mut scalar = || with_level(Level::Scalar, || run(&mut a));
        let mut copy = || c.out64.copy_from_slice(black_box(&c.a64));
        let rounds = turns(ROUNDS, LEAST, &mut [&mut scalar, &mut || run(&mut b), &mut copy]);
        let ratio = rounds.ratio(0, 1);
        let rate = |bytes: usize, contender| (bytes * N) as f64 / rounds.seconds(contender) / 1e9;
        let rates = [rate(bytes, 1), rate(bytes, 0), rate(16, 2)];
        let measured =
            format!("{ratio:.2}x ({:.0} and {:.0} GB/s; a copy {:.0})", rates[0], rates[1], rates[2]);
        self.row(&name, &measured, ">= 3x", ratio >= 3.0);
    }

    /// Bytes per second as a share of a copy's.
    fn stream(&self, name: &str, bytes: f64, copied: f64, copy: &mut dyn FnMut(), run: &mut dyn FnMut()) {
        if self.wants(name) {
            let rounds = turns(15, Duration::ZERO, &mut [copy, run]);
            let share = rounds.ratio(0, 1) * bytes / copied;
            let rate = |bytes: f64, contender| bytes / rounds.seconds(contender) / 1e9;
            let measured =
                format!("{:.0} % ({:.1} of {:.1} GB/s)", share * 100.0, rate(bytes, 1), rate(copied, 0));
            self.row(name, &measured, ">= 85 %", share >= 0.85);
        }
    }

    fn below(&self, name: &str, most: f64, unit: (&str, f64), run: &mut dyn FnMut()) {
        if self.wants(name) {
            let time = turns(ROUNDS, LEAST, &mut [run]).seconds(0) * unit.1;
            self.row(name, &format!("{time:.1} {}", unit.0), &format!("<= {most} {}", unit.0), time <= most);
        }
    }
}

/// Elements in the second-level cache.
const N: usize = 10_000;

struct Arrays {
    a: Buffer<f32>,
    b: Buffer<f32>,
    out: Buffer<f32>,
    a64: Buffer<f64>,
    b64: Buffer<f64>,
    out64: Buffer<f64>,
}

impl Arrays {
    fn new() -> Self {
        let (a, b) = (wave(N, 0.37), wave(N, 0.21));
        let (a64, b64) = (Buffer::copied(&wide(&a)), Buffer::copied(&wide(&b)));
        let (a, b, out) = (Buffer::copied(&a), Buffer::copied(&b), Buffer::zeroed(N));
        Self { a, b, out, a64, b64, out64: Buffer::zeroed(N) }
    }
}

fn levels(table: &Table<'_>) {
    table.level("add f32", 12, &|x| add(&x.a, &x.b, &mut x.out));
    table.level("add f64", 24, &|x| add(&x.a64, &x.b64, &mut x.out64));
    table.level("mul f32", 12, &|x| mul(&x.a, &x.b, &mut x.out));
    table.level("mul f64", 24, &|x| mul(&x.a64, &x.b64, &mut x.out64));
    table.level("normalise f32", 8, &|x| normalise(&x.a, 0.1, 2.0, &mut x.out));
    table.level("normalise f64", 16, &|x| normalise(&x.a64, 0.1, 2.0, &mut x.out64));
    table.level("z-score f64", 24, &|x| standardise(&x.a64, &mut x.out64));
    table.level("min-max f32", 8, &|x| min_max_normalise(&x.a, -3.0, 3.0, &mut x.out));
    table.level("min-max f64", 16, &|x| min_max_normalise(&x.a64, -3.0, 3.0, &mut x.out64));
    table.level("rolling mean 10 f32", 8, &|x| rolling_mean(&x.a, 10, &mut x.out));
    table.level("rolling mean 10 f64", 16, &|x| rolling_mean(&x.a64, 10, &mut x.out64));
    table.level("rolling std 20 f32", 8, &|x| rolling_std(&x.a, 20, 1, &mut x.out));
    table.level("rolling std 20 f64", 16, &|x| rolling_std(&x.a64, 20, 1, &mut x.out64));
    table.level("EMA f32", 8, &|x| ema(&x.a, 0.1, &mut x.out));
    table.level("EMA f64", 16, &|x| ema(&x.a64, 0.1, &mut x.out64));
    for (name, loss) in [
        ("MAE", PointLoss::Mae),
        ("MSE", PointLoss::Mse),
        ("Huber", PointLoss::Huber { delta: 1.0 }),
        ("pinball", PointLoss::Pinball { q: 0.9 }),
    ] {
        table.level(&format!("{name} and gradient f32"), 12, &|x| {
            black_box(loss.value_and_grad(&x.a, &x.b, None, 0.1, &mut x.out));
        });
    }
}

/// The elementary functions beside loops over the standard library's.
fn functions(table: &Table<'_>) {
    let x = wave(10_000, 0.37);
    let (mut a, mut b) = (vec![0.0; x.len()], vec![0.0; x.len()]);
    type Function = (&'static str, fn(&[f32], &mut [f32]), fn(f32) -> f32);
    let functions: [Function; 6] = [
        ("exp", exp, f32::exp),
        ("ln", ln, f32::ln),
        ("tanh", tanh, f32::tanh),
        ("sigmoid", sigmoid, |x| 1.0 / (1.0 + (-x).exp())),
        // The standard library has no error function: its tanh stands for both forms of GELU.
        ("GELU", |x, y| Activation::Gelu.forward(x, y), gelu_by_std),
        ("GELU, tanh form", |x, y| Activation::GeluTanh.forward(x, y), gelu_by_std),
    ];
    for (name, kernel, std) in functions {
        let name = format!("{name} f32: beside std");
        let mut slow = || a.iter_mut().zip(black_box(&*x)).for_each(|(y, &x)| *y = std(x));
        table.faster(&name, 8.0, &mut slow, &mut || kernel(black_box(&x), &mut b));
    }
}

fn absolute(table: &Table<'_>) {
    let micros = ("us", 1e6);
    let (x, mut y) = (wide(&wave(100_000, 0.37)), vec![0.0; 100_000]);
    table.below("z-score of 100,000 f64", 80.0, micros, &mut || standardise(black_box(&x), &mut y));
    table.below("EMA of 100,000 f64", 120.0, micros, &mut || ema(black_box(&x), 0.1, &mut y));
    let (x, y) = (&x[..10_000], &mut y[..10_000]);
    table.below("rolling mean (10) of 10,000 f64", 20.0, micros, &mut || rolling_mean(black_box(x), 10, y));
    table.below("rolling std (20) of 10,000 f64", 40.0, micros, &mut || rolling_std(black_box(x), 20, 1, y));
}

/// Arrays that no cache holds, beside the copy of one.
fn streams(table: &Table<'_>) {
    const SHARE: &str = "share of a copy's bandwidth";
    // The arrays take a while to fill.
    if !("stream".starts_with(table.wanted) || table.wanted.starts_with("stream")) {
        return;
    }
    let n = 32 << 20;
    let (a, b) = (wave(n, 0.37), wave(n, 0.21));
    let [mut copied, mut out] = [(); 2].map(|()| vec![0.0; n]);
    let mut copy = || copied.copy_from_slice(black_box(&a));
    let mut stream = |name: &str, arrays: usize, run: &mut dyn FnMut()| {
        let name = format!("stream: {name}, {SHARE}");
        table.stream(&name, (4 * arrays * n) as f64, (8 * n) as f64, &mut copy, run);
    };
    stream("add", 3, &mut || add(black_box(&a), &b, &mut out));
    stream("mul", 3, &mut || mul(black_box(&a), &b, &mut out));
    stream("axpy", 3, &mut || axpy(black_box(1e-6), &a, &mut out));
    stream("scale", 2, &mut || scale(&mut out, black_box(1.0)));
    stream("normalise", 2, &mut || normalise(black_box(&a), 0.1, 2.0, &mut out));
    stream("sum", 1, &mut || _ = black_box(sum(black_box(&a))));
    stream("dot", 2, &mut || _ = black_box(dot(black_box(&a), &b)));
    stream("MSE and gradient", 3, &mut || {
        black_box(PointLoss::Mse.value_and_grad(black_box(&a), &b, None, 0.1, &mut out));
    });
    stream("exp", 2, &mut || exp(black_box(&a), &mut out));

    // Adam writes what it has read, so the bandwidth to hold it against is that of scaling in place.
    let n = 10_000_000;
    let [mut p, mut m, mut scaled] = [(); 3].map(|()| wave(n, 0.1));
    let mut v = vec![1.0; n];
    let at = AdamStep { lr: 1e-9, beta1: 0.9, beta2: 0.999, eps: 1e-8, weight_decay: 0.0, step: 10 };
    let mut run = || adam(&mut p, black_box(&a[..n]), &mut m, &mut v, &at);
    let name = "stream: Adam, 10,000,000 f32, share of a copy's bandwidth";
    table.stream(name, 28e7, (8 * a.len()) as f64, &mut copy, &mut run);
    let mut scaling = || scale(&mut scaled, black_box(1.0));
    let name = "stream: Adam, 10,000,000 f32, share of scaling's in place";
    table.stream(name, 28e7, 8e7, &mut scaling, &mut run);
}

fn pool(table: &Table<'_>) {
    let mut one = || _ = black_box(Buffer::<f32>::zeroed(16));
    table.below("pool: 64 B acquired and released", 40.0, ("ns", 1e9), &mut one);
    let len = (1 << 20) / size_of::<f32>();
    // As they live in a training step: several together. One alone, freed and asked for again, is not
    // fresh: the system's allocator keeps it as well.
    let mut fresh = || _ = black_box([(); 8].map(|()| vec![1.0f32; len]));
    let mut pooled = || _ = black_box([(); 8].map(|()| Buffer::filled(len, 1.0f32)));
    table.faster("pool: 1 MiB written, 8 together, beside Vec", 5.0, &mut fresh, &mut pooled);
}

fn products(table: &Table<'_>) {
    rayon::ThreadPoolBuilder::new().num_threads(2).build_global().expect("the first thread pool");
    for (m, k, n) in SHAPES {
        let name = format!("gemm {m}x{k}x{n}");
        if !table.wants(&name) {
            continue;
        }
        let (x, w) = (wave(m * k, 0.37), wave(n * k, 0.21));
        let [mut bare, mut one, mut two] = [(); 3].map(|()| vec![0.0; m * n]);
        let mut faer = || bare_faer(&x, &w, &mut bare, (m, k, n));
        let mut one = || layer(&x, &w, &mut one, (m, k, n), 1);
        let mut two = || layer(&x, &w, &mut two, (m, k, n), 2);
        let rounds = if m * k * n > 1 << 30 { 7 } else { 101 };
        let times = turns(rounds, LEAST, &mut [&mut faer, &mut one, &mut two]);
        let rate = |contender| (2 * m * k * n) as f64 / times.seconds(contender) / 1e9;
        let row = |what: &str, contender, beside: (&str, usize), least: f64| {
            let ratio = times.ratio(beside.1, contender);
            let measured = format!("{ratio:.3}x ({:.1}, {:.1} GFLOP/s)", rate(contender), rate(beside.1));
            let name = format!("{name}: {what} beside {}", beside.0);
            table.row(&name, &measured, &format!(">= {least}x"), ratio >= least);
        };
        row("one thread", 1, ("bare faer", 0), 0.97);
        if m * k * n >= 256 * 96 * 512 {
            row("two threads", 2, ("bare faer", 0), 1.8);
        } else {
            // The same code: what differs is noise.
            row("two threads", 2, ("one", 1), 0.98);
        }
    }
}

/// Products that take less than some ten microseconds, where what surrounds the multiplications counts.
fn small_products(table: &Table<'_>) {
    for (m, k, n) in SMALL_SHAPES {
        let name = format!("small {m}x{k}x{n}");
        let (x, w, bias) = (wave(m * k, 0.37), wave(n * k, 0.21), wave(n, 0.5));
        let lhs = MatRef::row_major(&x, m, k);
        let (row_major, column_major) = (MatRef::row_major(&w, k, n), MatRef::row_major(&w, n, k).t());
        let plain = |y: &mut [f32], rhs| matmul(MatMut::row_major(y, m, n), lhs, rhs, Options::default());
        let [mut a, mut b, mut c] = [(); 3].map(|()| vec![0.0; m * n]);
        for (layout, rhs) in [("x w", row_major), ("x w^T", column_major)] {
            let bias = &bias[..];
            let mut apart = || {
                plain(&mut a, black_box(rhs));
                for row in a.chunks_exact_mut(n) {
                    row.iter_mut().zip(bias).for_each(|(y, b)| *y = (*y + b).max(0.0));
                }
            };
            let mut fused = || {
                let (bias, activation) = (Some(Bias::PerColumn(bias)), Activation::Relu);
                let options = Options::default().bias(bias).activation(activation);
                matmul(MatMut::row_major(&mut b, m, n), lhs, black_box(rhs), options);
            };
            let what = "bias and ReLU in the product, time beside a loop's";
            table.beside(&format!("{name}: {layout}, {what}"), 1.0, &mut apart, &mut fused);
        }
        if m.max(k).max(n) > 16 {
            continue;
        }
        let weights = WeightMatrix::new(row_major, WeightFormat::F32);
        let mut by_columns = || plain(&mut b, black_box(column_major));
        let mut by_rows = || plain(&mut a, black_box(row_major));
        table.beside(&format!("{name}: x w^T, time beside x w"), 1.1, &mut by_rows, &mut by_columns);
        let mut packed = || {
            matmul(MatMut::row_major(&mut c, m, n), lhs, black_box(&weights), Options::default());
        };
        table.beside(&format!("{name}: packed once, time beside x w"), 1.05, &mut by_rows, &mut packed);
    }
}

/// A dense layer without bias, `x[m, k] * w[n, k]^T`.
fn layer(x: &[f32], w: &[f32], y: &mut [f32], (m, k, n): (usize, usize, usize), threads: usize) {
    let (x, w) = (MatRef::row_major(x, m, k), MatRef::row_major(w, n, k).t());
    share(threads, || matmul(MatMut::row_major(y, m, n), x, w, Options::default()));
}

fn serve() {
    let (x, w, mut y) = (wave(512, 0.37), wave(512 * 512, 0.21), vec![0.0; 512]);
    for _ in std::io::stdin().lines() {
        let rounds = turns(20, LEAST, &mut [&mut || layer(&x, &w, &mut y, (1, 512, 512), 1)]);
        println!("{}", rounds.seconds(0) * 1e9);
    }
}
