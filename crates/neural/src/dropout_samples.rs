//! Quantiles of networks that forecast a single number, from forecasts with dropout.

use serde_json::Value;

use crate::spec::NetworkSpec;
use crate::spec_error::SpecError;

impl NetworkSpec {
    /// Takes the quantiles of a network that forecasts a single number from this many forecasts with dropout; others have quantiles of
    /// their own.
    #[must_use]
    pub fn dropout_samples(mut self, samples: Option<usize>) -> Self {
        self.dropout_samples = samples;
        self
    }

    /// Whether its quantiles can be those of forecasts with dropout, as it forecasts a single number.
    pub(crate) fn takes_dropout_samples(&self) -> bool {
        self.loss().column_quantiles() == [None] && self.loss().with_quantiles(&[]).is_none()
    }

    /// Whether quantiles are taken from forecasts with dropout: this many of them.
    pub(crate) fn samples_by_dropout(&self) -> Option<usize> {
        self.dropout_samples.filter(|_| self.takes_dropout_samples())
    }

    /// Checks that forecasts with dropout differ, where quantiles are taken from them.
    ///
    /// # Errors
    /// If nothing is dropped.
    pub(crate) fn check_dropout(&self) -> Result<(), SpecError> {
        let rates = || self.own.iter().filter(|(name, _)| name.contains("dropout"));
        let drops = |value: &Value| value.as_f64().is_some_and(|rate| rate > 0.0);
        if self.samples_by_dropout().is_none() || rates().any(|(_, value)| drops(value)) {
            return Ok(());
        }
        let names: Vec<&str> = rates().map(|(name, _)| name.as_str()).collect();
        match names.first() {
            Some(name) => {
                let expected =
                    "above 0, so that forecasts with dropout differ, whose quantiles are the intervals";
                self.refuse(name, expected, &self.own[*name])
            }
            None => {
                let expected =
                    "of another kind: the model drops nothing, so forecasts with dropout do not differ";
                self.refuse("intervals", expected, "dropout")
            }
        }
    }
}
