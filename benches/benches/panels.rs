//! Data: panels from text and Parquet, forecasts written, rows appended; throughput in rows.
//!
//! `cargo bench -p foretell-benches --bench panels [-- FILTER]`.

use std::fmt::Write as _;
use std::hint::black_box;
use std::sync::Arc;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use foretell::{Frame, Freq, Panel, ReadOptions};
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

/// Forecasts of 10,000 series, 100 days each.
fn forecasts() -> Frame {
    const DAY: i64 = 86_400_000_000;
    let (series, h) = (10_000, 100);
    let mut frame = Frame::new(Freq::parse("D").expect("days"));
    for i in 0..series {
        let id: Arc<str> = format!("shop_{i:05}").into();
        frame.ids.extend(std::iter::repeat_n(id, h));
        frame.times.extend((0..h as i64).map(|day| (19_000 + day) * DAY));
    }
    frame.columns = vec![("NHITS".to_owned(), wave(series * h, 0.37).to_vec())];
    frame
}

fn writing(c: &mut Criterion) {
    let frame = forecasts();
    let mut group = c.benchmark_group("panels/write");
    group.throughput(Throughput::Elements(frame.n_rows() as u64));
    let room = || Vec::with_capacity(64 << 20);
    group.bench_function("csv", |b| {
        b.iter_batched(room, |out| black_box(frame.write_csv(out)), BatchSize::LargeInput);
    });
    group.bench_function("parquet", |b| {
        b.iter_batched(room, |out| black_box(frame.write_parquet(out)), BatchSize::LargeInput);
    });
    group.finish();
}

criterion_group!(name = benches; config = criterion(); targets = reading, slices, writing);
criterion_main!(benches);
