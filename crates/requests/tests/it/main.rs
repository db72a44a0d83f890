//! Requests and their answers, as the module gives them.

mod damaged;
mod requests;

use foretell_requests::{Host, Session, join, split};
use serde_json::{Value, json};

/// A session that trains to the end.
fn session() -> Session {
    Session::new(Host::default())
}

/// The JSON of the answer to a request, and the bytes beside it.
fn ask(session: &mut Session, request: &Value, bytes: &[u8]) -> (Value, Vec<u8>) {
    let mut asked = request.as_object().unwrap().clone();
    let op = asked.remove("op").unwrap();
    let request = if asked.is_empty() { json!({ "op": op }) } else { json!({ "op": op, "asked": asked }) };
    let answer = session.answer(&join(request.to_string().as_bytes(), bytes));
    let (json, bytes) = split(&answer).unwrap();
    (serde_json::from_slice(json).unwrap(), bytes.to_vec())
}

/// A series of a trend and a season of four steps.
fn values(rows: usize) -> Vec<f64> {
    (0..rows).map(|row| 100.0 + row as f64 + [5.0, -3.0, 8.0, 0.5][row % 4]).collect()
}
