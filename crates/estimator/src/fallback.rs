//! What a model does where a history does not allow what its hyper-parameters say.

/// How a series is forecast that a model cannot forecast as its hyper-parameters say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fallback {
    /// What its history has or lacks, as in `series a has ...`.
    pub reason: String,
    /// What forecasts it, as in `forecast by ...`.
    pub instead: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
}

impl Fallback {
    /// A forecast by the last value of a history with fewer values than these.
    pub fn too_few(needed: usize) -> Self {
        Self {
            reason: format!("fewer than {needed} values"),
            instead: "its last value",
            remedy: "give more history, or choose a model that needs less (Naive, HistoricAverage)",
        }
    }

    /// A forecast without the season of this many steps, of which a history has fewer than `seasons`.
    pub fn without_season(seasons: &str, steps: usize) -> Self {
        Self {
            reason: format!("{seasons} of {steps} values"),
            instead: "a model without that season",
            remedy: "give more history, or set a shorter season_length",
        }
    }
}
