//! Values whose steps single precision would lose, from file to file.

use crate::test_directory::{TestDirectory, rows};

/// A flag about 20000000, a meter about 1e9 and a series next to zero, 60 rows each.
fn put_readings(dir: &TestDirectory) {
    let mut csv = "unique_id,ds,y\n".to_owned();
    for t in 0..60 {
        csv += &format!(
            "flag,{t},{}\nmeter,{t},{}\ntiny,{t},{t}e-30\n",
            20_000_000 + t % 2,
            1_000_000_000 + 3 * t
        );
    }
    dir.put("readings.csv", &csv);
}

/// The values of a column of a series.
fn values(text: &str, column: &str, id: &str) -> Vec<f64> {
    let rows = rows(text);
    let place = rows[0].iter().position(|name| *name == column).unwrap();
    rows[1..].iter().filter(|row| row[0] == id).map(|row| row[place].parse().unwrap()).collect()
}

#[test]
fn large_and_tiny_values_keep_their_steps_from_file_to_file() {
    let dir = TestDirectory::new();
    put_readings(&dir);
    let models = "--model SeasonalNaive --set SeasonalNaive.season_length=2 --model AutoETS --model NLinear \
                  --set NLinear.max_steps=10 --h 4 --input-size 8";
    let told = dir.run(&format!("fit --data readings.csv --freq 1 {models} --out model"));
    let told = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(!told.contains("single precision"), "{told}");
    dir.ok("predict --model model --data readings.csv --out forecast.csv --quiet");
    let text = dir.read("forecast.csv");
    assert_eq!(values(&text, "SeasonalNaive", "flag"), [2e7, 20_000_001.0, 2e7, 20_000_001.0]);
    assert_eq!(values(&text, "SeasonalNaive", "meter")[..2], [1e9 + 174.0, 1e9 + 177.0]);
    for (step, value) in values(&text, "AutoETS", "meter").iter().enumerate() {
        assert!((value - (1e9 + 180.0 + 3.0 * step as f64)).abs() < 0.5, "{text}");
    }
    assert!(values(&text, "NLinear", "flag").iter().all(|value| (value - 2e7).abs() < 5.0), "{text}");
    assert!(values(&text, "SeasonalNaive", "tiny").iter().all(|value| (value / 5.85e-29 - 1.0).abs() < 0.01));

    dir.ok(&format!("cross-validate --data readings.csv --freq 1 {models} --out scored.csv --quiet"));
    let text = dir.read("scored.csv");
    assert_eq!(values(&text, "y", "meter"), [1e9 + 168.0, 1e9 + 171.0, 1e9 + 174.0, 1e9 + 177.0]);
    assert_eq!(values(&text, "y", "flag"), [2e7, 20_000_001.0, 2e7, 20_000_001.0]);
}

#[cfg(feature = "parquet")]
#[test]
fn forecasts_go_to_parquet_with_all_digits() {
    let dir = TestDirectory::new();
    put_readings(&dir);
    let model = "--freq 1 --model SeasonalNaive --set SeasonalNaive.season_length=2 --h 4 --quiet";
    dir.ok(&format!("fit --data readings.csv {model} --out model"));
    dir.ok("predict --model model --data readings.csv --out forecast.parquet --quiet");
    // They are data of their own: read as values, and forecast again.
    let again = "--data forecast.parquet --target-col SeasonalNaive --freq 1 --model Naive --h 4 --quiet";
    dir.ok(&format!("fit {again} --out again"));
    dir.ok("predict --model again --data forecast.parquet --out again.csv --quiet");
    let text = dir.read("again.csv");
    assert_eq!(values(&text, "Naive", "flag"), [20_000_001.0; 4]);
    assert_eq!(values(&text, "Naive", "meter"), [1e9 + 177.0; 4]);
}
