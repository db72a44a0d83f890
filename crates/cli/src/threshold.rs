//! Scores that are too bad, as a condition on the command line: `mae>10`, `coverage_level80<0.6:NHITS`.

use std::fmt;
use std::str::FromStr;

/// A bound of a metric, of any model or of one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Threshold {
    pub(crate) metric: String,
    /// Whether a score above the bound is too bad, or one below it.
    above: bool,
    bound: f64,
    model: Option<String>,
}

impl Threshold {
    /// Whether there is a score that it bounds, among these models and metrics.
    ///
    /// # Errors
    /// In words, what is there in place of what it names.
    pub(crate) fn check(&self, metrics: &[&str], models: &[&str]) -> Result<(), String> {
        let found = match &self.model {
            Some(model) if !models.contains(&&**model) => {
                format!("the forecasts have no model {model}: they have {}", models.join(", "))
            }
            _ if !metrics.contains(&&*self.metric) => {
                format!("there is no score {}: there are {}", self.metric, metrics.join(", "))
            }
            _ => return Ok(()),
        };
        Err(format!("--fail-if {self}: {found}"))
    }

    /// Whether it bounds this score of this model.
    pub(crate) fn concerns(&self, metric: &str, model: &str) -> bool {
        self.metric == metric && self.model.as_ref().is_none_or(|name| name == model)
    }

    /// Whether it names a model, and is not one of all.
    pub(crate) fn is_of_one_model(&self) -> bool {
        self.model.is_some()
    }

    /// Whether a score is beyond the bound. What is no number is beyond none.
    pub(crate) fn is_crossed(&self, metric: &str, model: &str, value: f64) -> bool {
        self.concerns(metric, model) && if self.above { value > self.bound } else { value < self.bound }
    }
}

impl FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = || {
            format!("{text:?} is no METRIC>NUMBER or METRIC<NUMBER, with :MODEL behind it if it is of one")
        };
        let (at, above) = match (text.find('>'), text.find('<')) {
            (Some(at), None) => (at, true),
            (None, Some(at)) => (at, false),
            _ => return Err(refuse()),
        };
        let (metric, rest) = (text[..at].trim(), text[at + 1..].trim());
        let (bound, model) = match rest.split_once(':') {
            Some((bound, model)) => (bound.trim(), Some(model.trim().to_owned())),
            None => (rest, None),
        };
        match bound.parse::<f64>() {
            Ok(bound) if bound.is_finite() && !metric.is_empty() => {
                Ok(Self { metric: metric.to_owned(), above, bound, model })
            }
            _ => Err(refuse()),
        }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.metric, if self.above { '>' } else { '<' }, self.bound)?;
        self.model.iter().try_for_each(|model| write!(f, ":{model}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_and_hold_for_their_model() {
        let any: Threshold = "mae>10".parse().unwrap();
        assert!(any.is_crossed("mae", "A", 10.5) && !any.is_crossed("mae", "A", 10.0));
        assert!(!any.is_crossed("mse", "A", 99.0) && !any.is_crossed("mae", "A", f64::NAN));
        let one: Threshold = "coverage_level80 < 0.6 : NHITS".parse().unwrap();
        assert!(
            one.is_crossed("coverage_level80", "NHITS", 0.5) && !one.is_crossed("coverage_level80", "A", 0.5)
        );
        assert!(any.check(&["mae"], &["A"]).is_ok() && any.check(&["mse"], &["A"]).is_err());
        assert!(
            one.check(&["coverage_level80"], &["nhits"])
                .unwrap_err()
                .ends_with("no model NHITS: they have nhits")
        );
        assert_eq!(one.to_string(), "coverage_level80<0.6:NHITS");
        for text in ["mae", "mae=3", ">3", "mae>x", "mae>1<2", ""] {
            assert!(text.parse::<Threshold>().is_err(), "{text}");
        }
    }
}
