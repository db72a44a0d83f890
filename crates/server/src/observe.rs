//! The record of each request: a line of the log, and counters.

use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use foretell::jiff::Timestamp;
use serde_json::json;

use crate::app::App;

/// The facts of a request beside its status, which its handler sends along with the response.
#[derive(Clone, Debug)]
pub(crate) struct Served {
    pub(crate) model: String,
    pub(crate) series: usize,
    pub(crate) rows: usize,
    pub(crate) warnings: usize,
}

/// Counts and logs a request. Neither paths that are no routes nor queries are told: they may hold data.
pub(crate) async fn observe(State(app): State<App>, request: Request, next: Next) -> Response {
    let start = Instant::now();
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let method = request.method().clone();
    let response = next.run(request).await;
    let took = start.elapsed();
    let served = response.extensions().get::<Served>();
    let status = response.status().as_u16();
    app.state.metrics.count(&route, status, took, served.map_or(0, |served| served.series));
    if let Some(log) = &app.settings.log {
        let mut line = json!({
            "time": Timestamp::now().to_string(),
            "method": method.as_str(),
            "route": route,
            "status": status,
            "ms": (took.as_secs_f64() * 1e6).round() / 1e3,
        });
        if let Some(Served { model, series, rows, warnings }) = served {
            line["model"] = json!(model);
            line["series"] = json!(series);
            line["rows"] = json!(rows);
            line["warnings"] = json!(warnings);
        }
        log(&line.to_string());
    }
    response
}
