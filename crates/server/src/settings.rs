//! Settings of an engine.

use std::time::Duration;

use foretell::{MemoryLimit, WeightPrecision};

/// The limits of an engine, and how it holds models.
///
/// ```
/// use std::time::Duration;
/// use foretell_server::EngineSettings;
///
/// let settings = EngineSettings { timeout: Duration::from_secs(5), ..EngineSettings::default() };
/// assert_eq!(settings.queue, 1024);
/// ```
#[derive(Clone, Debug)]
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
    /// The format in which forecasts read the weights of networks.
    pub precision: WeightPrecision,
    /// The most memory that loading a model, the series of a request, or a forecast may take.
    pub memory: MemoryLimit,
    /// How often the directories of models are looked at for changes; never if it is zero.
    pub reload: Duration,
}

impl Default for EngineSettings {
    fn default() -> Self {
        Self {
            threads: 0,
            queue: 1024,
            timeout: Duration::from_secs(30),
            max_rows: 1_000_000,
            max_h: 10_000,
            precision: WeightPrecision::F32,
            memory: MemoryLimit::of_machine(),
            reload: Duration::from_secs(1),
        }
    }
}
