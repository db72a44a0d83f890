//! Accuracy and time on M4 Hourly, as `compare/classical.py --score` has them of statsforecast.
//!
//! `FORETELL_DATA=FOLDER cargo test -p foretell-classical --test m4 -- --include-ignored --nocapture`, where the folder holds both files;
//! `MODELS`, `SERIES` and `THREADS` choose others than the four automatic ones, 100 series and one thread.

use std::fs;
use std::time::Instant;

use foretell_classical::ESTIMATORS;
use foretell_data::{Freq, Panel, Span, Vocabulary};
use foretell_estimator::{Asked, HeldOut, Run, Verdict, Workers};

/// The rows of a file without the first column, every fourth one from the first on.
fn rows(path: &str) -> Vec<Vec<f64>> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let value = |cell: &str| cell.trim_matches('"').parse().ok();
    text.lines().skip(1).step_by(4).map(|line| line.split(',').skip(1).filter_map(value).collect()).collect()
}

/// The means of days, the last of which is whole.
fn days(y: &[f64]) -> Vec<f64> {
    y[y.len() % 24..].chunks(24).map(|day| day.iter().sum::<f64>() / 24.0).collect()
}

fn score(name: &str, season: usize, series: &[(Vec<f64>, Vec<f64>)], threads: usize) {
    let h = series[0].1.len();
    let entry = ESTIMATORS.iter().find(|entry| entry.name == name).expect("an estimator");
    let mut estimator = (entry.new)(h);
    if estimator.meaning("season_length").is_some() {
        estimator.set("season_length", season.into()).expect("a season");
    }
    let ids: Vec<String> = (0..series.len()).map(|i| format!("{i:03}")).collect();
    let histories = ids
        .iter()
        .zip(series)
        .map(|(id, (y, _))| (&**id, 0, y.iter().map(|&y| y as f32).collect::<Vec<_>>()));
    let panel = Panel::from_series(Freq::parse("h").expect("hours"), histories).expect("a panel");
    let (workers, vocabulary) = (Workers::new(threads).expect("threads"), Vocabulary::new());
    let begin = Instant::now();
    let listen = &mut |_: &_| Verdict::Continue;
    let run = Run::alone(&workers, &vocabulary, listen);
    let trained = estimator.fit(&panel, HeldOut::default(), run).expect("a fit");
    let asked = Asked { span: Span::Predict { future: None }, h, quantiles: None };
    let forecast = trained.forecast(&panel, &asked, &workers).expect("a forecast");
    let seconds = begin.elapsed().as_secs_f64();
    let smape = |(mean, (_, after)): (&[f32], &(Vec<f64>, Vec<f64>))| {
        let error = |(mean, after): (&f32, &f64)| {
            let mean = f64::from(*mean);
            2.0 * (mean - after).abs() / (mean.abs() + after.abs())
        };
        mean.iter().zip(after).map(error).sum::<f64>() / h as f64
    };
    let sum: f64 = forecast.values.chunks_exact(h).zip(series).map(smape).sum();
    println!(
        "{name}, season {season}: sMAPE {:.5}, {seconds:.2} s, {} series",
        sum / series.len() as f64,
        series.len()
    );
    assert!(sum.is_finite());
}

#[test]
#[ignore = "it needs the files of M4 Hourly"]
fn accuracy_on_m4_hourly() {
    let setting = |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.to_owned());
    let folder = std::env::var("FORETELL_DATA").expect("FORETELL_DATA names the folder of both M4 files");
    let number = |name: &str, default: &str| setting(name, default).parse().expect("a number");
    let (count, threads) = (number("SERIES", "100"), number("THREADS", "1"));
    let before = rows(&format!("{folder}/M4-Hourly-train.csv"));
    let series: Vec<_> =
        before.into_iter().zip(rows(&format!("{folder}/M4-Hourly-test.csv"))).take(count).collect();
    let daily: Vec<_> = series.iter().map(|(before, after)| (days(before), days(after))).collect();
    for name in setting("MODELS", "AutoETS,AutoTheta,MSTL,AutoARIMA").split(',') {
        score(name, 1, &daily, threads);
        score(name, 24, &series, threads);
    }
}
