//! Errors of reconciliation over time.

use foretell::{EstimatorError, Freq};

/// Why forecasts cannot be reconciled over time.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TemporalError {
    /// A hyper-parameter that cannot have a value.
    #[error("Temporal: {name} must be {expected}, not {found}")]
    Value {
        /// The hyper-parameter.
        name: &'static str,
        /// What it may be.
        expected: &'static str,
        /// What it was set to.
        found: String,
    },
    /// A model whose sums cannot be forecast by models of its own.
    #[error(
        "{model} cannot be reconciled over time: {reason}; leave the periods out, or choose a model without steps of training"
    )]
    Model {
        /// The model.
        model: String,
        /// Why not.
        reason: String,
    },
    /// A period that steps of the data do not add up to.
    #[error("the period {period}: {reason}; name one of a fixed number of steps, as 24 or 24h of hours")]
    Period {
        /// As it was written.
        period: String,
        /// Why not.
        reason: String,
    },
    /// A period of more steps at one time than at another.
    #[error(
        "the period {period}: it has {least} to {most} steps of {freq}, where a model forecasts as many each time; name one of a fixed \
         number of steps, as 24 or 24h of hours, or forecast steps and sums by themselves and reconcile these tables, in which a month has \
         the days that it has"
    )]
    Varying {
        /// As it was written.
        period: String,
        /// The least of its steps.
        least: usize,
        /// The most.
        most: usize,
        /// The steps.
        freq: Freq,
    },
    /// Forecasts that are to be weighed by errors, of which some are not given.
    #[error(
        "MinTraceVar weighs steps and sums by the errors of past forecasts, and those of {what} are not given; give them beside the true \
         values, as cross-validation does, or choose MinTraceWLS"
    )]
    NoPast {
        /// The steps, or a period.
        what: String,
    },
    /// A table whose forecasts have no step.
    #[error(
        "{file}: the first forecast has no regular step, of which the periods of sums are made; give it three times or more, none left out"
    )]
    NoStep {
        /// The file.
        file: String,
    },
    /// Two periods of as many steps.
    #[error("the periods {earlier} and {later} have the same steps; leave one of the two out")]
    Twice {
        /// As the first was written.
        earlier: String,
        /// As the second was written.
        later: String,
    },
    /// A horizon of no whole number of periods.
    #[error("the period {period}: {h} steps are no whole number of periods of {steps}; forecast {nearest}")]
    Horizon {
        /// As it was written.
        period: String,
        /// The horizon.
        h: usize,
        /// Steps of the period.
        steps: usize,
        /// The next horizon that is.
        nearest: usize,
    },
    /// No series with sums.
    #[error(
        "the period {period}: its sums need {needed} rows, and the longest series has {found}; leave it out"
    )]
    Short {
        /// As it was written.
        period: String,
        /// The rows that are needed.
        needed: usize,
        /// Those of the longest series.
        found: usize,
    },
}

impl From<TemporalError> for EstimatorError {
    fn from(error: TemporalError) -> Self {
        Self::Usage(Box::new(error))
    }
}
