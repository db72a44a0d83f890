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
