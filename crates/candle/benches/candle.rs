//! Each operation beside candle's own, forwards and with the gradients of all operands.
//!
//! `cargo bench -p foretell-candle [-- FILTER]`; `RAYON_NUM_THREADS=1` for one thread.
//!
//! candle's side is composed as candle-nn 0.11 composes it for training, since its fused softmax and norms record no gradient.
//! Its products are those of the crate gemm with AVX2 and FMA: gemm's feature `x86-v4`, which would take AVX-512, is off by
//! default in candle, and off here (that of pulp, which foretell switches on, does not imply it). Both sides use rayon's pool.

#[path = "../tests/compositions/mod.rs"]
mod compositions;

use std::time::Duration;

use candle_core::{Device, Result, Tensor, Var};
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main, measurement::WallTime};
use foretell_candle::{Activation, FlashAttention, layer_norm, linear, rms_norm, softmax};

/// Numbers between -1 and 1 that look random, others for each seed.
fn var(dims: &[usize], seed: usize) -> Var {
    let value = |i: usize| ((i * 37 + seed * 101) as f64 * 0.731).sin() as f32;
    let values = (0..dims.iter().product()).map(value).collect();
    Var::from_tensor(&Tensor::from_vec(values, dims, &Device::Cpu).unwrap()).unwrap()
}

/// Measures `work`, and `work` with the backward pass.
fn both(group: &mut BenchmarkGroup<'_, WallTime>, who: &str, work: impl Fn() -> Result<Tensor>) {
    group.bench_function(format!("forward/{who}"), |b| b.iter(|| work().unwrap()));
    group.bench_function(format!("and backward/{who}"), |b| b.iter(|| work().unwrap().backward().unwrap()));
}

/// Measures candle's composition and foretell's operation.
fn beside(
    c: &mut Criterion,
    name: &str,
    theirs: impl Fn() -> Result<Tensor>,
    ours: impl Fn() -> foretell_candle::Result<Tensor>,
) {
    let mut group = c.benchmark_group(name);
    both(&mut group, "candle", theirs);
    both(&mut group, "foretell", || Ok(ours()?));
    group.finish();
}

fn operations(c: &mut Criterion) {
    for [batch, heads, steps, dim] in [[128, 4, 96, 32], [32, 8, 200, 64], [1, 8, 1024, 64]] {
        let [q, k, v] = [1, 2, 3].map(|seed| var(&[batch, steps, heads, dim], seed));
        let [q, k, v] = [q, k, v].map(|x| x.transpose(1, 2).unwrap());
        let (mask, scale) = (compositions::causal_mask(steps, steps), 1.0 / (dim as f64).sqrt());
        beside(
            c,
            &format!("causal attention {batch}x{heads}x{steps}x{dim}"),
            || compositions::attention(&q, &k, &v, scale, Some(&mask)),
            || FlashAttention::causal().apply(&q, &k, &v),
        );
    }
    for [rows, cols] in [[12288, 128], [2048, 1024]] {
        let (x, gamma, beta) = (var(&[rows, cols], 1), var(&[cols], 2), var(&[cols], 3));
        beside(c, &format!("softmax {rows}x{cols}"), || compositions::softmax(&x, 1), || softmax(&x, 1));
        beside(
            c,
            &format!("layer norm {rows}x{cols}"),
            || compositions::layer_norm(&x, &gamma, Some(&beta), 1e-5),
            || layer_norm(&x, &gamma, Some(&beta), 1e-5),
        );
        beside(
            c,
            &format!("RMS norm {rows}x{cols}"),
            || compositions::rms_norm(&x, &gamma, 1e-5),
            || rms_norm(&x, &gamma, 1e-5),
        );
    }
    for [rows, inputs, outputs] in [[12288, 64, 256], [1024, 512, 512]] {
        let (x, weight, bias) = (var(&[rows, inputs], 1), var(&[outputs, inputs], 2), var(&[outputs], 3));
        beside(
            c,
            &format!("linear with GELU {rows}x{inputs}x{outputs}"),
            || compositions::linear(&x, &weight, Some(&bias), Activation::Gelu),
            || linear(&x, &weight, Some(&bias), Activation::Gelu),
        );
    }
}

fn config() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(500))
        .sample_size(20)
        .nresamples(2000)
        .without_plots()
}

criterion_group! { name = benches; config = config(); targets = operations }
criterion_main!(benches);
