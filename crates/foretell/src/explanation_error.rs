//! Mistakes in requests for explanations of forecasts.

/// An explanation that a model does not have.
#[derive(Clone, Debug, PartialEq, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum ExplanationError {
    /// A model without contributions, or that there is not, to be explained.
    #[error(
        "{found}: contributions are of networks that foretell trains, of Foretell0 and of Auto, and {known}"
    )]
    NotExplained {
        /// The name that was asked for.
        found: String,
        /// Which models here have some, as the end of the sentence.
        known: String,
    },
    /// Models that make their forecasts in one piece.
    #[error(
        "{found}: forecasts in parts are those of NBEATS, NBEATSx, NHITS, DLinear, Autoformer, FEDformer, ETS, Theta, MSTL, FLAIR, \
         Prophet and Auto; train one of them"
    )]
    NoParts {
        /// The models that were asked.
        found: String,
    },
    /// Contributions to values behind a curve.
    #[error(
        "series are scaled by a power (boxcox), over which contributions do not add up; train with another scaler of series"
    )]
    ExplainedCurve,
    /// Feature importances of models that have none.
    #[error(
        "feature importances need a model that weighs columns and steps ({known}), found {found}; train one of them"
    )]
    NoImportances {
        /// The models that were asked.
        found: String,
        /// The models that have them.
        known: String,
    },
}
