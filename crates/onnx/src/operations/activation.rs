//! Activations, alone and behind products.

use std::f32::consts::{FRAC_1_SQRT_2, FRAC_2_PI};

use crate::emitter::{Call, Row};
use crate::error::OnnxError;
use crate::graph::{Graph, Name};
use crate::proto::Attribute;

pub(super) const TABLE: &[Row] = &[
    ("activation", |call| {
        let x = call.input(0)?;
        Ok(vec![activated(call, x)?])
    }),
    ("prelu", |call| {
        let (x, slope) = (call.input(0)?, call.input(1)?);
        Ok(vec![call.graph().two("PRelu", &x, &slope)])
    }),
];

/// `x` after the activation that the operation ends in.
pub(super) fn activated(call: &mut Call<'_, '_>, x: Name) -> Result<Name, OnnxError> {
    let (word, slope) = (call.word("activation"), call.number("slope"));
    let graph = call.graph();
    let alpha = |value| ("alpha", Attribute::Float(value));
    Ok(match word {
        "identity" => x,
        "relu" => graph.one("Relu", &x),
        "leaky_relu" => graph.node("LeakyRelu", &[&x], &[alpha(slope)]),
        "elu" => graph.node("Elu", &[&x], &[alpha(slope)]),
        "selu" => graph.one("Selu", &x),
        "gelu" => gelu(graph, &x),
        "gelu_tanh" => gelu_tanh(graph, &x),
        "silu" => {
            let gate = graph.one("Sigmoid", &x);
            graph.two("Mul", &x, &gate)
        }
        "mish" => {
            let soft = graph.one("Softplus", &x);
            let gate = graph.one("Tanh", &soft);
            graph.two("Mul", &x, &gate)
        }
        "softplus" => graph.one("Softplus", &x),
        "sigmoid" => graph.one("Sigmoid", &x),
        "tanh" => graph.one("Tanh", &x),
        "softsign" => graph.one("Softsign", &x),
        "log_sigmoid" => log_sigmoid(graph, &x),
        "hardshrink" => shrink(graph, &x, 0.0),
        "softshrink" => shrink(graph, &x, 0.5),
        "hardtanh" => {
            let [low, high] = [-1.0, 1.0].map(|bound| graph.number(bound));
            graph.node("Clip", &[&x, &low, &high], &[])
        }
        "hardswish" => graph.one("HardSwish", &x),
        _ => return Err(call.refuse(word)),
    })
}

/// `-ln(1 + e^-x)`.
pub(super) fn log_sigmoid(graph: &mut Graph, x: &str) -> Name {
    let minus = graph.one("Neg", x);
    let soft = graph.one("Softplus", &minus);
    graph.one("Neg", &soft)
}

/// 0 within 0.5 of 0, moved by `bias` towards it beyond.
fn shrink(graph: &mut Graph, x: &str, bias: f32) -> Name {
    graph.node("Shrink", &[x], &[("lambd", Attribute::Float(0.5)), ("bias", Attribute::Float(bias))])
}

fn half_of_one_more(graph: &mut Graph, x: &str, y: &str) -> Name {
    let more = graph.with_number("Add", y, 1.0);
    let product = graph.two("Mul", x, &more);
    graph.with_number("Mul", &product, 0.5)
}

fn gelu(graph: &mut Graph, x: &str) -> Name {
    let scaled = graph.with_number("Mul", x, FRAC_1_SQRT_2);
    let erf = graph.one("Erf", &scaled);
    half_of_one_more(graph, x, &erf)
}

fn gelu_tanh(graph: &mut Graph, x: &str) -> Name {
    let square = graph.two("Mul", x, x);
    let factor = graph.with_number("Mul", &square, 0.044_715);
    let factor = graph.with_number("Add", &factor, 1.0);
    let inner = graph.two("Mul", x, &factor);
    let inner = graph.with_number("Mul", &inner, FRAC_2_PI.sqrt());
    let tanh = graph.one("Tanh", &inner);
    half_of_one_more(graph, x, &tanh)
}
