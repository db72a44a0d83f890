//! FEDformer's products and attention of complex modes: real parts before imaginary ones.

use crate::emitter::{Call, Row};
use crate::error::OnnxError;
use crate::extent::Extent;
use crate::graph::{Graph, Name};

pub(super) const TABLE: &[Row] = &[("mode_products", mode_products), ("mode_attention", mode_attention)];

/// Real and imaginary part.
type Complex = [Name; 2];

/// The product of complex matrices.
fn product(graph: &mut Graph, [a, b]: &Complex, [c, d]: &Complex) -> Complex {
    let [ac, bd, ad, bc] = [(a, c), (b, d), (a, d), (b, c)].map(|(x, y)| graph.two("MatMul", x, y));
    [graph.two("Sub", &ac, &bd), graph.two("Add", &ad, &bc)]
}

/// The parts of `[batch, 2, rows, heads * size]`, each in this order of `[batch, rows, heads, size]`.
fn parts(graph: &mut Graph, x: &str, shape: &[Extent], heads: usize, order: &[usize]) -> Complex {
    let size = shape[3].fixed / heads;
    let apart = [shape[0], shape[2], Extent::fixed(heads), Extent::fixed(size)];
    [0, 1].map(|i| {
        let part = graph.slice(x, 1, i, i + 1, 1);
        let part = graph.reshape(&part, &apart);
        graph.transpose(&part, order)
    })
}

/// The parts, each brought back by this order, as `[batch, 2, rows, heads * size]`.
fn joined(graph: &mut Graph, parts: Complex, order: &[usize], shape: &[Extent]) -> Name {
    let half = [shape[0], Extent::fixed(1), shape[2], shape[3]];
    let [re, im] = parts.map(|part| {
        let part = graph.transpose(&part, order);
        graph.reshape(&part, &half)
    });
    graph.concat(&[&re, &im], 1)
}

fn mode_products(call: &mut Call<'_, '_>) -> Result<Vec<Name>, OnnxError> {
    let (shape, result, heads) = (call.shape(0).to_vec(), call.result(0).to_vec(), call.dim(1, 0)?);
    let (x, w) = (call.input(0)?, call.input(1)?);
    let graph = call.graph();
    let x = parts(graph, &x, &shape, heads, &[1, 2, 0, 3]);
    let w = graph.transpose(&w, &[4, 3, 0, 1, 2]);
    let w = [0, 1].map(|i| {
        let part = graph.slice(&w, 0, i, i + 1, 1);
        graph.squeeze(&part, &[0])
    });
    let y = product(graph, &x, &w);
    Ok(vec![joined(graph, y, &[2, 0, 1, 3], &result)])
}

fn mode_attention(call: &mut Call<'_, '_>) -> Result<Vec<Name>, OnnxError> {
    let heads = call.size("heads")?;
    let (q_shape, k_shape) = (call.shape(0).to_vec(), call.shape(1).to_vec());
    let (q, k) = (call.input(0)?, call.input(1)?);
    let graph = call.graph();
    let q = parts(graph, &q, &q_shape, heads, &[0, 2, 1, 3]);
    let k = parts(graph, &k, &k_shape, heads, &[0, 2, 1, 3]);
    let turned = [0, 1].map(|i| graph.transpose(&k[i], &[0, 1, 3, 2]));
    let scores = product(graph, &q, &turned);
    let shares = tanh(graph, &scores);
    let y = product(graph, &shares, &k);
    Ok(vec![joined(graph, y, &[0, 2, 1, 3], &q_shape)])
}

/// With r = e^(-2|a|): `tanh(a + ib) = (sign(a) (1 - r²) + 2 i r sin 2b) / (1 + r² + 2 r cos 2b)`, which no a lets overflow.
fn tanh(graph: &mut Graph, [a, b]: &Complex) -> Complex {
    let size = graph.one("Abs", a);
    let exponent = graph.with_number("Mul", &size, -2.0);
    let r = graph.one("Exp", &exponent);
    let square = graph.two("Mul", &r, &r);
    let twice = graph.with_number("Mul", b, 2.0);
    let (sin, cos) = (graph.one("Sin", &twice), graph.one("Cos", &twice));
    let [sin, cos] = [sin, cos].map(|part| {
        let part = graph.two("Mul", &part, &r);
        graph.with_number("Mul", &part, 2.0)
    });
    let one = graph.with_number("Add", &square, 1.0);
    let below = graph.two("Add", &one, &cos);
    let fall = graph.with_number("Mul", &square, -1.0);
    let fall = graph.with_number("Add", &fall, 1.0);
    let sign = graph.one("Sign", a);
    let re = graph.two("Mul", &sign, &fall);
    [graph.two("Div", &re, &below), graph.two("Div", &sin, &below)]
}
