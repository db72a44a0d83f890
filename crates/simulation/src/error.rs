//! Why there are no paths.

/// Quantiles or a history that no paths come of.
#[derive(Clone, Debug, PartialEq, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum SimulationError {
    /// Levels that do not rise, or are no shares.
    #[error("quantiles of steps need two levels or more, rising from above 0 to below 1, found {found:?}")]
    #[strum(serialize = "quantile_out_of_range")]
    Levels {
        /// The levels.
        found: Vec<f64>,
    },
    /// Values that are not as many for each step.
    #[error("{values} values are not {levels} for each step")]
    #[strum(serialize = "unequal_lengths")]
    Values {
        /// How many values there are.
        values: usize,
        /// How many levels there are.
        levels: usize,
    },
    /// A history that has no stretch as long as the horizon.
    #[error(
        "the Schaake shuffle takes stretches of {horizon} steps from the history, which has {found} known values; give it a longer \
         history, or take a Gaussian copula"
    )]
    ShortHistory {
        /// Steps of the horizon.
        horizon: usize,
        /// Known values.
        found: usize,
    },
    /// A text that names no method.
    #[error("there is no method of simulation {found:?}; expected one of {known}")]
    #[strum(serialize = "unknown_simulation_method")]
    Method {
        /// The text.
        found: String,
        /// The methods that there are.
        known: String,
    },
}
