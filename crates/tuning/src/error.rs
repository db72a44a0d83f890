//! Errors of a search.

use std::path::PathBuf;

use foretell::{Error, ErrorFacts, Setting, SpecError};

/// Why a search is refused or came to nothing; the message says what to do.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum TuningError {
    /// What no forecaster could do, or a training of the search that failed as any other would.
    #[error(transparent)]
    Forecast(#[from] Error),
    /// Series that are all too short for hyper-parameters that a search proposed.
    #[error(
        "the longest series has {rows} rows, and {needed} are needed for training and scores; give more rows, or lower the horizon ({}) or \
         the windows that are scored ({})",
        Setting::Horizon,
        Setting::SearchWindows
    )]
    ShortForSearch {
        /// Rows of the longest series.
        rows: usize,
        /// Rows needed.
        needed: usize,
    },
    /// A search none of whose hyper-parameters can work.
    #[error(
        "no hyper-parameters of the search can work with these series and this horizon; the first ones: {reason}"
    )]
    NothingFits {
        /// Why the first ones cannot.
        reason: String,
    },
    /// A search none of whose trainings has a score.
    #[error(
        "none of the search's trainings came to a score: {}",
        first.as_deref().unwrap_or("the time was over before; allow more")
    )]
    NothingScored {
        /// How the first one failed.
        first: Option<String>,
    },
    /// Results of a search that cannot be read.
    #[error("cannot resume from {path}: {reason}; remove it to begin anew", path = path.display())]
    SearchState {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// Results of another search than this.
    #[error(
        "{path} holds the results of another search: of other models, values, data or settings; name another directory ({}), or \
         remove the file",
        Setting::Checkpoint,
        path = path.display()
    )]
    OtherSearch {
        /// The file.
        path: PathBuf,
    },
    /// A text that says no values to search.
    #[error(
        "{found:?} says no values to search: write a list, as [64, 128] or [1, \"2h\"] with h for the horizon, or int:1:3, \
         uniform:0:0.5, loguniform:1e-4:1e-1 or quniform:500:1500:100 (from, to, step)"
    )]
    #[strum(serialize = "unknown_search_range")]
    RangeText {
        /// The text.
        found: String,
    },
    /// A horizon that is to be searched.
    #[error("the horizon h is given, not searched; search other hyper-parameters")]
    SearchedHorizon,
    /// A metric of which less is not better.
    #[error("{found} is no error that a search could make small; choose mae, rmse, mase, mqloss, ...")]
    #[strum(serialize = "search_metric")]
    Metric {
        /// The metric.
        found: &'static str,
    },
    /// A metric of quantiles for a model without any.
    #[error(
        "{metric} scores quantiles, and {model} forecasts none; search by mae, say, or train with a loss of quantiles (loss)"
    )]
    #[strum(serialize = "search_quantiles")]
    Quantiles {
        /// The model.
        model: String,
        /// The metric.
        metric: &'static str,
    },
}

impl From<SpecError> for TuningError {
    fn from(error: SpecError) -> Self {
        Self::Forecast(error.into())
    }
}

impl TuningError {
    /// Whether it is a mistake in the request, whatever the data are.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Forecast(error) => matches!(error, Error::Usage(_)),
            Self::RangeText { .. } | Self::SearchedHorizon | Self::Metric { .. } | Self::Quantiles { .. } => {
                true
            }
            _ => false,
        }
    }

    /// What programs read of it.
    pub fn facts(&self) -> ErrorFacts {
        let (code, facts) = (<&str>::from(self).to_owned(), ErrorFacts::of(self));
        match self {
            Self::Forecast(error) => ErrorFacts::of(error),
            Self::SearchState { path, .. } | Self::OtherSearch { path } => {
                ErrorFacts { code, file: Some(path.display().to_string()), ..facts }
            }
            Self::SearchedHorizon => ErrorFacts { code, setting: Some("h".to_owned()), ..facts },
            _ => ErrorFacts { code, ..facts },
        }
    }
}

#[cfg(test)]
mod tests {
    use strum::VariantNames;

    use super::*;

    #[test]
    fn the_documentation_lists_all_codes() {
        let text = include_str!("../../../docs/errors.md");
        for code in TuningError::VARIANTS.iter().filter(|code| **code != "forecast") {
            assert!(text.contains(&format!("\n| `{code}`")), "docs/errors.md lacks {code}");
        }
    }

    #[test]
    fn facts_name_the_file_and_the_setting() {
        let facts = TuningError::OtherSearch { path: "state/search.json".into() }.facts();
        assert_eq!((&*facts.code, facts.file.as_deref()), ("other_search", Some("state/search.json")));
        let facts = TuningError::SearchedHorizon.facts();
        assert_eq!((&*facts.code, facts.setting.as_deref()), ("searched_horizon", Some("h")));
        assert!(facts.advice.is_some());
        let short = TuningError::ShortForSearch { rows: 5, needed: 9 }.to_string();
        assert!(short.contains("`ModelSpec::h`") && short.contains("`Search::n_windows`"), "{short}");
        let inner = TuningError::from(Error::from(foretell::PlanError::NoModels));
        assert_eq!(inner.facts().code, "no_models");
    }
}
