//! Fracast: quantiles are those of the package `fracast`; `compare/pretrained.py` wrote them.

use std::path::PathBuf;

use foretell_estimator::Workers;

use super::packages::{check_independence, compare, fixtures, panel, quantiles};
use crate::load_folder;

const FIXTURE: &str = include_str!("../../tests/fixtures/fracast.json");

#[test]
fn a_small_network_forecasts_as_the_package() {
    assert_eq!(compare(FIXTURE, &fixtures().join("fracast"), "tiny").0, 100);
    assert_eq!(compare(FIXTURE, &fixtures().join("fracast-int8"), "tiny_int8").0, 10);
}

/// The weights are not in the repository: `compare/pretrained.py --weights DIR` copies them from the package.
#[test]
fn fracast_0_forecasts_as_the_package() {
    let Some(weights) = std::env::var_os("FORETELL_PRETRAINED").map(PathBuf::from) else {
        eprintln!("skipped: FORETELL_PRETRAINED names no folder with fracast/");
        return;
    };
    let (count, off) = compare(FIXTURE, &weights.join("fracast"), "fracast_0");
    assert_eq!(count, 100);
    eprintln!("Fracast-0: {count} series, off by {off:.2e} at most");
    let int8 = tempfile::tempdir().expect("a folder");
    for file in ["config.json", "model.int8.safetensors"] {
        std::fs::copy(weights.join("fracast").join(file), int8.path().join(file)).expect("a copy");
    }
    assert_eq!(compare(FIXTURE, int8.path(), "fracast_0_int8").0, 10);
}

#[test]
fn neither_threads_nor_other_series_change_a_bit_of_a_forecast() {
    check_independence("fracast", [5, 1], f64::MIN_POSITIVE);
}

#[test]
fn a_series_of_few_values_is_forecast_by_its_last_one() {
    let network = load_folder(&fixtures().join("fracast")).expect("sound").expect("a network");
    let y = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
    let short = panel(&y);
    let workers = Workers::new(1).expect("a thread");
    assert!(quantiles(&*network, &short, 3, &workers).iter().all(|y| *y == 7.0));
    let told = network.estimator().fallbacks(&short);
    assert!(told.len() == 1 && told[0].1.reason == "fewer than 8 values", "{told:?}");
    assert!(network.estimator().fallbacks(&panel(&[y, y].concat())).is_empty());
}
