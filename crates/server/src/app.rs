//! What all requests share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use crate::engine::Engine;
use crate::metrics::Metrics;
use crate::serve_settings::ServeSettings;

/// What all requests share.
#[derive(Clone)]
pub(crate) struct App {
    pub(crate) engine: Arc<Engine>,
    pub(crate) settings: Arc<ServeSettings>,
    pub(crate) state: Arc<ServerState>,
}

/// What the server does at the moment, and what it has done.
#[derive(Default)]
pub(crate) struct ServerState {
    pub(crate) metrics: Metrics,
    pub(crate) connections: AtomicUsize,
    /// Whether it was told to stop.
    pub(crate) stopping: AtomicBool,
}
