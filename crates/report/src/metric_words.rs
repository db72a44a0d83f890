//! The names of scores in words.

use foretell_evaluate::{Metric, is_count};

use crate::contents::ScoreSheet;

/// The words of common scores; others are told by their names.
const WORDS: [(&str, &str); 18] = [
    ("mae", "mean absolute error"),
    ("mse", "mean squared error"),
    ("rmse", "root mean squared error"),
    ("bias", "mean of forecast minus truth"),
    ("cfe", "sum of forecast minus truth"),
    ("mape", "mean percentage error"),
    ("smape", "symmetric percentage error"),
    ("mase", "error relative to the seasonal naive one"),
    ("rmsse", "squared error relative to the seasonal naive one"),
    ("rmae", "error relative to the baseline"),
    ("nd", "error relative to the values"),
    ("wape", "error relative to the values"),
    ("mqloss", "loss of the quantiles"),
    ("scaled_mqloss", "relative loss of the quantiles"),
    ("scaled_crps", "error of the distribution relative to the values"),
    ("weight", "weight in the forecast"),
    ("missing", "rows without a forecast"),
    ("coverage", "share of the truths in the interval"),
];

/// The name of a score in words, with the name in brackets.
pub fn metric_words(name: &str) -> String {
    if let Some(level) = name.strip_prefix("coverage_level").filter(|_| !is_count(name)) {
        return format!("share of the truths in the {level} % interval");
    }
    match WORDS.iter().find(|(known, _)| *known == name) {
        Some((_, words)) => format!("{words} ({name})"),
        None => name.to_owned(),
    }
}

/// How a score is computed, where it is one of ours.
pub(crate) fn metric_meaning(name: &str) -> Option<&'static str> {
    Metric::of_score(name).map(|metric| metric.meaning)
}

impl ScoreSheet {
    /// The places of the metrics that are errors.
    pub(crate) fn errors(&self) -> impl Iterator<Item = usize> {
        // A metric of another tool is taken for an error, as most are.
        let is_error =
            |name: &str| Metric::of_score(name).is_none_or(|metric| metric.is_error) && !is_count(name);
        (0..self.metrics.len()).filter(move |&metric| is_error(&self.metrics[metric]))
    }

    /// The place of the first metric that is an error.
    pub fn first_error(&self) -> Option<usize> {
        self.errors().next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_told_in_words() {
        assert_eq!(metric_words("mae"), "mean absolute error (mae)");
        assert_eq!(metric_words("coverage_level80"), "share of the truths in the 80 % interval");
        for name in ["my_score", "coverage_level80_missing"] {
            assert_eq!(metric_words(name), name);
        }
        assert!(metric_meaning("mase").unwrap().contains("seasonal naive"));
        for (name, _) in WORDS.iter().filter(|(name, _)| !["weight", "missing"].contains(name)) {
            assert!(metric_meaning(name).is_some(), "{name}");
        }
    }
}
