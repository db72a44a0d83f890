//! The baselines of cross-validation, and the notes on its figures.

use serde_json::Value;

use crate::test_directory::{LONG, SMALL, TestDirectory, rows, stderr};

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
    assert!(table.contains("season:         7\n"), "{table}");

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
        "sorted by:      mase (without 5 forecasts that have none)\n\
         windows scored: 11 of 12\n\
         series scored:  4 of 4\n\
         series in MASE: 3 of 4; the history of 1 is constant, or not longer than a season\n\
         season:         7\n\
         trained:        NLinear once, before the first forecast (--refit: before each)\n"
    );
    assert_eq!(rows(&dir.read("cv.csv")).len(), 1 + 11 * 7);
    let found = metrics(&dir.ok(&format!("{validate} --json")), "SeasonalNaive");
    for (key, count) in [("scored_windows", 11), ("scored_series", 4), ("mase_series", 3)] {
        assert_eq!(found[key], count, "{key}: {found}");
    }
}

/// The number behind a metric and a model in what `evaluate --json` prints.
fn evaluated(report: &str, metric: &str, model: &str) -> f64 {
    let report: Value = serde_json::from_str(report).unwrap();
    let rows = report["scores"].as_array().unwrap();
    let row = rows.iter().find(|row| row["metric"] == metric).unwrap_or_else(|| panic!("{report}"));
    row["values"][model].as_f64().unwrap()
}

#[test]
fn one_name_has_one_figure_in_all_commands() {
    let dir = TestDirectory::new();
    // Weeks of two sizes, so that a root of a mean over all is not the mean of roots.
    let y =
        |id: usize, day: usize| (1 + 40 * id) as f64 * ((day * 7 + id * 3) % 11) as f64 + (day % 7) as f64;
    let rows = (0..2).flat_map(|id| (0..60).map(move |day| format!("s{id},{day},{}\n", y(id, day))));
    dir.put("d.csv", &("unique_id,ds,y\n".to_owned() + &rows.collect::<String>()));
    let validated = dir.ok("cross-validate --data d.csv --model HistoricAverage --h 4 --n-windows 3 --season 7 --out cv.csv --json --log none");
    let scored =
        dir.ok("evaluate --forecast cv.csv --history d.csv --season 7 --metrics mae,rmse,smape,mase --json");
    dir.ok("report --data d.csv --forecast cv.csv --season 7 --out r.html --log none");
    let page = dir.read("r.html");
    let table = dir.ok("evaluate --forecast cv.csv --history d.csv --season 7 --metrics mae,rmse,smape,mase");
    for metric in ["mae", "rmse", "smape", "mase"] {
        for model in ["HistoricAverage", "SeasonalNaive"] {
            let (one, other) =
                (metrics(&validated, model)[metric].as_f64().unwrap(), evaluated(&scored, metric, model));
            assert!((one / other - 1.0).abs() < 1e-5, "{metric} of {model}: {one} and {other}");
        }
        let row = table.lines().find(|line| line.split_whitespace().next() == Some(metric));
        let shown = row.and_then(|row| row.split_whitespace().nth(1)).unwrap_or_else(|| panic!("{table}"));
        assert!(page.contains(&format!("<td>{shown}</td>")), "{metric}: {shown}");
    }
    // By step a forecast has one row, of which rmse is mae: the report does not show it.
    let by = |metric: &str| {
        evaluated(
            &dir.ok(&format!("evaluate --forecast cv.csv --metrics {metric} --by step --json")),
            metric,
            "Naive",
        )
    };
    assert_eq!(by("rmse"), by("mae"));
    let steps = page.split_once("id=\"steps\"").unwrap().1.split_once("</section>").unwrap().0;
    assert!(steps.contains("Naive: mean absolute error (mae)") && !steps.contains("(rmse)"), "{steps}");
}

/// A large series that rises in bumps, and a small one.
fn bumpy() -> String {
    let bump = |day: usize| (day * 7 % 5) as f64 + (day * day % 11) as f64;
    let rows = (0..60).flat_map(|day| {
        let (y, z) = (100.0 * (3.0 * day as f64 + bump(day)), 1.0 + 0.1 * bump(day + 3));
        [format!("a,{day},{y}\n"), format!("b,{day},{z:.2}\n")]
    });
    "unique_id,ds,y\n".to_owned() + &rows.collect::<String>()
}

#[test]
fn models_that_learn_without_steps_are_fitted_anew_and_sorted_by_any_metric() {
    let dir = TestDirectory::new();
    dir.put("d.csv", &bumpy());
    let run = |flags: &str| {
        dir.ok(&format!("cross-validate --data d.csv --model AutoETS --h 2 --n-windows 4 --log none {flags}"))
    };
    let mae = |flags: &str| metrics(&run(&format!("--json {flags}")), "AutoETS")["mae"].as_f64().unwrap();
    assert_eq!(mae(""), mae("--refit"));
    assert!(mae("--no-refit") != mae(""));
    let table = run("");
    assert!(table.contains("\ntrained:        AutoETS anew before each forecast\n"), "{table}");
    let once = run("--no-refit");
    assert!(once.contains("AutoETS once, before the first forecast"), "{once}");
    for (flags, metric) in [("", "mase"), ("--metric mae", "mae"), ("--metric nd", "nd")] {
        let report: Value = serde_json::from_str(&run(&format!("--json {flags}"))).unwrap();
        let models = report["metrics"].as_array().unwrap();
        let scores: Vec<f64> = models.iter().map(|model| model[metric].as_f64().unwrap()).collect();
        assert!(scores.is_sorted() && scores.len() == 3, "{metric}: {report}");
        assert_eq!(
            (&report["metric"], &report["refitted"]),
            (&metric.into(), &serde_json::json!(["AutoETS"]))
        );
    }
    let by_nd = run("--metric nd");
    assert!(
        by_nd.lines().next().unwrap().ends_with("nd") && by_nd.contains("sorted by:      nd\n"),
        "{by_nd}"
    );
}

#[test]
fn networks_are_trained_once_beside_models_that_are_fitted_anew() {
    let dir = TestDirectory::new();
    dir.put("d.csv", &bumpy());
    let run = |models: &str| {
        dir.ok(&format!(
            "cross-validate --data d.csv --model {models} --n-windows 3 --season 7 --log none --json"
        ))
    };
    let (mixed, alone) = (run(&format!("NLinear,AutoETS {SMALL}")), run(&format!("NLinear {SMALL}")));
    let mae = |report: &str, model: &str| metrics(report, model)["mae"].as_f64().unwrap();
    let change = mae(&mixed, "NLinear") / mae(&alone, "NLinear") - 1.0;
    assert!(change.abs() < 1e-4, "{change}");
    assert_eq!(mae(&mixed, "AutoETS"), mae(&run("AutoETS --h 7"), "AutoETS"));
    let report: Value = serde_json::from_str(&mixed).unwrap();
    assert_eq!(report["refitted"], serde_json::json!(["AutoETS"]));
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

    dir.ok(&format!("fit {LONG} --model NLinear,Naive {SMALL} --out both --log none"));
    let output = dir.run("quantise both --data long.csv --n-windows 1");
    assert!(stderr(&output).contains("left out, as only networks have weights in these formats: Naive\n"));
    assert!(!String::from_utf8(output.stdout).unwrap().contains("Naive"));
    dir.ok(&format!("fit {LONG} --model Naive --h 7 --out naive --log none"));
    let message = dir.fails(2, "quantise naive --data long.csv");
    assert!(message.contains(
        "only networks have weights that can be held in fewer bits, and none of the models is one: Naive"
    ));
    let message = dir.fails(2, "predict --model model --data long.csv --precision fp4");
    assert!(message.contains("[possible values: f32, bf16, int8]"), "{message}");
}

#[test]
fn pruned_networks_are_saved_with_what_it_cost() {
    let dir = TestDirectory::new();
    dir.ok(&format!(
        "fit {LONG} --model MLP,SeasonalNaive {SMALL} --set MLP.hidden_size=64 --set scaler_type=standard --out model --log none"
    ));
    let prune = "prune model --data long.csv --sparsity 0.5 --steps 4 --n-windows 2 --threads 1";
    let report: Value =
        serde_json::from_str(&dir.ok(&format!("{prune} --out zeros --json --log none"))).unwrap();
    assert_eq!((&report["n_windows"], &report["h"], &report["season"]), (&2.into(), &7.into(), &7.into()));
    assert_eq!((&report["structured"], &report["kept"][0]), (&false.into(), &"SeasonalNaive".into()));
    let [before, after] = &report["scores"].as_array().unwrap()[..] else { panic!("{report}") };
    assert_eq!((&before["pruned"], &after["pruned"]), (&false.into(), &true.into()));
    assert_eq!((&before["model"], &after["model"]), (&"MLP".into(), &"MLP".into()));
    let count = |score: &Value, name: &str| score[name].as_u64().unwrap();
    assert_eq!(count(before, "parameters"), count(after, "parameters"));
    assert_eq!(count(after, "weight_bytes"), 4 * count(after, "parameters"));
    // Biases stay.
    let share = count(after, "nonzero_parameters") as f64 / count(before, "nonzero_parameters") as f64;
    assert!((0.5..0.52).contains(&share), "{share}");

    let output = dir.run(&format!("{prune} --structured --out small"));
    let (table, told) = (String::from_utf8(output.stdout.clone()).unwrap(), stderr(&output));
    assert!(output.status.success() && told.contains("no networks: SeasonalNaive"), "{told}");
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].starts_with("model") && lines[0].ends_with("µs per forecast"), "{table}");
    assert!(lines.len() == 3 && lines[1].contains("before") && lines[2].contains("after"), "{table}");
    assert!(dir.ok("inspect small").contains("hidden_size"), "an ordinary network");
    assert_eq!(rows(&dir.ok("predict --model small --data long.csv --log none")).len(), 1 + 2 * 7);

    assert!(dir.fails(2, &format!("{prune} --out small")).contains("--overwrite"));
    let share = "prune model --data long.csv --out other --sparsity";
    assert!(dir.fails(2, &format!("{share} 1")).contains("at least 0 and below 1"));
    assert!(dir.fails(2, &format!("{share} 0.5 --by column")).contains("layer, network"));
    dir.ok(&format!("fit {LONG} --model SeasonalNaive --h 7 --out naive --log none"));
    let message = dir.fails(2, "prune naive --data long.csv --out other --sparsity 0.5");
    assert!(message.contains("none of the models is one: SeasonalNaive"), "{message}");
}
