//! The state that all requests share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use tokio::sync::Semaphore;

use crate::engine::ForecastEngine;
use crate::metrics::Metrics;
use crate::serve_settings::ServeSettings;

/// The state that all requests share.
#[derive(Clone)]
pub(crate) struct App {
    pub(crate) engine: Arc<ForecastEngine>,
    pub(crate) settings: Arc<ServeSettings>,
    pub(crate) state: Arc<ServerState>,
}

/// The requests at work, and counts of those that were answered.
pub(crate) struct ServerState {
    pub(crate) metrics: Metrics,
    /// Room for bodies that are received or wait, in units of [`UNIT`].
    pub(crate) bodies: Arc<Semaphore>,
    pub(crate) connections: AtomicUsize,
    /// Whether it was told to stop.
    pub(crate) stopping: AtomicBool,
}

/// Bytes that bodies are counted in.
pub(crate) const UNIT: usize = 1 << 10;

/// Bodies of the largest size that there is room for at a time; of smaller ones there may be more.
const LARGEST_BODIES: usize = 16;

impl ServerState {
    pub(crate) fn new(settings: &ServeSettings, memory: u64) -> Self {
        let of_bodies = units(usize::try_from(memory / 4).unwrap_or(usize::MAX));
        let units = units(settings.max_body).saturating_mul(LARGEST_BODIES as u32).min(of_bodies) as usize;
        Self {
            metrics: Metrics::default(),
            bodies: Arc::new(Semaphore::new(units.min(Semaphore::MAX_PERMITS))),
            connections: AtomicUsize::new(0),
            stopping: AtomicBool::new(false),
        }
    }
}

/// The units that a body of this many bytes takes.
pub(crate) fn units(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX)
}
