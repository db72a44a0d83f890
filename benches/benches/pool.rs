//! Buffers from the pool beside the system's: acquire, write, release; throughput in bytes written.
//!
//! `cargo bench -p foretell-benches --bench pool [-- FILTER]`.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use foretell_benches::criterion;
use foretell_pool::{Buffer, metrics};

/// The pool's own cost: a cache line, so that writing it is next to nothing.
fn overhead(c: &mut Criterion) {
    let mut group = c.benchmark_group("pool/64_B");
    group.bench_function("pool", |b| b.iter(|| black_box(Buffer::<f32>::zeroed(16))));
    group.bench_function("system", |b| b.iter(|| black_box(vec![0.0f32; 16])));
    group.bench_function("metrics", |b| b.iter(|| black_box(metrics())));
    group.finish();
}

/// One buffer at a time. The system allocator, too, may keep a single freed block for the next request.
fn written(c: &mut Criterion) {
    for (name, bytes) in [("16_KiB", 16 << 10), ("1_MiB", 1 << 20), ("16_MiB", 16 << 20)] {
        let len = bytes / size_of::<f32>();
        let mut group = c.benchmark_group(format!("pool/{name}"));
        group.throughput(Throughput::Bytes(bytes as u64));
        group.bench_function("pool", |b| b.iter(|| black_box(Buffer::filled(len, 1.0f32))));
        group.bench_function("system", |b| b.iter(|| black_box(vec![1.0f32; len])));
        group.finish();
    }
}

/// The buffers of a training step: many that live together and go together, which the system allocator returns to the kernel,
/// page by page.
fn step(c: &mut Criterion) {
    const COUNT: usize = 8;
    let len = (1 << 20) / size_of::<f32>();
    let mut group = c.benchmark_group(format!("pool/{COUNT}_of_1_MiB"));
    group.throughput(Throughput::Bytes((COUNT as u64) << 20));
    group.bench_function("pool", |b| b.iter(|| black_box([(); COUNT].map(|()| Buffer::filled(len, 1.0f32)))));
    group.bench_function("system", |b| b.iter(|| black_box([(); COUNT].map(|()| vec![1.0f32; len]))));
    group.finish();
}

criterion_group!(name = benches; config = criterion(); targets = overhead, written, step);
criterion_main!(benches);
