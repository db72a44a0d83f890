//! What cross-validation compares models with, and what is behind its figures.

use serde_json::Value;

use crate::test_directory::{SMALL, TestDirectory, rows};

/// A line upwards, on which the last value is a better forecast than that of a week before.
fn line() -> String {
    (0..200).fold("unique_id,ds,y\n".to_owned(), |csv, day| format!("{csv}line,{day},{}\n", 100 + day))
}

fn metrics(report: &str, model: &str) -> Value {
    let report: Value = serde_json::from_str(report).unwrap();
    let metrics = report["metrics"].as_array().unwrap();
    metrics.iter().find(|metrics| metrics["model"] == model).unwrap_or_else(|| panic!("{report}")).clone()
}

#[test]
fn both_naive_forecasts_stand_beside_the_models_whatever_the_season() {
    let dir = TestDirectory::new();
    dir.put("line.csv", &line());
    let validate =
        format!("cross-validate --data line.csv --model NLinear {SMALL} --n-windows 10 --log none");
    let mae = |line: &str, model: &str| metrics(&dir.ok(line), model)["mae"].as_f64().unwrap();
    let weekly = format!("{validate} --season 7 --json");
    // The mean of 1 to 7 steps, and 7 steps.
    assert_eq!((mae(&weekly, "Naive"), mae(&weekly, "SeasonalNaive")), (4.0, 7.0));
    // Integer times have no usual season, so that both are the same; the table says so.
    let plain = format!("{validate} --json");
    assert_eq!(mae(&plain, "Naive"), mae(&plain, "SeasonalNaive"));
    assert_eq!(mae(&plain, "Naive"), mae(&weekly, "Naive"));
    let table = dir.ok(&validate);
    assert!(table.contains("season:         1 (no other is usual for the frequency 1; --season"), "{table}");
    let table = dir.ok(&format!("{validate} --season 7"));
    assert!(table.ends_with("season:         7\n"), "{table}");

    let message = dir.fails(2, &format!("{validate} --set alias=Naive").replace("--log none", ""));
    assert!(message.contains("would be called Naive"), "{message}");
}

#[test]
fn the_series_and_windows_behind_each_figure_are_counted() {
    let dir = TestDirectory::new();
    // Of four series one is constant, one is shorter than a season before the last 21 days, and one is so short that
    // the first of three windows finds no row before it.
    let mut csv = "unique_id,ds,y\n".to_owned();
    for (id, rows) in [("constant", 100), ("long", 100), ("medium", 27), ("short", 17)] {
        for day in 100 - rows..100 {
            let y = if id == "constant" { 5.0 } else { (day as f64).sin() + 10.0 };
            csv += &format!("{id},{day},{y:.4}\n");
        }
    }
    dir.put("panel.csv", &csv);
    let validate = format!(
        "cross-validate --data panel.csv --model NLinear {SMALL} --n-windows 3 --season 7 --out cv.csv --log none"
    );
    let table = dir.ok(&validate);
    let notes = table.split_once("\n\n").unwrap().1;
    assert_eq!(
        notes,
        "windows scored: 11 of 12\n\
         series scored:  4 of 4\n\
         series in MASE: 1 of 4; the history of 3 is constant, or not longer than a season\n\
         season:         7\n"
    );
    assert_eq!(rows(&dir.read("cv.csv")).len(), 1 + 11 * 7);
    let found = metrics(&dir.ok(&format!("{validate} --json")), "SeasonalNaive");
    for (key, count) in [("scored_windows", 11), ("scored_series", 4), ("mase_series", 1)] {
        assert_eq!(found[key], count, "{key}: {found}");
    }
}
