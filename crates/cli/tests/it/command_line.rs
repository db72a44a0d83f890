//! The binary as its users meet it: files in, files and exit codes out.

use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::Value;

use crate::test_directory::{LONG, SMALL, TestDirectory, date, long_csv, rows, stderr, wave};

#[test]
fn vector_instructions_that_are_not_here_are_refused_before_any_work() {
    let dir = TestDirectory::new();
    for (name, says) in
        [("sse9", "expected scalar, avx2, avx512, amx, neon or simd128"), ("NEON", "does not run here")]
    {
        if name == "NEON" && cfg!(target_arch = "aarch64") {
            continue;
        }
        let output = dir.command("models").env("FORETELL_SIMD", name).output().unwrap();
        let message = stderr(&output);
        assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{name}: {message}");
        assert!(message.contains("FORETELL_SIMD") && message.contains(says), "{name}: {message}");
    }
}

#[test]
fn from_long_data_to_a_forecast_and_its_score() {
    let dir = TestDirectory::new();
    let fit = format!(
        "fit {LONG} --model NLinear,MLP {SMALL} --set MLP.hidden_size=8 --set scaler_type=standard --out model"
    );
    assert_eq!(dir.ok(&fit), "", "what fit tells goes to standard error");

    // The columns' names and the frequency come from the model directory.
    let forecast = dir.ok("predict --model model --data long.csv");
    let table = rows(&forecast);
    assert_eq!(table[0], ["shop", "day", "NLinear", "MLP"]);
    assert_eq!(table.len(), 1 + 2 * 7);
    assert_eq!(table[1][..2], ["north", "2024-04-30"]);
    assert_eq!(table[14][..2], ["south", "2024-05-06"]);
    assert!(table[1..].iter().flat_map(|row| &row[2..]).all(|cell| cell.parse::<f32>().unwrap().is_finite()));

    assert_eq!(dir.ok("predict --model model --data long.csv --threads 2 --out forecast.csv"), "");
    assert_eq!(dir.read("forecast.csv"), forecast, "a file, and two threads, hold the same forecast");

    let validate = format!(
        "cross-validate {LONG} --model NLinear {SMALL} --n-windows 3 --step-size 7 --out cv.csv --log none"
    );
    let table = dir.ok(&validate);
    let (table, notes) = table.split_once("\n\n").unwrap();
    let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["model", "MAE", "RMSE", "sMAPE", "MASE"]);
    let mut models: Vec<&str> = lines[1..].iter().map(|line| line[0]).collect();
    models.sort_unstable();
    assert_eq!(models, ["NLinear", "Naive", "SeasonalNaive"]);
    let notes: Vec<&str> = notes.lines().collect();
    assert_eq!(
        notes,
        [
            "sorted by:      mase",
            "windows scored: 6 of 6",
            "series scored:  2 of 2",
            "series in MASE: 2 of 2",
            "season:         7 (usual for the frequency D; --season sets another)",
            "trained:        NLinear once, before the first forecast (--refit: before each)",
        ]
    );
    let cv = dir.read("cv.csv");
    let table = rows(&cv);
    assert_eq!(table[0], ["shop", "day", "cutoff", "sales", "NLinear", "Naive", "SeasonalNaive"]);
    assert_eq!(table.len(), 1 + 2 * 3 * 7);
    // The last value known at the cutoff, and the one a week before.
    let rounded = |day| format!("{:?}", format!("{:.4}", wave(day, 0.0)).parse::<f32>().unwrap());
    assert_eq!(table[3][5..], [rounded(98), rounded(94)]);
    assert_eq!(table[1][..4], ["north", "2024-04-09", "2024-04-08", &rounded(99)]);
}

#[test]
fn wide_files_metrics_as_json_and_standard_input() {
    let dir = TestDirectory::new();
    let json = dir.ok(&format!("cross-validate --data wide.csv --wide --model DLinear {SMALL} --json"));
    let report: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&report["n_series"], &report["season"], &report["h"]), (&3.into(), &7.into(), &7.into()));
    let models = report["metrics"].as_array().unwrap();
    assert_eq!(models.len(), 3);
    for key in ["mae", "rmse", "smape", "mase"] {
        assert!(models.iter().all(|model| model[key].as_f64().unwrap() > 0.0), "{key}");
    }

    dir.ok(&format!("fit --data wide.csv --wide --model NLinear {SMALL} --out wide --log none"));
    let forecast = dir.ok("predict --model wide --data wide.csv --wide");
    assert_eq!(rows(&forecast)[0], ["unique_id", "ds", "NLinear"]);
    assert_eq!(rows(&forecast).len(), 1 + 3 * 7);
    let piped = dir
        .command("predict --model wide --data - --wide")
        .stdin(fs::File::open(dir.path("wide.csv")).unwrap())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(piped.stdout).unwrap(), forecast);
}

#[test]
fn quantiles_are_scored_and_in_order() {
    let dir = TestDirectory::new();
    let normal =
        r#"--model NLinear --set loss={"DistributionLoss":{"distribution":"Normal","level":[80,95]}}"#;
    let validate = format!("cross-validate {LONG} {normal} {SMALL} --log none");
    let table = dir.ok(&validate);
    let header: Vec<&str> = table.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(header, ["model", "MAE", "RMSE", "sMAPE", "MASE", "mqloss", "cover-80", "cover-95"]);
    let report: Value = serde_json::from_str(&dir.ok(&format!("{validate} --json"))).unwrap();
    let of = |name: &str| {
        report["metrics"].as_array().unwrap().iter().find(|m| m["model"] == name).unwrap().clone()
    };
    let (model, naive) = (of("NLinear"), of("SeasonalNaive"));
    assert!(model["mqloss"].as_f64().unwrap() > 0.0 && naive.get("mqloss").is_none());
    let levels: Vec<f64> =
        model["coverage"].as_array().unwrap().iter().map(|c| c["level"].as_f64().unwrap()).collect();
    assert_eq!(levels, [80.0, 95.0]);
    assert!((0.0..=1.0).contains(&model["coverage"][0]["coverage"].as_f64().unwrap()));

    // Hardly trained, they cross.
    let crossing = r#"--model NLinear --set loss={"MQLoss":{"quantiles":[0.9,0.1]}}"#;
    dir.ok(&format!("fit {LONG} {crossing} {SMALL} --set max_steps=1 --out model --log none"));
    let in_order = |forecast: String| {
        let number = |cell: &str| cell.parse::<f64>().unwrap();
        rows(&forecast)[1..].iter().all(|row| number(row[2]) >= number(row[3]))
    };
    let predict = "predict --model model --data long.csv";
    assert!(in_order(dir.ok(predict)));
    assert!(!in_order(dir.ok(&format!("{predict} --raw-quantiles"))));
}

#[test]
fn intervals_further_steps_and_the_history() {
    let dir = TestDirectory::new();
    let fit = format!("fit {LONG} --model NLinear {SMALL} --log none --out");
    dir.ok(&format!("{fit} plain"));
    dir.ok(&format!("{fit} model --intervals 10:conformal_error:2"));
    let predict = "predict --data long.csv --model";
    assert_eq!(dir.ok(&format!("{predict} plain")), dir.ok(&format!("{predict} model")));

    let forecast = dir.ok(&format!("{predict} model --level 95,80"));
    let names =
        ["shop", "day", "NLinear", "NLinear-lo-95", "NLinear-lo-80", "NLinear-hi-80", "NLinear-hi-95"];
    assert_eq!(rows(&forecast)[0], names);
    let numbers = |row: &[&str]| -> Vec<f64> { row[2..].iter().map(|cell| cell.parse().unwrap()).collect() };
    for row in &rows(&forecast)[1..] {
        let row = numbers(row);
        assert!(row[1] <= row[2] && row[2] < row[0] && row[0] < row[3] && row[3] <= row[4], "{row:?}");
    }
    let message = dir.fails(2, &format!("{predict} plain --level 80"));
    assert!(message.contains("`predict --intervals 10`"), "{message}");
    let calibrated = dir.ok(&format!("{predict} plain --level 80 --intervals 10"));
    assert_eq!(rows(&calibrated)[0], ["shop", "day", "NLinear", "NLinear-lo-80", "NLinear-hi-80"]);
    assert!(dir.fails(2, &format!("{predict} model --level 120")).contains("below 100"));
    assert!(dir.run(&format!("{predict} model --intervals 10")).status.code() == Some(2));
    assert!(dir.run(&format!("{predict} model --level 80 --intervals 1")).status.code() == Some(2));

    let further = dir.ok(&format!("{predict} plain --h 16"));
    assert_eq!(rows(&further).len(), 1 + 2 * 16);
    assert_eq!(rows(&further)[1..8], rows(&dir.ok(&format!("{predict} plain")))[1..8]);
    let fewer = dir.ok(&format!("{predict} plain --h 6"));
    assert_eq!((rows(&fewer).len(), &rows(&fewer)[..7]), (1 + 2 * 6, &rows(&further)[..7]));
    let quantiles = dir.ok(&format!("{predict} model --quantiles 0.9,0.1"));
    assert_eq!(rows(&quantiles)[0], ["shop", "day", "NLinear", "NLinear-ql0.1", "NLinear-ql0.9"]);
    let levels = dir.ok(&format!("{predict} model --level 80"));
    let [levels, quantiles] = [&levels, &quantiles].map(|csv| rows(csv)[1][3..].join(","));
    assert_eq!(levels, quantiles);
    assert_eq!(dir.run(&format!("{predict} model --quantiles 0.1 --level 80")).status.code(), Some(2));

    let history = dir.ok(&format!("{predict} plain --insample --step-size 7"));
    assert_eq!(rows(&history)[0], ["shop", "day", "cutoff", "sales", "NLinear"]);
    assert_eq!(rows(&history).len(), 1 + 2 * 17 * 7);
    assert_eq!(rows(&history)[1][..3], ["north", "2024-01-02", "2024-01-01"]);
    assert_eq!(dir.run(&format!("{predict} plain --step-size 7")).status.code(), Some(2));

    let validate =
        format!("cross-validate {LONG} --model NLinear {SMALL} --n-windows 4 --log none --json --refit 2");
    let report: Value =
        serde_json::from_str(&dir.ok(&format!("{validate} --intervals 5 --level 80"))).unwrap();
    let coverage: Vec<&Value> =
        report["metrics"].as_array().unwrap().iter().filter_map(|model| model.get("coverage")).collect();
    // The naive forecasts have intervals of their own.
    assert_eq!(coverage.len(), 3);
    assert!(coverage.iter().all(|of_model| of_model[0]["level"] == 80.0), "{coverage:?}");
    assert!(dir.fails(2, &format!("{validate} --intervals 5")).contains("needs --level"));
}

#[test]
fn exogenous_columns_from_their_files() {
    let dir = TestDirectory::new();
    dir.put("shops.csv", "shop,size\nsouth,2\nnorth,1\n");
    let mut future = "shop,day,price\n".to_owned();
    for id in ["north", "south"] {
        (120..127).for_each(|day| future += &format!("{id},{},{}\n", date(day), day % 3));
    }
    dir.put("future.csv", &future);
    let exogenous = r#"--set futr_exog_list=["price"] --set stat_exog_list=["size"] --set hidden_size=8"#;
    dir.ok(&format!("fit {LONG} --static shops.csv --model MLP {SMALL} {exogenous} --out model"));
    let forecast = dir.ok("predict --model model --data long.csv --static shops.csv --futr future.csv");
    assert_eq!(rows(&forecast).len(), 1 + 2 * 7);

    let message = dir.fails(1, "predict --model model --data long.csv --static shops.csv");
    assert!(message.contains("price"), "{message}");
    dir.put("future.csv", &future[..future.len() - "south,2024-05-06,0\n".len()]);
    let message = dir.fails(1, "predict --model model --data long.csv --static shops.csv --futr future.csv");
    assert!(message.contains("south at 2024-05-06"), "{message}");
}

#[test]
fn exogenous_columns_by_flags_end_to_end() {
    let dir = TestDirectory::new();
    dir.put("shops.csv", "shop,size,kind\nsouth,2,1\nnorth,1,0\neast,9,9\n");
    let mut future = "shop,day,price\n".to_owned();
    for id in ["north", "south"] {
        (120..127).for_each(|day| future += &format!("{id},{},{}\n", date(day), day % 3));
    }
    dir.put("future.csv", &future);
    dir.put("sizes.csv", "shop,size\nsouth,2\nnorth,1\n");
    let train = format!("{LONG} --model MLP {SMALL} --set hidden_size=8");
    let exogenous = "--hist-exog price,sales --futr-exog price --static shops.csv";
    // The target is no column beside itself.
    let message = dir.fails(1, &format!("fit {train} {exogenous} --out model"));
    assert!(message.contains("column `sales` holds what is forecast"), "{message}");
    let exogenous = exogenous.replace("price,sales", "price");
    dir.ok(&format!("fit {train} {exogenous} --out model"));
    let forecast = dir.ok("predict --model model --data long.csv --static shops.csv --futr future.csv");
    assert_eq!(rows(&forecast).len(), 1 + 2 * 7);
    dir.ok(&format!("cross-validate {train} {exogenous} --stat-exog size --n-windows 2 --log none"));

    let predict = "predict --model model --data long.csv";
    for (line, part) in [
        (format!("{predict} --futr future.csv"), "`--static FILE`"),
        (format!("{predict} --static shops.csv"), "`--futr FILE`"),
        (format!("{predict} --static future.csv --futr future.csv"), "appears twice"),
        (format!("{predict} --static shops.csv --futr shops.csv"), "no column `day`"),
        (format!("{predict} --static sizes.csv --futr future.csv"), "no column `kind`"),
        (format!("fit {train} --hist-exog prize --out other"), "did you mean `price`?"),
        (format!("fit {train} --futr-exog prize --out other"), "did you mean `price`?"),
        (format!("fit {train} --static shops.csv --stat-exog sise --out other"), "did you mean `size`?"),
        (format!("fit {train} --static nowhere.csv --out other"), "nowhere.csv"),
    ] {
        let message = dir.fails(1, &line);
        assert!(message.contains(part), "{line}: {message}");
    }
    dir.put("shops.csv", "shop,size,kind\nsouth,2,1\n");
    let message = dir.fails(1, &format!("{predict} --static shops.csv --futr future.csv"));
    assert!(message.contains("shops.csv lacks 1 of the panel's series: `north`"), "{message}");
    dir.put("shops.csv", "shop,size,kind\nsouth,2,big\nnorth,1,small\n");
    let message = dir.fails(1, &format!("fit {train} --static shops.csv --out other"));
    assert!(message.contains("shops.csv, line 2, column `kind`: \"big\" is not a number"), "{message}");
    let message = dir.fails(2, &format!("fit {LONG} --model NLinear {SMALL} --static shops.csv --out other"));
    assert!(message.contains("--static") && message.contains("reads no static columns"), "{message}");
}

#[test]
fn categories_are_texts_in_every_file() {
    let dir = TestDirectory::new();
    let sky = |day: usize| ["sun", "rain", "hail"][day % 3];
    let mut data = "shop,day,sales,sky\n".to_owned();
    let mut future = "shop,day,sky\n".to_owned();
    for id in ["north", "south"] {
        (0..120).for_each(|day| data += &format!("{id},{},{:.4},{}\n", date(day), wave(day, 0.0), sky(day)));
        (120..127).for_each(|day| future += &format!("{id},{},{}\n", date(day), sky(day)));
    }
    dir.put("sky.csv", &data);
    dir.put("future.csv", &future);
    dir.put("shops.csv", "shop,kind\nsouth,big\nnorth,small\n");
    let train = format!("{} --model MLP {SMALL} --set hidden_size=8", LONG.replace("long", "sky"));
    let exogenous = "--futr-exog sky --static shops.csv";
    for column in ["sky", "kind"] {
        let line = format!("fit {train} {exogenous} --cat-exog {column} --out model");
        assert!(dir.fails(1, &line).contains("name it in `--cat-exog`"), "{line}");
    }
    dir.ok(&format!("fit {train} {exogenous} --cat-exog sky,kind --out model"));
    let predict = "predict --model model --data sky.csv --futr future.csv";
    let forecast = dir.ok(&format!("{predict} --static shops.csv"));
    assert_eq!(rows(&forecast).len(), 1 + 2 * 7);
    // A category of its own is no mistake.
    dir.put("shops.csv", "shop,kind\nsouth,huge\nnorth,small\n");
    let other = dir.ok(&format!("{predict} --static shops.csv"));
    assert!(rows(&forecast)[1..8] == rows(&other)[1..8] && forecast != other);
    dir.ok(&format!("cross-validate {train} {exogenous} --cat-exog sky,kind --n-windows 2 --log none"));

    dir.put("sky.csv", &data.replacen("sun", "", 1));
    let message = dir.fails(1, &format!("{predict} --static shops.csv"));
    assert!(message.contains("sky.csv, line 2, column `sky`: \"\" is missing"), "{message}");
    let message = dir.fails(2, &format!("fit {train} {exogenous} --cat-exog skye --out other"));
    assert!(message.contains("cat_exog_list") && message.contains("skye"), "{message}");
}

#[test]
fn what_is_missing_is_filled_on_request_and_told() {
    let dir = TestDirectory::new();
    let mut lines: Vec<String> = long_csv().lines().map(str::to_owned).collect();
    lines[8] = "north,2024-01-08,NaN,".to_owned();
    lines.retain(|line| !line.starts_with(&format!("south,{}", date(50))));
    dir.put("gaps.csv", &lines.join("\n"));
    let fit = format!("fit {} --model NLinear {SMALL}", LONG.replace("long", "gaps"));
    let message = dir.fails(1, &format!("{fit} --out model"));
    assert!(message.contains("gaps.csv, line 9, column `sales`: \"NaN\" is missing; fill"), "{message}");
    let messages = stderr(&dir.run(&format!("{fit} --fill interpolate --out model")));
    assert!(
        messages.starts_with(
            "read gaps.csv: 2 series, 240 rows, frequency D (inferred; all series follow it), missing rows \
             filled: 1, missing values filled: 1\n"
        ),
        "{messages}"
    );
    let forecast = dir.ok("predict --model model --data gaps.csv --fill interpolate");
    assert_eq!(rows(&forecast).len(), 1 + 2 * 7);
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_comes_in_and_goes_out() {
    let dir = TestDirectory::new();
    let train = format!("{LONG} --model NLinear {SMALL} --log none");
    dir.ok(&format!("cross-validate {train} --n-windows 8 --out cv.parquet"));
    assert!(dir.bytes("cv.parquet").starts_with(b"PAR1"));
    // Forecasts of eight weeks that follow each other: beside them stands what was read.
    let parquet = train.replace("long.csv", "cv.parquet");
    dir.ok(&format!("fit {parquet} --set alias=X --out model"));
    let csv = long_csv();
    let tail = csv.lines().filter(|line| line.split(',').nth(1) >= Some(&*date(120 - 8 * 7)));
    dir.put("tail.csv", &tail.collect::<Vec<_>>().join("\n"));
    let expected = dir.ok("predict --model model --data tail.csv");
    assert_eq!(dir.ok("predict --model model --data cv.parquet"), expected);

    dir.ok("predict --model model --data cv.parquet --out forecast.parquet");
    let forecast = dir.bytes("forecast.parquet");
    assert!(forecast.starts_with(b"PAR1") && forecast.ends_with(b"PAR1"));
    fs::write(dir.path("cut.parquet"), &forecast[..forecast.len() / 2]).unwrap();
    let message = dir.fails(1, "predict --model model --data cut.parquet");
    assert!(message.contains("cut.parquet: "), "{message}");
    let message = dir.fails(1, &format!("fit {} --out other", parquet.replace("sales", "sale")));
    assert!(message.contains("cv.parquet has no column `sale`, did you mean `sales`?"), "{message}");
}

#[cfg(not(feature = "parquet"))]
#[test]
fn without_the_feature_parquet_is_refused_before_the_work() {
    let dir = TestDirectory::new();
    let train = format!("{LONG} --model NLinear {SMALL}");
    let message = dir.fails(2, &format!("cross-validate {train} --n-windows 1 --out cv.parquet"));
    assert!(message.contains("built without Parquet"), "{message}");
    let message = dir.fails(1, &format!("fit {} --out model", train.replace("long.csv", "cv.parquet")));
    assert!(message.contains("feature `parquet`"), "{message}");
}

/// Other members of a workspace may have switched the feature on in the libraries: then the folder is what is missing.
#[cfg(not(feature = "timellm"))]
#[test]
fn without_the_feature_timellm_is_refused_whatever_its_folder_is() {
    let dir = TestDirectory::new();
    let fit = format!("fit {LONG} --model TimeLLM {SMALL} --log none --out model");
    for flags in ["", " --set llm=nowhere"] {
        let message = dir.fails(2, &format!("{fit}{flags}"));
        let without = "error: TimeLLM: this program was built without the Cargo feature `timellm`, which the model needs; build it";
        assert!(
            message.starts_with(without) || message.contains("must be the path of a folder"),
            "{message}"
        );
    }
}

#[cfg(not(feature = "amp"))]
#[test]
fn without_the_feature_only_f32_is_computed_in() {
    let dir = TestDirectory::new();
    let fit = format!("fit {LONG} --model NLinear {SMALL} --log none --out model");
    dir.ok(&format!("{fit} --precision f32"));
    for command in [
        &format!("{fit} --overwrite --precision bf16")[..],
        "bench --model NLinear --h 7 --input-size 14 --precision f16",
        "predict --model model --data long.csv --precision int8",
        "quantise model --data long.csv --precision bf16",
    ] {
        let message = dir.fails(2, command);
        assert!(message.contains("built without the feature `amp`"), "{command}: {message}");
    }
    let message = dir.fails(2, "quantise model --data long.csv --n-windows 1");
    assert!(message.contains("built without the feature `amp`"), "{message}");
}

#[test]
fn zones_of_the_data_are_those_of_the_forecast() {
    let dir = TestDirectory::new();
    let mut csv = "unique_id,ds,y\n".to_owned();
    (1..=31).for_each(|day| csv += &format!("a,2024-03-{day:02} 00:00:00+01:00,{day}\n"));
    dir.put("winter.csv", &csv);
    dir.put("berlin.csv", &(csv + "a,2024-04-01 00:00:00+02:00,32\n"));
    let fit = |file: &str| format!("fit --data {file} --model NLinear {SMALL} --log none --out model");
    dir.ok(&fit("winter.csv"));
    let forecast = dir.ok("predict --model model --data winter.csv");
    assert_eq!(rows(&forecast)[1][1], "2024-04-01 00:00:00+01:00");
    let message = dir.fails(1, &format!("{} --overwrite", fit("berlin.csv")));
    assert!(message.contains("berlin.csv, line 33") && message.contains("--zone Europe/Berlin"), "{message}");
    dir.ok(&format!("{} --overwrite --zone Europe/Berlin", fit("berlin.csv")));
    let forecast = dir.ok("predict --model model --data berlin.csv --zone Europe/Berlin");
    assert_eq!(rows(&forecast)[1][1], "2024-04-02 00:00:00+02:00");
    let message = dir.fails(2, &format!("{} --overwrite --zone Europe/Bonn", fit("berlin.csv")));
    assert!(message.contains("IANA"), "{message}");
}

#[test]
fn series_are_scaled_on_request() {
    let dir = TestDirectory::new();
    let fit = format!("fit {LONG} {SMALL} --log none --out model --overwrite --model");
    dir.ok(&format!("{fit} NLinear --local-scaler robust-iqr"));
    let forecast = dir.ok("predict --model model --data long.csv");
    for row in &rows(&forecast)[1..] {
        let value: f64 = row[2].parse().unwrap();
        assert!((5.0..20.0).contains(&value), "{row:?}");
    }
    dir.put("shops.csv", "shop,size\nsouth,2\nnorth,1\n");
    dir.ok(&format!("{fit} MLP --local-scaler boxcox --static shops.csv --local-static-scaler minmax"));
    dir.ok("predict --model model --data long.csv --static shops.csv");
    let message = dir.fails(1, &format!("{fit} MLP --local-scaler boxcox --hist-exog price"));
    assert!(message.contains("series `north`, row 0, column `price`: 0 is not above zero"), "{message}");
    let message = dir.fails(2, &format!("{fit} MLP --local-scaler standart"));
    assert!(message.contains("did you mean `standard`?"), "{message}");
}

#[test]
fn models_are_called_in_any_case_of_letters_and_numbered() {
    let dir = TestDirectory::new();
    let two = "--model nlinear,NLINEAR --set nlinear.1.max_steps=2 --set NLinear.scaler_type=standard";
    let output = dir.run(&format!("fit {LONG} {SMALL} {two} --out model --log json"));
    assert!(output.status.success(), "{}", stderr(&output));
    let steps = |model: &str| {
        let of = |line: &&str| line.contains("\"fitted\"") && line.contains(&format!("\"{model}\""));
        let text = stderr(&output);
        let event: Value = serde_json::from_str(text.lines().find(of).unwrap()).unwrap();
        event["steps"].as_u64()
    };
    assert_eq!((steps("NLinear"), steps("NLinear1")), (Some(3), Some(2)));
    let found: Value = serde_json::from_str(&dir.ok("inspect model --json")).unwrap();
    for model in found["models"].as_array().unwrap() {
        assert_eq!((&model["class"], &model["scaler_type"]), (&"NLinear".into(), &"standard".into()));
    }
    let forecast = dir.ok("predict --model model --data long.csv");
    assert_eq!(rows(&forecast)[0], ["shop", "day", "NLinear", "NLinear1"]);
    assert_eq!(dir.ok("models nhits"), dir.ok("models NHITS"));

    let fit = format!("fit {LONG} {SMALL} --out other --model NLinear,nlinear");
    for (line, part) in [
        (fit.clone(), "two models NLinear have the same hyper-parameters"),
        (
            format!("{fit} --set nlinear.2.max_steps=2"),
            "there are 2 NLinear in --model NLinear, nlinear, numbered NLinear.0 to",
        ),
        (format!("{fit} --set NLinear1.max_steps=2"), "no NLinear1 among --model NLinear, nlinear"),
        (format!("{fit} --set NLinear.1.lr=2"), "--set NLinear.1.lr: NLinear has no hyper-parameter lr; did"),
    ] {
        let message = dir.fails(2, &line);
        assert!(message.contains(part), "{line}: {message}");
    }
}

#[test]
fn the_json_log_is_json_line_by_line() {
    let dir = TestDirectory::new();
    let line = format!(
        "fit {LONG} --model NLinear,MLP {SMALL} --set MLP.hidden_size=4 --set val_check_steps=2 --val-size 7 \
         --log json --out model"
    );
    let output = dir.run(&line);
    assert!(output.status.success());
    let events = |output: &Output| -> Vec<Value> {
        stderr(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let found = events(&output);
    let names: Vec<&str> = found.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "read", "unread", "step", "step", "valid", "step", "step", "step", "valid", "step", "fitted",
            "fitted", "wrote", "done"
        ],
        "the data, three steps of two models with a check each, their ends, and the directory"
    );
    let read = serde_json::json!({
        "event": "read", "path": "long.csv", "series": 2, "rows": 240, "freq": "D", "freq_inferred": true,
        "filled_rows": 0, "filled_values": 0,
    });
    assert_eq!(found[0], read);
    assert_eq!(found[1], serde_json::json!({ "event": "unread", "columns": ["price"] }));
    assert_eq!((&found[8]["model"], &found[8]["step"]), (&"MLP".into(), &2.into()));
    assert!(found[8]["valid_loss"].is_f64() && found[7]["train_loss"].is_f64());
    assert!(found[10]["parameters"].is_u64());

    let failed = events(&dir.run(&line));
    assert_eq!(failed.len(), 1);
    assert!(failed[0]["event"] == "error" && failed[0]["message"].as_str().unwrap().contains("model"));
}

#[test]
fn forecasts_on_standard_output_leave_the_errors_to_standard_error() {
    let dir = TestDirectory::new();
    let line = format!("cross-validate {LONG} --model NLinear {SMALL} --out - --log none");
    let output = dir.run(&line);
    assert!(output.status.success());
    let csv = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(rows(&csv)[0], ["shop", "day", "cutoff", "sales", "NLinear", "Naive", "SeasonalNaive"]);
    assert!(stderr(&output).starts_with("model"), "{}", stderr(&output));
}

#[test]
fn the_models_are_listed_with_all_their_hyper_parameters() {
    let dir = TestDirectory::new();
    let table = dir.ok("models");
    let names: Vec<&str> =
        table.lines().skip(1).map(|line| line.split_whitespace().next().unwrap()).collect();
    let models: Vec<Value> = serde_json::from_str(&dir.ok("models --json")).unwrap();
    assert_eq!(models.iter().map(|model| model["name"].as_str().unwrap()).collect::<Vec<_>>(), names);
    let nhits = models.iter().find(|model| model["name"] == "NHITS").unwrap();
    assert_eq!(nhits["hyper_parameters"]["n_freq_downsample"], serde_json::json!([4, 2, 1]));
    assert_eq!(nhits["exogenous"]["futr"], true);
    for model in &models {
        let is_network = model["kind"] != "classical";
        assert_eq!(model["hyper_parameters"]["max_steps"].as_u64() > Some(0), is_network);
        let meanings = model["meanings"].as_object().unwrap();
        assert!(meanings.values().all(|meaning| meaning.as_str().is_some_and(|text| text.ends_with('.'))));
        let text = dir.ok(&format!("models {}", model["name"].as_str().unwrap()));
        let required = ["h", "input_size"].map(str::to_owned);
        assert!(
            meanings
                .iter()
                .filter(|(name, _)| !required.contains(name))
                .all(|(_, meaning)| text.contains(meaning.as_str().unwrap())),
            "{text}"
        );
        assert!(text.contains(model["paper"].as_str().unwrap()), "{text}");
    }
    let of_kind = |kind: &str| -> Vec<Value> {
        serde_json::from_str(&dir.ok(&format!("models --json --kind {kind}"))).unwrap()
    };
    let kinds = ["univariate", "multivariate", "classical"].map(of_kind);
    assert_eq!(kinds.iter().map(Vec::len).sum::<usize>(), models.len());
    assert!(kinds.iter().all(|found| found.len() > 5));
    let stepwise = of_kind("step-by-step");
    assert!(stepwise.iter().all(|model| model["kind"] == "univariate, step by step") && !stepwise.is_empty());
}

#[test]
fn the_documentation_lists_the_models_as_they_are() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/models.md");
    let written = std::fs::read_to_string(path).unwrap();
    assert_eq!(written, TestDirectory::new().ok("models --markdown"), "run `cargo xtask models`");
}

#[test]
fn the_demo_beats_the_naive_forecast_and_leaves_files_that_work() {
    let dir = TestDirectory::new();
    let text = dir.ok("demo --out shown/here");
    let place = |name: &str| text.find(name).unwrap_or_else(|| panic!("{name}: {text}"));
    assert!(place("NHITS") < place("SeasonalNaive"), "{text}");
    assert!(place("smaller") < place("Its 80 % interval held"), "{text}");
    let held = text.split("interval held ").nth(1).and_then(|rest| rest.split(' ').next());
    let held: f64 = held.and_then(|held| held.parse().ok()).unwrap_or_else(|| panic!("{text}"));
    assert!((60.0..95.0).contains(&held), "{text}");
    place("Try next");
    let csv = dir.read("shown/here/forecast.csv");
    assert_eq!(rows(&csv).len(), 13);
    assert_eq!(rows(&csv)[1][..2], ["AirPassengers", "1961-01-01"]);
    assert!(dir.read("shown/here/forecast.svg").trim_end().ends_with("</svg>"));
    let next = text.lines().find(|line| line.trim().starts_with("foretell predict")).unwrap();
    assert_eq!(dir.ok(next.trim().strip_prefix("foretell ").unwrap()), csv);
}

#[test]
fn a_reader_who_leaves_early_is_no_failure() {
    let dir = TestDirectory::new();
    dir.ok(&format!("fit {LONG} --model NLinear {SMALL} --out model"));
    for line in ["models --json", "predict --model model --data long.csv", "fit --help"] {
        let mut child = dir.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(stderr(&output), "", "{line}");
        assert!(output.status.success(), "{line}");
    }
    // The demo continues for its files.
    let mut child = dir
        .command("demo --out shown --log none")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && stderr(&output).is_empty(), "{}", stderr(&output));
    dir.ok("predict --model shown/model --data shown/air_passengers.csv");
    assert!(dir.path("shown/forecast.svg").exists());
}

/// Rust opens /dev/null in the place of a closed descriptor before main, where output would be lost without a word.
#[cfg(unix)]
#[test]
fn a_closed_standard_output_is_an_error() {
    let dir = TestDirectory::new();
    dir.ok(&format!("fit {LONG} --model NLinear {SMALL} --out model"));
    for line in ["models", "inspect model", "predict --model model --data long.csv"] {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "exec \"$@\" >&-", "sh", env!("CARGO_BIN_EXE_foretell")]).args(line.split(' '));
        let output = shell.current_dir(dir.path("")).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{line}: {}", stderr(&output));
        assert!(stderr(&output).contains("standard output is closed"), "{line}: {}", stderr(&output));
    }
    // What goes elsewhere does not need it; nor is /dev/null closed.
    let mut shell = std::process::Command::new("sh");
    let line = "predict --model model --data long.csv --out forecast.csv";
    shell.args(["-c", "exec \"$@\" >&-", "sh", env!("CARGO_BIN_EXE_foretell")]).args(line.split(' '));
    assert!(shell.current_dir(dir.path("")).status().unwrap().success());
    assert!(dir.command("models").stdout(Stdio::null()).status().unwrap().success());
}

#[test]
fn how_data_are_read_is_nothing_without_data() {
    let dir = TestDirectory::new();
    let error = dir.fails(2, "inspect model --wide");
    assert!(error.contains("--data <FILE>"), "{error}");
}

#[test]
fn every_help_has_an_example() {
    let dir = TestDirectory::new();
    let help = dir.ok("--help");
    let list =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // Lines that begin further right continue what a command does.
    let commands = list.filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    let commands = commands.filter_map(|line| line.split(' ').next()).filter(|command| *command != "help");
    let commands: Vec<&str> = commands.chain([""]).collect();
    assert!(commands.len() > 20, "{commands:?}");
    for command in commands {
        let help = dir.ok(&format!("{command} --help"));
        assert!(help.contains(&format!("  foretell {command}")), "{command}: {help}");
    }
}

#[test]
fn examples_of_what_is_used_most_are_narrow() {
    let dir = TestDirectory::new();
    let commands = [
        "", "demo", "fit", "predict", "cross-validate", "plot", "report", "completions", "man", "quantise",
        "import", "inspect", "models", "bench",
    ];
    for command in commands {
        let help = dir.ok(&format!("{command} --help"));
        let mut examples = help.lines().skip_while(|line| !line.starts_with("Example"));
        assert!(examples.all(|line| line.chars().count() <= 84), "{command}: {help}");
    }
}
