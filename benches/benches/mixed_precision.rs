//! Mixed precision over flat slices: master weights with copies in 16 bits, gradients unscaled; throughput in numbers.
//!
//! `cargo bench -p foretell-benches --bench mixed_precision [-- FILTER]`. Trainings in bfloat16 are in the suite `zoo`, products in
//! `bf16`.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use foretell_amp::{GradScaler, GradScalerConfig, MasterWeights};
use foretell_benches::{criterion, wave};
use half::{bf16, f16};

const NUMBERS: usize = 1 << 18;

fn masters(c: &mut Criterion) {
    let mut group = c.benchmark_group("mixed_precision/masters");
    group.throughput(Throughput::Elements(NUMBERS as u64));
    let change = |masters: &mut [f32]| masters.iter_mut().for_each(|x| *x *= 0.999);
    let mut plain = wave(NUMBERS, 0.1).to_vec();
    group.bench_function("f32", |b| b.iter(|| change(black_box(&mut plain))));
    let mut brain = MasterWeights::<bf16>::new(plain.clone());
    group.bench_function("bf16", |b| b.iter(|| brain.update(change)));
    let mut half = MasterWeights::<f16>::new(plain.clone());
    group.bench_function("f16", |b| b.iter(|| half.update(change)));
    group.finish();
}

fn gradients(c: &mut Criterion) {
    let mut group = c.benchmark_group("mixed_precision/gradients");
    group.throughput(Throughput::Elements(NUMBERS as u64));
    let scaler = GradScaler::new(GradScalerConfig::default());
    let scaled: Vec<f32> = wave(NUMBERS, 0.1).iter().map(|x| x * scaler.scale()).collect();
    let mut gradients = scaled.clone();
    group.bench_function("unscale", |b| {
        b.iter(|| {
            gradients.copy_from_slice(&scaled);
            black_box(scaler.unscale(&mut gradients))
        });
    });
    group.finish();
}

criterion_group!(name = benches; config = criterion(); targets = masters, gradients);
criterion_main!(benches);
