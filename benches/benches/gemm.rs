//! Products beside bare faer in its sequential mode; throughput is in FLOP/s ("elements").
//!
//! `cargo bench -p foretell-benches --bench gemm [-- FILTER]`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use faer::linalg::matmul::matmul as bare;
use foretell_benches::{criterion, wave, zeros};
use foretell_gemm::{Activation, BatchMut, BatchRef, Bias, MatMut, MatRef, Options, matmul, matmul_batched};
use foretell_threads::share;

/// `x[m, k] * w[n, k]^T`: a dense layer over `m` samples.
const SHAPES: [(usize, usize, usize); 15] = [
    (3, 3, 3),
    (7, 13, 9),
    (16, 16, 16),
    (20, 20, 20),
    (1, 512, 512),
    (4, 512, 512),
    (32, 64, 64),
    (32, 128, 128),
    (32, 512, 512),
    (128, 96, 512),
    (256, 96, 512),
    (1024, 128, 128),
    (1024, 512, 512),
    (4096, 64, 256),
    (2048, 2048, 2048),
];

fn flops(c: &mut Criterion, name: &str, m: usize, k: usize, n: usize, run: impl FnOnce(&mut Group<'_>)) {
    let mut group = c.benchmark_group(format!("gemm/{name}/{m}x{k}x{n}"));
    group.throughput(Throughput::Elements(2 * (m * k * n) as u64));
    if m * k * n > 1 << 30 {
        group.sample_size(10);
    }
    run(&mut group);
    group.finish();
}

type Group<'a> = criterion::BenchmarkGroup<'a, criterion::measurement::WallTime>;

/// The layouts of a layer's three products: forward, input gradient, weight gradient.
fn layouts(c: &mut Criterion) {
    for (m, k, n) in SHAPES {
        let (x, w, mut y) = (wave(m * k, 0.37), wave(n * k, 0.37), zeros(m * n));
        let nt = (MatRef::row_major(&x, m, k), MatRef::row_major(&w, n, k).t());
        let nn = (MatRef::row_major(&x, m, k), MatRef::row_major(&w, k, n));
        let tn = (MatRef::row_major(&x, k, m).t(), MatRef::row_major(&w, k, n));
        let fx = faer::MatRef::from_row_major_slice(&x, m, k);
        let fxt = faer::MatRef::from_row_major_slice(&x, k, m).transpose();
        let fw = faer::MatRef::from_row_major_slice(&w, k, n);
        let fwt = faer::MatRef::from_row_major_slice(&w, n, k).transpose();
        for (name, (lhs, rhs), (flhs, frhs)) in
            [("nt", nt, (fx, fwt)), ("nn", nn, (fx, fw)), ("tn", tn, (fxt, fw))]
        {
            flops(c, name, m, k, n, |group| {
                group.bench_function("faer", |b| {
                    b.iter(|| {
                        let dst = faer::MatMut::from_row_major_slice_mut(&mut y, m, n);
                        bare(dst, faer::Accum::Replace, flhs, frhs, 1.0, faer::Par::Seq);
                    });
                });
                for threads in [1, 2] {
                    group.bench_function(format!("{threads}_threads"), |b| {
                        b.iter(|| {
                            let dst = MatMut::row_major(&mut y, m, n);
                            share(threads, || matmul(dst, lhs, rhs, Options::default()));
                        });
                    });
                }
            });
        }
    }
}

/// A dense layer in one call, beside product, bias and activation one after the other.
fn epilogue(c: &mut Criterion) {
    let (m, k, n) = (4096, 64, 256);
    let (x, w, bias, mut y) = (wave(m * k, 0.37), wave(n * k, 0.37), wave(n, 0.37), zeros(m * n));
    let (lhs, rhs) = (MatRef::row_major(&x, m, k), MatRef::row_major(&w, n, k).t());
    flops(c, "bias_and_GELU", m, k, n, |group| {
        group.bench_function("fused", |b| {
            let bias = Some(Bias::PerColumn(&bias[..]));
            let options = Options::default().bias(bias).activation(Activation::Gelu);
            b.iter(|| matmul(MatMut::row_major(&mut y, m, n), lhs, rhs, options));
        });
        group.bench_function("apart", |b| {
            b.iter(|| {
                matmul(MatMut::row_major(&mut y, m, n), lhs, rhs, Options::default());
                y.chunks_exact_mut(n).for_each(|row| foretell_simd::add_assign(row, &bias));
                Activation::Gelu.apply(&mut y);
            });
        });
    });
}

/// The scores of 1024 attention heads.
fn batches(c: &mut Criterion) {
    let (count, m, k, n) = (1024, 96, 16, 96);
    let (q, key, mut scores) = (wave(count * m * k, 0.37), wave(count * n * k, 0.37), zeros(count * m * n));
    flops(c, "1024_heads", count * m, k, n, |group| {
        for threads in [1, 2] {
            group.bench_function(format!("{threads}_threads"), |b| {
                b.iter(|| {
                    let dst = BatchMut::row_major(&mut scores, count, m, n);
                    let lhs = BatchRef::row_major(&q, count, m, k);
                    let rhs = BatchRef::row_major(&key, count, n, k).t();
                    share(threads, || matmul_batched(dst, lhs, rhs, Options::default()));
                });
            });
        }
    });
}

criterion_group!(name = benches; config = criterion(); targets = layouts, epilogue, batches);
criterion_main!(benches);
