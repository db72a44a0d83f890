//! The addresses of the server, and what answers them.

use std::sync::atomic::Ordering;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderName, Method, StatusCode, Uri, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use serde_json::json;

use crate::address::{ADDRESSES, Address};
use crate::app::App;
use crate::encode::encode;
use crate::engine::Unread;
use crate::fields::Asking;
use crate::media_type::MediaType;
use crate::metrics::Levels;
use crate::observe::{Served, observe};
use crate::openapi::document;
use crate::page::page;
use crate::problem::Problem;
use crate::receive::{Received, receive};

/// The handler of a path; `None` if nothing is served there.
fn handler(path: &str) -> Option<MethodRouter<App>> {
    Some(match path {
        "/v1/forecast" => post(forecast),
        "/v1/cross-validate" => post(cross_validate),
        "/v1/explain" => post(explain),
        "/v1/look" => post(look),
        "/v1/models" => get(models),
        "/healthz" => get(health),
        "/readyz" => get(ready),
        "/metrics" => get(metrics),
        "/openapi.json" => get(openapi),
        "/" => get(page),
        _ => return None,
    })
}

/// The router of all addresses.
pub(crate) fn router(app: &App) -> Router {
    let mut router = Router::new();
    for Address { path, guarded, .. } in ADDRESSES {
        let handler = handler(path).expect("an address with a handler").fallback(other_method);
        router = router.route(
            path,
            match guarded {
                true => handler.layer(from_fn_with_state(app.clone(), guard)),
                false => handler,
            },
        );
    }
    router
        .fallback(nowhere)
        // Bodies are measured as they are received.
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn_with_state(app.clone(), observe))
        .with_state(app.clone())
}

/// Refuses requests that do not show the token.
async fn guard(State(app): State<App>, request: Request, next: Next) -> Response {
    let shown = request.headers().get(header::AUTHORIZATION);
    match &app.settings.token {
        Some(token) if !shown.is_some_and(|shown| token.is_shown_by(shown.as_bytes())) => Problem::new(
            StatusCode::UNAUTHORIZED,
            "token",
            "The request shows no token, or another one",
            "send the header `Authorization: Bearer TOKEN` with the token of the server",
        )
        .into_response(),
        _ => next.run(request).await,
    }
}

async fn nowhere(uri: Uri) -> Problem {
    let known: Vec<&str> = ADDRESSES.iter().map(|address| address.path).collect();
    let detail = format!("there is nothing at {}; the addresses are {}", uri.path(), known.join(", "));
    Problem::new(StatusCode::NOT_FOUND, "address", "There is no such address", detail)
}

async fn other_method(method: Method, uri: Uri) -> Response {
    let here = ADDRESSES.iter().filter(|address| address.path == uri.path());
    let known = here.map(|address| address.method.to_uppercase()).collect::<Vec<_>>().join(", ");
    let detail = format!("{method} has no meaning at {}; use {known}", uri.path());
    let problem =
        Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method", "The address has another method", detail);
    ([(header::ALLOW, known)], problem).into_response()
}

async fn forecast(State(app): State<App>, request: Request) -> Result<Response, Problem> {
    answer(app, request, Asking::Forecast).await
}

async fn cross_validate(State(app): State<App>, request: Request) -> Result<Response, Problem> {
    answer(app, request, Asking::CrossValidation).await
}

async fn explain(State(app): State<App>, request: Request) -> Result<Response, Problem> {
    answer(app, request, Asking::Explanation).await
}

async fn look(State(app): State<App>, request: Request) -> Result<Response, Problem> {
    answer(app, request, Asking::Look).await
}

/// Has a request for forecasts answered: reading it, forecasting and writing the answer are work for the engine's threads.
async fn answer(app: App, request: Request, asking: Asking) -> Result<Response, Problem> {
    const WARNINGS: HeaderName = HeaderName::from_static("foretell-warnings");
    let Received { incoming, accept, room: body_room } = receive(request, &app).await?;
    let unread = Unread {
        bytes: incoming.table_bytes(),
        fields: incoming.field_bytes(),
        is_text: matches!(accept, MediaType::Json | MediaType::Csv),
        read: move || incoming.request(asking),
    };
    let settings = app.engine.settings().clone();
    let work = app.engine.run(unread, move |answer, room| {
        // The body is let go of with the work.
        drop(body_room);
        let rows = answer.frame.n_rows();
        let mut ids = answer.frame.ids.iter().map(|id| id.as_ptr()).collect::<Vec<_>>();
        ids.dedup();
        let (series, warnings) = (ids.len(), answer.warnings.len());
        let served = Served { model: answer.model.clone(), series, rows, warnings };
        Ok((served, encode(answer, accept, room, &settings)?))
    });
    let (served, body) = work.await?;
    let headers = [(header::CONTENT_TYPE, accept.name().to_owned()), (WARNINGS, served.warnings.to_string())];
    let mut response = (headers, body).into_response();
    response.extensions_mut().insert(served);
    Ok(response)
}

async fn models(State(app): State<App>) -> Response {
    json_response(&json!({ "models": app.engine.models() }))
}

/// The process is alive.
async fn health() -> Response {
    json_response(&json!({ "status": "ok" }))
}

/// The server takes requests.
async fn ready(State(app): State<App>) -> Result<Response, Problem> {
    match app.state.stopping.load(Ordering::Relaxed) {
        false => Ok(json_response(&json!({ "status": "ready" }))),
        true => Err(crate::error::EngineError::Stopping.into()),
    }
}

async fn metrics(State(app): State<App>) -> Response {
    let levels = Levels {
        waiting: app.engine.waiting(),
        connections: app.state.connections.load(Ordering::Relaxed),
        models: app.engine.models().len(),
        reloads: app.engine.reloads(),
        together: app.engine.together(),
    };
    let content = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    (content, app.state.metrics.exposition(&levels)).into_response()
}

async fn openapi() -> Response {
    json_response(&document())
}

fn json_response(value: &serde_json::Value) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}
