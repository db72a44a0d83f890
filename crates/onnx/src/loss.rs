//! The columns of a forecast from the outputs of a network, as the loss defines them.

use foretell_data::WindowScaler;
use foretell_nn::{Loss, Value};

use crate::error::OnnxError;
use crate::graph::{Graph, Name};
use crate::proto::Attribute;
use crate::scaling::{Scale, unscaled};

/// Why the columns of a loss cannot be written, if they cannot.
pub(crate) fn check(loss: &Loss) -> Result<(), OnnxError> {
    if !loss.is_distribution() || writer(loss).is_some() {
        return Ok(());
    }
    let loss = match distribution(loss) {
        Some(distribution) => format!("{} of {distribution}", loss.name()),
        None => loss.name().to_owned(),
    };
    Err(OnnxError::Loss { loss, reason: "quantiles of this distribution have no closed form" })
}

/// How the columns of a distribution are written, from the outputs of a network: on the scale of the data, or else of the windows.
type Writer = fn(&mut Graph, &Loss, &str, Option<&Scale>) -> Name;

fn writer(loss: &Loss) -> Option<Writer> {
    match distribution(loss)?.as_str() {
        "Normal" => Some(normal),
        "ISQF" => Some(isqf),
        _ => None,
    }
}

fn distribution(loss: &Loss) -> Option<String> {
    loss.arguments().get("distribution").and_then(Value::as_str).map(str::to_owned)
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
    if let Some(writer) = writer(loss) {
        return writer(graph, loss, outputs, scale);
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

/// Mean and quantiles of the incremental spline quantile function (`nn/src/loss/distribution/isqf.rs` has its outputs). The quantiles of the
/// loss are the ends of its segments; the pieces of these enter the mean alone.
fn isqf(graph: &mut Graph, loss: &Loss, outputs: &str, scale: Option<&Scale>) -> Name {
    let pieces = loss.arguments().get("num_pieces").and_then(Value::as_u64).unwrap_or(5) as usize;
    let quantiles: Vec<f32> = loss.columns().quantiles().collect();
    let mut probabilities = quantiles.clone();
    probabilities.sort_by(f32::total_cmp);
    let last = probabilities.len() - 1;
    let logits = 2 * last * pieces;
    let output = |graph: &mut Graph, at: usize| graph.slice(outputs, -1, at as i64, at as i64 + 1, 1);
    let positive = |graph: &mut Graph, at: usize| {
        let value = output(graph, at);
        let value = graph.one("Softplus", &value);
        graph.with_number("Add", &value, LEAST)
    };
    // The shares of a segment's pieces, from these outputs on, and those of all pieces before.
    let shares = |graph: &mut Graph, from: usize| {
        let own = graph.slice(outputs, -1, from as i64, (from + pieces) as i64, 1);
        let own = graph.node("Softmax", &[&own], &[("axis", Attribute::Int(-1))]);
        let own = graph.with_number("Add", &own, LEAST);
        let own = graph.with_number("Div", &own, 1.0 + LEAST * pieces as f32);
        let axis = graph.whole(&[], &[-1]);
        let before = graph.node("CumSum", &[&own, &axis], &[("exclusive", Attribute::Int(1))]);
        (own, before)
    };
    let mut value = output(graph, logits + 2);
    let mut values = vec![value.clone()];
    // Of the left tail, and then of segment after segment.
    let tail = positive(graph, logits);
    let tail = graph.one("Reciprocal", &tail);
    let mean = graph.two("Sub", &value, &tail);
    let mut mean = graph.with_number("Mul", &mean, probabilities[0]);
    for segment in 0..last {
        let distance = positive(graph, logits + 3 + segment);
        let (widths, _) = shares(graph, segment * pieces);
        let (heights, before) = shares(graph, (last + segment) * pieces);
        let half = graph.with_number("Mul", &heights, 0.5);
        let middles = graph.two("Add", &before, &half);
        let middles = graph.two("Mul", &middles, &distance);
        let middles = graph.two("Add", &middles, &value);
        let areas = graph.two("Mul", &middles, &widths);
        let area = graph.sum(&areas, -1, true);
        let area = graph.with_number("Mul", &area, probabilities[segment + 1] - probabilities[segment]);
        mean = graph.two("Add", &mean, &area);
        value = graph.two("Add", &value, &distance);
        values.push(value.clone());
    }
    let tail = positive(graph, logits + 1);
    let tail = graph.one("Reciprocal", &tail);
    let above = graph.two("Add", &value, &tail);
    let above = graph.with_number("Mul", &above, 1.0 - probabilities[last]);
    let mean = graph.two("Add", &mean, &above);
    let place = |q: &f32| probabilities.iter().position(|p| p == q).expect("one of its own");
    let columns = quantiles.iter().map(|q| values[place(q)].as_str());
    let columns: Vec<&str> = std::iter::once(mean.as_str()).chain(columns).collect();
    let columns = graph.concat(&columns, -1);
    match scale {
        Some(Scale { loc, scale }) => {
            let columns = graph.two("Mul", &columns, scale);
            graph.two("Add", &columns, loc)
        }
        None => columns,
    }
}

/// What an ISQF adds to shares, distances and rates of tails.
const LEAST: f32 = 1e-4;

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
        assert_eq!((of("Normal"), of("ISQF")), (Ok(()), Ok(())));
        let error = of("StudentT").expect_err("no closed form").to_string();
        assert!(error.contains("DistributionLoss of StudentT"), "{error}");
        assert_eq!(check(&Loss::mae()), Ok(()));
    }
}
