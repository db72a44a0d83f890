//! Quantiles of networks that forecast a single number, from forecasts with dropout.

use serde_json::Value;

use crate::spec::NetworkSpec;

impl NetworkSpec {
    /// Takes the quantiles of a network that forecasts a single number and drops something from this many forecasts with dropout; others
    /// keep those of their own, or have none.
    #[must_use]
    pub fn dropout_samples(mut self, samples: Option<usize>) -> Self {
        self.dropout_samples = samples;
        self
    }

    /// Whether its quantiles can be those of forecasts with dropout, as it forecasts a single number and drops something.
    pub(crate) fn takes_dropout_samples(&self) -> bool {
        let drops = |value: &Value| value.as_f64().is_some_and(|rate| rate > 0.0);
        self.forecasts_a_number() && self.dropout_rates().any(|(_, value)| drops(value))
    }

    /// Whether quantiles are taken from forecasts with dropout: this many of them.
    pub(crate) fn samples_by_dropout(&self) -> Option<usize> {
        self.dropout_samples.filter(|_| self.takes_dropout_samples())
    }

    /// The hyper-parameter of the network to be set above 0 to have quantiles by dropout, where it is all that is lacking.
    pub fn dropout_to_set(&self) -> Option<&str> {
        let lacks = self.forecasts_a_number() && !self.takes_dropout_samples();
        self.dropout_rates().map(|(name, _)| name.as_str()).next().filter(|_| lacks)
    }

    /// Whether it forecasts a single number, without quantiles.
    fn forecasts_a_number(&self) -> bool {
        self.loss().column_quantiles() == [None] && self.loss().with_quantiles(&[]).is_none()
    }

    /// Its shares of numbers that are dropped.
    fn dropout_rates(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.own.iter().filter(|(name, _)| name.contains("dropout"))
    }
}
