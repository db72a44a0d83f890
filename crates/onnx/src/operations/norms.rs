//! Normalisation by rows, by channels, and by windows.

use crate::emitter::{Call, Row};
use crate::error::OnnxError;
use crate::graph::Name;
use crate::proto::Attribute;

pub(super) const TABLE: &[Row] = &[
    ("layer_norm", layer_norm),
    ("rms_norm", |call| {
        let (x, gamma, eps) = (call.input(0)?, call.optional(1)?, call.number("eps"));
        let graph = call.graph();
        let square = graph.two("Mul", &x, &x);
        let mean = graph.reduce("ReduceMean", &square, -1, true);
        let mean = graph.with_number("Add", &mean, eps);
        let root = graph.one("Sqrt", &mean);
        let y = graph.two("Div", &x, &root);
        affine(call, y, gamma, None)
    }),
    ("batch_norm", |call| {
        let [x, mean, variance] = [call.input(0)?, call.input(1)?, call.input(2)?];
        let (gamma, beta, eps) = (call.optional(3)?, call.optional(4)?, call.number("eps"));
        let y = normalised(call, [&x, &mean, &variance], eps);
        affine(call, y, gamma, beta)
    }),
    ("instance_norm", |call| {
        let (x, gamma, beta) = (call.input(0)?, call.optional(1)?, call.optional(2)?);
        let eps = call.number("eps");
        let graph = call.graph();
        let mean = graph.reduce("ReduceMean", &x, -2, true);
        let apart = graph.two("Sub", &x, &mean);
        let square = graph.two("Mul", &apart, &apart);
        let variance = graph.reduce("ReduceMean", &square, -2, true);
        let y = normalised(call, [&x, &mean, &variance], eps);
        affine(call, y, gamma, beta)
    }),
];

fn layer_norm(call: &mut Call<'_, '_>) -> Result<Vec<Name>, OnnxError> {
    let cols = call.dim(0, call.rank(0) - 1)?;
    let (x, gamma, beta) = (call.input(0)?, call.optional(1)?, call.optional(2)?);
    let eps = call.number("eps");
    let graph = call.graph();
    let gamma = gamma.unwrap_or_else(|| graph.floats(&[cols], &vec![1.0; cols]));
    let inputs: Vec<&str> = [&x, &gamma].into_iter().chain(beta.as_ref()).map(String::as_str).collect();
    let attributes = [("axis", Attribute::Int(-1)), ("epsilon", Attribute::Float(eps))];
    Ok(vec![graph.node("LayerNormalization", &inputs, &attributes)])
}

fn normalised(call: &mut Call<'_, '_>, [x, mean, variance]: [&str; 3], eps: f32) -> Name {
    let graph = call.graph();
    let apart = graph.two("Sub", x, mean);
    let variance = graph.with_number("Add", variance, eps);
    let deviation = graph.one("Sqrt", &variance);
    graph.two("Div", &apart, &deviation)
}

fn affine(
    call: &mut Call<'_, '_>,
    mut y: Name,
    gamma: Option<Name>,
    beta: Option<Name>,
) -> Result<Vec<Name>, OnnxError> {
    for (operation, parameter) in [("Mul", gamma), ("Add", beta)] {
        if let Some(parameter) = parameter {
            y = call.graph().two(operation, &y, &parameter);
        }
    }
    Ok(vec![y])
}
