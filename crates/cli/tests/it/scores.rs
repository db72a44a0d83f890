//! The baselines of cross-validation, and the notes on its figures.

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
    assert!(message.contains("models of two kinds, NLinear and Naive, have the alias Naive"), "{message}");
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

#[cfg(feature = "amp")]
#[test]
fn weights_in_fewer_bits_are_scored_beside_f32_and_forecast_nearly_the_same() {
    use crate::test_directory::LONG;

    let dir = TestDirectory::new();
    dir.ok(&format!(
        "fit {LONG} --model NLinear,MLP {SMALL} --set MLP.hidden_size=64 --set scaler_type=standard --out model --log none"
    ));
    let quantise = "quantise model --data long.csv --n-windows 3 --step-size 7 --log none";
    let report: Value = serde_json::from_str(&dir.ok(&format!("{quantise} --json"))).unwrap();
    assert_eq!((&report["n_windows"], &report["h"], &report["season"]), (&3.into(), &7.into(), &7.into()));
    let scores = report["scores"].as_array().unwrap();
    let named: Vec<_> =
        scores.iter().map(|score| (score["model"].as_str(), score["precision"].as_str())).collect();
    let expected = ["NLinear", "MLP"]
        .into_iter()
        .flat_map(|model| ["f32", "bf16", "int8"].map(|precision| (Some(model), Some(precision))));
    assert_eq!(named, expected.collect::<Vec<_>>());
    let bytes = |place: usize| scores[place]["weight_bytes"].as_u64().unwrap();
    assert!(bytes(5) < bytes(4) && bytes(4) < bytes(3), "{report}");
    assert!(
        scores.iter().all(|score| score["scored_windows"] == 6 && score["forecast_us"].as_f64() > Some(0.0))
    );

    let table = dir.ok(&format!("{quantise} --precision int8"));
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].starts_with("model") && lines[0].ends_with("µs per forecast"), "{table}");
    assert_eq!(lines.len(), 5);

    let forecast = |flags: &str| dir.ok(&format!("predict --model model --data long.csv --log none {flags}"));
    let (wide, narrow) = (forecast(""), forecast("--precision int8"));
    assert_eq!(forecast("--precision f32"), wide);
    let column =
        |text: &str| -> Vec<f64> { rows(text)[1..].iter().map(|row| row[3].parse().unwrap()).collect() };
    let off = column(&wide).iter().zip(column(&narrow)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(off > 0.0 && off < 0.1, "off by {off}");
    let message = dir.fails(2, "predict --model model --data long.csv --precision fp4");
    assert!(message.contains("[possible values: f32, bf16, int8]"), "{message}");
}
