//! The arguments of losses, and what is wrong with them.

use serde_json::{Map, Value};

use super::quantile::Quantiles;
use super::{Loss, LossKind, distribution::Distribution, point::Point};
use crate::arguments::{Arguments, BadArgument, NumberRange};

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
    #[error("{loss}: {reason}")]
    Argument {
        /// The loss.
        loss: &'static str,
        /// What is wrong with it.
        reason: BadArgument,
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
    read_arguments(loss, Arguments::new(arguments)).map_err(|reason| LossError::Argument { loss, reason })
}

fn read_arguments(loss: &'static str, mut arguments: Arguments) -> Result<Loss, BadArgument> {
    let kind = match loss {
        "MQLoss" => LossKind::Quantiles { quantiles: quantiles(&mut arguments)?, delta: None },
        "HuberMQLoss" => {
            let delta = Some(arguments.number("delta", NumberRange::POSITIVE)?.unwrap_or(1.0));
            LossKind::Quantiles { quantiles: quantiles(&mut arguments)?, delta }
        }
        "DistributionLoss" => LossKind::Distribution(Distribution::read(&mut arguments)?),
        _ => LossKind::Point(Point::read(loss, &mut arguments)?),
    };
    // Tukey's loss is the only one of neuralforecast that has no weights.
    let horizon_weight = if loss == "TukeyLoss" { None } else { horizon_weight(&mut arguments)? };
    match arguments.first_unread() {
        None => Ok(Loss { kind, horizon_weight }),
        Some((argument, found)) => {
            let expected = format!("one of {}", arguments.known().join(", "));
            Err(BadArgument::new(argument, expected, found))
        }
    }
}

fn horizon_weight(arguments: &mut Arguments) -> Result<Option<Vec<f32>>, BadArgument> {
    const EXPECTED: &str = "a list of numbers of at least 0, not all 0";
    match arguments.numbers("horizon_weight", EXPECTED, |w| w >= 0.0)? {
        Some((weights, value)) if weights.iter().all(|&weight| weight == 0.0) => {
            Err(BadArgument::new("horizon_weight", EXPECTED, value))
        }
        found => Ok(found.map(|(weights, _)| weights.into_iter().map(|w| w as f32).collect())),
    }
}

/// The quantiles or, without them, the intervals; as in neuralforecast each counts once.
pub(super) fn quantiles(arguments: &mut Arguments) -> Result<Quantiles, BadArgument> {
    const LEVEL: &str = "a list of percentages between 0 and 100";
    const LIST: &str = "a list of numbers between 0 and 1";
    let level = arguments.numbers("level", LEVEL, |level| 0.0 < level && level < 100.0)?;
    if let Some((list, value)) = arguments.numbers("quantiles", LIST, NumberRange::BETWEEN_0_AND_1.holds)? {
        return match list.is_empty() {
            true => Err(BadArgument::new("quantiles", LIST, value)),
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

/// How many: a whole number of at least 1.
pub(super) fn count(arguments: &mut Arguments, name: &'static str) -> Result<Option<usize>, BadArgument> {
    Ok(arguments.count(name, 1..=1_000_000)?.map(|count| count as usize))
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
