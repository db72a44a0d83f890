//! Models: trainings of 20 steps and forecasts of 128 series, throughput in windows; in f32 and bfloat16.
//!
//! `cargo bench -p foretell-benches --bench zoo [-- FILTER]`. A step alone is what `foretell bench` measures.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use foretell::{Forecaster, Freq, ModelSpec, Panel, Precision};
use foretell_benches::{criterion, wave};

const STEPS: u64 = 20;
const BATCH: u64 = 128;

fn panel() -> Panel {
    let series = (0..BATCH).map(|i| (format!("s{i:03}"), 0, wave(400, 0.1 + 0.01 * i as f64).to_vec()));
    Panel::from_series(Freq::parse("h").expect("hours"), series).expect("a panel")
}

fn forecaster(model: &str) -> Forecaster {
    let spec = ModelSpec::new(model, 24, 96).expect("a model").set("max_steps", STEPS).expect("steps");
    let spec = spec.set("windows_batch_size", BATCH).expect("a batch").set("scaler_type", "standard");
    Forecaster::new([spec.expect("a scaler")]).expect("models").threads(2)
}

fn models(c: &mut Criterion) {
    let panel = panel();
    for model in ["NLinear", "MLP", "NHITS", "LSTM", "TCN", "PatchTST", "TFT"] {
        let mut group = c.benchmark_group(format!("zoo/{model}"));
        group.sample_size(10);
        group.throughput(Throughput::Elements(STEPS * BATCH));
        for precision in [Precision::F32, Precision::Bf16] {
            group.bench_function(format!("train/{}", precision.name()), |b| {
                b.iter(|| black_box(forecaster(model).precision(precision).fit(&panel)));
            });
        }
        let fitted = forecaster(model).fit(&panel).expect("a fit");
        group.throughput(Throughput::Elements(BATCH));
        group.bench_function("forecast", |b| b.iter(|| black_box(fitted.predict(&panel, None))));
        group.finish();
    }
}

criterion_group!(name = benches; config = criterion(); targets = models);
criterion_main!(benches);
