//! Chronos-Bolt: quantiles are those of the package `chronos-forecasting`; `compare/pretrained.py` wrote them.

use foretell_calendar::Freq;
use foretell_data::Panel;
use foretell_estimator::Workers;

use super::packages::{compare, fixtures, panel, quantiles};
use crate::load_folder;

const FIXTURE: &str = include_str!("../../tests/fixtures/bolt.json");

#[test]
fn a_small_network_forecasts_as_the_package() {
    let (count, off) = compare(FIXTURE, &fixtures().join("bolt"), "tiny");
    assert_eq!(count, 100);
    eprintln!("Chronos-Bolt: {count} series, off by {off:.2e} at most");
}

#[test]
fn neither_threads_nor_much_of_other_series_change_a_forecast() {
    let network = load_folder(&fixtures().join("bolt")).expect("sound").expect("a network");
    let freq = Freq::parse("h").expect("hours");
    let wave = |i: usize| (0..40 + 9 * i).map(|t| ((t * (i + 3)) % 11) as f32).collect::<Vec<f32>>();
    let all: Vec<(String, i64, Vec<f32>)> = (0..9).map(|i| (format!("s{i}"), 0, wave(i))).collect();
    let panel = Panel::from_series(freq, all.clone()).expect("a panel");
    let of = |panel: &Panel, threads: usize| {
        quantiles(&*network, panel, 20, &Workers::new(threads).expect("threads"))
    };
    let one = of(&panel, 1);
    assert_eq!(one, of(&panel, 3));
    assert_eq!(one, of(&panel, 8));
    let each = one.len() / 9;
    for (i, series) in all.into_iter().enumerate() {
        let alone = of(&Panel::from_series(freq, [series]).expect("a panel"), 2);
        let off = alone.iter().zip(&one[i * each..]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-4, "series {i}: off by {off}");
    }
}

#[test]
fn any_known_value_suffices() {
    let network = load_folder(&fixtures().join("bolt")).expect("sound").expect("a network");
    let workers = Workers::new(1).expect("a thread");
    let one = quantiles(&*network, &panel(&[f32::NAN, 40.0, f32::NAN]), 3, &workers);
    // A constant series is itself, but for the least range.
    assert!(one.iter().all(|y| (y - 40.0).abs() < 1e-3), "{one:?}");
    let none = quantiles(&*network, &panel(&[f32::NAN; 5]), 3, &workers);
    assert_eq!(none, [0.0; 27]);
}
