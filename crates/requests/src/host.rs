//! What the program around the engine gives it.

use std::sync::Arc;

/// What the program around the engine gives it.
#[derive(Clone)]
pub struct Host {
    /// Hears of each step of a training or a search, as JSON, and says whether to end with what there is.
    pub heard: Arc<dyn Fn(&str) -> bool + Send + Sync>,
    /// The most threads that compute: 0 for as many as the machine has. Their number changes no bit of an answer.
    pub most_threads: usize,
    /// The most memory that may be taken, in bytes.
    pub most_memory: u64,
}

impl Default for Host {
    /// One that never stops a computation, with one thread and the memory of a module of WebAssembly: three quarters of what it can address.
    fn default() -> Self {
        Self { heard: Arc::new(|_| false), most_threads: 1, most_memory: 3 << 30 }
    }
}
