//! The arguments of losses.

use serde_json::{Map, Value, json};

use super::quantile::Quantiles;
use super::{Loss, LossKind, distribution::Distribution, point::Point};
use crate::HyperParameterError;
use crate::arguments::{Arguments, NumberRange};

/// Reads the loss of this class name from these arguments.
pub(super) fn read(name: &str, arguments: &Map<String, Value>) -> Result<Loss, HyperParameterError> {
    let Some(&loss) = Loss::NAMES.iter().find(|&&known| known == name) else {
        let expected = format!("one of {}", Loss::NAMES.join(", "));
        return Err(HyperParameterError::new("loss", expected, json!(name)));
    };
    read_arguments(loss, Arguments::new(arguments)).map_err(|error| error.within(&format!("loss.{loss}")))
}

fn read_arguments(loss: &'static str, mut arguments: Arguments) -> Result<Loss, HyperParameterError> {
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
            let expected = format!("left out: the loss has {}", arguments.known().join(", "));
            Err(HyperParameterError::new(argument, expected, found))
        }
    }
}

fn horizon_weight(arguments: &mut Arguments) -> Result<Option<Vec<f32>>, HyperParameterError> {
    const EXPECTED: &str = "a list of numbers of at least 0, not all 0";
    match arguments.numbers("horizon_weight", EXPECTED, |w| w >= 0.0)? {
        Some((weights, value)) if weights.iter().all(|&weight| weight == 0.0) => {
            Err(HyperParameterError::new("horizon_weight", EXPECTED, value))
        }
        found => Ok(found.map(|(weights, _)| weights.into_iter().map(|w| w as f32).collect())),
    }
}

/// The quantiles or, without them, the intervals; as in neuralforecast each counts once.
pub(super) fn quantiles(arguments: &mut Arguments) -> Result<Quantiles, HyperParameterError> {
    const LEVEL: &str = "a list of percentages between 0 and 100";
    const LIST: &str = "a list of numbers between 0 and 1";
    let level = arguments.numbers("level", LEVEL, |level| 0.0 < level && level < 100.0)?;
    if let Some((list, value)) = arguments.numbers("quantiles", LIST, NumberRange::BETWEEN_0_AND_1.holds)? {
        return match list.is_empty() {
            true => Err(HyperParameterError::new("quantiles", LIST, value)),
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
pub(super) fn count(
    arguments: &mut Arguments,
    name: &'static str,
) -> Result<Option<usize>, HyperParameterError> {
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
