//! The addresses of the server.

/// An address of the server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    /// Its method, in small letters.
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    /// Whether requests must show the token, if there is one.
    pub(crate) guarded: bool,
}

/// All addresses: the router has a handler for each, and the description tells of each.
pub(crate) const ADDRESSES: [Address; 10] = [
    address("post", "/v1/forecast", true),
    address("post", "/v1/cross-validate", true),
    address("post", "/v1/explain", true),
    address("post", "/v1/look", true),
    address("get", "/v1/models", true),
    address("get", "/healthz", false),
    address("get", "/readyz", false),
    address("get", "/metrics", true),
    address("get", "/openapi.json", false),
    address("get", "/", false),
];

const fn address(method: &'static str, path: &'static str, guarded: bool) -> Address {
    Address { method, path, guarded }
}
