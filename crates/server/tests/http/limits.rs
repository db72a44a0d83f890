//! Limits, each with an error that says what to do, and the end of a server.

use std::io::Write as _;
use std::thread;
use std::time::{Duration, Instant};

use foretell::{FileFormat, Frame, Freq};
use foretell_server::{EngineSettings, ServeSettings, Token};
use serde_json::json;

use crate::test_client::Client;
use crate::test_server::{TestServer, columns, model_dir};

fn server(engine: EngineSettings, settings: ServeSettings) -> TestServer {
    TestServer::with(&[("sales", model_dir().to_owned())], engine, settings)
}

fn small(rows: usize) -> String {
    json!({"data": columns(&[0], rows)}).to_string()
}

#[test]
fn what_is_larger_than_it_may_be_is_refused_with_the_figures() {
    let engine = EngineSettings::with(|settings| {
        settings.max_rows = 100;
        settings.max_h = 10;
    });
    let server = server(engine, ServeSettings { max_body: 10_000, ..ServeSettings::default() });
    let mut client = server.client();
    assert_eq!(client.post("/v1/forecast", "application/json", small(100)).status, 200);
    let rows = client.post("/v1/forecast", "application/json", small(101)).detail(413);
    assert!(rows.contains("at most 100") && rows.contains("found 101"), "{rows}");
    let body = json!({"data": columns(&[0], 20), "h": 11}).to_string();
    assert!(client.post("/v1/forecast", "application/json", body).detail(413).contains("at most 10"));
    let body = client.post("/v1/forecast", "text/csv", "x".repeat(10_001)).detail(413);
    assert!(body.contains("at most 10000 bytes"), "{body}");

    // The same without its length in the head.
    let mut client = server.client();
    let head = "POST /v1/forecast HTTP/1.1\r\nhost: t\r\ncontent-type: text/csv\r\ntransfer-encoding: chunked\r\n\r\n";
    client.0.write_all(head.as_bytes()).unwrap();
    for _ in 0..11 {
        let _ = client.0.write_all(format!("3e8\r\n{}\r\n", "x".repeat(1000)).as_bytes());
    }
    assert_eq!(client.answer().map(|answer| answer.status), Some(413));
}

/// A Parquet file of one series: a column that never changes takes a few bytes for any number of rows.
fn parquet(rows: usize) -> Vec<u8> {
    let frame = Frame {
        ids: vec!["s0".into(); rows],
        times: (0..rows as i64).collect(),
        columns: vec![("y".to_owned(), vec![1.5; rows])],
        ..Frame::new(Freq::parse("1").unwrap())
    };
    let mut file = Vec::new();
    let format = FileFormat::of("t.parquet");
    let mut writer = format.writer(Box::new(&mut file), frame.time_style(), '.').unwrap();
    writer.write(&frame).unwrap();
    writer.finish().unwrap();
    file
}

#[test]
fn tables_are_read_no_farther_than_they_may_reach() {
    let engine = EngineSettings::with(|settings| {
        settings.max_rows = 100;
    });
    let server = server(engine, ServeSettings::default());
    let (mut client, rows) = (server.client(), 100_000);
    let answer = client.post("/v1/forecast", "application/vnd.apache.parquet", parquet(rows));
    let detail = answer.detail(413);
    assert_eq!(answer.json()["code"], "too_many");
    let found =
        detail.split_once("at most 100 are allowed, found ").and_then(|(_, rest)| rest.split(' ').next());
    let found: usize = found.and_then(|found| found.parse().ok()).unwrap_or_else(|| panic!("{detail}"));
    assert!(100 < found && found < rows / 10, "{detail}");
    // Rows that are filled in are rows as well, and so are those of tables beside the series, and of the answer.
    let far = "unique_id,ds,y\ns0,1,1\ns0,2,1\ns0,5000,1\n";
    let reading = "/v1/forecast?reading=%7B%22fill%22%3A%22zero%22%7D";
    assert!(client.post(reading, "text/csv", far).detail(413).contains("found 101"));
    let body = json!({"data": columns(&[0], 20), "h": 1_000_000_000_u64, "future": columns(&[0], 2)});
    let body = body.to_string();
    let detail = client.post("/v1/forecast", "application/json", &body).detail(413);
    assert!(detail.contains("steps (h)"), "{detail}");
    let accept = [("content-type", "application/json"), ("accept", "application/vnd.apache.parquet")];
    let detail = client.ask("POST", "/v1/forecast", &accept, body.as_bytes()).detail(413);
    assert!(detail.contains("steps (h)"), "{detail}");
}

#[test]
fn a_body_that_does_not_arrive_ends_in_time() {
    let server = server(
        EngineSettings::default(),
        ServeSettings { receive: Duration::from_secs(2), ..ServeSettings::default() },
    );
    let mut client = server.client();
    client.0.write_all(b"POST /v1/forecast HTTP/1.1\r\nhost: t\r\ncontent-type: text/csv\r\ncontent-length: 10\r\n\r\nabc").unwrap();
    assert!(client.answer().expect("an answer").detail(408).contains("2 s"));
    // A head that does not arrive gets no answer but the end.
    let mut client = server.client();
    client.0.write_all(b"POST /v1/fore").unwrap();
    assert!(client.answer().is_none_or(|answer| answer.status == 408));
}

#[test]
fn an_answer_that_nobody_reads_ends_the_connection() {
    // However long a busy machine takes for the forecast, and from the connection to the request.
    let engine = EngineSettings::with(|settings| {
        settings.timeout = Duration::from_secs(600);
    });
    let receive = Duration::from_secs(2);
    let server = server(engine, ServeSettings { receive, ..ServeSettings::default() });
    let mut client = server.client();
    // Answers of more bytes than the buffers of both ends hold.
    let body = json!({"data": columns(&(0..40).collect::<Vec<_>>(), 20), "h": 10_000}).to_string();
    let head = "POST /v1/forecast HTTP/1.1\r\nhost: t\r\ncontent-type: application/json\r\ncontent-length: ";
    client.0.write_all(format!("{head}{}\r\n\r\n{body}", body.len()).as_bytes()).unwrap();
    // Connections are counted as they are accepted, in order, and one that asked may still be counted when the next one
    // asks: only where there is but the one that asks is the other surely gone.
    let begun = Instant::now();
    let alone = || server.client().get("/metrics").text().contains("foretell_connections 1\n");
    while !alone() {
        assert!(begun.elapsed() < Duration::from_secs(120), "the connection is still there");
        thread::sleep(Duration::from_millis(20));
    }
    assert!(client.answer().is_none(), "it was cut off");
}

#[test]
fn too_many_requests_are_told_when_to_come_again() {
    let engine = EngineSettings::with(|settings| {
        settings.queue = 0;
    });
    let server = server(engine, ServeSettings::default());
    let answer = server.client().post("/v1/forecast", "application/json", small(20));
    assert!(answer.detail(429).contains("waiting already"));
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert_eq!(server.client().get("/healthz").status, 200);
}

#[test]
fn a_forecast_that_takes_too_long_is_given_up() {
    let engine = EngineSettings::with(|settings| {
        settings.timeout = Duration::ZERO;
    });
    let server = server(engine, ServeSettings::default());
    let answer = server.client().post("/v1/forecast", "application/json", small(20));
    assert!(answer.detail(504).contains("took longer than 0 s"));
}

#[test]
fn connections_beyond_the_limit_wait_for_room() {
    let server =
        server(EngineSettings::default(), ServeSettings { max_connections: 1, ..ServeSettings::default() });
    let mut first = server.client();
    assert_eq!(first.get("/healthz").status, 200);
    let mut second = server.client();
    let waiting = thread::spawn(move || second.get("/healthz").status);
    assert_eq!(first.get("/healthz").status, 200);
    assert!(!waiting.is_finished());
    drop(first);
    assert_eq!(waiting.join().unwrap(), 200);
}

#[test]
fn forecasts_models_and_metrics_want_the_token() {
    let token = Token::new("0123456789abcdef").unwrap();
    let server =
        server(EngineSettings::default(), ServeSettings { token: Some(token), ..ServeSettings::default() });
    let mut client = server.client();
    for path in ["/v1/models", "/metrics", "/v1/forecast"] {
        let answer = client.get(path);
        assert!(answer.detail(401).contains("Authorization"), "{path}");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    }
    assert_eq!(client.get("/healthz").status, 200);
    let headers = [("authorization", "Bearer 0123456789abcdef")];
    assert_eq!(client.ask("GET", "/v1/models", &headers, b"").status, 200);
    assert_eq!(
        client.ask("GET", "/v1/models", &[("authorization", "Bearer 0123456789abcdeF")], b"").status,
        401
    );
}

#[test]
fn a_server_that_is_told_to_stop_answers_what_has_begun() {
    let mut server = TestServer::new();
    let address = server.address;
    let mut slow = server.client();
    let body = small(40);
    let length = body.len();
    let head = format!(
        "POST /v1/forecast HTTP/1.1\r\nhost: t\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    );
    slow.0.write_all(head.as_bytes()).unwrap();
    slow.0.write_all(&body.as_bytes()[..10]).unwrap();
    // An idle connection does not hold the end up.
    let mut idle = server.client();
    assert_eq!(idle.get("/healthz").status, 200);
    // The head must have been read, or the request has not begun.
    thread::sleep(Duration::from_millis(100));
    server.tell_to_stop();
    let begun = Instant::now();
    while std::net::TcpStream::connect(address).is_ok() && begun.elapsed() < Duration::from_secs(20) {
        thread::sleep(Duration::from_millis(5));
    }
    slow.0.write_all(&body.as_bytes()[10..]).unwrap();
    assert_eq!(slow.answer().expect("an answer").status, 200);
    assert!(idle.answer().is_none());
    server.stop();
    assert!(std::net::TcpStream::connect(address).is_err());
}

#[test]
fn requests_that_go_on_after_the_end_are_told_of_it() {
    let engine = EngineSettings::with(|settings| {
        settings.timeout = Duration::from_secs(600);
    });
    let mut server = server(engine, ServeSettings { drain: Duration::ZERO, ..ServeSettings::default() });
    let mut client = server.client();
    // Minutes of work: Shapley values of many orders.
    let rows: String = (0..8000).map(|row| format!("s{},{},{}\n", row / 200, row % 200, row % 7)).collect();
    let body = format!("unique_id,ds,y\n{rows}");
    let path = "/v1/explain?h=2000&method=shapley-sampling&samples=1000";
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: t\r\ncontent-type: text/csv\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    client.0.write_all(&[head.as_bytes(), body.as_bytes()].concat()).unwrap();
    // It must have been read, or the request has not begun.
    thread::sleep(Duration::from_millis(100));
    server.stop();
    // A machine that is too busy for a word cuts it off.
    if let Some(answer) = client.answer() {
        assert!(answer.detail(503).contains("stopping"));
        assert_eq!(
            (answer.json()["code"].as_str(), answer.header("retry-after")),
            (Some("stopping"), Some("1"))
        );
    }
}

#[test]
fn odd_bodies_are_told_what_is_wrong_with_them() {
    let server = TestServer::new();
    let mut client = server.client();
    let json = |y: &str| format!(r#"{{"data": {{"unique_id": ["a"], "ds": [1], "y": [{y}]}}}}"#);
    let digits = "9".repeat(400);
    for (body, status, part) in [
        (format!("{{\"data\": {}", "[".repeat(100_000)), 400, "expected columns by name"),
        (format!("{{\"reading\": {{\"a\": {}", "[".repeat(100_000)), 400, "recursion limit"),
        ("null".to_owned(), 400, "expected an object of fields"),
        (json("NaN"), 400, "NaN at line 1 column 48 is no JSON; write null"),
        (json("-Infinity"), 400, "Infinity at line 1 column 49 is no JSON"),
        (json(&digits), 400, "is beyond 64 bits; rescale it"),
        (json(&format!("\"{digits}\"")), 422, "is beyond a 32-bit float"),
        (json("\"inf\""), 422, "\"inf\" is not finite"),
    ] {
        let detail = client.post("/v1/forecast", "application/json", &body).detail(status);
        assert!(detail.contains(part), "{detail}");
    }
    let headers = [("content-type", "application/json"), ("content-encoding", "gzip")];
    let detail = client.ask("POST", "/v1/forecast", &headers, &[0x1f, 0x8b]).detail(415);
    assert!(detail.contains("\"gzip\"; send the body as"), "{detail}");
    let years = "unique_id,ds,y\na,99999-01-01,1\na,99999-01-02,1\n";
    let detail = client.post("/v1/forecast", "text/csv", years).detail(422);
    assert!(detail.starts_with("data, line 2, column `ds`: \"99999-01-01\" is not"), "{detail}");
    let many: serde_json::Map<_, _> = (0..20_000).map(|column| (format!("c{column}"), json!([1]))).collect();
    let body = json!({ "data": many }).to_string();
    let detail = client.post("/v1/forecast", "application/json", body).detail(422);
    assert!(detail.contains("has no column `unique_id`") && detail.contains("19992 more"), "{detail}");
}

#[test]
fn the_log_has_a_line_for_each_request_and_none_of_its_data() {
    let mut server = TestServer::new();
    let mut client = server.client();
    client.post("/v1/forecast", "application/json", small(20));
    client.post("/v1/forecast?secret=1", "text/csv", "secret,ds,y\nsecret,1,2\n");
    client.get("/secret");
    drop(client);
    server.stop();
    let log = server.log.lock().unwrap().clone();
    assert_eq!(log.len(), 3);
    let lines: Vec<serde_json::Value> = log.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        (&lines[0]["status"], &lines[0]["model"], &lines[0]["rows"]),
        (&json!(200), &json!("sales"), &json!(4))
    );
    assert_eq!((&lines[0]["route"], &lines[2]["route"]), (&json!("/v1/forecast"), &json!("none")));
    assert!(log.iter().all(|line| !line.contains("secret") && !line.contains("s0")), "{log:?}");
}

#[test]
fn metrics_count_what_was_answered() {
    let server = TestServer::new();
    let mut client: Client = server.client();
    client.post("/v1/forecast", "application/json", small(20));
    client.post("/v1/forecast", "application/json", "{");
    let text = client.get("/metrics").text().to_owned();
    for line in [
        r#"foretell_requests_total{route="/v1/forecast",status="200"} 1"#,
        r#"foretell_requests_total{route="/v1/forecast",status="400"} 1"#,
        "foretell_windows_total 1",
        "foretell_connections 1",
        "foretell_models 1",
    ] {
        assert!(text.lines().any(|other| other == line), "{line} is missing in\n{text}");
    }
}
