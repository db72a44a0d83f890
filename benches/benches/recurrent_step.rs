//! One step of a series that grows: a trained recurrent network of default sizes reads it and forecasts 12 steps.
//!
//! `cargo bench -p foretell-benches --bench recurrent_step`. On one thread of a shared machine with two cores: RNN 22 us, LSTM 39 us,
//! GRU (200 units) 60 us, compiled as tests are (`--profile dev`).

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use foretell::{Forecaster, Freq, ModelSpec, Panel, StepForecaster};
use foretell_benches::criterion;

const H: usize = 12;
const INPUT: usize = 96;

fn started(model: &str) -> (Vec<f32>, StepForecaster) {
    let y: Vec<f32> = (0..400).map(|t| (t as f32 / 3.0).sin() + 0.01 * t as f32).collect();
    let panel = Panel::from_series(Freq::parse("D").expect("days"), [("a", 0, y.clone())]).expect("a panel");
    let spec = ModelSpec::new(model, H, INPUT).expect("a model").set("max_steps", 1).expect("steps");
    let fitted = Forecaster::new([spec]).expect("a model").threads(1).fit(&panel).expect("a fit");
    let network = fitted.models()[0].network().expect("a network");
    let forecaster = network.step_forecaster(&y[..INPUT]).expect("a start");
    (y, forecaster)
}

fn steps(c: &mut Criterion) {
    let mut group = c.benchmark_group("recurrent_step");
    group.throughput(Throughput::Elements(1));
    for model in ["RNN", "GRU", "LSTM"] {
        let (y, mut forecaster) = started(model);
        let mut steps = y.iter().cycle();
        group.bench_function(model, |b| {
            b.iter(|| {
                forecaster.read(black_box(*steps.next().expect("it goes around"))).expect("a number");
                forecaster.forecast()
            });
        });
    }
    group.finish();
}

criterion_group!(name = benches; config = criterion(); targets = steps);
criterion_main!(benches);
