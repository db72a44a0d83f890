//! What each request is answered.

use serde_json::{Value, json};

use crate::{ask, session, values};

fn numbers(table: &Value, column: &str) -> Vec<f64> {
    table["columns"][column].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
}

#[test]
fn an_array_and_a_horizon_are_a_forecast_with_intervals() {
    let request =
        json!({ "op": "forecast", "tables": { "values": values(40) }, "h": 4, "levels": [80.0, 95.0] });
    let (answer, _) = ask(&mut session(), &request, &[]);
    let table = &answer["table"];
    assert_eq!(table["columns"]["ds"], json!([41, 42, 43, 44]), "{answer}");
    let model = &table["models"][0];
    assert_eq!(model["intervals"][0]["level"], 80.0);
    let point = numbers(table, model["mean"].as_str().unwrap());
    let end = |level: usize, end: &str| numbers(table, model["intervals"][level][end].as_str().unwrap());
    // The true values are those of the trend and the season.
    for (step, expected) in values(44)[40..].iter().enumerate() {
        assert!((point[step] - expected).abs() < 4.0, "{point:?}");
        assert!(
            end(1, "lower")[step] <= end(0, "lower")[step] && end(0, "upper")[step] <= end(1, "upper")[step]
        );
    }
    assert!(answer["board"]["sentence"].as_str().unwrap().contains("MASE"), "{answer}");
}

#[test]
fn missing_values_of_an_array_are_filled_in_and_told() {
    let mut series: Vec<Option<f64>> = values(40).into_iter().map(Some).collect();
    (series[7], series[39]) = (None, None);
    let request = json!({ "op": "forecast", "tables": { "values": series }, "h": 2 });
    let (answer, _) = ask(&mut session(), &request, &[]);
    // The last value is not known: the forecast begins there.
    assert_eq!(answer["table"]["columns"]["ds"], json!([40, 41]));
    let told = answer["told"].to_string();
    assert!(told.contains("filled in") && told.contains("after the last known value"), "{told}");
}

#[test]
fn models_are_trained_saved_loaded_and_forecast_with() {
    let days: Vec<String> =
        (0..56).map(|day| format!("2024-{:02}-{:02}", 1 + day / 28, 1 + day % 28)).collect();
    let days: Vec<String> = days.into_iter().take(28).collect();
    let tables = json!({ "data": { "unique_id": vec!["a"; 28], "ds": days, "y": values(28) } });
    let mut session = session();
    let models = json!(["SeasonalNaive", { "model": "NLinear", "max_steps": 2, "input_size": 8 }]);
    let request = json!({ "op": "fit", "tables": tables, "models": models, "h": 4, "season": 4 });
    let (fitted, _) = ask(&mut session, &request, &[]);
    assert_eq!(fitted["about"]["columns"], json!(["SeasonalNaive", "NLinear"]), "{fitted}");
    let (_, archive) = ask(&mut session, &json!({ "op": "save", "model": fitted["model"] }), &[]);
    assert!(archive.starts_with(b"PK"));
    let (loaded, _) = ask(&mut session, &json!({ "op": "load" }), &archive);
    let predict = |session: &mut _, model: &Value| {
        ask(session, &json!({ "op": "predict", "model": model, "tables": tables }), &[]).0
    };
    let (first, again) = (predict(&mut session, &fitted["model"]), predict(&mut session, &loaded["model"]));
    assert_eq!(first["table"]["columns"], again["table"]["columns"]);
    assert_eq!(first["table"]["columns"]["ds"][0], "2024-01-29");
    assert_eq!(numbers(&first["table"], "SeasonalNaive"), &values(28)[24..]);
    let (freed, _) = ask(&mut session, &json!({ "op": "free", "model": fitted["model"] }), &[]);
    assert_eq!(freed["freed"], true);
    assert_eq!(predict(&mut session, &fitted["model"])["error"]["code"], "no_model");
}

#[test]
fn series_end_for_forecasts_as_in_training() {
    let table =
        json!({ "unique_id": ["a", "a", "a", "b", "b"], "ds": [1, 2, 3, 1, 2], "y": [1, 2, 3, 4, 5] });
    let tables = json!({ "data": table, "end": "common" });
    let mut session = session();
    let request = json!({ "op": "fit", "tables": tables, "models": ["Naive"], "h": 1 });
    let (fitted, _) = ask(&mut session, &request, &[]);
    let (_, archive) = ask(&mut session, &json!({ "op": "save", "model": fitted["model"] }), &[]);
    let (loaded, _) = ask(&mut session, &json!({ "op": "load" }), &archive);
    let mut forecast = |tables: Value| {
        let request = json!({ "op": "predict", "model": loaded["model"], "tables": tables });
        ask(&mut session, &request, &[]).0["table"]["columns"].clone()
    };
    let as_trained = forecast(json!({ "data": table }));
    assert_eq!(
        (&as_trained["ds"], &as_trained["Naive"]),
        (&json!([4, 4]), &json!([3.0, 0.0])),
        "{as_trained}"
    );
    let own = forecast(json!({ "data": table, "end": "own" }));
    assert_eq!((&own["ds"], &own["Naive"]), (&json!([4, 3]), &json!([3.0, 5.0])), "{own}");
}

#[test]
fn a_forecast_that_is_kept_ends_as_it_was_trained_and_forecasts_in_its_bounds() {
    let steps: Vec<usize> = (1..=30).chain(1..=29).collect();
    let ids: Vec<&str> = (0..59).map(|row| if row < 30 { "a" } else { "b" }).collect();
    let y: Vec<f64> = (0..59).map(|row: i32| 10.3 + f64::from(row % 7)).collect();
    let tables = json!({ "data": { "unique_id": ids, "ds": steps, "y": y } });
    let mut with_end = tables.clone();
    with_end["end"] = json!("common");
    let mut session = session();
    let request = json!({ "op": "forecast", "tables": with_end, "h": 2, "models": ["Naive"], "keep": true, "kept": { "integer": true } });
    let (answer, _) = ask(&mut session, &request, &[]);
    let request = json!({ "op": "predict", "model": answer["model"], "tables": tables });
    let (forecast, _) = ask(&mut session, &request, &[]);
    assert_eq!(forecast["table"]["columns"]["ds"], json!([31, 32, 31, 32]), "{answer} {forecast}");
    assert!(numbers(&forecast["table"], "Auto").iter().all(|value| value.fract() == 0.0), "{forecast}");
    for (kept, name) in [(json!({ "intger": true }), "intger"), (json!({ "spread": true }), "spread")] {
        for op in ["fit", "forecast"] {
            let request = json!({ "op": op, "tables": tables, "h": 2, "models": ["Naive"], "kept": kept });
            let error = ask(&mut session, &request, &[]).0["error"].clone();
            assert!(error["message"].as_str().unwrap_or_default().contains(name), "{op}: {error}");
        }
    }
}

#[test]
fn series_without_a_value_and_texts_that_are_not_named_stop_no_forecast() {
    let ids: Vec<&str> = (0..60).map(|row| if row < 40 { "a" } else { "b" }).collect();
    let steps: Vec<usize> = (1..=40).chain(1..=20).collect();
    let mut y: Vec<Option<f64>> = values(40).into_iter().map(Some).collect();
    y.resize(60, None);
    let data = json!({ "unique_id": ids, "ds": steps, "y": y });
    let statics = json!({ "unique_id": ["a", "b"], "city": ["Ulm", "Bonn"], "size": [1.0, 2.0] });
    let mut session = session();
    let request = json!({ "op": "forecast", "tables": { "data": data, "static": statics }, "h": 2 });
    let (answer, _) = ask(&mut session, &request, &[]);
    assert_eq!(answer["table"]["columns"]["unique_id"], json!(["a", "a"]), "{answer}");
    let told = answer["told"].to_string();
    assert!(told.contains("series of which no value is known"), "{told}");
    assert!(told.contains("static columns of texts are not read: city"), "{told}");
    // A number that is not finite is a mistake, not a text.
    let statics = json!({ "unique_id": ["a", "b"], "size": ["inf", "2"] });
    let request = json!({ "op": "forecast", "tables": { "data": data, "static": statics }, "h": 2 });
    let (answer, _) = ask(&mut session, &request, &[]);
    assert!(!answer["told"].to_string().contains("texts are not read"), "{answer}");
}

#[test]
fn windows_are_forecast_scored_and_judged() {
    let training = json!({ "tables": { "values": values(40) }, "models": ["SeasonalNaive", "Naive"], "h": 4, "season": 4 });
    let mut session = session();
    let request = json!({ "op": "cross_validate", "training": training, "n_windows": 2, "metrics": ["mae"] });
    let (answer, _) = ask(&mut session, &request, &[]);
    // A season later the trend has risen by four.
    assert_eq!(answer["scores"]["mae"]["SeasonalNaive"], 4.0, "{answer}");
    assert_eq!(answer["table"]["columns"]["cutoff"].as_array().unwrap().len(), 8);
    let mut odd = values(40);
    odd[37] = 500.0;
    let training = json!({ "tables": { "values": odd }, "models": ["SeasonalNaive"], "h": 4, "season": 4 });
    let (answer, _) =
        ask(&mut session, &json!({ "op": "anomalies", "training": training, "n_windows": 4 }), &[]);
    let marks = numbers(&answer["table"], "SeasonalNaive-anomaly");
    assert_eq!(marks.iter().filter(|mark| **mark == 1.0).count(), 1, "{answer}");
}

#[test]
fn forecasts_are_taken_apart_and_scored() {
    let mut session = session();
    let fit = json!({ "op": "fit", "tables": { "values": values(60) }, "models": ["FLAIR"], "h": 4 });
    let (fitted, _) = ask(&mut session, &fit, &[]);
    let request = json!({ "op": "decompose", "model": fitted["model"], "tables": { "values": values(60) } });
    let (answer, _) = ask(&mut session, &request, &[]);
    assert!(!answer["table"]["models"][0]["components"].as_array().unwrap().is_empty(), "{answer}");
    let request =
        json!({ "op": "evaluate", "actual": [1.0, 2.0, null], "forecasts": { "mine": [2.0, 4.0, 5.0] } });
    let (answer, _) = ask(&mut session, &request, &[]);
    assert_eq!(answer["scores"]["mae"]["mine"], 1.5, "{answer}");
}

#[test]
fn errors_have_codes_settings_and_advice() {
    let mut session = session();
    let mut refused = |request: Value| ask(&mut session, &request, &[]).0["error"].clone();
    let error = refused(json!({ "op": "forecast", "tables": { "values": [1.0, 2.0, 3.0] } }));
    assert_eq!((&error["code"], &error["setting"]), (&json!("request"), &json!("h")));
    let error = refused(
        json!({ "op": "forecast", "tables": { "values": [1.0, 2.0, 3.0] }, "h": 2, "budget": "soon" }),
    );
    assert_eq!(
        (&error["code"], &error["setting"]),
        (&json!("hyper_parameter_value"), &json!("budget")),
        "{error}"
    );
    let error = refused(json!({ "op": "forecast", "horizon": 3 }));
    assert_eq!(error["setting"], "horizon", "{error}");
    let error = refused(json!({ "op": "fit", "models": ["NHITSS"], "h": 3 }));
    assert!(error["message"].as_str().unwrap().contains("NHITS"), "{error}");
    let gap = json!({ "unique_id": ["a", "a", "a", "a"], "ds": ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-07"], "y": [1, 2, 3, 4] });
    let error = refused(json!({ "op": "forecast", "tables": { "data": gap }, "h": 2 }));
    assert_eq!((&error["code"], &error["setting"]), (&json!("gap"), &json!("reading.fill")), "{error}");
    assert!(error["advice"].as_str().unwrap().contains("reading.fill"), "{error}");
    let error =
        refused(json!({ "op": "forecast", "tables": { "values": values(40) }, "h": 2, "budget": "soon" }));
    assert_eq!(error["setting"], "budget", "{error}");
}

#[test]
fn scalar_code_gives_the_same_forecasts() {
    let mut session = session();
    let request = json!({ "op": "fit", "tables": { "values": values(40) }, "models": [{ "model": "NLinear", "max_steps": 2 }], "h": 4 });
    let mut forecast = |simd: bool| {
        ask(&mut session, &json!({ "op": "settings", "simd": simd, "pool": simd }), &[]);
        let (about, _) = ask(&mut session, &json!({ "op": "about" }), &[]);
        let (fitted, _) = ask(&mut session, &request, &[]);
        let predict =
            json!({ "op": "predict", "model": fitted["model"], "tables": { "values": values(40) } });
        (about["level"].clone(), numbers(&ask(&mut session, &predict, &[]).0["table"], "NLinear"))
    };
    let ((_, vectors), (level, scalar)) = (forecast(true), forecast(false));
    assert_eq!(level, "scalar");
    let same = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-5 * a.abs();
    assert!(vectors.iter().zip(&scalar).all(same), "{vectors:?} {scalar:?}");
    ask(&mut session, &json!({ "op": "settings", "simd": true, "pool": true }), &[]);
}

/// Two shops of 24 months under names of no tool, and a column beside.
fn sales() -> String {
    let row = |month: usize, shop: &str, size: usize| {
        let value = size + 3 * month + [0, 40, 10, 25][month % 4];
        format!("{}-{:02}-01,{shop},{value},{}\n", 2022 + month / 12, 1 + month % 12, month % 5)
    };
    let rows: String =
        (0..24).flat_map(|month| [row(month, "North", 200), row(month, "South", 90)]).collect();
    format!("month,shop,sales,visits\n{rows}")
}

#[test]
fn a_file_is_looked_at_and_forecast_under_its_own_names() {
    let mut session = session();
    let tables = json!({ "file": "sales.csv" });
    let (answer, _) = ask(&mut session, &json!({ "op": "look", "tables": tables }), sales().as_bytes());
    let understood = &answer["understood"];
    let roles = ["id_col", "time_col", "target_col"].map(|role| understood[role].clone());
    assert_eq!(json!(roles), json!(["shop", "month", "sales"]), "{answer}");
    assert_eq!((&understood["freq"], &understood["unread"]), (&json!("MS"), &json!(["visits"])));
    assert_eq!((&understood["series"], &understood["rows"]), (&json!(2), &json!(48)));
    assert_eq!(answer["table"]["columns"]["sales"].as_array().unwrap().len(), 48);
    assert_eq!(answer["table"]["columns"]["month"][23], "2023-12-01");
    let request = json!({ "op": "forecast", "tables": tables, "h": 3, "levels": [80.0], "report": true });
    let (answer, report) = ask(&mut session, &request, sales().as_bytes());
    assert_eq!(
        answer["table"]["names"].as_array().unwrap()[..2],
        [json!("shop"), json!("month")],
        "{answer}"
    );
    assert_eq!(answer["table"]["columns"]["month"][5], "2024-03-01");
    let report = String::from_utf8(report).unwrap();
    for part in ["Forecasts of sales", "sales.csv", answer["board"]["sentence"].as_str().unwrap()] {
        assert!(report.contains(part), "{part} is not in the report");
    }
}

#[test]
fn a_file_of_doubtful_columns_is_a_question() {
    let text = sales().replace("sales,", "kg,");
    let (answer, _) =
        ask(&mut session(), &json!({ "op": "look", "tables": { "file": "t.csv" } }), text.as_bytes());
    let error = &answer["error"];
    assert_eq!(
        (&error["code"], &error["columns"]),
        (&json!("unclear_column"), &json!(["kg", "visits"])),
        "{answer}"
    );
    assert!(error["message"].as_str().unwrap().contains("`reading.target_col"), "{answer}");
    let tables = json!({ "file": "t.csv", "reading": { "target_col": "kg" } });
    let (answer, _) = ask(&mut session(), &json!({ "op": "look", "tables": tables }), text.as_bytes());
    assert_eq!(answer["understood"]["target_col"], "kg", "{answer}");
    let both = json!({ "file": "t.csv", "values": [1.0] });
    let (answer, _) = ask(&mut session(), &json!({ "op": "look", "tables": both }), text.as_bytes());
    assert_eq!(answer["error"]["setting"], "data", "{answer}");
}
