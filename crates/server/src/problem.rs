//! Errors as problem details (RFC 9457).

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use foretell::{DataError, Error, UsageError};
use serde_json::json;

use crate::error::EngineError;

/// An error as a client sees it.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    /// The end of its type.
    kind: &'static str,
    title: &'static str,
    detail: String,
}

impl Problem {
    pub(crate) fn new(
        status: StatusCode,
        kind: &'static str,
        title: &'static str,
        detail: impl Into<String>,
    ) -> Self {
        Self { status, kind, title, detail: shortened(detail.into()) }
    }

    /// A request that means nothing, whatever the data are.
    pub(crate) fn request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "request", "The request cannot be understood", detail)
    }

    /// A request that is larger than it may be.
    pub(crate) fn too_large(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", "The request is too large", detail)
    }
}

/// The most bytes of a detail: it may quote a request, whatever that holds.
const MOST_DETAIL: usize = 4000;

/// A detail that is not longer than it may be.
fn shortened(mut detail: String) -> String {
    if detail.len() > MOST_DETAIL {
        let end = (0..=MOST_DETAIL).rev().find(|end| detail.is_char_boundary(*end)).unwrap_or(0);
        detail.truncate(end);
        detail.push('…');
    }
    detail
}

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        let detail = shortened(error.to_string());
        let of = |status, kind, title| Self { status, kind, title, detail: detail.clone() };
        match error {
            EngineError::UnknownModel { .. } => of(StatusCode::NOT_FOUND, "model", "There is no such model"),
            EngineError::Request(_) => Self::request(detail),
            EngineError::TooMany { .. } => Self::too_large(detail),
            EngineError::Busy(_) => {
                of(StatusCode::TOO_MANY_REQUESTS, "busy", "Too many requests are waiting")
            }
            EngineError::NoRoom { .. } => {
                of(StatusCode::TOO_MANY_REQUESTS, "busy", "Other requests have the memory")
            }
            EngineError::Timeout(_) => {
                of(StatusCode::GATEWAY_TIMEOUT, "timeout", "The forecast takes too long")
            }
            EngineError::Stopping => {
                of(StatusCode::SERVICE_UNAVAILABLE, "stopping", "The server is stopping")
            }
            EngineError::Panicked => of(StatusCode::INTERNAL_SERVER_ERROR, "fault", "The server has a fault"),
            EngineError::Forecast(error) => match error {
                Error::Data(DataError::TooLarge(_)) | Error::Usage(UsageError::Memory(_)) => {
                    Self::too_large(detail)
                }
                Error::Usage(_) => Self::request(detail),
                Error::Checkpoint(_) | Error::Model { .. } => {
                    of(StatusCode::INTERNAL_SERVER_ERROR, "fault", "The model has a fault")
                }
                _ => of(StatusCode::UNPROCESSABLE_ENTITY, "data", "The data cannot be forecast"),
            },
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Self { status, kind, title, detail } = self;
        let body = json!({
            "type": format!("urn:foretell:problem:{kind}"),
            "title": title,
            "status": status.as_u16(),
            "detail": detail,
        });
        let content = [(header::CONTENT_TYPE, "application/problem+json")];
        let mut response = (status, content, body.to_string()).into_response();
        let extra = match status {
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                Some((header::RETRY_AFTER, "1"))
            }
            StatusCode::UNAUTHORIZED => Some((header::WWW_AUTHENTICATE, "Bearer")),
            _ => None,
        };
        if let Some((name, value)) = extra {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        response
    }
}
