//! Chronos-Bolt: quantiles are those of the package `chronos-forecasting`; `compare/pretrained.py` wrote them.

use foretell_estimator::Workers;

use super::packages::{check_independence, compare, fixtures, panel, quantiles};
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
    check_independence("bolt", [9, 1], 1e-4);
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
