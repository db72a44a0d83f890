//! `foretell forecast`, and what leads to it.

use serde_json::Value;

use crate::test_directory::{LONG, TestDirectory, date, rows, stderr};

const FEW: &str = "--models MSTL,HistoricAverage --threads 2";

#[test]
fn a_file_is_forecast_with_quantiles_and_the_board_says_how_well() {
    let dir = TestDirectory::new();
    let output = dir.run(&format!("forecast {LONG} --h 7 {FEW} --save model --report r.html"));
    let (csv, told) = (String::from_utf8(output.stdout.clone()).unwrap(), stderr(&output));
    assert!(output.status.success(), "{told}");
    let table = rows(&csv);
    assert_eq!(table[0][..4], ["shop", "day", "Auto", "Auto_ql0.1"]);
    assert_eq!((table.len(), table[0].len()), (1 + 2 * 7, 3 + 9));
    for word in ["season: 7 steps", "SeasonalNaive", "MSTL", "seasonal naive", "chose nothing"] {
        assert!(told.contains(word), "{word}: {told}");
    }
    assert!(dir.read("r.html").contains("seasonal naive"));
    // The saved models forecast the same, and are told of like any others.
    let quantiles = "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9";
    let again = dir.ok(&format!("predict --model model --data long.csv --quantiles {quantiles} --quiet"));
    assert_eq!(again, csv);
    // What each model adds to the seasonal naive's forecast.
    for (command, first) in [("explain", "Auto:baseline"), ("decompose", "Auto:SeasonalNaive")] {
        let text = dir.ok(&format!("{command} --model model --data long.csv --quiet"));
        let parts = rows(&text);
        assert_eq!(parts[0][2..4], [first, "Auto:MSTL"], "{command}");
        for (parts, row) in parts.iter().zip(&table).skip(1) {
            let number = |text: &&str| text.parse::<f64>().unwrap();
            let sum: f64 = parts[2..].iter().map(number).sum();
            assert!((sum - number(&row[2])).abs() < 1e-3 * sum.abs(), "{parts:?} {row:?}");
        }
    }
    let inspected: Value = serde_json::from_str(&dir.ok("inspect model --json")).unwrap();
    assert_eq!(inspected["models"][0]["class"], "Auto");
    let told = dir.ok("inspect model");
    assert!(told.contains("scaled CRPS  coverage 80 %  weight") && told.contains("seasonal naive"), "{told}");
    assert!(!told.contains('{') && !told.contains("seconds"), "{told}");
    let exists = dir.fails(2, &format!("forecast {LONG} --h 7 {FEW} --save model"));
    assert!(exists.contains("--save model exists"), "{exists}");
}

#[test]
fn the_board_is_an_event_for_programs() {
    let dir = TestDirectory::new();
    let output = dir.run(&format!("forecast {LONG} {FEW} --level 80 --out f.csv --log json --no-ensemble"));
    let told = stderr(&output);
    let events: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let board = events.iter().find(|event| event["event"] == "leaderboard").unwrap();
    assert_eq!((&board["seasons"], &board["is_honest"]), (&serde_json::json!([7]), &Value::Bool(true)));
    let weights: Vec<f64> =
        board["rows"].as_array().unwrap()[1..].iter().map(|row| row["weight"].as_f64().unwrap()).collect();
    assert_eq!((weights.iter().sum::<f64>(), weights.iter().fold(0.0_f64, |a, b| a.max(*b))), (1.0, 1.0));
    // A season of days is a week.
    assert_eq!(events.iter().find(|event| event["event"] == "horizon").unwrap()["h"], 7);
    assert_eq!(rows(&dir.read("f.csv"))[0], ["shop", "day", "Auto", "Auto-lo-80", "Auto-hi-80"]);
}

#[test]
fn what_holidays_do_is_forecast_where_they_are_computed() {
    let dir = TestDirectory::new();
    // A shop that is closed on some days, which its owner knows of. The last of them is ahead.
    let closed: Vec<usize> = (0..28).map(|i| 11 + 13 * i + i % 4).collect();
    let sales = |t: usize| 100 + 5 * (t % 7) + t * 7919 % 4;
    let table: String = (0..360)
        .map(|t| format!("{},{}\n", date(t), if closed.contains(&t) { 0 } else { sales(t) }))
        .collect();
    dir.put("sales.csv", &format!("ds,y\n{table}"));
    dir.put("closed.txt", &closed.iter().map(|&t| date(t) + "\n").collect::<String>());
    let last = *closed.last().unwrap();
    assert!((360..367).contains(&last), "{last}");
    let forecast = |features: &str| -> Vec<f64> {
        let table = dir.ok(&format!("forecast --data sales.csv --h 7 --models AutoARIMA --quiet {features}"));
        rows(&table)[1..].iter().map(|row| row[2].parse().unwrap()).collect()
    };
    let (with, without) = (forecast("--features holidays:closed.txt"), forecast(""));
    let far = |forecast: &[f64]| (forecast[last - 360] / sales(last) as f64).abs();
    assert!(far(&with) < 0.3 && far(&without) > 0.7, "{with:?} {without:?}");
    assert!(dir.fails(2, "forecast --data sales.csv --h 7 --features holiday:DE").contains("--features: "));
}

#[test]
fn a_series_without_values_is_left_out_and_named() {
    let dir = TestDirectory::new();
    let series = |id: &str, y: &dyn Fn(usize) -> String| -> String {
        (0..40).map(|t| format!("{id},{t},{}\n", y(t))).collect()
    };
    let known = series("a", &|t| (t % 4).to_string());
    dir.put("known.csv", &format!("unique_id,ds,y\n{known}"));
    dir.put("d.csv", &format!("unique_id,ds,y\n{}{known}", series("unknown", &|_| String::new())));
    let output = dir.run(&format!("forecast --data d.csv --h 3 {FEW} --save model"));
    let told = stderr(&output);
    assert!(output.status.success(), "{told}");
    assert!(told.contains("d.csv: left out series of which no value is known: `unknown`\n"), "{told}");
    let alone = dir.ok(&format!("forecast --data known.csv --h 3 {FEW}"));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), alone);
    // So is one in data of the saved models, and of every other command.
    let output = dir.run("predict --model model --data d.csv --log json");
    let event: Value = stderr(&output)
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .find(|event| event["event"] == "note")
        .expect("a note");
    assert_eq!((output.status.code(), &event["series"]), (Some(0), &serde_json::json!(["unknown"])));
    for command in [
        "fit --model Naive --h 3 --out naive",
        "cross-validate --model Naive --h 3",
        "features --features lag:1",
        "fit --model Naive --h 3 --out again --drop-unknown",
    ] {
        let output = dir.run(&format!("{command} --data d.csv"));
        let told = stderr(&output);
        assert!(output.status.success(), "{command}: {told}");
        assert!(
            told.contains("d.csv: left out series of which no value is known: `unknown`\n"),
            "{command}: {told}"
        );
    }
}

#[test]
fn the_columns_that_past_and_future_have_are_known_ahead() {
    let dir = TestDirectory::new();
    let rows_of = |from: usize, to: usize, past: bool| -> String {
        let row = |t: usize| {
            let price = 1 + t * t % 7;
            let y = if past { format!(",{}", 50 + 10 * price) } else { String::new() };
            format!("a,{t}{y},{price},{}\n", if t.is_multiple_of(3) { "yes" } else { "no" })
        };
        (from..to).map(row).collect()
    };
    dir.put("past.csv", &format!("unique_id,ds,y,price,promo\n{}", rows_of(0, 60, true)));
    dir.put("next.csv", &format!("unique_id,ds,price,promo\n{}", rows_of(60, 64, false)));
    let line = "forecast --data past.csv --h 4 --models AutoARIMA --no-ensemble --futr";
    let output = dir.run(&format!("{line} next.csv"));
    assert!(stderr(&output).contains("known ahead: price, what both files have"), "{}", stderr(&output));
    for (step, row) in rows(&String::from_utf8(output.stdout).unwrap())[1..].iter().enumerate() {
        let price = 1 + (60 + step).pow(2) % 7;
        assert!((row[2].parse::<f64>().unwrap() - (50 + 10 * price) as f64).abs() < 1.0, "{row:?}");
    }
    // Static columns of texts, which no one named, are no mistake either.
    dir.put("static.csv", "unique_id,size,city\na,3,York\n");
    let told = stderr(&dir.run(&format!("{line} next.csv --static static.csv")));
    assert!(told.contains("static columns of texts are not read: city; --cat-exog reads them"), "{told}");
    let told = stderr(&dir.run(&format!("{line} next.csv --static static.csv --cat-exog city")));
    assert!(told.contains("Expect errors") && !told.contains("texts are not read"), "{told}");
    dir.put("none.csv", "unique_id,ds,cost\na,60,1\n");
    let none = dir.fails(2, &format!("{line} none.csv"));
    assert!(none.contains("it has no column that --data has"), "{none}");
}

#[test]
fn mistakes_are_told_before_any_work() {
    let dir = TestDirectory::new();
    let unknown = dir.fails(2, &format!("forecast {LONG} --h 7 --models AutoEST"));
    assert!(unknown.contains("AutoETS"), "{unknown}");
    let budget = dir.run(&format!("forecast {LONG} --budget soon"));
    assert!(budget.status.code() == Some(2) && stderr(&budget).contains("30s, 2m"), "{}", stderr(&budget));
    dir.put("steps.csv", "unique_id,ds,y\na,1,1\na,2,2\na,3,3\na,4,2\na,5,4\na,6,3\n");
    let missing = dir.fails(2, "forecast --data steps.csv --quiet");
    assert!(missing.contains("--h is missing") && missing.contains("--h 1"), "{missing}");
    assert_eq!(rows(&dir.ok("forecast --data steps.csv --h 1 --quiet")).len(), 2);
    let all = dir.fails(2, &format!("fit {LONG} --model all --h 7 --out model"));
    assert!(all.contains("foretell forecast") && all.contains("--model auto"), "{all}");
}

#[test]
fn fit_knows_it_as_a_model() {
    let dir = TestDirectory::new();
    dir.ok(&format!("fit {LONG} --model auto --h 7 --set models=[\"MSTL\"] --out model --quiet"));
    let csv = dir.ok("predict --model model --data long.csv --level 80 --quiet");
    assert_eq!(rows(&csv)[0], ["shop", "day", "Auto", "Auto-lo-80", "Auto-hi-80"]);
}

#[test]
fn models_are_listed_with_their_uses_and_for_a_file() {
    let dir = TestDirectory::new();
    let table = dir.ok("models");
    assert!(table.lines().all(|line| line.trim_end().chars().count() <= 80), "{table}");
    assert!(table.contains("no setting: trend and season"), "{table}");
    // A folder of weights is a name, too.
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../pretrained/tests/fixtures/chronos2");
    let told = dir.ok(&format!("models {folder}"));
    assert!(told.starts_with("model      Pretrained\n") && told.contains("\nfutr_exog_list"), "{told}");
    let months: String =
        (0..48).map(|t| format!("a,{}-{:02}-01,{}\n", 2020 + t / 12, t % 12 + 1, t % 12)).collect();
    dir.put("months.csv", &format!("unique_id,ds,y\n{months}"));
    let found = dir.ok("models --for months.csv --h 6");
    assert!(found.contains("season: 12"), "{found}");
    let line =
        |model: &str| found.lines().find(|line| line.starts_with(model)).unwrap_or_default().to_owned();
    assert!(line("AutoARIMA").contains("yes") && line("NHITS").contains("no"), "{found}");
}
