//! Trained models to and from directories and bytes; throughput in parameters' bytes.
//!
//! `cargo bench -p foretell-benches --bench directories [-- FILTER]`.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use foretell::{Fitted, Forecaster, Freq, ModelSpec, Panel};
use foretell_benches::{criterion, wave};

fn fitted(model: &str) -> Fitted {
    let panel = Panel::from_series(Freq::parse("h").expect("hours"), [("a", 0, &wave(400, 0.26)[..])]);
    let spec = ModelSpec::new(model, 24, 96).and_then(|spec| spec.set("max_steps", 1)).expect("a model");
    Forecaster::new([spec]).expect("models").fit(&panel.expect("a panel")).expect("a fit")
}

fn directories(c: &mut Criterion) {
    for model in ["NLinear", "NHITS"] {
        let fitted = fitted(model);
        let bytes = fitted.to_bytes().expect("bytes");
        let home = std::env::temp_dir().join(format!("foretell-directories-{}", std::process::id()));
        let mut group = c.benchmark_group(format!("directories/{model}"));
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_function("to_bytes", |b| b.iter(|| black_box(fitted.to_bytes())));
        group.bench_function("from_bytes", |b| b.iter(|| black_box(Fitted::from_bytes(&bytes))));
        group.bench_function("save", |b| b.iter(|| fitted.save(&home, true).expect("it is saved")));
        group.bench_function("load", |b| b.iter(|| black_box(Fitted::load(&home))));
        group.finish();
        std::fs::remove_dir_all(&home).expect("the directory of this suite");
    }
}

criterion_group!(name = benches; config = criterion(); targets = directories);
criterion_main!(benches);
