//! Errors of models and their hyper-parameters.

use foretell_messages::{Setting, nearest};
use foretell_models::HyperParameterError;

/// Names that people call models by, in lower case, and ours, which are not the nearest by their letters.
const OTHER_NAMES: [(&str, &str); 3] = [
    ("transformer", "VanillaTransformer"),
    ("hint", "models with a hierarchy, which any of them keep"),
    ("all", "Auto, which tries those that suit the data and combines the best"),
];

/// Why a model, or one of its hyper-parameters, is refused.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum SpecError {
    /// No model of that name.
    #[error("no model is called {found}; {}", match meant {
        Some(meant) => format!("did you mean {meant}? {} lists all", Setting::Models),
        None => format!("there are {known}"),
    })]
    UnknownModel {
        /// The name asked for.
        found: String,
        /// What was probably meant.
        meant: Option<String>,
        /// The names that there are.
        known: String,
    },
    /// No hyper-parameter of that name.
    #[error("{model} has no hyper-parameter {found}; {hint}")]
    #[strum(serialize = "unknown_hyper_parameter")]
    UnknownName {
        /// The model.
        model: &'static str,
        /// The name asked for.
        found: String,
        /// The name that was probably meant, the reason why there is no such thing, or how to list the names.
        hint: String,
    },
    /// A value that a hyper-parameter cannot have.
    #[error(transparent)]
    HyperParameter(#[from] HyperParameterError),
    /// A model that this program was built without.
    #[error(
        "{model}: this program was built without the Cargo feature `{feature}`, which the model needs; build it with this feature, or \
         choose another model"
    )]
    WithoutFeature {
        /// The model.
        model: &'static str,
        /// The feature.
        feature: &'static str,
    },
    /// Early stopping, or a schedule that follows the validation loss, without anything to watch.
    #[error("{model}: {what} needs validation windows: set val_size to at least h = {h}")]
    NothingToWatch {
        /// The model.
        model: String,
        /// The hyper-parameter.
        what: &'static str,
        /// The horizon.
        h: usize,
    },
    /// The error of an estimator that is no network about its hyper-parameters.
    #[error(transparent)]
    Other(Box<dyn std::error::Error + Send + Sync>),
    /// A model larger than memory.
    #[error(
        "{model}: with these hyper-parameters it would have over {limit} parameters; choose smaller layers"
    )]
    #[strum(serialize = "model_too_large")]
    TooLarge {
        /// The model.
        model: &'static str,
        /// The most it may have.
        limit: usize,
    },
}

impl SpecError {
    /// The error that no model is called so, where `known` are the names that there are.
    pub fn unknown_model(found: &str, known: &[&str]) -> Self {
        // neuralforecast's classes of models that it tunes.
        let auto = found.get(..4).filter(|start| start.eq_ignore_ascii_case("auto")).map(|_| &found[4..]);
        let tuned = auto.and_then(|name| known.iter().find(|known| known.eq_ignore_ascii_case(name)));
        let tuned = tuned.map(|name| format!("a tuning of {name}"));
        let other = OTHER_NAMES.iter().find(|(other, _)| found.eq_ignore_ascii_case(other));
        let meant = other.map(|(_, name)| (*name).to_owned());
        let meant = tuned.or(meant).or_else(|| nearest(found, known.iter().copied()));
        Self::UnknownModel { found: found.to_owned(), meant, known: known.join(", ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::NetworkSpec;

    #[test]
    fn a_missing_feature_is_said_before_all_else_of_a_model() {
        let message = SpecError::WithoutFeature { model: "TimeLLM", feature: "timellm" }.to_string();
        assert!(message.starts_with("TimeLLM: this program was built without the Cargo feature `timellm`"));
        // Its folder is missing as well.
        let spec = NetworkSpec::new("TimeLLM", 4, 24).unwrap();
        let found = spec.check().unwrap_err().to_string();
        match spec.entry.missing_feature() {
            Some(_) => assert_eq!(found, message),
            None => assert!(found.contains("hyper-parameter llm must be"), "{found}"),
        }
    }

    #[test]
    fn an_unknown_model_is_told_with_the_likeliest_name_else_with_all_names() {
        let message = |name: &str| NetworkSpec::new(name, 1, 2).unwrap_err().to_string();
        for (name, meant) in [
            ("Transformer", "VanillaTransformer"),
            ("transformer", "VanillaTransformer"),
            ("iTransform", "iTransformer"),
            ("AutoNHITS", "a tuning of NHITS"),
            ("autolstm", "a tuning of LSTM"),
            ("HINT", "models with a hierarchy, which any of them keep"),
        ] {
            let all = "`foretell::model_names` lists all";
            assert_eq!(message(name), format!("no model is called {name}; did you mean {meant}? {all}"));
        }
        let message = message("Zebra");
        assert!(message.starts_with("no model is called Zebra; there are "), "{message}");
        assert!(message.contains("TimesNet") && !message.contains("lists all"), "{message}");
    }
}
