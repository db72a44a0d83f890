//! Series that are too short, and rows that there are too many of.

use serde_json::Value;

use crate::test_directory::{LONG, SMALL, TestDirectory, date, long_csv, rows, stderr, wave};

/// `north` with 120 rows, `south` with this many.
fn put_short(dir: &TestDirectory, rows: usize) -> String {
    dir.put("short.csv", &long_csv().lines().take(1 + 120 + rows).collect::<Vec<_>>().join("\n"));
    LONG.replace("long", "short")
}

#[test]
fn series_that_are_too_short_are_left_out_on_request_and_listed() {
    let dir = TestDirectory::new();
    let data = put_short(&dir, 20);
    // Of 20 rows 14 are the input, and 7 are held out.
    let fit = format!("fit {data} --model NLinear {SMALL} --val-size 7 --out model");
    let message = dir.fails(1, &fit);
    assert!(
        message.contains("series `south` has 13 rows") && message.contains("`--drop-short`"),
        "{message}"
    );
    let output = dir.run(&format!("{fit} --drop-short"));
    assert!(output.status.success(), "{}", stderr(&output));
    let messages = stderr(&output);
    assert!(messages.contains("left out 1 series of fewer than 21 rows: south (20)\n"), "{messages}");
    let output = dir.run(&format!("{fit} --drop-short --overwrite --log json"));
    let dropped = stderr(&output);
    let dropped = dropped.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let dropped = dropped.filter(|event| event["event"] == "dropped").collect::<Vec<_>>();
    let series = serde_json::json!([{ "unique_id": "south", "rows": 20 }]);
    assert_eq!((dropped.len(), &dropped[0]["rows_needed"], &dropped[0]["series"]), (1, &21.into(), &series));
    // What is long enough is not left out.
    let data = put_short(&dir, 21);
    let messages = stderr(
        &dir.run(&format!("fit {data} --model NLinear {SMALL} --val-size 7 --out other --drop-short")),
    );
    assert!(!messages.contains("left out"), "{messages}");

    let message =
        dir.fails(1, &format!("fit {LONG} --model NLinear --h 7 --input-size 200 --out x --drop-short"));
    assert!(
        message.contains("leave out every series: 200 rows are needed, and the longest has 120"),
        "{message}"
    );
}

#[test]
fn what_else_is_held_out_counts_too() {
    let dir = TestDirectory::new();
    let kept = |rows: usize, line: &str| {
        let data = put_short(&dir, rows);
        let messages = stderr(&dir.run(&format!("{line} {data} {SMALL} --drop-short")));
        assert!(!messages.contains("error"), "{messages}");
        !messages.contains("left out")
    };
    for (line, needed) in [
        // The input of a model that forecasts step by step has a step more.
        ("fit --out model --overwrite --model NLinear", 14),
        ("fit --out model --overwrite --model GRU --set encoder_hidden_size=4 --set recurrent=true", 15),
        // 7 + 4 steps to calibrate on, and a row before.
        ("fit --out model --overwrite --model NLinear --intervals 5", 14),
        ("fit --out model --overwrite --model NLinear --intervals 10", 17),
        ("cross-validate --model NLinear --n-windows 3", 14 + 21),
        ("cross-validate --model NLinear --n-windows 3 --step-size 2 --refit", 14 + 11),
        ("cross-validate --model NLinear --n-windows 2 --intervals 10 --level 80", 17 + 14),
        ("cross-validate --model NLinear --n-windows 2 --set start_padding_enabled=true", 1 + 14),
    ] {
        assert!(kept(needed, line) && !kept(needed - 1, line), "{line}: {needed} rows are needed");
    }
}

/// As in neuralforecast: `input_size` rows are enough for a series, but one of them must have rows to learn to forecast: one
/// to begin with, and one for each step that the model learns.
#[test]
fn one_series_needs_rows_after_the_input() {
    let dir = TestDirectory::new();
    for (models, padded, least, steps) in [
        ("NLinear", false, 14, 7),
        ("NLinear", true, 1, 7),
        ("GRU --set encoder_hidden_size=4 --set recurrent=true", false, 15, 1),
        ("GRU --set encoder_hidden_size=4 --set recurrent=true", true, 1, 1),
    ] {
        let fit = |rows: usize, others: usize| {
            let series = |id: &str, rows: usize| -> String {
                (0..rows).map(|day| format!("{id},{day},{}\n", wave(day, 0.0))).collect()
            };
            dir.put("few.csv", &format!("unique_id,ds,y\n{}{}", series("a", rows), series("b", others)));
            format!(
                "fit --data few.csv --freq 1 --model {models} {SMALL} --set start_padding_enabled={padded} --out model \
                 --overwrite --log none"
            )
        };
        dir.ok(&fit(least + steps, least));
        if steps > 1 {
            let message = dir.fails(1, &fit(least + steps - 1, least));
            let found = "shows the truth of 1 of the h = 7 steps";
            assert!(message.contains(found) && message.contains("lower h to 6"), "{models}: {message}");
        }
        let message = dir.fails(1, &fit(least, least));
        let found = format!(
            "needs {least} rows of input and 1 after them to learn to forecast, and the longest series has {least} "
        );
        assert!(message.contains(&found), "{models}: {message}");
        assert_eq!(message.contains("start_padding_enabled"), !padded, "{models}: {message}");
        assert!(!message.contains("threshold") && !message.contains("val_size"), "{models}: {message}");
    }
    let padded = "--set start_padding_enabled=true --val-size 20";
    dir.put("few.csv", &long_csv().lines().take(1 + 120 + 20).collect::<Vec<_>>().join("\n"));
    let message = dir
        .fails(1, &format!("fit {} --model NLinear {SMALL} {padded} --out x", LONG.replace("long", "few")));
    let found = "`south` has 0 rows to train on (20 held out), but start_padding_enabled needs 1; lower val_size, or leave out";
    assert!(message.contains(found), "{message}");
}

#[test]
fn the_history_is_forecast_from_its_first_row_on() {
    let dir = TestDirectory::new();
    let mut csv = "unique_id,ds,y\n".to_owned();
    (0..63).for_each(|day| csv += &format!("a,{},{}\n", date(day), 100 + day % 7));
    dir.put("far.csv", &csv);
    dir.ok(&format!("fit --data far.csv --model NLinear {SMALL} --out model --log none"));
    let predict = "predict --model model --data far.csv --insample --step-size 7";
    let known = dir.ok(predict);
    assert_eq!(rows(&known)[1][..3], ["a", "2024-01-08", "2024-01-07"]);
    // Levels and quantiles of the history are those of the intervals that any forecast has.
    let levels = dir.ok(&format!("{predict} --level 80 --intervals 4"));
    let levels = rows(&levels);
    assert_eq!(levels[0][4..], ["NLinear", "NLinear-lo-80", "NLinear-hi-80"]);
    assert_eq!(levels.len(), rows(&known).len());
    for (row, known) in levels[1..].iter().zip(&rows(&known)[1..]) {
        let [middle, low, high] = [4, 5, 6].map(|column| row[column].parse::<f32>().unwrap());
        assert!(row[..5] == known[..5] && low <= middle && middle <= high && low < high, "{row:?}");
    }
    let quantiles = dir.ok(&format!("{predict} --quantiles 0.1,0.9 --intervals 4"));
    assert_eq!(rows(&quantiles)[0][4..], ["NLinear", "NLinear-ql0.1", "NLinear-ql0.9"]);
    let padded = dir.ok(&format!("{predict} --from-padding"));
    assert_eq!(rows(&padded)[1][..3], ["a", "2024-01-01", "2023-12-31"]);
    assert_eq!(rows(&padded)[8..], rows(&known)[1..]);
    let forecast: f64 = rows(&padded)[1][4].parse().unwrap();
    assert!(forecast.abs() < 20.0, "of series around 100, from nothing but zeros: {forecast}");
    assert_eq!(dir.run("predict --model model --data far.csv --from-padding").status.code(), Some(2));

    // It does not decide what a plot shows.
    dir.put("padded.csv", &padded);
    dir.put("known.csv", &known);
    let axis = |file: &str| {
        let svg = dir.ok(&format!("plot --data far.csv --forecast {file} --out -"));
        svg.lines().map(str::trim).filter_map(|line| line.parse::<f64>().ok()).fold(f64::INFINITY, f64::min)
    };
    assert_eq!(axis("padded.csv"), axis("known.csv"));
}

#[test]
fn future_rows_that_no_forecast_needs_are_ignored_with_a_line() {
    let dir = TestDirectory::new();
    let future = |days: std::ops::Range<usize>| {
        let mut csv = "shop,day,price\n".to_owned();
        for id in ["north", "south"] {
            days.clone().for_each(|day| csv += &format!("{id},{},{}\n", date(day), day % 3));
        }
        csv
    };
    dir.put("exact.csv", &future(120..127));
    dir.put("year.csv", &future(100..200));
    let models =
        format!("--model MLP {SMALL} --set hidden_size=4 --futr-exog price --set scaler_type=standard");
    dir.ok(&format!("fit {LONG} {models} --out model --log none"));
    let predict = |file: &str| dir.run(&format!("predict --model model --data long.csv --futr {file}"));
    let (exact, year) = (predict("exact.csv"), predict("year.csv"));
    assert!(year.status.success(), "{}", stderr(&year));
    assert_eq!((&exact.stdout, stderr(&exact)), (&year.stdout, String::new()));
    let expected = "read year.csv: rows that no forecast needs, and that are ignored: 186\n";
    assert_eq!(stderr(&year), expected);
}

#[test]
fn a_training_that_diverges_is_an_error_with_its_step() {
    let dir = TestDirectory::new();
    let fit = format!("fit {LONG} --model MLP {SMALL} --set hidden_size=4 --out model");
    for settings in
        ["--set max_steps=50 --set learning_rate=1e30", "--set max_steps=1 --set learning_rate=1e39"]
    {
        let message = dir.fails(1, &format!("{fit} {settings} --log none"));
        assert!(
            message.contains(" step ") && message.contains("lower learning_rate"),
            "{settings}: {message}"
        );
    }
    assert!(!dir.path("model").exists());
    let bench = "bench --model MLP --h 4 --input-size 8 --batch 8 --threads 1 --set hidden_size=8 --set";
    let message = dir.fails(1, &format!("{bench} learning_rate=1e20"));
    assert!(message.contains("MLP: the loss is") && message.contains("lower learning_rate"), "{message}");
}

#[test]
fn weights_of_nothing_but_zeros_are_an_error() {
    let dir = TestDirectory::new();
    let weigh = |of: &dyn Fn(usize) -> u8| {
        let mut csv = "unique_id,ds,y,sample_weight\n".to_owned();
        (0..60).for_each(|day| csv += &format!("a,{},{},{}\n", date(day), day % 7, of(day)));
        dir.put("weights.csv", &csv);
    };
    let fit = format!("fit --data weights.csv --model NLinear {SMALL} --log none --out model --overwrite");
    weigh(&|_| 0);
    assert!(dir.fails(1, &fit).contains("sample_weight is 0 in every row"));
    // The first rows are input only.
    weigh(&|day| u8::from(day < 14));
    assert!(dir.fails(1, &fit).contains("sample_weight is 0 in every row"));
    weigh(&|day| u8::from(day == 59));
    dir.ok(&fit);
}
