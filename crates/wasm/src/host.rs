//! What the program around the module gives it.

/// What the program around the module gives it: the listener to what goes on.
#[derive(Clone, Copy)]
pub struct Host {
    /// Hears of each step of a training or a search, as JSON, and says whether to end with what there is.
    pub heard: fn(&str) -> bool,
}

impl Default for Host {
    /// One that goes on to the end.
    fn default() -> Self {
        Self { heard: |_| false }
    }
}
