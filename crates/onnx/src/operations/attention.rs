//! Attention in its kinds: of heads, additive, of few queries, and by correlation.

use crate::emitter::{Call, Row};
use crate::error::OnnxError;
use crate::extent::Extent;
use crate::graph::{Graph, Name};
use crate::proto::Attribute;

pub(super) const TABLE: &[Row] = &[
    ("attention", attention),
    ("additive_attention", additive_attention),
    ("sparse_attention", sparse_attention),
    ("circular_correlation", circular_correlation),
    ("delayed_sum", delayed_sum),
];

/// `[batch, steps, heads * dim]` as `[batch, heads, steps, dim]`.
fn by_head(graph: &mut Graph, x: &str, shape: &[Extent], heads: usize) -> Name {
    let dim = shape[2].fixed / heads;
    let apart = graph.reshape(x, &[shape[0], shape[1], Extent::fixed(heads), Extent::fixed(dim)]);
    graph.transpose(&apart, &[0, 2, 1, 3])
}

/// The products of queries and keys of each head, times a factor.
fn scores(graph: &mut Graph, q: &str, k: &str, scale: f32) -> Name {
    let k = graph.transpose(k, &[0, 1, 3, 2]);
    let products = graph.two("MatMul", q, &k);
    graph.with_number("Mul", &products, scale)
}

fn softmax(graph: &mut Graph, x: &str, axis: i64) -> Name {
    graph.node("Softmax", &[x], &[("axis", Attribute::Int(axis))])
}

fn attention(call: &mut Call<'_, '_>) -> Result<Vec<Name>, OnnxError> {
    let (heads, scale) = (call.size("heads")?, call.number("scale"));
    let earlier = call.optional_extent("earlier_keys")?.map(|earlier| earlier.fixed);
    let causal = match earlier {
        Some(earlier) => Some((call.dim(0, 1)?, call.dim(1, 1)?, earlier)),
        None => None,
    };
    let shapes = [0, 1, 2].map(|i| call.shape(i).to_vec());
    let inputs = [call.input(0)?, call.input(1)?, call.input(2)?];
    let (mask, result) = (call.optional(3)?, call.result(0).to_vec());
    let graph = call.graph();
    let [q, k, v] = [0, 1, 2].map(|i| by_head(graph, &inputs[i], &shapes[i], heads));
    let mut scores = scores(graph, &q, &k, scale);
    if let Some(mask) = mask {
        scores = graph.two("Add", &scores, &mask);
    }
    if let Some((queries, keys, earlier)) = causal {
        let hidden: Vec<f32> = (0..queries * keys)
            .map(|at| if at % keys > at / keys + earlier { f32::NEG_INFINITY } else { 0.0 })
            .collect();
        let hidden = graph.floats(&[queries, keys], &hidden);
        scores = graph.two("Add", &scores, &hidden);
    }
    let shares = softmax(graph, &scores, -1);
    let y = graph.two("MatMul", &shares, &v);
    let y = graph.transpose(&y, &[0, 2, 1, 3]);
    Ok(vec![graph.reshape(&y, &result), scores])
}

fn additive_attention(call: &mut Call<'_, '_>) -> Result<Vec<Name>, OnnxError> {
    let [keys, query, weight, values] = [call.input(0)?, call.input(1)?, call.input(2)?, call.input(3)?];
    let graph = call.graph();
    let sums = graph.two("Add", &keys, &query);
    let tanh = graph.one("Tanh", &sums);
    let parts = graph.two("Mul", &tanh, &weight);
    let scores = graph.sum(&parts, -1, true);
    let shares = softmax(graph, &scores, 0);
    let parts = graph.two("Mul", &shares, &values);
    Ok(vec![graph.sum(&parts, 0, false)])
}

fn sparse_attention(call: &mut Call<'_, '_>) -> Result<Vec<Name>, OnnxError> {
    let (heads, count, causal) = (call.size("heads")?, call.size("count")?, call.word("causal") == "yes");
    let (queries, keys, width) = (call.dim(0, 1)?, call.dim(1, 1)?, call.dim(0, 2)?);
    let dim = width / heads;
    let (samples, places) = call.places(3)?;
    let shapes = [0, 1, 2].map(|i| call.shape(i).to_vec());
    let inputs = [call.input(0)?, call.input(1)?, call.input(2)?];
    let batch = shapes[0][0];
    let graph = call.graph();
    let [q, k, v] = [0, 1, 2].map(|i| by_head(graph, &inputs[i], &shapes[i], heads));
    // How far the largest score of each query with its sampled keys stands out.
    let samples = graph.whole(&samples, &places);
    let sampled = graph.node("Gather", &[&k, &samples], &[("axis", Attribute::Int(2))]);
    let each = graph.unsqueeze(&q, &[3]);
    let products = graph.two("Mul", &each, &sampled);
    let sampled = graph.sum(&products, -1, false);
    let largest = graph.reduce("ReduceMax", &sampled, -1, false);
    let sum = graph.sum(&sampled, -1, false);
    let mean = graph.with_number("Mul", &sum, 1.0 / keys as f32);
    let measure = graph.two("Sub", &largest, &mean);
    let wanted = graph.list(&[count as i64]);
    let [_, chosen] = graph.nodes_of("TopK", &[&measure, &wanted], &[("axis", Attribute::Int(2))]);
    let chosen = graph.unsqueeze(&chosen, &[3]);
    let whole = [batch, Extent::fixed(heads), Extent::fixed(count), Extent::fixed(dim)];
    let each_number = graph.expand(&chosen, &whole);
    let rows = graph.node("GatherElements", &[&q, &each_number], &[("axis", Attribute::Int(2))]);
    let mut scores = scores(graph, &rows, &k, 1.0 / (dim as f32).sqrt());
    if causal {
        let steps = graph.list(&(0..keys as i64).collect::<Vec<_>>());
        let later = graph.two("Less", &chosen, &steps);
        let hidden = graph.number(f32::NEG_INFINITY);
        scores = graph.node("Where", &[&later, &hidden, &scores], &[]);
    }
    let shares = softmax(graph, &scores, -1);
    let read = graph.two("MatMul", &shares, &v);
    let others = if causal {
        let axis = graph.whole(&[], &[2]);
        graph.two("CumSum", &v, &axis)
    } else {
        let mean = graph.reduce("ReduceMean", &v, 2, true);
        graph.expand(&mean, &[batch, Extent::fixed(heads), Extent::fixed(queries), Extent::fixed(dim)])
    };
    let attributes = [("axis", Attribute::Int(2))];
    Ok(vec![graph.node("ScatterElements", &[&others, &each_number, &read], &attributes)])
}

/// A sequence `[batch, rows, width]` of as many steps: cut, or zeros behind it.
fn of_steps(graph: &mut Graph, x: &str, rows: usize, steps: usize) -> Name {
    match rows.cmp(&steps) {
        std::cmp::Ordering::Equal => x.to_owned(),
        std::cmp::Ordering::Greater => graph.slice(x, 1, 0, steps as i64, 1),
        std::cmp::Ordering::Less => {
            let pads = graph.list(&[0, 0, 0, 0, (steps - rows) as i64, 0]);
            graph.node("Pad", &[x, &pads], &[("mode", Attribute::Text("constant"))])
        }
    }
}

/// The products of all steps with all, of which each delay has a diagonal.
fn circular_correlation(call: &mut Call<'_, '_>) -> Result<Vec<Name>, OnnxError> {
    let (steps, rows, width) = (call.dim(0, 1)?, call.dim(1, 1)?, call.dim(0, 2)?);
    let (q, k, batch) = (call.input(0)?, call.input(1)?, call.shape(0)[0]);
    let graph = call.graph();
    let k = of_steps(graph, &k, rows, steps);
    let k = graph.transpose(&k, &[0, 2, 1]);
    let products = graph.two("MatMul", &q, &k);
    let flat = graph.reshape(&products, &[batch, Extent::fixed(steps * steps)]);
    let diagonals: Vec<i64> = (0..steps * steps)
        .map(|at| (at / steps, at % steps))
        .map(|(delay, t)| ((t + delay) % steps * steps + t) as i64)
        .collect();
    let diagonals = graph.whole(&[steps, steps], &diagonals);
    let apart = graph.node("Gather", &[&flat, &diagonals], &[("axis", Attribute::Int(1))]);
    let sums = graph.sum(&apart, -1, false);
    Ok(vec![graph.with_number("Mul", &sums, 1.0 / width as f32)])
}

fn delayed_sum(call: &mut Call<'_, '_>) -> Result<Vec<Name>, OnnxError> {
    let (rows, width) = (call.dim(0, 1)?, call.dim(0, 2)?);
    let (steps, count) = (call.size("steps")?, call.dim(1, 1)?);
    let (batch, [x, weights, delays]) = (call.shape(0)[0], [call.input(0)?, call.input(1)?, call.input(2)?]);
    let graph = call.graph();
    let x = of_steps(graph, &x, rows, steps);
    // Twice in a row, so that no step is beyond.
    let circle = graph.concat(&[&x, &x], 1);
    let delays = graph.unsqueeze(&delays, &[2]);
    let times = graph.list(&(0..steps as i64).collect::<Vec<_>>());
    let places = graph.two("Add", &delays, &times);
    let places = graph.reshape(&places, &[batch, Extent::fixed(count * steps), Extent::fixed(1)]);
    let moved = graph.node("GatherND", &[&circle, &places], &[("batch_dims", Attribute::Int(1))]);
    let moved =
        graph.reshape(&moved, &[batch, Extent::fixed(count), Extent::fixed(steps), Extent::fixed(width)]);
    let weights = graph.unsqueeze(&weights, &[2, 3]);
    let parts = graph.two("Mul", &moved, &weights);
    Ok(vec![graph.sum(&parts, 1, false)])
}
