//! Features of a panel: each of the target alone, and fifty of them at once.
//!
//! `cargo bench -p foretell-benches --bench features [-- FILTER]`.
//!
//! A series of 10,000 hours. `fifty` computes fifty columns of eight kinds on one thread and on two; the throughput is that of
//! the numbers that are written.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use foretell::{Features, Freq, Panel, Workers};
use foretell_benches::criterion;

const ROWS: usize = 10_000;

fn panel() -> Panel {
    let y: Vec<f32> =
        (0..ROWS).map(|t| (t as f32 * 0.26).sin() * 3.0 + (t * 7919 % 101) as f32 * 0.05).collect();
    Panel::from_series(Freq::parse("h").expect("a frequency"), [("a", 0, y)]).expect("a panel")
}

/// The columns of features without the copy of the panel that they would be added to.
fn features(c: &mut Criterion) {
    let panel = panel();
    let fifty = "lag:1,2,3,4,5,6,7,8,24,25,48,168,diff:1,2,24,168,roll_mean:6,12,24,48,168,336,roll_std:6,12,24,48,168,336,\
                 roll_min:12,24,48,168,roll_max:12,24,48,168,ewm:0.05,0.1,0.3,0.6,hour,weekday,week,month,day,dayofyear,\
                 quarter,is_weekend,is_month_end,holidays:DE";
    let sets = [
        ("fifty", fifty),
        ("lag", "lag:24"),
        ("diff", "diff:24"),
        ("roll_mean", "roll_mean:168"),
        ("roll_std", "roll_std:168"),
        ("roll_max", "roll_max:168"),
        ("roll_quantile", "roll_quantile:24:0.9"),
        ("ewm", "ewm:0.3"),
        ("hour", "hour"),
        ("week", "week"),
        ("fourier", "fourier:yearly:3"),
        ("holidays", "holidays:DE"),
    ];
    for (name, words) in sets {
        let features: Features = words.parse().expect(words);
        let mut group = c.benchmark_group(format!("features/{name}"));
        group.throughput(Throughput::Bytes((4 * ROWS * features.columns().len()) as u64));
        let threads: &[usize] = if name == "fifty" { &[1, 2] } else { &[1] };
        for &threads in threads {
            let workers = Workers::new(threads).expect("threads");
            group.bench_function(format!("{threads}_threads"), |b| {
                b.iter(|| black_box(features.columns_of(&panel, &workers)).expect("columns"));
            });
        }
        group.finish();
    }
}

criterion_group! { name = suite; config = criterion(); targets = features }
criterion_main!(suite);
