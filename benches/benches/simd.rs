//! Each kernel at the scalar level, at the best level of the machine, and beside the standard
//! library where that has the function; throughput in bytes read and written.
//!
//! `cargo bench -p foretell-benches --bench simd [-- FILTER]`.
//!
//! `l2/` works on 10,000 elements, `stream/` on arrays that no cache holds. `stream/copy` is the
//! machine's copy bandwidth, to compare the others of that group with.

use std::hint::black_box;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use foretell_benches::{criterion, gelu_by_std, standardise, wave, wide};
use foretell_simd::*;

const IN_L2: usize = 10_000;
const BEYOND: usize = 16 << 20;

fn group<'a>(c: &'a mut Criterion, name: String, bytes: usize) -> BenchmarkGroup<'a, WallTime> {
    let mut group = c.benchmark_group(name);
    group.throughput(Throughput::Bytes(bytes as u64));
    group
}

/// `run` at the scalar and at the best level.
fn levels(group: &mut BenchmarkGroup<'_, WallTime>, mut run: impl FnMut()) {
    let best = *Level::available().last().expect("the scalar level is everywhere");
    for level in [Level::Scalar, best] {
        with_level(level, || {
            group.bench_function(level.to_string(), |b| b.iter(&mut run));
        });
        if best == Level::Scalar {
            break;
        }
    }
}

/// One kernel on data in the second-level cache: `arrays` of `f32` (or two of them for an `f64`).
fn kernel(c: &mut Criterion, name: &str, arrays: usize, run: impl FnMut()) {
    levels(&mut group(c, format!("l2/{name}"), 4 * arrays * IN_L2), run);
}

/// As [`kernel`], beside a loop over the standard library's function.
fn function(c: &mut Criterion, name: &str, x: &[f32], run: impl FnMut(), one: impl Fn(f32) -> f32) {
    let mut group = group(c, format!("l2/{name}"), 8 * x.len());
    levels(&mut group, run);
    let mut out = vec![0.0; x.len()];
    group.bench_function("std", |b| {
        b.iter(|| {
            for (out, &x) in out.iter_mut().zip(black_box(x)) {
                *out = one(x);
            }
        });
    });
}

fn arithmetic(c: &mut Criterion) {
    let (a, b) = (wave(IN_L2, 0.37), wave(IN_L2, 0.21));
    let mut out = vec![0.0; IN_L2];
    kernel(c, "add_f32", 3, || add(black_box(&a), &b, &mut out));
    kernel(c, "mul_f32", 3, || mul(black_box(&a), &b, &mut out));
    kernel(c, "div_f32", 3, || div(black_box(&a), &b, &mut out));
    kernel(c, "mul_add_f32", 4, || mul_add(black_box(&a), &b, &a, &mut out));
    kernel(c, "axpy_f32", 3, || axpy(black_box(1e-6), &a, &mut out));
    kernel(c, "scale_f32", 2, || scale(&mut out, black_box(1.0)));
    let (c64, d64, mut out64) = (wide(&a), wide(&b), vec![0.0; IN_L2]);
    kernel(c, "add_f64", 6, || add(black_box(&c64), &d64, &mut out64));
    kernel(c, "mul_f64", 6, || mul(black_box(&c64), &d64, &mut out64));
}

fn reductions(c: &mut Criterion) {
    let (a, b) = (wave(IN_L2, 0.37), wave(IN_L2, 0.21));
    let (c64, d64) = (wide(&a), wide(&b));
    kernel(c, "sum_f32", 1, || _ = black_box(sum(black_box(&a))));
    kernel(c, "dot_f32", 2, || _ = black_box(dot(black_box(&a), &b)));
    kernel(c, "max_f32", 1, || _ = black_box(max(black_box(&a))));
    kernel(c, "l2_norm_f32", 1, || _ = black_box(l2_norm(black_box(&a))));
    kernel(c, "mean_variance_f32", 1, || _ = black_box(mean_variance(black_box(&a))));
    kernel(c, "sum_f64", 2, || _ = black_box(sum(black_box(&c64))));
    kernel(c, "dot_f64", 4, || _ = black_box(dot(black_box(&c64), &d64)));
    kernel(c, "mean_variance_f64", 2, || _ = black_box(mean_variance(black_box(&c64))));
}

fn series(c: &mut Criterion) {
    let a = wave(IN_L2, 0.37);
    let mut out = vec![0.0; IN_L2];
    let (x, mut y) = (wide(&a), vec![0.0; IN_L2]);
    kernel(c, "normalise_f32", 2, || normalise(black_box(&a), 0.1, 2.0, &mut out));
    kernel(c, "normalise_f64", 4, || normalise(black_box(&x), 0.1, 2.0, &mut y));
    kernel(c, "min_max_normalise_f64", 4, || {
        min_max_normalise(black_box(&x), -3.0, 3.0, &mut y);
    });
    kernel(c, "min, max, min_max_normalise f64", 8, || {
        min_max_normalise(black_box(&x), min(&x), max(&x), &mut y);
    });
    kernel(c, "rolling_mean_10_f64", 4, || rolling_mean(black_box(&x), 10, &mut y));
    kernel(c, "rolling_mean_10_f32", 2, || rolling_mean(black_box(&a), 10, &mut out));
    for window in [24, 168, 1000] {
        let name = |kind: &str| format!("rolling_mean_{window}_{kind}");
        kernel(c, &name("f64"), 4, || rolling_mean(black_box(&x), window, &mut y));
        kernel(c, &name("f32"), 2, || rolling_mean(black_box(&a), window, &mut out));
    }
    kernel(c, "rolling_std_20_f64", 4, || rolling_std(black_box(&x), 20, 1, &mut y));
    kernel(c, "rolling_std_20_f32", 2, || rolling_std(black_box(&a), 20, 1, &mut out));
    kernel(c, "rolling_std_1000_f64", 4, || rolling_std(black_box(&x), 1000, 1, &mut y));
    kernel(c, "ema_f64", 4, || ema(black_box(&x), 0.1, &mut y));
    kernel(c, "ema_f32", 2, || ema(black_box(&a), 0.1, &mut out));

    let n = 100_000;
    let (x, mut y) = (wide(&wave(n, 0.37)), vec![0.0; n]);
    levels(&mut group(c, "100000_f64/z-score".into(), 24 * n), || {
        standardise(black_box(&x), &mut y);
    });
    levels(&mut group(c, "100000_f64/ema".into(), 16 * n), || ema(black_box(&x), 0.1, &mut y));
}

fn losses(c: &mut Criterion) {
    let (a, b, w) = (wave(IN_L2, 0.37), wave(IN_L2, 0.21), vec![0.5; IN_L2]);
    let mut grad = vec![0.0; IN_L2];
    for (name, loss) in [
        ("MAE", PointLoss::Mae),
        ("MSE", PointLoss::Mse),
        ("Huber", PointLoss::Huber { delta: 1.0 }),
        ("pinball", PointLoss::Pinball { q: 0.9 }),
    ] {
        kernel(c, &format!("{name}_f32"), 3, || {
            black_box(loss.value_and_grad(black_box(&a), &b, None, 0.1, &mut grad));
        });
        kernel(c, &format!("{name}_weighted_f32"), 4, || {
            black_box(loss.value_and_grad(black_box(&a), &b, Some(&w), 0.1, &mut grad));
        });
    }
}

fn functions(c: &mut Criterion) {
    let x = wave(IN_L2, 0.37);
    let mut y = vec![0.0; IN_L2];
    function(c, "exp", &x, || exp(black_box(&x), &mut y), f32::exp);
    function(c, "ln", &x, || ln(black_box(&x), &mut y), f32::ln);
    function(c, "tanh", &x, || tanh(black_box(&x), &mut y), f32::tanh);
    function(c, "sigmoid", &x, || sigmoid(black_box(&x), &mut y), |x| 1.0 / (1.0 + (-x).exp()));
    kernel(c, "erf", 2, || erf(black_box(&x), &mut y));
    for (name, activation) in [("GELU", Activation::Gelu), ("GELU_tanh", Activation::GeluTanh)] {
        // The standard library has no error function: its tanh stands for both forms.
        function(c, name, &x, || activation.forward(black_box(&x), &mut y), gelu_by_std);
    }
}

fn activations(c: &mut Criterion) {
    let x = wave(IN_L2, 0.37);
    let (mut y, mut grad) = (vec![0.0; IN_L2], vec![1e-3; IN_L2]);
    for activation in Activation::ALL.into_iter().filter(|activation| *activation != Activation::Identity) {
        let name = format!("{activation:?}");
        let name = name.split(' ').next().expect("a name");
        kernel(c, &format!("{name}_forward"), 2, || activation.forward(black_box(&x), &mut y));
        kernel(c, &format!("{name}_backward"), 3, || activation.backward(black_box(&x), &mut grad));
    }
}

fn rows(c: &mut Criterion) {
    let cols = 100;
    let (x, mut y) = (wave(IN_L2, 0.37), vec![0.0; IN_L2]);
    let mut grad = wave(IN_L2, 0.21);
    let (gamma, beta) = (vec![1.0; cols], vec![0.5; cols]);
    let (mut gamma_grad, mut beta_grad) = (vec![0.0; cols], vec![0.0; cols]);
    let (mut mean, mut rstd) = (vec![0.0; IN_L2 / cols], vec![1.0; IN_L2 / cols]);
    kernel(c, "softmax_rows", 2, || softmax_rows(black_box(&x), cols, &mut y));
    kernel(c, "log-softmax rows", 2, || log_softmax_rows(black_box(&x), cols, &mut y));
    kernel(c, "softmax_rows_backward", 3, || softmax_rows_backward(&y, cols, &mut grad));
    kernel(c, "layer-norm rows", 2, || {
        layer_norm_rows(black_box(&x), Some((&gamma, Some(&beta))), 1e-5, &mut y, &mut mean, &mut rstd);
    });
    kernel(c, "layer-norm rows backward", 3, || {
        let (gamma_grad, beta_grad) = (&mut gamma_grad[..], &mut beta_grad[..]);
        let affine = AffineGrad { gamma: &gamma, gamma_grad, beta_grad: Some(beta_grad) };
        layer_norm_rows_backward(black_box(&x), &mean, &rstd, Some(affine), &mut grad);
    });
    kernel(c, "RMS-norm rows", 2, || {
        rms_norm_rows(black_box(&x), Some(&gamma), 1e-5, &mut y, &mut rstd);
    });
}

const ADAM: AdamStep =
    AdamStep { lr: 1e-9, beta1: 0.9, beta2: 0.999, eps: 1e-8, weight_decay: 0.0, step: 10 };

fn optimisers(c: &mut Criterion) {
    let g = wave(IN_L2, 0.37);
    let (mut p, mut m, mut v) = (wave(IN_L2, 0.21), vec![0.0; IN_L2], vec![1.0; IN_L2]);
    kernel(c, "Adam", 7, || adam(&mut p, black_box(&g), &mut m, &mut v, &ADAM));
    let step =
        SgdStep { lr: 1e-9, momentum: 0.9, dampening: 0.0, nesterov: false, weight_decay: 0.0, step: 10 };
    kernel(c, "SGD_with_momentum", 5, || sgd(&mut p, black_box(&g), &mut m, &step));
    let step = RmsPropStep { lr: 1e-9, alpha: 0.9, eps: 1e-8, weight_decay: 0.0, momentum: 0.0 };
    kernel(c, "RMSprop", 5, || rmsprop(&mut p, black_box(&g), &mut v, &mut [], &step));
}

fn bits(c: &mut Criterion) {
    let (x, mut y) = (wave(IN_L2, 0.37), vec![0.0; IN_L2]);
    let (mut half, mut brain) = (vec![f16::ZERO; IN_L2], vec![bf16::ZERO; IN_L2]);
    let narrow = |c: &mut Criterion, name: &str, run: &mut dyn FnMut()| {
        // Half as many bytes on the narrow side.
        levels(&mut group(c, format!("l2/{name}"), 6 * IN_L2), run);
    };
    kernel(c, "uniform_fill", 1, || uniform_fill(Key::new(1), 0, black_box(&mut y)));
    kernel(c, "dropout", 2, || dropout(Key::new(1), 0, 0.1, black_box(&x), &mut y));
    narrow(c, "to_f16", &mut || to_f16(black_box(&x), &mut half));
    narrow(c, "from_f16", &mut || from_f16(black_box(&half), &mut y));
    narrow(c, "to_bf16", &mut || to_bf16(black_box(&x), &mut brain));
    narrow(c, "from_bf16", &mut || from_bf16(black_box(&brain), &mut y));
}

fn streams(c: &mut Criterion) {
    let (a, b) = (wave(BEYOND, 0.37), wave(BEYOND, 0.21));
    let mut out = vec![0.0f32; BEYOND];
    let stream = |c: &mut Criterion, name: &str, arrays: usize, run: &mut dyn FnMut()| {
        levels(&mut group(c, format!("stream/{name}"), 4 * arrays * BEYOND), run);
    };
    group(c, "stream/copy".into(), 8 * BEYOND)
        .bench_function("std", |bench| bench.iter(|| out.copy_from_slice(black_box(&a))));
    stream(c, "normalise", 2, &mut || normalise(black_box(&a), 0.1, 2.0, &mut out));
    stream(c, "add", 3, &mut || add(black_box(&a), &b, &mut out));
    stream(c, "mul", 3, &mut || mul(black_box(&a), &b, &mut out));
    stream(c, "axpy", 3, &mut || axpy(black_box(1e-6), &a, &mut out));
    stream(c, "scale", 2, &mut || scale(&mut out, black_box(1.0)));
    stream(c, "sum", 1, &mut || _ = black_box(sum(black_box(&a))));
    stream(c, "MSE", 3, &mut || {
        black_box(PointLoss::Mse.value_and_grad(black_box(&a), &b, None, 0.1, &mut out));
    });
    stream(c, "exp", 2, &mut || exp(black_box(&a), &mut out));

    let n = 10_000_000;
    let (mut p, mut m, mut v) = (b, vec![0.0; n], vec![1.0; n]);
    levels(&mut group(c, "stream/Adam_10000000".into(), 28 * n), || {
        adam(&mut p[..n], black_box(&a[..n]), &mut m, &mut v, &ADAM);
    });
}

criterion_group!(
    name = benches;
    config = criterion();
    targets =
        arithmetic,
        reductions,
        series,
        losses,
        functions,
        activations,
        rows,
        optimisers,
        bits,
        streams
);
criterion_main!(benches);
