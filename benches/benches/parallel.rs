//! Parallel work: the cost of handing work to threads, beside rayon's own join and scope.
//!
//! `cargo bench -p foretell-benches --bench parallel [-- FILTER]`.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use foretell_benches::{criterion, wave};
use foretell_threads::{Workers, rows, share, sums};
use rayon::prelude::*;

fn handing_over(c: &mut Criterion) {
    let workers = Workers::new(2).expect("two threads");
    let mut group = c.benchmark_group("parallel/two_items");
    group.bench_function("foretell", |b| {
        workers
            .enter(|| b.iter(|| workers.each(&mut [0_u64; 2], true, |i, item| *item = black_box(i as u64))));
    });
    group.bench_function("rayon", |b| {
        workers.enter(|| {
            b.iter(|| {
                [0_u64; 2].par_iter_mut().enumerate().for_each(|(i, item)| *item = black_box(i as u64))
            });
        });
    });
    group.finish();
}

fn blocks(c: &mut Criterion) {
    const ROWS: usize = 4096;
    const WIDTH: usize = 64;
    let workers = Workers::new(2).expect("two threads");
    let x = wave(ROWS * WIDTH, 0.1);
    for threads in [1, 2] {
        let mut group = c.benchmark_group(format!("parallel/blocks/{threads}"));
        let mut out = x.to_vec();
        group.bench_function("rows", |b| {
            let double = |range: std::ops::Range<usize>, [out]: [&mut [f32]; 1]| {
                let from = &x[range.start * WIDTH..range.end * WIDTH];
                out.iter_mut().zip(from).for_each(|(out, x)| *out = 2.0 * x);
            };
            workers.enter(|| share(threads, || b.iter(|| rows(ROWS, WIDTH, [&mut out[..]], double))));
        });
        let mut sum = vec![0.0; WIDTH];
        group.bench_function("sums", |b| {
            let add = |range: std::ops::Range<usize>, sum: &mut [f32]| {
                for row in x[range.start * WIDTH..range.end * WIDTH].chunks_exact(WIDTH) {
                    sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
                }
            };
            workers.enter(|| share(threads, || b.iter(|| sums(ROWS, WIDTH, &mut sum, add))));
        });
        group.finish();
    }
}

criterion_group!(name = benches; config = criterion(); targets = handing_over, blocks);
criterion_main!(benches);
