//! Settings of a server beside those of its engine.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::token::Token;

/// Takes a line of the log.
pub type LogLine = Arc<dyn Fn(&str) + Send + Sync>;

/// Settings of a server beside those of its [engine](crate::EngineSettings).
#[derive(Clone)]
pub struct ServeSettings {
    /// The most bytes of a request's body; a quarter of the memory at most.
    pub max_body: usize,
    /// Connections at a time; others wait to be accepted.
    pub max_connections: usize,
    /// The time in which a client must have sent the head of a request, from when the server is ready for it, and then its body;
    /// and how long it may read nothing of an answer.
    pub receive: Duration,
    /// How long requests may continue once the server is told to stop.
    pub drain: Duration,
    /// The token that requests for forecasts, models and metrics must show, if there is one.
    pub token: Option<Token>,
    /// Who gets the log: a line of JSON for each request and each change of a model, without data.
    pub log: Option<LogLine>,
}

impl Default for ServeSettings {
    fn default() -> Self {
        Self {
            max_body: 64 << 20,
            max_connections: 1024,
            receive: Duration::from_secs(30),
            drain: Duration::from_secs(30),
            token: None,
            log: None,
        }
    }
}

impl fmt::Debug for ServeSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { max_body, max_connections, receive, drain, token, log } = self;
        f.debug_struct("ServeSettings")
            .field("max_body", max_body)
            .field("max_connections", max_connections)
            .field("receive", receive)
            .field("drain", drain)
            .field("token", token)
            .field("log", &log.is_some())
            .finish()
    }
}
