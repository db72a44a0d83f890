//! Mistakes in requests for intervals and quantiles.

use foretell_messages::Setting;

use crate::interval_words::{dropout_to_set, other_loss, own_intervals};

/// Intervals or quantiles that cannot be had as they were asked for.
#[derive(Clone, Debug, PartialEq, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum IntervalError {
    /// A level that is no percentage.
    #[error("a level is a percentage of 1 or more and below 100, as 80, found {found}")]
    #[strum(serialize = "level_out_of_range")]
    Level {
        /// The level asked for.
        found: f64,
    },
    /// A quantile that is no share.
    #[error("a quantile is a number above 0 and below 1, found {found}")]
    #[strum(serialize = "quantile_out_of_range")]
    Quantile {
        /// The quantile asked for.
        found: f64,
    },
    /// One quantile to draw sample paths from.
    #[error(
        "sample paths are drawn from two quantiles or more, as 0.1,0.5,0.9, found {found} alone; name more, or none for the hundredths"
    )]
    OneQuantile {
        /// The quantile.
        found: f64,
    },
    /// Levels and quantiles at once.
    #[error(
        "a forecast has either intervals of some levels or some quantiles, found both; leave one of them out"
    )]
    LevelAndQuantiles,
    /// Intervals of a model that has none.
    #[error(
        "{model} has no intervals, since it forecasts one number: calibrate them, with the training ({}) or on the end of the \
         data ({}){}",
        Setting::Intervals.to(10),
        Setting::Calibrate.to(10),
        other_loss(*has_loss, "a loss of quantiles or of a distribution")
    )]
    NoIntervals {
        /// The model.
        model: String,
        /// Whether it is trained by a loss, which may be one of quantiles.
        has_loss: bool,
    },
    /// Intervals that a model was not trained for.
    #[error(
        "{model} has learned the quantiles of its loss, {quantiles}; the intervals among them are: {known}; choose \
             of these, or train it with others"
    )]
    OtherLevels {
        /// The model.
        model: String,
        /// The intervals that there are.
        known: String,
        /// The quantiles that there are.
        quantiles: String,
    },
    /// Prediction intervals of too few windows, or of windows that do not move on.
    #[error(
        "prediction intervals need n_windows of at least 2 and a step_size of at least 1, found {n_windows} and \
             {step_size}"
    )]
    #[strum(serialize = "too_few_interval_windows")]
    Intervals {
        /// Windows asked for.
        n_windows: usize,
        /// Steps between them.
        step_size: usize,
    },
    /// A text that says no prediction intervals.
    #[error(
        "{found:?} is no N[:METHOD[:STEP]], as 10, 10:conformal_error or 10:conformal_distribution:6: windows, at least \
             2, the method, and the steps from one window to the next; nor is it dropout[:N], with 2 to 10000 forecasts, or spread"
    )]
    #[strum(serialize = "unknown_intervals")]
    IntervalsText {
        /// The text.
        found: String,
    },
    /// Intervals of the spread of members without an ensemble of several.
    #[error(
        "intervals of the spread are those of an ensemble of two models or more, found {models} model(s) or no ensemble; \
         name more models, and how they are combined"
    )]
    NoSpread {
        /// The models.
        models: usize,
    },
    /// Intervals by dropout without a model that has any.
    #[error(
        "intervals by dropout are those of networks that forecast a single number and drop something, and none of the models is one: \
         {models}; {}, or calibrate intervals on errors of the past: {}",
        dropout_to_set(to_set),
        Setting::Calibrate.to(20)
    )]
    NoDropout {
        /// The models.
        models: String,
        /// Networks that would be, each with the hyper-parameter that is to be set.
        to_set: Vec<(String, String)>,
    },
    /// Prediction intervals for models that have their own.
    #[error(
        "{}, so there is nothing to calibrate; leave the prediction intervals away, and ask for levels when you forecast",
        own_intervals(any, fixed)
    )]
    NothingToCalibrate {
        /// The models that have intervals of any level.
        any: Vec<String>,
        /// The models that have those that they were made for.
        fixed: Vec<String>,
    },
    /// Calibrated intervals further ahead than they were calibrated for.
    #[error("the intervals of {model} were calibrated for h = {h} steps, so there are none for {found}")]
    IntervalsAhead {
        /// The model.
        model: String,
        /// The horizon.
        h: usize,
        /// Steps asked for.
        found: usize,
    },
}

impl IntervalError {
    /// The setting that it is about.
    pub(crate) fn setting(&self) -> Option<&'static str> {
        match self {
            Self::Level { .. } | Self::OtherLevels { .. } => Some("level"),
            Self::Quantile { .. } | Self::OneQuantile { .. } => Some("quantiles"),
            Self::Intervals { .. }
            | Self::IntervalsText { .. }
            | Self::NoSpread { .. }
            | Self::NothingToCalibrate { .. } => Some("intervals"),
            Self::IntervalsAhead { .. } => Some("h"),
            Self::LevelAndQuantiles | Self::NoIntervals { .. } | Self::NoDropout { .. } => None,
        }
    }
}
