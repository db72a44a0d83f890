//! Products in bfloat16 beside those in `f32`; throughput is in FLOP/s ("elements").
//!
//! `cargo bench -p foretell-benches --bench bf16 [-- FILTER]`. PyTorch's beside: `benches/torch_bf16.py`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use foretell_benches::{criterion, wave, zeros};
use foretell_gemm::{
    MatMut, MatRef, Options, Packed, PackedBf16, matmul_as_bf16, matmul_bf16, matmul_packed,
};
use half::bf16;

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
        let mut strips = zeros(Packed::len_of(k, n));
        let packed = Packed::new(rhs, &mut strips);
        let mut place = vec![bf16::ZERO; PackedBf16::len_of(k, n) + 32];
        let skipped = place.as_ptr().align_offset(64);
        let brain = PackedBf16::new(rhs, &mut place[skipped..][..PackedBf16::len_of(k, n)]);
        let mut group = c.benchmark_group(format!("bf16/{m}x{k}x{n}"));
        group.throughput(Throughput::Elements(2 * (m * k * n) as u64));
        group.bench_function("f32 packed", |b| {
            b.iter(|| matmul_packed(MatMut::row_major(&mut y, m, n), lhs, packed, Options::default()));
        });
        group.bench_function("bf16 packed", |b| {
            b.iter(|| matmul_bf16(MatMut::row_major(&mut y, m, n), lhs, brain, Options::default()));
        });
        group.bench_function("f32", |b| {
            b.iter(|| foretell_gemm::matmul(MatMut::row_major(&mut y, m, n), lhs, rhs, Options::default()));
        });
        group.bench_function("bf16", |b| {
            b.iter(|| matmul_as_bf16(MatMut::row_major(&mut y, m, n), lhs, rhs, Options::default()));
        });
        group.finish();
    }
}

criterion_group!(name = benches; config = criterion(); targets = products);
criterion_main!(benches);
