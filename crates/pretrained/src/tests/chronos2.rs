//! Chronos-2: quantiles are those of the package `chronos-forecasting`; `compare/pretrained.py` wrote them.

use std::path::{Path, PathBuf};

use foretell_data::{Future, Panel, Span, Vocabulary};
use foretell_estimator::{
    Asked, ColumnKind, Estimator, EstimatorError, HeldOut, Run, Trained, Verdict, Workers,
};
use serde_json::{Value, json};

use super::packages::{
    check_independence, compare_cases, fixtures, panel, panel_beside, quantiles, quantiles_at, series,
};
use crate::{load_folder, of_folder};

const FIXTURE: &str = include_str!("../../tests/fixtures/chronos2.json");

fn levels() -> Vec<f64> {
    let twentieths = (1..20).map(|i| f64::from(i) / 20.0);
    std::iter::once(0.01).chain(twentieths).chain([0.99]).collect()
}

/// A network that reads these columns.
fn reading(folder: &Path, hist: &[String], futr: &[String], y: &Panel) -> Box<dyn Trained> {
    let mut estimator = of_folder(folder, 1).expect("a folder of a network");
    assert_eq!(estimator.needs().can_read, [ColumnKind::Hist, ColumnKind::Futr]);
    estimator.set("hist_exog_list", json!(hist)).expect("columns of the past");
    estimator.set("futr_exog_list", json!(futr)).expect("columns known ahead");
    estimator.check().expect("columns that it reads");
    fit(&*estimator, y).expect("weights")
}

fn fit(estimator: &dyn Estimator, y: &Panel) -> Result<Box<dyn Trained>, EstimatorError> {
    let (workers, vocabulary) = (Workers::new(1).expect("a thread"), Vocabulary::new());
    let listen = &mut |_: &_| Verdict::Continue;
    estimator.fit(y, HeldOut::default(), Run::alone(&workers, &vocabulary, listen))
}

/// Quantiles of a case beside its columns.
fn beside(folder: &Path, case: &Value, y: &[f32], h: usize) -> Vec<f64> {
    let columns = case["columns"].as_array().expect("columns");
    let names: Vec<String> = (0..columns.len()).map(|i| format!("x{i}")).collect();
    let values: Vec<Vec<f32>> = columns.iter().map(series).collect();
    let is_known = |i: &usize| columns[*i]["known"] == json!(true);
    let [hist, futr] = [false, true].map(|known| {
        let of = (0..columns.len()).filter(|i| is_known(i) == known);
        of.map(|i| names[i].clone()).collect::<Vec<String>>()
    });
    let past: Vec<(String, &[f32])> =
        names.iter().zip(&values).map(|(name, values)| (name.clone(), &values[..y.len()])).collect();
    let panel = panel_beside(y, &past);
    let known = names.iter().zip(&values).enumerate().filter(|(i, _)| is_known(i));
    let ahead: Vec<(&str, &[f32])> =
        known.map(|(_, (name, values))| (&name[..], &values[y.len()..])).collect();
    let future = Future::new(&panel, h, &ahead).expect("columns ahead");
    let network = reading(folder, &hist, &futr, &panel);
    let workers = Workers::new(1).expect("a thread");
    quantiles_at(&levels(), &*network, (&panel, Some(&future)), h, &workers)
}

fn compare(fixture: &str, folder: &Path) -> [(usize, f64); 2] {
    let network = load_folder(folder).expect("a sound folder").expect("a folder of a network");
    let workers = Workers::new(2).expect("threads");
    let alone = compare_cases(fixture, "cases", "tiny", 21, |_, y, h| {
        quantiles_at(&levels(), &*network, (&panel(y), None), h, &workers)
    });
    let columns = compare_cases(fixture, "columns", "tiny", 21, |case, y, h| beside(folder, case, y, h));
    [alone, columns]
}

/// Its matrices are brain floats, the other tensors 32-bit floats; horizons are of one to three passes.
#[test]
fn a_small_network_forecasts_as_the_package() {
    let [(alone, off), (columns, off_beside)] = compare(FIXTURE, &fixtures().join("chronos2"));
    assert_eq!([alone, columns], [100, 20]);
    eprintln!(
        "Chronos-2: {alone} series, off by {off:.2e} at most; {columns} with columns by {off_beside:.2e}"
    );
}

/// Weights of the original's sizes are not in the repository: `compare/pretrained.py --chronos-2 DIR` makes some, and forecasts of them.
#[test]
fn one_of_the_sizes_of_the_original_forecasts_as_the_package() {
    let Some(folder) = std::env::var_os("FORETELL_CHRONOS_2").map(PathBuf::from) else {
        eprintln!("skipped: FORETELL_CHRONOS_2 names no folder with a fixture beside it");
        return;
    };
    let fixture = std::fs::read_to_string(folder.with_extension("json")).expect("a fixture");
    let [(alone, off), (columns, off_beside)] = compare(&fixture, &folder);
    assert_eq!([alone, columns], [12, 12]);
    eprintln!(
        "Chronos-2: {alone} series, off by {off:.2e} at most; {columns} with columns by {off_beside:.2e}"
    );
}

#[test]
fn neither_threads_nor_much_of_other_series_change_a_forecast() {
    check_independence("chronos2", [19, 6], 1e-3);
}

#[test]
fn any_known_value_suffices() {
    let network = load_folder(&fixtures().join("chronos2")).expect("sound").expect("a network");
    let workers = Workers::new(1).expect("a thread");
    let one = quantiles(&*network, &panel(&[f32::NAN, 40.0, f32::NAN]), 3, &workers);
    // A constant series is itself, but for the least range.
    assert!(one.iter().all(|y| (y - 40.0).abs() < 1e-2), "{one:?}");
    let none = quantiles(&*network, &panel(&[f32::NAN; 5]), 3, &workers);
    assert_eq!(none, [0.0; 27]);
}

#[test]
fn columns_of_networks_that_read_none_are_refused() {
    let mut bolt = of_folder(&fixtures().join("bolt"), 3).expect("a folder of a network");
    assert!(bolt.needs().can_read.is_empty());
    bolt.check().expect("no columns");
    bolt.set("futr_exog_list", json!(["price"])).expect("a list of names");
    let told = bolt.check().expect_err("it reads none").to_string();
    assert!(told.contains("futr_exog_list must be an empty list") && told.contains("price"), "{told}");
    let workers = Workers::new(1).expect("a thread");
    let y = panel(&[1.0; 9]);
    fit(&*bolt, &y).expect_err("it reads none");
    // A column that the panel lacks, or that is not known ahead.
    let folder = fixtures().join("chronos2");
    let network = reading(&folder, &["price".to_owned()], &[], &y);
    let asked = Asked { span: Span::Predict { future: None }, h: 3, quantiles: None };
    network.forecast(&y, &asked, &workers).expect_err("there is no such column");
    let y = panel_beside(&[1.0; 9], &[("price".to_owned(), &[2.0; 9])]);
    network.forecast(&y, &asked, &workers).expect("there is one");
    let network = reading(&folder, &[], &["price".to_owned()], &y);
    let told = network.forecast(&y, &asked, &workers).expect_err("it is not known ahead").to_string();
    assert!(told.contains("price"), "{told}");
}
