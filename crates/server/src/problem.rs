//! Errors as problem details (RFC 9457).

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use foretell::{DataError, Error, ErrorFacts, TableError, UsageError, columns_meant, in_words_of};
use foretell_auto::listed;
use serde_json::{Value, json};

use crate::error::EngineError;
use crate::field_words::FIELD_WORDS;

/// An error as a client sees it.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    /// The end of its type.
    kind: &'static str,
    title: &'static str,
    /// Its message is the detail.
    facts: ErrorFacts,
    /// The columns that may be meant, where it is not clear which.
    columns: Vec<String>,
}

/// Status, end of the type and title.
type Kind = (StatusCode, &'static str, &'static str);

const REQUEST: Kind = (StatusCode::BAD_REQUEST, "request", "The request cannot be understood");
const TOO_LARGE: Kind = (StatusCode::PAYLOAD_TOO_LARGE, "too-large", "The request is too large");

impl Problem {
    pub(crate) fn new(
        status: StatusCode,
        kind: &'static str,
        title: &'static str,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            status,
            kind,
            title,
            facts: shortened(ErrorFacts::told(kind.replace('-', "_"), detail)),
            columns: Vec::new(),
        }
    }

    /// A request that means nothing, whatever the data are.
    pub(crate) fn request(detail: impl Into<String>) -> Self {
        let (status, kind, title) = REQUEST;
        Self::new(status, kind, title, detail)
    }

    /// A request that is larger than it may be.
    pub(crate) fn too_large(detail: impl Into<String>) -> Self {
        let (status, kind, title) = TOO_LARGE;
        Self::new(status, kind, title, detail)
    }
}

/// The most bytes of a detail: it may quote a request, whatever that holds.
const MOST_DETAIL: usize = 4000;

/// Facts whose texts are not longer than they may be.
fn shortened(mut facts: ErrorFacts) -> ErrorFacts {
    let ErrorFacts { code: _, setting, file, row: _, column, series, advice, message } = &mut facts;
    let texts = [setting, file, column, series, advice].into_iter().flatten();
    for text in texts.chain([message]).filter(|text| text.len() > MOST_DETAIL) {
        let end = (0..=MOST_DETAIL).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    facts
}

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        let facts = shortened(match &error {
            EngineError::Forecast(error) => in_words_of(FIELD_WORDS, || ErrorFacts::of(error)),
            error => ErrorFacts::told(<&str>::from(error), error.to_string()),
        });
        let columns = match &error {
            EngineError::Forecast(Error::Data(error)) => columns_meant(error),
            _ => &[],
        };
        let columns = listed(columns);
        let of = |status, kind, title| Self {
            status,
            kind,
            title,
            facts: facts.clone(),
            columns: columns.clone(),
        };
        let like = |(status, kind, title): Kind| of(status, kind, title);
        match error {
            EngineError::UnknownModel { .. } => of(StatusCode::NOT_FOUND, "model", "There is no such model"),
            EngineError::Request(_) => like(REQUEST),
            EngineError::TooMany { .. } | EngineError::TooManyRows { .. } => like(TOO_LARGE),
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
                Error::Data(DataError::Table(TableError::TooLarge(_)))
                | Error::Usage(UsageError::Memory(_)) => like(TOO_LARGE),
                Error::Usage(_) => like(REQUEST),
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
        let Self { status, kind, title, facts, columns } = self;
        let mut body = json!({
            "type": format!("urn:foretell:problem:{kind}"),
            "title": title,
            "status": status.as_u16(),
            "detail": facts.message,
        });
        if let (Some(body), Value::Object(facts)) = (body.as_object_mut(), json!(facts)) {
            body.extend(facts);
            if !columns.is_empty() {
                body.insert("columns".to_owned(), json!(columns));
            }
        }
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
