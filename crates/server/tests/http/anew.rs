//! Forecasts without a saved model.

use foretell_server::{EngineSettings, ServeSettings};
use serde_json::{Value, json};

use crate::test_server::{TestServer, columns};

#[test]
fn a_request_without_a_model_is_answered_by_those_that_suit_its_series() {
    let server = TestServer::with(&[], EngineSettings::default(), ServeSettings::default());
    let mut client = server.client();
    let body = json!({ "data": columns(&[0, 3], 40), "h": 3 }).to_string();
    let answer = client.post("/v1/forecast", "application/json", &body);
    assert_eq!(answer.status, 200, "{}", answer.text());
    let answer = answer.json();
    assert_eq!(answer["model"], "auto");
    let found = answer["columns"].as_object().unwrap();
    let column = |name: &str| -> Vec<f64> {
        let values = found.get(name).unwrap_or_else(|| panic!("{name} among {:?}", found.keys()));
        values.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
    };
    assert_eq!(found["ds"], json!([40, 41, 42, 40, 41, 42]));
    let (understood, board) = (&answer["understood"], &answer["board"]);
    let facts =
        json!([understood["id_col"], understood["target_col"], understood["freq"], understood["rows"]]);
    assert_eq!(facts, json!(["unique_id", "y", "1", 80]), "{understood}");
    assert_eq!((&understood["series"], &understood["fewest"]), (&json!(2), &json!(40)));
    assert!(board["sentence"].as_str().unwrap().starts_with("Expect errors of about"), "{board}");
    let models: Vec<&str> =
        board["rows"].as_array().unwrap().iter().map(|row| row["model"].as_str().unwrap()).collect();
    assert!(models[0] == "Auto" && models.contains(&"SeasonalNaive"), "{models:?}");
    let [low, middle, high] = ["Auto_ql0.1", "Auto", "Auto_ql0.9"].map(column);
    for row in 0..6 {
        assert!(low[row] <= middle[row] && middle[row] <= high[row] && (5.0..20.0).contains(&middle[row]));
    }
    let none = json!({ "data": columns(&[0], 40) }).to_string();
    assert!(client.post("/v1/forecast", "application/json", none).detail(400).contains("h is missing"));
    let own = json!({ "data": columns(&[0], 40), "h": 3, "intervals": "conformal:4" }).to_string();
    assert!(client.post("/v1/forecast", "application/json", own).detail(400).contains("intervals"));
    let levels: Vec<f64> = (1..=90_000).map(|level| f64::from(level) / 1000.0).collect();
    let many = json!({ "data": columns(&[0], 40), "h": 3, "level": levels }).to_string();
    assert!(client.post("/v1/forecast", "application/json", many).detail(413).contains("levels"));
    let long = json!({ "data": columns(&[0], 40), "h": 3, "budget": "1h" }).to_string();
    assert!(client.post("/v1/forecast", "application/json", long).detail(400).contains("may take 24 s"));
}

#[test]
fn a_series_without_a_value_is_left_out_and_noted() {
    let server = TestServer::with(&[], EngineSettings::default(), ServeSettings::default());
    let mut data = columns(&[0, 3], 40);
    for cell in &mut data["y"].as_array_mut().unwrap()[40..] {
        *cell = Value::Null;
    }
    let body = json!({ "data": data, "h": 3 }).to_string();
    let answer = server.client().post("/v1/forecast", "application/json", &body);
    assert_eq!(answer.status, 200, "{}", answer.text());
    let answer = answer.json();
    assert_eq!(answer["columns"]["ds"], json!([40, 41, 42]));
    let notes = answer["understood"]["notes"].to_string();
    assert!(notes.contains("left out series of which no value is known"), "{notes}");
}

#[test]
fn static_columns_of_texts_are_left_out_and_told() {
    let server = TestServer::with(&[], EngineSettings::default(), ServeSettings::default());
    let statics = json!({ "unique_id": ["s0", "s3"], "city": ["Ulm", "Bonn"], "size": [1.5, 2.0] });
    let body = json!({ "data": columns(&[0, 3], 40), "static": statics, "h": 3 }).to_string();
    let answer = server.client().post("/v1/forecast", "application/json", &body);
    assert_eq!(answer.status, 200, "{}", answer.text());
    let warnings = answer.json()["warnings"].to_string();
    assert!(warnings.contains("static columns of texts are not read: city\""), "{warnings}");
}

#[test]
fn beside_models_it_is_asked_for_by_its_name() {
    let server = TestServer::new();
    let mut client = server.client();
    let mut ask = |body: Value| client.post("/v1/forecast", "application/json", body.to_string());
    let answer = ask(json!({ "data": columns(&[1], 30), "h": 2, "model": "auto", "quantiles": [0.1, 0.9] }));
    assert_eq!((answer.status, answer.json()["model"].as_str()), (200, Some("auto")), "{}", answer.text());
    assert_eq!(ask(json!({ "data": columns(&[1], 30) })).json()["model"], "sales");
    let refused = ask(json!({ "data": columns(&[1], 30), "budget": "5s" })).detail(400);
    assert!(refused.contains("model auto"), "{refused}");
}

/// Four weeks of two shops, with these columns.
fn shops(header: &str) -> String {
    let row = |day: usize, shop: &str| {
        let (sales, price) = (20 + 3 * (day % 7), 3 + day % 2);
        format!("2024-01-{:02},{shop},{sales},{price}\n", 1 + day)
    };
    let rows: String = (0..28).flat_map(|day| ["north", "south"].map(|shop| row(day, shop))).collect();
    format!("{header}\n{rows}")
}

#[test]
fn ids_times_and_values_are_found_by_what_columns_hold() {
    let server = TestServer::with(&[], EngineSettings::default(), ServeSettings::default());
    let mut client = server.client();
    let mut ask = |path: &str, header: &str| {
        let headers = [("content-type", "text/csv"), ("accept", "application/json")];
        client.ask("POST", path, &headers, shops(header).as_bytes())
    };
    let looked = ask("/v1/look", "day,shop,sales,price");
    assert_eq!(looked.status, 200, "{}", looked.text());
    let looked = looked.json();
    let understood = &looked["understood"];
    let roles = ["id_col", "time_col", "target_col"].map(|role| understood[role].as_str().unwrap());
    assert_eq!(roles, ["shop", "day", "sales"]);
    assert_eq!(understood["unread"], json!(["price"]));
    assert_eq!((&understood["freq"], &understood["seasons"]), (&json!("D"), &json!([7])));
    // Its rows are the last ones of each series.
    let columns = looked["columns"].as_object().unwrap();
    assert_eq!(columns.keys().collect::<Vec<_>>(), ["shop", "day", "sales"]);
    assert_eq!(
        (&columns["day"][27], &columns["shop"][27], &columns["sales"][0]),
        (&json!("2024-01-28"), &json!("north"), &json!(20.0))
    );
    assert_eq!(looked["board"], Value::Null);
    // A forecast has their names.
    let answer = ask("/v1/forecast?h=2&level=80", "day,shop,sales,price");
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.json()["columns"]["day"][0], "2024-01-29");
    // Which of two? The answer to the question suffices.
    for path in ["/v1/look", "/v1/forecast?h=2"] {
        let refused = ask(path, "day,shop,a,b");
        let detail = refused.detail(422);
        assert!(detail.contains("data: which column is to be forecast? Numbers are in `a`, `b`"), "{detail}");
        let problem = refused.json();
        assert_eq!(
            (&problem["code"], &problem["setting"]),
            (&json!("unclear_column"), &json!("reading.target_col"))
        );
        assert_eq!(problem["columns"], json!(["a", "b"]));
    }
    let named = r#"/v1/look?reading={"target_col":"b"}"#.replace('"', "%22");
    let understood = &ask(&named, "day,shop,a,b").json()["understood"];
    assert_eq!((&understood["target_col"], &understood["id_col"]), (&json!("b"), &json!("shop")));
}

#[test]
fn a_look_at_the_data_of_a_model_reads_them_as_the_model_does() {
    let server = TestServer::new();
    let mut client = server.client();
    let body = json!({ "data": columns(&[0, 1], 30), "model": "sales" }).to_string();
    let answer = client.post("/v1/look", "application/json", &body).json();
    assert_eq!((&answer["model"], &answer["understood"]["rows"]), (&json!("sales"), &json!(60)));
    assert_eq!(answer["columns"]["ds"].as_array().unwrap().len(), 60);
    let understood = &answer["understood"];
    assert_eq!((&understood["id_col"], &understood["time_col"]), (&json!("unique_id"), &json!("ds")));
    assert_eq!((&understood["target_col"], &understood["unread"]), (&json!("y"), &json!([])));
    assert_eq!(understood["columns"].as_array().unwrap().len(), 3);
    let refused = json!({ "data": columns(&[0], 30), "h": 3 }).to_string();
    assert!(client.post("/v1/look", "application/json", &refused).detail(400).contains("/v1/forecast"));
}

#[test]
fn workbooks_are_read_and_answered_in_json() {
    let server = TestServer::with(&[], EngineSettings::default(), ServeSettings::default());
    let mut client = server.client();
    for (name, content) in [
        ("sales.xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        ("sales.ods", "application/vnd.oasis.opendocument.spreadsheet"),
    ] {
        let path =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/tests/workbooks").join(name);
        let bytes = std::fs::read(path).unwrap();
        let wide = r#"/v1/look?reading={"wide":true}"#.replace('"', "%22");
        let answer = client.post(&wide, content, &bytes);
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(answer.header("content-type"), Some("application/json"));
        let answer = answer.json();
        assert_eq!(
            (&answer["understood"]["freq"], &answer["understood"]["series"]),
            (&json!("MS"), &json!(2))
        );
        assert!(
            answer["understood"]["notes"].to_string().contains("sheet `Sales`"),
            "{}",
            answer["understood"]
        );
        let damaged = client.post(&wide, content, &bytes[..bytes.len() / 2]).json();
        assert_eq!(damaged["code"], "damaged_workbook", "{damaged}");
    }
}
