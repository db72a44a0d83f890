//! The forecast of one series as a service makes it, beside the network alone (`network`, which criterion does not measure but
//! prints): from a panel of 5,000 rows, from its last rows, from slices, and from a panel that grows by a row.
//!
//! `cargo bench -p foretell-benches --bench latency [-- FILTER]`.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use foretell::{Fitted, Forecaster, Freq, ModelSpec, Panel, Workers};
use foretell_benches::{criterion, wave};

const ROWS: usize = 5_000;
const INPUT: usize = 96;

fn panel(rows: usize) -> Panel {
    let freq = Freq::parse("h").expect("hours");
    Panel::from_series(freq, [("meter", 0, &wave(rows, 0.26)[..])]).expect("a panel")
}

fn fitted(model: &str) -> Fitted {
    let spec = ModelSpec::new(model, 24, INPUT).expect("a model");
    let spec = if spec.network().is_some() { spec.set("max_steps", 2).expect("steps") } else { spec };
    Forecaster::new([spec]).expect("models").threads(1).fit(&panel(ROWS)).expect("a fit")
}

fn one_series(c: &mut Criterion) {
    let workers = Workers::new(1).expect("one thread");
    for model in ["SeasonalNaive", "NLinear", "NHITS", "LSTM"] {
        let fitted = fitted(model);
        if let Some(network) = fitted.models()[0].network() {
            println!("latency/{model}/network: {:.2} us", 1e6 * network.forecast_seconds(&workers, 1));
        }
        let whole = panel(ROWS);
        let mut group = c.benchmark_group(format!("latency/{model}"));
        group.bench_function("whole", |b| b.iter(|| black_box(fitted.predict(&whole, None))));
        group.bench_function("last", |b| b.iter(|| black_box(fitted.predict(&whole.last(INPUT), None))));
        group.bench_function("from_slices", |b| b.iter(|| black_box(fitted.predict(&panel(ROWS), None))));
        let mut growing = panel(ROWS);
        group.bench_function("append", |b| {
            b.iter(|| {
                growing.append("meter", &[1.0], &[]).expect("a row");
                black_box(fitted.predict(&growing, None))
            });
        });
        group.finish();
    }
}

criterion_group!(name = benches; config = criterion(); targets = one_series);
criterion_main!(benches);
