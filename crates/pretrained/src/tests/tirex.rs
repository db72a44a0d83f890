//! TiRex: quantiles are those of the package `tirex-ts` with the states of its cells in 32 bits; `compare/pretrained.py` wrote them.

use foretell_estimator::Workers;

use super::packages::{check_independence, compare, compare_original, fixtures, panel, quantiles};
use crate::load_folder;

const FIXTURE: &str = include_str!("../../tests/fixtures/tirex.json");

/// Horizons are of one to three patches.
#[test]
fn a_small_network_forecasts_as_the_package() {
    let (count, off) = compare(FIXTURE, &fixtures().join("tirex"), "tiny");
    assert_eq!(count, 100);
    eprintln!("TiRex: {count} series, off by {off:.2e} at most");
}

/// Weights of the original's sizes are not in the repository: `compare/pretrained.py --tirex DIR` makes some, and forecasts of them.
#[test]
fn one_of_the_sizes_of_the_original_forecasts_as_the_package() {
    compare_original("FORETELL_TIREX");
}

#[test]
fn neither_threads_nor_much_of_other_series_change_a_forecast() {
    check_independence("tirex", [19, 6], 1e-4);
}

#[test]
fn any_known_value_suffices() {
    let network = load_folder(&fixtures().join("tirex")).expect("sound").expect("a network");
    let workers = Workers::new(1).expect("a thread");
    // Untrained quantiles are some deviations away, which are the distance from 0 where values are equal; the last steps are forecast from
    // nothing known.
    let one = quantiles(&*network, &panel(&[f32::NAN, 40.0, f32::NAN]), 512, &workers);
    assert!(one.iter().all(|y| y.is_finite()) && one.iter().any(|y| (y - 40.0).abs() < 40.0), "{one:?}");
    let none = quantiles(&*network, &panel(&[f32::NAN; 5]), 3, &workers);
    assert_eq!(none, [0.0; 27]);
}
