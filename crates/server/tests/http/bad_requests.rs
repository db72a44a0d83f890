//! Bad requests of all kinds: none ends the server, none makes it grow, and the next good one is answered.
//!
//! A few hundred are sent here. `FORETELL_BAD_REQUESTS=100000 cargo test -p foretell-server --test http -- --nocapture bad_requests` sends
//! as many. It has a process of its own, since it looks at the memory of all of it.

use std::env;
use std::io::Write as _;
use std::time::Duration;

use foretell_fuzz::in_own_process;
use foretell_server::{EngineSettings, ServeSettings};
use serde_json::json;

use crate::test_client::Client;
use crate::test_server::{TestServer, columns, model_dir};

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// A good request's bytes.
fn good() -> Vec<u8> {
    let body = json!({"data": columns(&[0], 20), "level": [60]}).to_string();
    request("POST", "/v1/forecast", "application/json", body.as_bytes())
}

fn request(method: &str, path: &str, content: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: t\r\ncontent-type: {content}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// The bytes of a bad request.
fn bad(dice: &mut Dice) -> Vec<u8> {
    const TYPES: [&str; 6] = [
        "application/json",
        "text/csv",
        "application/vnd.apache.parquet",
        "multipart/form-data; boundary=b",
        "multipart/form-data",
        "",
    ];
    const PATHS: [&str; 7] = [
        "/v1/forecast", "/v1/cross-validate", "/v1/models", "/v1/forecast?h=1e9&level=%00",
        "/v1/forecast?reading={", "/../../etc/passwd", "/%ff",
    ];
    const CELLS: [&str; 10] = [
        "null", "1e999", "-0", "\"\"", "\"\\u0000\"", "[[[]]]", "{}", "1e-300", "\"2024-02-30\"",
        "99999999999999999999",
    ];
    match dice.below(8) {
        // A good request with some bytes changed, cut short or repeated.
        0 => {
            let mut bytes = good();
            for _ in 0..=dice.below(8) {
                let at = dice.below(bytes.len());
                bytes[at] = dice.below(256) as u8;
            }
            bytes.truncate(dice.below(bytes.len()) + 1);
            bytes
        }
        1 => (0..dice.below(2000)).map(|_| dice.below(256) as u8).collect(),
        // Bodies of noise, of all types.
        2 => {
            let body: Vec<u8> = (0..dice.below(500)).map(|_| dice.below(256) as u8).collect();
            request(dice.of(&["POST", "GET", "PUT", "X"]), dice.of(&PATHS), dice.of(&TYPES), &body)
        }
        // JSON of the right form, with cells and fields that are not.
        3 => {
            let cells: Vec<&str> = (0..dice.below(30)).map(|_| dice.of(&CELLS)).collect();
            let (cells, h) = (cells.join(","), dice.of(&CELLS));
            let body = format!(
                r#"{{"data": {{"unique_id": [{cells}], "ds": [{cells}], "y": [{cells}]}}, "h": {h}, "level": [{h}], "end": "{h}"}}"#
            );
            request("POST", dice.of(&PATHS), "application/json", body.as_bytes())
        }
        4 => {
            let deep = "[".repeat(dice.below(100_000));
            request("POST", "/v1/forecast", "application/json", format!("{{\"data\": {deep}").as_bytes())
        }
        // Floods of headers.
        5 => {
            let headers: String =
                (0..dice.below(300)).map(|i| format!("x-{i}: {}\r\n", "y".repeat(i))).collect();
            format!("GET /healthz HTTP/1.1\r\n{headers}\r\n").into_bytes()
        }
        // CSV with anything in its cells.
        6 => {
            let mut text = "unique_id,ds,y\n".to_owned();
            for row in 0..dice.below(40) {
                text += &format!("{},{},{}\n", dice.of(&CELLS), row + dice.below(2), dice.of(&CELLS));
            }
            request("POST", dice.of(&PATHS), dice.of(&TYPES), text.as_bytes())
        }
        // Lengths that are lies.
        _ => {
            let length = dice.of(&["-1", "99999999999999999999", "1000000000", "5", "0", "x"]);
            format!("POST /v1/forecast HTTP/1.1\r\nhost: t\r\ncontent-length: {length}\r\n\r\n{{\"data\"")
                .into_bytes()
        }
    }
}

/// The memory of this process in bytes, where the system tells as Linux does.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().trim_end_matches(" kB").parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
}

#[test]
fn bad_requests_do_no_harm() {
    if !in_own_process("bad_requests::bad_requests_do_no_harm") {
        return;
    }
    let count = env::var("FORETELL_BAD_REQUESTS").map_or(400, |count| count.parse().expect("a number"));
    let mut server = TestServer::with(
        &[("sales", model_dir().to_owned())],
        EngineSettings::default(),
        ServeSettings { receive: Duration::from_millis(50), ..ServeSettings::default() },
    );
    // Made before connecting: what is not sent at once comes too late.
    let good = good();
    let expected = {
        let mut client = server.client();
        client.0.write_all(&good).unwrap();
        client.answer().unwrap().body
    };
    let (mut dice, mut before) = (Dice(1), None);
    for number in 0..count {
        let bytes = bad(&mut dice);
        let mut client = server.client();
        // The server may have ended the connection already.
        let _ = client.0.write_all(&bytes);
        // Some wait for an answer, some break off.
        if dice.below(4) > 0 {
            let answer = client.answer();
            assert!(
                answer.is_none_or(|answer| answer.status != 500),
                "{:?}",
                String::from_utf8_lossy(&bytes)
            );
        }
        if number % 50 == 0 {
            let mut client: Client = server.client();
            client.0.write_all(&good).unwrap();
            assert_eq!(client.answer().unwrap().body, expected, "after {number}");
        }
        if number == count / 4 {
            before = resident();
        }
    }
    if let (Some(before), Some(after)) = (before, resident()) {
        println!(
            "{count} bad requests: {} MB of memory after a quarter of them, {} MB after all",
            before >> 20,
            after >> 20
        );
        assert!(after < before + (64 << 20), "from {before} to {after} bytes");
    }
    server.stop();
}
