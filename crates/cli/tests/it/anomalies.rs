//! `foretell anomalies`.

use serde_json::Value;

use crate::test_directory::{TestDirectory, rows, stderr};

/// A weekly pattern with a day that is far off.
fn put_sales(dir: &TestDirectory) {
    let mut csv = "unique_id,ds,y\n".to_owned();
    for day in 0..140 {
        let sales = if day == 130 { 30 } else { day % 7 + day % 3 };
        csv += &format!("shop,{day},{sales}\n");
    }
    dir.put("sales.csv", &csv);
}

#[test]
fn anomalies_are_found_by_models_that_are_trained_and_by_saved_ones() {
    let dir = TestDirectory::new();
    put_sales(&dir);
    let models =
        "--data sales.csv --freq 1 --model SeasonalNaive --set SeasonalNaive.season_length=7 --h 7 --quiet";
    let found: Value =
        serde_json::from_str(&dir.ok(&format!("anomalies {models} --n-windows 4 --json --out all.csv")))
            .unwrap();
    let days = |found: &Value| -> Vec<String> {
        found.as_array().unwrap().iter().map(|row| row["ds"].as_str().unwrap().to_owned()).collect()
    };
    // The day, and that of which it was the forecast.
    let mut of_validation = days(&found);
    of_validation.sort();
    assert_eq!(of_validation, ["130", "137"]);
    assert!(found.as_array().unwrap().iter().all(|row| row["score"].as_f64().unwrap() > 1.0));
    let all = dir.read("all.csv");
    let all = rows(&all);
    assert_eq!(all.len(), 1 + 4 * 7);
    assert_eq!(all[0][3..6], ["y", "SeasonalNaive", "SeasonalNaive-lo"]);

    dir.ok(&format!("fit {models} --out model"));
    let saved: Value = serde_json::from_str(
        &dir.ok("anomalies --data sales.csv --from model --only --out few.csv --json --quiet"),
    )
    .unwrap();
    let mut of_saved = days(&saved);
    of_saved.sort();
    assert_eq!(of_saved, ["130", "137"]);
    assert_eq!(rows(&dir.read("few.csv")).len(), 1 + 2);
    let told = dir.ok("anomalies --data sales.csv --from model --quiet");
    assert!(told.starts_with("SeasonalNaive: 2 of "), "{told}");
    // A series of small values keeps its digits beside one of large ones.
    let sales = dir.read("sales.csv");
    let small =
        rows(&sales)[1..].iter().map(|row| format!("grains,{},{}e-8\n", row[1], row[2])).collect::<String>();
    dir.put("both.csv", &(sales + &small));
    let told = dir.ok("anomalies --data both.csv --from model --quiet");
    assert!(told.contains("  30.00") && told.contains("  3.000e-7"), "{told}");
    let message = dir.fails(2, "anomalies --data sales.csv --from model --quiet --level 100");
    assert!(message.contains("a level is a percentage"), "{message}");
}

#[test]
fn series_that_no_forecast_of_the_history_fits_in_are_left_out_on_request() {
    let dir = TestDirectory::new();
    put_sales(&dir);
    let sales = dir.read("sales.csv");
    dir.ok(
        "fit --data sales.csv --freq 1 --model SeasonalNaive --set season_length=7 --h 7 --out model --quiet",
    );
    let alone = dir.ok("anomalies --data sales.csv --from model --quiet");
    let short =
        |rows: usize| (0..rows).map(|day| format!("new,{},5\n", 140 - rows + day)).collect::<String>();
    for command in ["anomalies --from model", "predict --model model --insample"] {
        dir.put("both.csv", &(sales.clone() + &short(7)));
        let line = format!("{command} --data both.csv");
        if command.starts_with("predict") {
            let message = dir.fails(1, &format!("{line} --strict"));
            assert!(message.contains("needs 8 rows, more than series new, which has 7 rows"), "{message}");
            assert!(message.contains("leave such series out (`--drop-short`)"), "{message}");
        }
        let output = dir.run(&format!("{line} --drop-short"));
        let told = stderr(&output);
        assert!(
            output.status.success() && told.contains("left out 1 series of fewer than 8 rows: new (7)"),
            "{told}"
        );
        if command.starts_with("anomalies") {
            assert_eq!(String::from_utf8(output.stdout).unwrap(), alone);
        }
        // A row more is enough.
        dir.put("both.csv", &(sales.clone() + &short(8)));
        dir.ok(&line);
    }
}

#[test]
fn the_automatic_forecast_marks_no_more_than_its_level_says() {
    let dir = TestDirectory::new();
    // Numbers that look random: sums of four uniform ones, which are nearly normal.
    let mut state = 5_u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1_u64 << 31) as f64
    };
    let mut csv = "unique_id,ds,y\n".to_owned();
    for series in 0..6 {
        for day in 0..150 {
            let noise: f64 = (0..4).map(|_| uniform() - 0.5).sum();
            let sales = if day == 100 { 300.0 } else { 50.0 + 3.0 * f64::from(day % 7) + 4.0 * noise };
            csv += &format!("s{series},{day},{sales:.3}\n");
        }
    }
    dir.put("noisy.csv", &csv);
    dir.ok("forecast --data noisy.csv --freq 1 --h 7 --save model --out f.csv --quiet");
    let counts = |level: u32| -> [usize; 2] {
        let told = dir.ok(&format!("anomalies --data noisy.csv --from model --level {level} --quiet"));
        let words: Vec<&str> = told.split_whitespace().collect();
        [words[1], words[3]].map(|word| word.parse().unwrap())
    };
    let [found, of] = counts(99);
    // Six are no chance, and each may move the forecasts that follow it.
    assert!((6..=12 + of / 100).contains(&found), "{found} of {of}");
    let [at_80, _] = counts(80);
    assert!(at_80 > found, "{at_80}");
    // What is not known from the first rows is not judged.
    assert!(of <= 6 * (150 - 4), "{of}");
    // Of few values no interval of 99 % can be told.
    let short: String = csv
        .lines()
        .filter(|line| !line.starts_with('s') || line.starts_with("s0,"))
        .take(31)
        .map(|line| format!("{line}\n"))
        .collect();
    dir.put("short.csv", &short);
    dir.ok("forecast --data short.csv --freq 1 --h 3 --save few --out g.csv --quiet");
    let output = dir.run("anomalies --data short.csv --from few");
    let told = stderr(&output);
    assert!(
        output.status.success() && told.contains("is wider than the") && told.contains("lower --level"),
        "{told}"
    );
    let output = dir.run("anomalies --data short.csv --from few --level 80");
    assert!(!stderr(&output).contains("is wider than"), "{}", stderr(&output));
}
