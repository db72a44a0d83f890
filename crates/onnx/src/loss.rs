//! The columns of a forecast from the outputs of a network, as the loss defines them.

use foretell_data::WindowScaler;
use foretell_nn::{Loss, Value};

use crate::error::OnnxError;
use crate::graph::{Graph, Name};
use crate::scaling::{Scale, unscaled};

/// Why the columns of a loss cannot be written, if they cannot.
pub(crate) fn check(loss: &Loss) -> Result<(), OnnxError> {
    if !loss.is_distribution() || is_normal(loss) {
        return Ok(());
    }
    let arguments = loss.arguments();
    let loss = match arguments.get("distribution").and_then(Value::as_str) {
        Some(distribution) => format!("{} of {distribution}", loss.name()),
        None => loss.name().to_owned(),
    };
    Err(OnnxError::Loss { loss, reason: "quantiles of this distribution have no closed form" })
}

fn is_normal(loss: &Loss) -> bool {
    loss.name() == "DistributionLoss"
        && loss.arguments().get("distribution").and_then(Value::as_str) == Some("Normal")
}

/// The columns `[rows, horizon, columns]` on the scale of the data, from `outputs` of the network. `scale` is that of the windows,
/// spread over the outputs.
pub(crate) fn columns(
    graph: &mut Graph,
    loss: &Loss,
    scaler: WindowScaler,
    outputs: &str,
    scale: Option<&Scale>,
) -> Name {
    if loss.is_distribution() {
        return normal(graph, loss, outputs, scale);
    }
    // A network of any quantile forecasts the median behind those that are asked for.
    let outputs = match loss.implicit() {
        Some(_) => graph.slice(outputs, -1, 0, loss.columns().count() as i64, 1),
        None => outputs.to_owned(),
    };
    match scale {
        Some(scale) => unscaled(graph, scaler, &outputs, scale),
        None => outputs,
    }
}

/// Mean, quantiles and, if they are wanted, parameters of normal distributions: mean `μ s + l`, deviation `(softplus(σ) + 0.2) s`.
fn normal(graph: &mut Graph, loss: &Loss, outputs: &str, scale: Option<&Scale>) -> Name {
    let [mean, deviation] = [0, 1].map(|i| graph.slice(outputs, -1, i, i + 1, 1));
    let deviation = graph.one("Softplus", &deviation);
    let deviation = graph.with_number("Add", &deviation, FLOOR);
    let (mean, deviation) = match scale {
        Some(Scale { loc, scale }) => {
            let mean = graph.two("Mul", &mean, scale);
            (graph.two("Add", &mean, loc), graph.two("Mul", &deviation, scale))
        }
        None => (mean, deviation),
    };
    // Each column is a multiple of the mean plus one of the deviation: the columns of two distributions tell both factors.
    let columns = loss.columns();
    let of = |mean: f32| {
        let mut values = vec![0.0; columns.count()];
        loss.forecast(&columns, &[mean, DEVIATION_OF_1], 0.0, 1.0, &mut values);
        values
    };
    let (deviations, both) = (of(0.0), of(1.0));
    let means: Vec<f32> =
        both.iter().zip(&deviations).map(|(both, deviations)| (both - deviations).round()).collect();
    let [means, deviations] = [means, deviations].map(|factors| graph.floats(&[factors.len()], &factors));
    let (means, deviations) = (graph.two("Mul", &mean, &means), graph.two("Mul", &deviation, &deviations));
    graph.two("Add", &means, &deviations)
}

/// The least deviation, in units of the window's scale.
const FLOOR: f32 = 0.2;

/// The output whose softplus is 0.8, so that the deviation is 1.
const DEVIATION_OF_1: f32 = 0.203_382_32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_deviation_is_one() {
        assert!((DEVIATION_OF_1.exp().ln_1p() + FLOOR - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_distribution_without_closed_quantiles_is_refused_by_name() {
        let of = |distribution: &str| {
            let arguments = [("distribution".to_owned(), Value::from(distribution))].into_iter().collect();
            check(&Loss::new("DistributionLoss", &arguments).expect("a loss"))
        };
        assert_eq!(of("Normal"), Ok(()));
        let error = of("StudentT").expect_err("no closed form").to_string();
        assert!(error.contains("DistributionLoss of StudentT"), "{error}");
        assert_eq!(check(&Loss::mae()), Ok(()));
    }
}
