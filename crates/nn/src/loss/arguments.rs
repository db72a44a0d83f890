//! The arguments of losses, and what is wrong with them.

use serde_json::{Map, Number, Value};

use super::quantile::Quantiles;
use super::{Loss, LossKind, distribution::Distribution, point::Point};

/// A loss that cannot be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LossError {
    /// No loss of that name.
    #[error("no loss is called {found:?}; there are {}", Loss::NAMES.join(", "))]
    UnknownName {
        /// The name given.
        found: String,
    },
    /// An argument that the loss does not have, or of the wrong kind.
    #[error("{loss}: argument {argument} must be {expected}, found {found}")]
    BadArgument {
        /// The loss.
        loss: &'static str,
        /// The argument.
        argument: String,
        /// What it may be.
        expected: &'static str,
        /// What it was, as JSON.
        found: String,
    },
    /// Something that is no description of a loss.
    #[error(
        "a loss is a name such as \"MAE\", or a name with arguments such as {{\"HuberLoss\": {{\"delta\": 2}}}}; \
         found {found}"
    )]
    NotALoss {
        /// What was found, as JSON.
        found: String,
    },
}

/// Reads the loss of this class name from these arguments.
pub(super) fn read(name: &str, arguments: &Map<String, Value>) -> Result<Loss, LossError> {
    let Some(&loss) = Loss::NAMES.iter().find(|&&known| known == name) else {
        return Err(LossError::UnknownName { found: name.to_owned() });
    };
    let mut arguments = Arguments { loss, map: arguments.clone() };
    let kind = match loss {
        "MQLoss" => LossKind::Quantiles { quantiles: arguments.quantiles()?, delta: None },
        "HuberMQLoss" => {
            let delta = Some(arguments.positive("delta", 1.0)?);
            LossKind::Quantiles { quantiles: arguments.quantiles()?, delta }
        }
        "DistributionLoss" => LossKind::Distribution(Distribution::read(&mut arguments)?),
        _ => LossKind::Point(Point::read(&mut arguments)?),
    };
    // Tukey's loss is the only one that has no weights there.
    let horizon_weight = if loss == "TukeyLoss" { None } else { arguments.horizon_weight()? };
    match arguments.map.into_iter().next() {
        None => Ok(Loss { kind, horizon_weight }),
        Some((argument, found)) => {
            let expected = "one that the loss has (see the documentation of the loss)";
            Err(LossError::BadArgument { loss, argument, expected, found: found.to_string() })
        }
    }
}

/// The arguments of a loss under construction; each is taken out as it is read, so that those remain
/// which the loss does not have. Absent and null ones take the default.
pub(super) struct Arguments {
    pub(super) loss: &'static str,
    map: Map<String, Value>,
}

impl Arguments {
    pub(super) fn take(&mut self, name: &str) -> Option<Value> {
        self.map.remove(name).filter(|value| !value.is_null())
    }

    pub(super) fn bad(&self, argument: &str, expected: &'static str, found: &Value) -> LossError {
        LossError::BadArgument {
            loss: self.loss,
            argument: argument.to_owned(),
            expected,
            found: found.to_string(),
        }
    }

    /// A number as it was written.
    pub(super) fn number(
        &mut self,
        name: &str,
        expected: &'static str,
        valid: fn(f64) -> bool,
    ) -> Result<Option<Number>, LossError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        match value.as_number().filter(|number| number.as_f64().is_some_and(valid)) {
            Some(number) => Ok(Some(number.clone())),
            None => Err(self.bad(name, expected, &value)),
        }
    }

    /// A number above 0.
    pub(super) fn positive(&mut self, name: &str, default: f64) -> Result<f64, LossError> {
        let found = self.number(name, "a positive number", |x| x > 0.0 && x.is_finite())?;
        Ok(found.and_then(|number| number.as_f64()).unwrap_or(default))
    }

    /// A number above 0 and below 1, without a default.
    pub(super) fn share(&mut self, name: &str) -> Result<f64, LossError> {
        const EXPECTED: &str = "a number between 0 and 1";
        let found = self.number(name, EXPECTED, is_share)?;
        found.and_then(|number| number.as_f64()).ok_or_else(|| self.bad(name, EXPECTED, &Value::Null))
    }

    /// A whole number of at least 1.
    pub(super) fn count(&mut self, name: &str) -> Result<Option<usize>, LossError> {
        const EXPECTED: &str = "a whole number between 1 and 1000000";
        let found = self.number(name, EXPECTED, |x| (1.0..=1e6).contains(&x) && x.fract() == 0.0)?;
        Ok(found.and_then(|number| number.as_f64()).map(|count| count as usize))
    }

    pub(super) fn flag(&mut self, name: &str, default: bool) -> Result<bool, LossError> {
        match self.take(name) {
            None => Ok(default),
            Some(value) => value.as_bool().ok_or_else(|| self.bad(name, "true or false", &value)),
        }
    }

    /// The list's numbers, and the list.
    fn numbers(
        &mut self,
        name: &str,
        expected: &'static str,
        valid: fn(f64) -> bool,
    ) -> Result<Option<(Vec<f64>, Value)>, LossError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let numbers =
            value.as_array().and_then(|list| list.iter().map(|x| x.as_f64().filter(|&x| valid(x))).collect());
        match numbers {
            Some(numbers) => Ok(Some((numbers, value))),
            None => Err(self.bad(name, expected, &value)),
        }
    }

    fn horizon_weight(&mut self) -> Result<Option<Vec<f32>>, LossError> {
        const EXPECTED: &str = "a list of numbers of at least 0, not all 0";
        match self.numbers("horizon_weight", EXPECTED, |w| w >= 0.0)? {
            Some((weights, value)) if weights.iter().all(|&weight| weight == 0.0) => {
                Err(self.bad("horizon_weight", EXPECTED, &value))
            }
            found => Ok(found.map(|(weights, _)| weights.into_iter().map(|w| w as f32).collect())),
        }
    }

    /// The quantiles or, without them, the intervals; as in neuralforecast each counts once.
    pub(super) fn quantiles(&mut self) -> Result<Quantiles, LossError> {
        const LEVEL: &str = "a list of percentages between 0 and 100";
        const LIST: &str = "a list of numbers between 0 and 1";
        let level = self.numbers("level", LEVEL, |level| 0.0 < level && level < 100.0)?;
        if let Some((list, value)) = self.numbers("quantiles", LIST, is_share)? {
            return match list.is_empty() {
                true => Err(self.bad("quantiles", LIST, &value)),
                false => Ok(Quantiles::listed(unique(list.iter().copied()))),
            };
        }
        let written = match &level {
            None => vec![80.into(), 90.into()],
            Some((_, value)) => {
                value.as_array().into_iter().flatten().filter_map(Value::as_number).cloned().collect()
            }
        };
        Ok(Quantiles::of_level(written))
    }
}

fn is_share(q: f64) -> bool {
    0.0 < q && q < 1.0
}

/// The numbers without those that came before.
fn unique(list: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut found: Vec<f64> = Vec::new();
    for x in list {
        if !found.contains(&x) {
            found.push(x);
        }
    }
    found
}
