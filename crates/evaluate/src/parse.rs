//! Metrics by their names.

use std::fmt;

use crate::error::EvaluationError;
use crate::metric::Metric;
use crate::metrics::METRICS;

impl Metric {
    /// The metric of that name, with its parameter in brackets if it is not the usual one: `linex(0.5)`.
    ///
    /// # Errors
    /// An unknown name, or a parameter that the metric does not have.
    pub fn parse(word: &str) -> Result<Self, EvaluationError> {
        let word = word.trim();
        let (name, parameter) = match word.split_once('(') {
            Some((name, rest)) => (name.trim(), Some(rest.trim_end_matches(')').trim())),
            None => (word, None),
        };
        let known = METRICS.iter().find(|metric| metric.name.eq_ignore_ascii_case(name));
        let metric = *known.ok_or_else(|| EvaluationError::UnknownMetric {
            found: word.to_owned(),
            known: names().join(", "),
        })?;
        let Some(parameter) = parameter else { return Ok(metric) };
        let refuse = |reason| EvaluationError::Parameter { found: word.to_owned(), reason };
        metric.parameter.ok_or_else(|| refuse("it takes no parameter; leave the brackets out"))?;
        let parameter = parameter.parse().ok().filter(|parameter: &f64| parameter.is_finite());
        let parameter = parameter.ok_or_else(|| refuse("its parameter is no number"))?;
        match metric.name {
            "linex" if parameter == 0.0 => Err(refuse("its parameter must not be 0")),
            "tweedie_deviance" if parameter < 0.0 => Err(refuse("its parameter must be 0 or more")),
            _ => Ok(Self { parameter: Some(parameter), ..metric }),
        }
    }

    /// The metric of a score's name, which may say a quantile or a level: `quantile_loss_q0.1`, `coverage_level80`. Nothing for
    /// one that is not known.
    pub fn of_score(name: &str) -> Option<Self> {
        let without = |mark: &str| {
            let (metric, number) = name.rsplit_once(mark)?;
            number.parse::<f64>().is_ok().then_some(metric)
        };
        Self::parse(without("_level").or_else(|| without("_q")).unwrap_or(name)).ok()
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let usual = METRICS.iter().find(|metric| metric.name == self.name);
        match self.parameter {
            Some(parameter) if usual.is_some_and(|usual| usual.parameter != self.parameter) => {
                write!(f, "{}({parameter})", self.name)
            }
            _ => f.write_str(self.name),
        }
    }
}

/// The names of all metrics.
fn names() -> Vec<&'static str> {
    METRICS.iter().map(|metric| metric.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_of_metrics() {
        let of = |name: &str| Metric::of_score(name).map(|metric| (metric.name, metric.is_error));
        assert_eq!(of("coverage_level80"), Some(("coverage", false)));
        assert_eq!(of("quantile_loss_q0.1"), Some(("quantile_loss", true)));
        assert_eq!(of("winkler_score_level99.5"), Some(("winkler_score", true)));
        assert_eq!((of("pis"), of("bias")), (Some(("pis", true)), Some(("bias", false))));
        assert_eq!(of("linex(0.5)"), Some(("linex", true)));
        assert_eq!(of("mad"), None);
    }

    #[test]
    fn metrics_are_found_by_name_and_take_their_parameter() {
        assert_eq!(Metric::parse(" MASE ").unwrap().name, "mase");
        assert_eq!(Metric::parse("linex(0.5)").unwrap().to_string(), "linex(0.5)");
        assert_eq!(Metric::parse("linex(1)").unwrap().to_string(), "linex");
        for (word, part) in [
            ("mea", "known are mae, mse"),
            ("mae(2)", "takes no parameter"),
            ("linex(x)", "no number"),
            ("linex(0)", "must not be 0"),
            ("tweedie_deviance(-1)", "0 or more"),
        ] {
            let error = Metric::parse(word).unwrap_err().to_string();
            assert!(error.contains(part), "{word}: {error}");
        }
    }
}
