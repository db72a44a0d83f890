//! Products in bfloat16 beside those in `f32`; throughput is in FLOP/s ("elements").
//!
//! `cargo bench -p foretell-benches --bench bf16 [-- FILTER]`. PyTorch's beside: `benches/torch_bf16.py`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use foretell_benches::{criterion, wave, zeros};
use foretell_gemm::{MatMut, MatRef, Options, Rounding, WeightFormat, WeightMatrix, matmul};

/// `x[m, k] * w[n, k]^T`: a dense layer over `m` samples.
const SHAPES: [(usize, usize, usize); 8] = [
    (1, 512, 512),
    (32, 128, 128),
    (128, 96, 512),
    (256, 96, 512),
    (256, 512, 512),
    (1024, 128, 128),
    (1024, 512, 512),
    (2048, 2048, 2048),
];

fn products(c: &mut Criterion) {
    for (m, k, n) in SHAPES {
        let (x, w, mut y) = (wave(m * k, 0.37), wave(n * k, 0.37), zeros(m * n));
        let (lhs, rhs) = (MatRef::row_major(&x, m, k), MatRef::row_major(&w, n, k).t());
        let [wide, narrow] =
            [WeightFormat::F32, WeightFormat::Bf16].map(|format| WeightMatrix::new(rhs, format));
        let mut group = c.benchmark_group(format!("bf16/{m}x{k}x{n}"));
        group.throughput(Throughput::Elements(2 * (m * k * n) as u64));
        for (name, weights) in [("f32_packed", &wide), ("bf16_packed", &narrow)] {
            group.bench_function(name, |b| {
                b.iter(|| matmul(MatMut::row_major(&mut y, m, n), lhs, weights, Options::default()));
            });
        }
        // A single row is not rounded, which would cost more time than it saves.
        for (name, rounding) in [("f32", Rounding::None), ("bf16", Rounding::Bf16)] {
            let options = Options::default().rounding(rounding);
            group.bench_function(name, |b| {
                b.iter(|| matmul(MatMut::row_major(&mut y, m, n), lhs, rhs, options));
            });
        }
        group.finish();
    }
}

criterion_group!(name = benches; config = criterion(); targets = products);
criterion_main!(benches);
