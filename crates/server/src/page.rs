//! The page for people: one file, put together of its parts, that asks no one but this server.

use std::sync::LazyLock;

use axum::http::header;
use axum::response::{IntoResponse, Response};

/// The parts, by the places that the frame has for them.
const PARTS: [(&str, &str); 5] = [
    ("{{style.css}}", include_str!("page/style.css")),
    ("{{engine.js}}", include_str!("page/engine.js")),
    ("{{words.js}}", include_str!("page/words.js")),
    ("{{chart.js}}", include_str!("page/chart.js")),
    ("{{page.js}}", include_str!("page/page.js")),
];

static PAGE: LazyLock<String> = LazyLock::new(|| {
    let frame = include_str!("page/page.html").to_owned();
    PARTS.iter().fold(frame, |page, (place, part)| page.replace(place, part.trim_end()))
});

/// The page, which may load nothing from elsewhere.
pub(crate) async fn page() -> Response {
    const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; \
                          img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, PAGE.as_str()).into_response()
}
