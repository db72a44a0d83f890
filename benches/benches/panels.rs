//! Data: panels from text and Parquet, forecasts written, rows appended; throughput in rows.
//!
//! `cargo bench -p foretell-benches --bench panels [-- FILTER]`.

use std::fmt::Write as _;
use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use foretell::{Forecaster, Freq, ModelSpec, Panel, ReadOptions};
use foretell_benches::{criterion, wave};

const SERIES: usize = 100;
const ROWS: usize = 1_000;

fn csv() -> String {
    let mut text = "unique_id,ds,y,price\n".to_owned();
    for series in 0..SERIES {
        let y = wave(ROWS, 0.1 + 0.001 * series as f64);
        for (row, y) in y.iter().enumerate() {
            let (day, hour) = (row / 24, row % 24);
            writeln!(
                text,
                "s{series:03},2024-{:02}-{:02} {hour:02}:00:00,{y:.3},{}",
                1 + day / 28,
                1 + day % 28,
                row % 7
            )
            .expect("text");
        }
    }
    text
}

/// The file's text without its gaps between months: days run to 28 in each.
fn read(text: &str) -> Panel {
    let options = ReadOptions::new().fill(foretell::Fill::Forward);
    Panel::read_csv(text.as_bytes(), "panel.csv", &options).expect("a panel")
}

fn reading(c: &mut Criterion) {
    let text = csv();
    let mut group = c.benchmark_group("panels/read");
    group.throughput(Throughput::Elements((SERIES * ROWS) as u64));
    group.bench_function("csv", |b| b.iter(|| black_box(read(&text))));
    group.finish();
}

fn slices(c: &mut Criterion) {
    let y = wave(ROWS, 0.26);
    let freq = Freq::parse("h").expect("hours");
    let build = || {
        let series = (0..SERIES).map(|i| (format!("s{i:03}"), 0, &y[..]));
        Panel::from_series(freq, series).expect("a panel")
    };
    let mut group = c.benchmark_group("panels/slices");
    group.throughput(Throughput::Elements((SERIES * ROWS) as u64));
    group.bench_function("from_series", |b| b.iter(|| black_box(build())));
    group.throughput(Throughput::Elements(SERIES as u64));
    group.bench_function("append", |b| {
        let mut panel = build();
        let ids: Vec<String> = panel.ids().map(|id| id.to_string()).collect();
        b.iter(|| ids.iter().for_each(|id| panel.append(id, &[1.0], &[]).expect("a row")));
    });
    group.finish();
}

fn writing(c: &mut Criterion) {
    let y = wave(ROWS, 0.26);
    let series = (0..SERIES).map(|i| (format!("s{i:03}"), 0, &y[..]));
    let panel = Panel::from_series(Freq::parse("h").expect("hours"), series).expect("a panel");
    let spec = ModelSpec::new("SeasonalNaive", 500, 1).expect("a model");
    let fitted = Forecaster::new([spec]).expect("models").fit(&panel).expect("a fit");
    let frame = fitted.predict(&panel, None).expect("a forecast");
    let mut group = c.benchmark_group("panels/write");
    group.throughput(Throughput::Elements(frame.n_rows() as u64));
    group.bench_function("csv", |b| {
        b.iter_batched(
            || Vec::with_capacity(8 << 20),
            |out| black_box(frame.write_csv(out)),
            BatchSize::LargeInput,
        );
    });
    group.bench_function("parquet", |b| {
        b.iter_batched(
            || Vec::with_capacity(8 << 20),
            |out| black_box(frame.write_parquet(out)),
            BatchSize::LargeInput,
        );
    });
    group.finish();
}

criterion_group!(name = benches; config = criterion(); targets = reading, slices, writing);
criterion_main!(benches);
