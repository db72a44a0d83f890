//! Requests for forecasts as they come from the network.

use axum::body::{Body, to_bytes};
use axum::extract::{FromRequest as _, Multipart, Request};
use axum::http::{HeaderMap, StatusCode, header};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use crate::app::{App, units};
use crate::fields::Incoming;
use crate::media_type::MediaType;
use crate::problem::Problem;

/// A request that was received.
pub(crate) struct Received {
    pub(crate) incoming: Incoming,
    /// The form in which the answer is to be.
    pub(crate) accept: MediaType,
    /// The room that its body takes, until this is dropped.
    pub(crate) room: OwnedSemaphorePermit,
}

/// Receives the body of a request.
pub(crate) async fn receive(request: Request, app: &App) -> Result<Received, Problem> {
    let content = header(request.headers(), header::CONTENT_TYPE).unwrap_or_default().to_owned();
    let is_form = content.to_ascii_lowercase().starts_with("multipart/form-data");
    let media = if is_form { Some(MediaType::Json) } else { MediaType::of(&content) };
    let media = media.ok_or_else(|| {
        let detail = format!(
            "Content-Type is {content:?}; expected one of {}, multipart/form-data",
            MediaType::names(MediaType::built())
        );
        Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "content-type",
            "The type of the body is not known",
            detail,
        )
    })?;
    let accept = header(request.headers(), header::ACCEPT)
        .map_or(Some(media.answer()), |accept| MediaType::accepted(accept, media.answer()));
    let accept = accept.ok_or_else(|| {
        let detail = format!("Accept names none of {}", MediaType::names(MediaType::written()));
        Problem::new(StatusCode::NOT_ACCEPTABLE, "accept", "No answer of the types that are accepted", detail)
    })?;
    let encoding = header(request.headers(), header::CONTENT_ENCODING).unwrap_or("identity");
    if !encoding.eq_ignore_ascii_case("identity") {
        return Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "content-type",
            "The body is encoded",
            format!(
                "Content-Encoding is {encoding:?}; send the body as its type has it, without this header"
            ),
        ));
    }
    let (mut parts, body) = request.into_parts();
    let (body, room) = read(body, &parts.headers, app).await?;
    let query = parts.uri.query().unwrap_or_default().as_bytes();
    let mut texts: Vec<(String, String)> = form_urlencoded::parse(query).into_owned().collect();
    if is_form {
        // Its length was that of the body as it came.
        parts.headers.remove(header::CONTENT_LENGTH);
        let tables = of_form(Request::from_parts(parts, body.into()), &mut texts).await?;
        return Ok(Received { incoming: Incoming::Tables { tables, texts }, accept, room });
    }
    let incoming = match media {
        MediaType::Json if texts.is_empty() => Incoming::Json(body),
        MediaType::Json => {
            let detail = "fields stand in the JSON of a request; leave out the query (?...)";
            return Err(Problem::request(detail));
        }
        media => Incoming::Tables { tables: vec![("data".to_owned(), media, body)], texts },
    };
    Ok(Received { incoming, accept, room })
}

fn header(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// Reads a body, within its limits, once there is room for it.
async fn read(
    body: Body,
    headers: &HeaderMap,
    app: &App,
) -> Result<(Vec<u8>, OwnedSemaphorePermit), Problem> {
    let settings = &app.settings;
    let most = settings.max_body;
    let too_large =
        || Problem::too_large(format!("a body has at most {most} bytes; send fewer series at a time"));
    let length = header(headers, header::CONTENT_LENGTH).and_then(|length| length.parse::<u64>().ok());
    if length.is_some_and(|length| length > most as u64) {
        return Err(too_large());
    }
    // Without its length in the head it may be of any.
    let units = units(length.map_or(most, |length| length as usize));
    let room = timeout(settings.receive, app.state.bodies.clone().acquire_many_owned(units)).await;
    let Ok(Ok(room)) = room else {
        let detail = "there is no room for the body beside those of other requests; try again in a second";
        return Err(Problem::new(
            StatusCode::TOO_MANY_REQUESTS,
            "busy",
            "Too many large requests are waiting",
            detail,
        ));
    };
    match timeout(settings.receive, to_bytes(body, most)).await {
        Ok(Ok(bytes)) => Ok((bytes.into(), room)),
        Ok(Err(error)) => {
            // What is longer than it may be ends with an error of its own kind, beneath axum's.
            let source = std::error::Error::source(&error).map(ToString::to_string);
            match source.is_some_and(|source| source.contains("length limit exceeded")) {
                true => Err(too_large()),
                false => Err(Problem::request("the body ended before its end; send it again")),
            }
        }
        Err(_) => Err(Problem::new(
            StatusCode::REQUEST_TIMEOUT,
            "slow",
            "The request took too long to arrive",
            format!("the body must arrive within {} s", settings.receive.as_secs_f64()),
        )),
    }
}

/// The tables of a form; its other fields join the texts.
async fn of_form(
    request: Request,
    texts: &mut Vec<(String, String)>,
) -> Result<Vec<(String, MediaType, Vec<u8>)>, Problem> {
    let wrong = |error: String| Problem::request(format!("the form of the request: {error}"));
    let mut form = Multipart::from_request(request, &()).await.map_err(|error| wrong(error.body_text()))?;
    let mut tables = Vec::new();
    while let Some(field) = form.next_field().await.map_err(|error| wrong(error.body_text()))? {
        let name = field.name().unwrap_or_default().to_owned();
        let is_table = ["data", "static", "future"].contains(&&*name);
        // A part without a type is text, as browsers and curl have it; a file's type that says nothing is told by its name.
        let content = field.content_type().unwrap_or("text/csv").to_owned();
        let of_name = field.file_name().and_then(MediaType::of_file);
        let media = MediaType::of(&content).or(of_name).unwrap_or(MediaType::Csv);
        let bytes = field.bytes().await.map_err(|error| wrong(error.body_text()))?;
        if is_table {
            tables.push((name, media, bytes.into()));
        } else {
            let text =
                String::from_utf8(bytes.into()).map_err(|_| wrong(format!("{name:?} is not UTF-8")))?;
            texts.push((name, text));
        }
    }
    Ok(tables)
}
