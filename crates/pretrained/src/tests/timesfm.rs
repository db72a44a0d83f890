//! TimesFM 2.5: quantiles are those of the package `timesfm`; `compare/pretrained.py` wrote them.

use foretell_estimator::Workers;

use crate::load_folder;

use super::packages::{check_independence, compare, compare_original, fixtures, panel, quantiles};

const FIXTURE: &str = include_str!("../../tests/fixtures/timesfm.json");

/// Horizons are of one to three passes.
#[test]
fn a_small_network_forecasts_as_the_package() {
    let (count, off) = compare(FIXTURE, &fixtures().join("timesfm"), "tiny");
    assert_eq!(count, 100);
    eprintln!("TimesFM 2.5: {count} series, off by {off:.2e} at most");
}

/// Weights of the original's sizes are not in the repository: `compare/pretrained.py --timesfm DIR` makes some, and forecasts of them.
#[test]
fn one_of_the_sizes_of_the_original_forecasts_as_the_package() {
    compare_original("FORETELL_TIMESFM");
}

#[test]
fn neither_threads_nor_much_of_other_series_change_a_forecast() {
    check_independence("timesfm", [9, 1], 1e-4);
}

#[test]
fn mirror_images_have_mirrored_forecasts_and_counts_none_below_zero() {
    let network = load_folder(&fixtures().join("timesfm")).expect("sound").expect("a network");
    let workers = Workers::new(1).expect("a thread");
    let y: Vec<f32> = (0..70).map(|t| ((t * 5) % 9) as f32 - 4.0).collect();
    let of = |y: &[f32]| quantiles(&*network, &panel(y), 12, &workers);
    let (own, mirrored) = (of(&y), of(&y.iter().map(|y| -y).collect::<Vec<f32>>()));
    for (own, mirrored) in own.chunks_exact(9).zip(mirrored.chunks_exact(9)) {
        let off = own.iter().zip(mirrored.iter().rev()).map(|(a, b)| (a + b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-4, "off by {off}");
    }
    assert!(own.iter().any(|y| *y < -4.0), "untrained quantiles leave the range");
    let counts: Vec<f32> = y.iter().map(|y| y + 4.0).collect();
    let found = of(&counts);
    assert!(found.iter().all(|y| *y >= 0.0) && found.contains(&0.0), "{found:?}");
    // One known value is forecast as itself; more steps than a context has start from what was forecast.
    let one = quantiles(&*network, &panel(&[f32::NAN, 40.0, f32::NAN]), 1200, &workers);
    assert_eq!(one.len(), 1200 * 9);
    assert!(one.iter().all(|y| (y - 40.0).abs() < 1e-3), "{one:?}");
}
