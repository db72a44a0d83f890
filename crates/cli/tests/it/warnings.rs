//! Warnings: what may make results worth less than they look.

use serde_json::Value;

use crate::test_directory::{LONG, SMALL, TestDirectory, date, long_csv, stderr, wave};

/// The messages of the warnings of a command that succeeds, as its JSON log has them.
fn warnings(dir: &TestDirectory, line: &str) -> Vec<String> {
    let output = dir.run(&format!("{line} --log json"));
    assert!(output.status.success(), "{line}: {}", stderr(&output));
    let events = stderr(&output);
    let events = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    events
        .filter(|event| event["event"] == "warning")
        .map(|event| event["message"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn series_that_fit_refuses_are_forecast_with_a_warning() {
    let dir = TestDirectory::new();
    dir.ok(&format!("fit {LONG} --model NLinear,DLinear {SMALL} --out model --log none"));
    dir.put("short.csv", &long_csv().lines().take(1 + 120 + 9).collect::<Vec<_>>().join("\n"));
    let predict = "predict --model model --out forecast.csv --data";
    let messages = warnings(&dir, &format!("{predict} short.csv"));
    assert_eq!(messages.len(), 1, "{messages:?}");
    for part in ["input_size = 14", "south (9 rows)", "NLinear, DLinear read zeros"] {
        assert!(messages[0].contains(part), "{part}: {messages:?}");
    }
    let text = stderr(&dir.run(&format!("{predict} short.csv")));
    assert!(text.lines().any(|line| line == format!("warning: {}", messages[0])), "{text}");
    assert!(warnings(&dir, &format!("{predict} long.csv")).is_empty());

    // Models that were trained on padding know it.
    let padded = "--set start_padding_enabled=true";
    dir.ok(&format!("fit {LONG} --model NLinear {SMALL} {padded} --out model --overwrite --log none"));
    assert!(warnings(&dir, &format!("{predict} short.csv")).is_empty());
}

#[test]
fn levels_that_few_windows_cannot_support_are_warned_of_before_they_are_trusted() {
    let dir = TestDirectory::new();
    let models = format!("--model NLinear {SMALL} --set scaler_type=standard");
    let validate = format!("cross-validate {LONG} {models} --n-windows 2 --out cv.csv --level 80,95");
    let messages = warnings(&dir, &format!("{validate} --intervals 2"));
    assert_eq!(messages.len(), 1, "{messages:?}");
    for part in ["calibrated on 2 windows hold about 67 %", "80 % needs 4, 95 % needs 19", "`--intervals N`"]
    {
        assert!(messages[0].contains(part), "{part}: {messages:?}");
    }
    assert!(warnings(&dir, &format!("{validate} --intervals 5"))[0].contains("most: 95 % needs 19;"));
    assert!(warnings(&dir, &format!("{validate} --intervals 19")).is_empty());

    dir.ok(&format!("fit {LONG} {models} --out model --log none --intervals 4"));
    let predict = "predict --model model --data long.csv --out forecast.csv";
    assert!(warnings(&dir, &format!("{predict} --level 80")).is_empty());
    assert!(warnings(&dir, &format!("{predict} --level 90"))[0].contains("90 % needs 9"));
    assert!(warnings(&dir, &format!("{predict} --level 95 --intervals 19")).is_empty());
    assert!(warnings(&dir, predict).is_empty());
}

#[test]
fn forecasts_that_are_no_numbers_are_written_and_counted() {
    let dir = TestDirectory::new();
    dir.ok(&format!("fit {LONG} --model NLinear,MLP {SMALL} --set MLP.hidden_size=4 --out model --log none"));
    // From the largest single precision number down to the smallest is further than there are numbers.
    let huge = |row: usize| if row == 13 { "-3.4e38" } else { "3.4e38" };
    let series = |id: &str, y: &dyn Fn(usize) -> String| -> String {
        (0..14).map(|row| format!("{id},2024-01-{:02},{}\n", row + 1, y(row))).collect()
    };
    let huge = series("huge", &|row| huge(row).to_owned());
    dir.put("huge.csv", &format!("shop,day,sales\n{huge}{}", series("usual", &|row| row.to_string())));
    let messages = warnings(&dir, "predict --model model --data huge.csv --out forecast.csv");
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(messages[0].contains("infinite or not a number: 7 of 14 of NLinear"), "{messages:?}");
    assert_eq!(dir.read("forecast.csv").lines().count(), 1 + 14);
}

#[test]
fn windows_that_cannot_be_forecast_are_told() {
    let dir = TestDirectory::new();
    dir.put("short.csv", &long_csv().lines().take(1 + 120 + 20).collect::<Vec<_>>().join("\n"));
    let data = LONG.replace("long", "short");
    let validate = format!("cross-validate {data} --model NLinear {SMALL} --n-windows 10 --out cv.csv");
    let messages = warnings(&dir, &validate);
    assert_eq!(messages.len(), 1, "{messages:?}");
    for part in ["12 of the 20 windows", "south (20 rows)", "`--drop-short`"] {
        assert!(messages[0].contains(part), "{part}: {messages:?}");
    }
    assert!(warnings(&dir, &format!("{validate} --drop-short")).is_empty());
    assert!(dir.read("cv.csv").lines().all(|line| !line.starts_with("south")));
}

#[test]
fn models_do_without_columns_that_they_cannot_read() {
    let dir = TestDirectory::new();
    dir.put("shops.csv", "shop,size\nsouth,2\nnorth,1\n");
    let models = format!("--model NLinear,MLP,DLinear {SMALL} --set MLP.hidden_size=4");
    let exogenous = "--futr-exog price --static shops.csv --cat-exog price";
    let messages = warnings(&dir, &format!("fit {LONG} {models} {exogenous} --out model"));
    assert_eq!(
        messages,
        [
            "--futr-exog price: NLinear, DLinear read no such columns and do without",
            "--static size: NLinear, DLinear read no such columns and do without",
            "--cat-exog price: NLinear, DLinear read no such columns and do without",
        ]
    );
    let inspected: Value = serde_json::from_str(&dir.ok("inspect model --json")).unwrap();
    let columns = |model: usize| &inspected["models"][model]["hyper_parameters"]["futr_exog_list"];
    assert_eq!((columns(0), columns(1)), (&Value::Null, &serde_json::json!(["price"])));
    // Where none reads them, the columns are a mistake.
    let message =
        dir.fails(2, &format!("fit {LONG} --model NLinear,DLinear {SMALL} --futr-exog price --out other"));
    assert!(message.contains("--futr-exog") && message.contains("reads no future columns"), "{message}");
}

#[test]
fn categories_that_training_did_not_see_are_told() {
    let dir = TestDirectory::new();
    let days = |days: std::ops::Range<usize>, label: &str| -> String {
        days.map(|day| format!("{},{},{label}\n", date(day), wave(day, 0.0))).collect()
    };
    let known = format!("ds,y,sky\n{}{}", days(0..60, "sun"), days(60..100, "rain"));
    dir.put("known.csv", &known);
    dir.put("new.csv", &format!("{known}{}{}", days(100..109, "snow"), days(109..111, "hail")));
    let fit = format!("fit --data known.csv --model MLP --set hidden_size=4 {SMALL} --log none --out model");
    dir.ok(&format!("{fit} --hist-exog sky --cat-exog sky"));
    let predict = "predict --model model --out forecast.csv --data";
    assert!(warnings(&dir, &format!("{predict} known.csv")).is_empty());
    for flags in ["", "--insample"] {
        let messages = warnings(&dir, &format!("{predict} new.csv {flags}"));
        assert_eq!(messages.len(), 1, "{messages:?}");
        let of = if flags.is_empty() { 14 } else { 111 };
        assert!(messages[0].contains(&format!("sky in 11 of {of} rows (snow, hail)")), "{messages:?}");
    }
}
