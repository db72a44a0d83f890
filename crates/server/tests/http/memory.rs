//! The memory and the time of a server are bounded by its limits, whatever a request holds.

use std::io::{Read as _, Write as _};
use std::time::Duration;

use foretell::{Attribution, FileFormat, MemoryLimit, MemoryTable};
use foretell_server::{
    ContributionOptions, EngineError, EngineSettings, ForecastEngine, ForecastKind, ForecastRequest,
    ServeSettings,
};
use serde_json::json;
use tokio::time::timeout;

use crate::test_client::Client;
use crate::test_server::{TestServer, columns, model_dir, season_dir};

fn server(memory: u64, mut engine: EngineSettings) -> TestServer {
    engine.memory = MemoryLimit::of_bytes(memory);
    TestServer::with(&[("sales", season_dir().to_owned())], engine, ServeSettings::default())
}

/// This many series of a row each, with ids of this many letters.
fn short_series(series: usize, letters: usize) -> String {
    let ids: Vec<String> = (0..series).map(|number| format!("{number:a>letters$}")).collect();
    json!({ "unique_id": ids, "ds": vec![0; series], "y": vec![1; series] }).to_string()
}

#[test]
fn more_levels_than_can_be_meant_are_refused() {
    let server = server(
        1 << 30,
        EngineSettings::with(|settings| {
            settings.max_levels = 3;
        }),
    );
    let mut client = server.client();
    let mut ask = |field: &str, values: &[f64]| {
        let body = json!({ "data": columns(&[0], 20), (field): values }).to_string();
        client.post("/v1/forecast", "application/json", body)
    };
    assert_eq!(ask("level", &[50.0, 60.0, 70.0]).status, 200);
    for (field, values) in [("level", [50.0, 60.0, 70.0, 80.0]), ("quantiles", [0.1, 0.2, 0.3, 0.4])] {
        let detail = ask(field, &values).detail(413);
        assert!(
            detail.contains(field) && detail.contains("at most 3") && detail.contains("found 4"),
            "{detail}"
        );
    }
}

#[test]
fn the_text_of_an_answer_is_counted_before_it_is_made() {
    let server = server(8_000_000, EngineSettings::default());
    let mut client = server.client();
    let ask = |letters: usize, h: usize| format!(r#"{{"h": {h}, "data": {}}}"#, short_series(20, letters));
    assert_eq!(client.post("/v1/forecast", "application/json", ask(1000, 20)).status, 200);
    // 20 ids of 1,000 letters, 1,000 times each, are 20 MB.
    let detail = client.post("/v1/forecast", "application/json", ask(1000, 1000)).detail(413);
    assert!(detail.contains("bytes of the answer: at most 8000000"), "{detail}");
    assert_eq!(client.post("/v1/forecast", "application/json", ask(10, 1000)).status, 200);
}

#[test]
fn a_long_answer_is_the_same_as_a_short_one_of_each_series() {
    let server = server(1 << 30, EngineSettings::default());
    let mut client = server.client();
    let ask = |series: &[usize]| json!({ "data": columns(series, 20), "h": 4000 }).to_string();
    let numbers: Vec<usize> = (0..10).collect();
    let all = client.post("/v1/forecast", "application/json", ask(&numbers));
    assert_eq!(all.header("transfer-encoding"), Some("chunked"), "{}", all.head);
    let one = client.post("/v1/forecast", "application/json", ask(&[7]));
    assert!(one.header("content-length").is_some(), "{}", one.head);
    let values = |answer: &serde_json::Value| answer["columns"]["SeasonalNaive"].as_array().unwrap().clone();
    assert_eq!(values(&all.json())[7 * 4000..8 * 4000], values(&one.json()));
}

/// A request of thirty series and 10,000 steps, whose table of 300,000 rows takes 8.4 MB, and as much again while it is computed. As text
/// the answer is longer than the system's buffers.
fn large_request() -> (String, String) {
    let body = format!("unique_id,ds,y\n{}", (0..30).map(|i| format!("{i:a>100},1,1\n")).collect::<String>());
    let head = "POST /v1/forecast?h=10000 HTTP/1.1\r\nhost: t\r\ncontent-type: text/csv\r\ncontent-length: ";
    (format!("{head}{}\r\n\r\n{body}", body.len()), body)
}

/// A client that sends this and reads no more than the status of the answer.
fn client_that_stalls(server: &TestServer, request: &str) -> (Client, String) {
    let mut client = server.client();
    client.0.write_all(request.as_bytes()).unwrap();
    let mut status = [0; 12];
    client.0.read_exact(&mut status).unwrap();
    (client, String::from_utf8_lossy(&status[9..]).into_owned())
}

#[test]
fn answers_that_are_not_read_make_room_for_those_that_wait() {
    let engine = EngineSettings::with(|settings| {
        (settings.patience, settings.stall) = (Duration::from_secs(600), Duration::from_millis(10));
    });
    let server = server(60_000_000, engine);
    let (request, _) = large_request();
    let mut clients = Vec::new();
    for _ in 0..6 {
        let (client, status) = client_that_stalls(&server, &request);
        assert_eq!(status, "200");
        clients.push(client);
    }
    // The first one had its memory taken, so its connection ends within the answer.
    let mut rest = Vec::new();
    let _ = clients[0].0.read_to_end(&mut rest);
    assert!(!rest.ends_with(b"0\r\n\r\n"));
}

#[test]
fn requests_wait_for_memory_without_a_thread() {
    let engine = EngineSettings::with(|settings| {
        (settings.threads, settings.stall) = (1, Duration::from_secs(600));
    });
    let server = server(60_000_000, engine);
    let (request, body) = large_request();
    let stalled: Vec<_> = (0..2).map(|_| client_that_stalls(&server, &request).0).collect();
    let mut waiting = server.client();
    waiting.0.write_all(request.as_bytes()).unwrap();
    // The only thread answers others meanwhile, and a client that leaves is waited for no longer.
    let small = json!({ "data": columns(&[0], 20) }).to_string();
    for _ in 0..3 {
        assert_eq!(server.client().post("/v1/forecast", "application/json", &small).status, 200);
        server.client().0.write_all(request.as_bytes()).unwrap();
    }
    drop(stalled);
    assert_eq!(waiting.answer().unwrap().status, 200);
    assert_eq!(server.client().post("/v1/forecast?h=10000", "text/csv", &body).status, 200);
}

#[test]
fn answers_that_nobody_reads_take_no_more_memory_than_there_is() {
    // All have 30 MB together.
    let engine = EngineSettings::with(|settings| {
        (settings.stall, settings.timeout) = (Duration::from_secs(600), Duration::from_secs(3));
    });
    let server = server(60_000_000, engine);
    let (request, body) = large_request();
    let (clients, statuses): (Vec<_>, Vec<_>) = (0..3).map(|_| client_that_stalls(&server, &request)).unzip();
    assert_eq!(statuses, ["200", "200", "429"]);
    // Small ones have room of their own, and all have it again once the others are gone.
    let small = json!({ "data": columns(&[0], 20) }).to_string();
    assert_eq!(server.client().post("/v1/forecast", "application/json", small).status, 200);
    drop(clients);
    while server.client().post("/v1/forecast?h=10000", "text/csv", &body).status == 429 {}
}

#[test]
fn a_message_does_not_repeat_a_long_request() {
    let server = server(1 << 30, EngineSettings::default());
    let body = json!({ "model": "x".repeat(100_000), "data": columns(&[0], 20) }).to_string();
    let detail = server.client().post("/v1/forecast", "application/json", body).detail(404);
    assert!(detail.len() < 5000, "{}", detail.len());
}

/// A request that takes minutes: Shapley values of many orders, of 40 series.
fn endless() -> ForecastRequest {
    let (ids, steps): (Vec<usize>, usize) = ((0..40).collect(), 200);
    let data = columns(&ids, steps);
    let mut text = "unique_id,ds,y\n".to_owned();
    for row in 0..ids.len() * steps {
        let [id, time, y] = ["unique_id", "ds", "y"].map(|name| &data[name][row]);
        text += &format!("{},{time},{y}\n", id.as_str().unwrap());
    }
    let table = MemoryTable::new("data", FileFormat::of("data.csv"), text.into_bytes());
    let method = Attribution::ShapleySampling { permutations: 1000, seed: 1 };
    let asked = ContributionOptions { future: None, h: Some(2000), method, output: 0, only: Vec::new() };
    let mut request = ForecastRequest::of_table(table);
    request.asks = ForecastKind::Contributions(asked);
    request
}

fn engine() -> ForecastEngine {
    let settings = EngineSettings::with(|settings| {
        settings.threads = 1;
        settings.reload = Duration::ZERO;
        settings.timeout = Duration::from_secs(600);
    });
    ForecastEngine::load([("sales", model_dir())], settings).unwrap()
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

#[test]
fn work_that_nobody_waits_for_ends() {
    runtime().block_on(async {
        let engine = engine();
        assert!(timeout(Duration::from_millis(50), engine.forecast(endless())).await.is_err());
        // The only thread is free for the next one.
        let data = serde_json::from_value(columns(&[0], 20)).unwrap();
        assert!(engine.forecast(ForecastRequest::new(data)).await.is_ok());
    });
}

#[test]
fn an_engine_that_gives_up_waits_for_nothing() {
    runtime().block_on(async {
        let engine = engine();
        let work = engine.forecast(endless());
        tokio::pin!(work);
        assert!(timeout(Duration::from_millis(50), &mut work).await.is_err());
        engine.give_up();
        let error = work.await.unwrap_err();
        assert!(matches!(error, EngineError::Stopping), "{error}");
    });
}
