//! Settings of an engine.

use std::time::Duration;

use foretell::{MemoryLimit, WeightPrecision};

/// The limits of an engine, and how it holds models.
///
/// ```
/// use std::time::Duration;
/// use foretell_server::EngineSettings;
///
/// let settings = EngineSettings::with(|settings| settings.timeout = Duration::from_secs(5));
/// assert_eq!(settings.queue, 1024);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EngineSettings {
    /// Threads that forecast; 0 for as many as the machine has. Answers do not depend on it.
    pub threads: usize,
    /// Requests that may wait; more are refused.
    pub queue: usize,
    /// How long a request may wait and be computed.
    pub timeout: Duration,
    /// Rows that a request may hold or ask for.
    pub max_rows: usize,
    /// Steps that a request may ask for.
    pub max_h: usize,
    /// Levels or quantiles that a request may ask for.
    pub max_levels: usize,
    /// The format in which forecasts read the weights of networks.
    pub precision: WeightPrecision,
    /// The most memory that loading a model may take, and that all requests and the answers which wait to be read may take
    /// together. No answer has more bytes of text.
    pub memory: MemoryLimit,
    /// How long a thread waits for the memory of answers that are read meanwhile, where its request cannot wait without one.
    pub patience: Duration,
    /// How long an answer whose memory others wait for may be read too slowly, before it is given up.
    pub stall: Duration,
    /// How often the directories of models are looked at for changes; never if it is zero.
    pub reload: Duration,
}

impl EngineSettings {
    /// The defaults, with what `set` sets of them.
    pub fn with(set: impl FnOnce(&mut Self)) -> Self {
        let mut settings = Self::default();
        set(&mut settings);
        settings
    }

    /// The memory that each thread has for a request without taking any from others: a quarter of the limit for all of them.
    pub(crate) fn own_memory(&self) -> u64 {
        let threads = match self.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        self.memory.bytes() / 4 / threads as u64
    }

    /// The memory that larger requests, and answers that wait to be read, take together: a half. The last quarter is that of bodies.
    pub(crate) fn shared_memory(&self) -> u64 {
        self.memory.bytes() / 2
    }
}

impl Default for EngineSettings {
    fn default() -> Self {
        Self {
            threads: 0,
            queue: 1024,
            timeout: Duration::from_secs(30),
            max_rows: 1_000_000,
            max_h: 10_000,
            max_levels: 100,
            precision: WeightPrecision::F32,
            memory: MemoryLimit::of_machine(),
            patience: Duration::from_secs(1),
            stall: Duration::from_secs(2),
            reload: Duration::from_secs(1),
        }
    }
}
