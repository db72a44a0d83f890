//! Recurrent layers: ONNX has operations for the classic ones; those of xLSTM are written step by step, or as products.

use super::activation::log_sigmoid;
use super::products::turned;
use crate::emitter::{Call, Row};
use crate::error::OnnxError;
use crate::graph::{Graph, Name};
use crate::proto::Attribute;

pub(super) const TABLE: &[Row] = &[
    ("lstm", |call| layer(call, "LSTM", &[0, 3, 1, 2])),
    ("gru", |call| layer(call, "GRU", &[1, 0, 2])),
    ("rnn", |call| layer(call, "RNN", &[0])),
    ("lstm_cell", lstm_cell),
    ("matrix_memory", matrix_memory),
    ("scalar_memory", scalar_memory),
];

/// Rows of weights in blocks of a gate each, in another order.
fn gates(values: &[f32], order: &[usize]) -> Vec<f32> {
    let block = values.len() / order.len();
    order.iter().flat_map(|&gate| &values[gate * block..(gate + 1) * block]).copied().collect()
}

/// A layer of PyTorch's, whose gate i of ONNX's is `order[i]`.
fn layer(call: &mut Call<'_, '_>, operation: &str, order: &[usize]) -> Result<Vec<Name>, OnnxError> {
    if call.optional(5)?.is_some() {
        return projected(call);
    }
    let (steps, last, ends) = (call.dim(0, 0)?, call.size("last")?, call.word("ends"));
    let [(input_dims, input), (state_dims, state)] = [call.constant(1)?, call.constant(2)?];
    let bias = match call.optional(3)? {
        Some(_) => {
            let [(_, of_input), (_, of_state)] = [call.constant(3)?, call.constant(4)?];
            Some([gates(&of_input, order), gates(&of_state, order)].concat())
        }
        None => None,
    };
    let (x, h, c) = (call.input(0)?, call.optional(6)?, call.optional(7)?);
    let mut attributes = vec![("hidden_size", Attribute::Int(state_dims[1] as i64))];
    match operation {
        "GRU" => attributes.push(("linear_before_reset", Attribute::Int(1))),
        "RNN" => {
            let activation = match call.word("activation") {
                "relu" => "Relu",
                "tanh" => "Tanh",
                other => return Err(call.refuse(other)),
            };
            attributes.push(("activations", Attribute::Texts(vec![activation])));
        }
        _ => {}
    }
    let graph = call.graph();
    let w = graph.floats(&[1, input_dims[0], input_dims[1]], &gates(&input, order));
    let r = graph.floats(&[1, state_dims[0], state_dims[1]], &gates(&state, order));
    let bias = bias.map_or(String::new(), |bias| graph.floats(&[1, bias.len()], &bias));
    let [h, c] = [h, c].map(|state| state.map_or(String::new(), |state| graph.unsqueeze(&state, &[0])));
    let mut inputs = vec![x.as_str(), w.as_str(), r.as_str(), bias.as_str(), "", h.as_str()];
    if operation == "LSTM" {
        inputs.push(&c);
    }
    while inputs.last().is_some_and(|input| input.is_empty()) {
        inputs.pop();
    }
    let (y, h, c) = match operation {
        "LSTM" => {
            let [y, h, c] = graph.nodes_of(operation, &inputs, &attributes);
            (y, h, Some(c))
        }
        _ => {
            let [y, h] = graph.nodes_of(operation, &inputs, &attributes);
            (y, h, None)
        }
    };
    let y = graph.squeeze(&y, &[1]);
    let y = if last < steps { graph.slice(&y, 0, (steps - last) as i64, steps as i64, 1) } else { y };
    let [h, c] = [Some(h), c].map(|state| state.map(|state| graph.squeeze(&state, &[0])));
    let h = h.filter(|_| ends == "state");
    Ok([Some(y), h, c].into_iter().flatten().collect())
}

/// An LSTM whose state is `weight_hr h` (Sak, Senior, Beaufays 2014), which ONNX's is not: step by step.
fn projected(call: &mut Call<'_, '_>) -> Result<Vec<Name>, OnnxError> {
    let (steps, last, units) = (call.dim(0, 0)?, call.size("last")?, call.dim(1, 0)? / 4);
    let (x, mut h, mut c) = (call.input(0)?, call.optional(6)?, call.optional(7)?);
    let [of_input, of_state, projection] = [turned(call, 1)?, turned(call, 2)?, turned(call, 5)?];
    let biases = [call.optional(3)?, call.optional(4)?];
    let graph = call.graph();
    let mut sums = graph.two("MatMul", &x, &of_input);
    for bias in biases.into_iter().flatten() {
        sums = graph.two("Add", &sums, &bias);
    }
    let mut states = Vec::with_capacity(steps);
    for t in 0..steps as i64 {
        let now = graph.slice(&sums, 0, t, t + 1, 1);
        let mut now = graph.squeeze(&now, &[0]);
        if let Some(h) = &h {
            let product = graph.two("MatMul", h, &of_state);
            now = graph.two("Add", &now, &product);
        }
        let [i, f, g, o] = [0, 1, 2, 3].map(|gate| part(graph, &now, gate * units, (gate + 1) * units));
        let [i, f, o] = [i, f, o].map(|gate| graph.one("Sigmoid", &gate));
        let g = graph.one("Tanh", &g);
        let mut next = graph.two("Mul", &i, &g);
        if let Some(c) = &c {
            let kept = graph.two("Mul", &f, c);
            next = graph.two("Add", &kept, &next);
        }
        let tanh = graph.one("Tanh", &next);
        let out = graph.two("Mul", &o, &tanh);
        let out = graph.two("MatMul", &out, &projection);
        states.push(graph.unsqueeze(&out, &[0]));
        (h, c) = (Some(out), Some(next));
    }
    let states: Vec<&str> = states[steps - last..].iter().map(String::as_str).collect();
    let states = graph.concat(&states, 0);
    Ok([Some(states), h, c].into_iter().flatten().collect())
}

/// `start` to before `end` of the last dimension.
fn part(graph: &mut Graph, x: &str, start: usize, end: usize) -> Name {
    graph.slice(x, -1, start as i64, end as i64, 1)
}

fn lstm_cell(call: &mut Call<'_, '_>) -> Result<Vec<Name>, OnnxError> {
    let units = call.dim(1, 1)?;
    let (sums, before, residual) = (call.input(0)?, call.input(1)?, call.optional(2)?);
    let graph = call.graph();
    let [i, f, g, o] = [0, 1, 2, 3].map(|gate| part(graph, &sums, gate * units, (gate + 1) * units));
    let [i, f, o] = [i, f, o].map(|gate| graph.one("Sigmoid", &gate));
    let g = graph.one("Tanh", &g);
    let (kept, new) = (graph.two("Mul", &f, &before), graph.two("Mul", &i, &g));
    let c = graph.two("Add", &kept, &new);
    let mut h = graph.one("Tanh", &c);
    if let Some(residual) = residual {
        h = graph.two("Add", &h, &residual);
    }
    Ok(vec![graph.two("Mul", &o, &h), c])
}

/// The formulas of `foretell_kernels::matrix_memory`.
fn matrix_memory(call: &mut Call<'_, '_>) -> Result<Vec<Name>, OnnxError> {
    let (steps, scale) = (call.dim(0, 2)?, call.number("scale"));
    let [scores, input, forget] = [call.input(0)?, call.input(1)?, call.input(2)?];
    let graph = call.graph();
    let [input, forget] = [input, forget].map(|gate| graph.transpose(&gate, &[0, 2, 1]));
    let kept = log_sigmoid(graph, &forget);
    let axis = graph.whole(&[], &[2]);
    let decay = graph.two("CumSum", &kept, &axis);
    let offsets = graph.two("Sub", &input, &decay);
    let later: Vec<f32> =
        (0..steps * steps).map(|at| if at % steps > at / steps { f32::NEG_INFINITY } else { 0.0 }).collect();
    let later = graph.floats(&[steps, steps], &later);
    let row = graph.unsqueeze(&offsets, &[2]);
    let seen = graph.two("Add", &row, &later);
    let largest = graph.reduce("ReduceMax", &seen, -1, true);
    let exponents = graph.two("Sub", &seen, &largest);
    let weights = graph.one("Exp", &exponents);
    let products = graph.two("Mul", &weights, &scores);
    let products = graph.with_number("Mul", &products, scale);
    let sums = graph.sum(&products, -1, true);
    let size = graph.one("Abs", &sums);
    let decay = graph.unsqueeze(&decay, &[3]);
    let m = graph.two("Add", &decay, &largest);
    let m = graph.one("Neg", &m);
    let floor = graph.one("Exp", &m);
    let normaliser = graph.two("Max", &size, &floor);
    let normaliser = graph.with_number("Add", &normaliser, 1e-6);
    Ok(vec![graph.two("Div", &products, &normaliser)])
}

/// The formulas of `foretell_kernels::scalar_memory`, step by step.
fn scalar_memory(call: &mut Call<'_, '_>) -> Result<Vec<Name>, OnnxError> {
    let (steps, (dims, weight)) = (call.dim(0, 0)?, call.constant(1)?);
    let (heads, width) = (dims[0], dims[1]);
    let units = heads * width;
    // From a unit of the step before to the gates' units of its head, in one matrix.
    let mut joined = vec![0.0; units * 4 * units];
    for (at, &value) in weight.iter().enumerate() {
        let (head, from, gate, to) =
            (at / (4 * width * width), at / (4 * width) % width, at / width % 4, at % width);
        joined[(head * width + from) * 4 * units + gate * units + head * width + to] = value;
    }
    let sums = call.input(0)?;
    let graph = call.graph();
    let joined = graph.floats(&[units, 4 * units], &joined);
    let mut states = Vec::with_capacity(steps);
    let mut before: Option<[Name; 4]> = None;
    for t in 0..steps as i64 {
        let now = graph.slice(&sums, 0, t, t + 1, 1);
        let mut now = graph.squeeze(&now, &[0]);
        if let Some([h, ..]) = &before {
            let product = graph.two("MatMul", h, &joined);
            now = graph.two("Add", &now, &product);
        }
        let [i, f, z, o] = [0, 1, 2, 3].map(|gate| part(graph, &now, gate * units, (gate + 1) * units));
        let (z, o) = (graph.one("Tanh", &z), graph.one("Sigmoid", &o));
        let [m, c, n] = match &before {
            None => {
                let c = z;
                let zero = graph.two("Sub", &i, &i);
                let n = graph.with_number("Add", &zero, 1.0);
                [i, c, n]
            }
            Some([_, m, c, n]) => {
                let kept = log_sigmoid(graph, &f);
                let kept = graph.two("Add", &kept, m);
                let m = graph.two("Max", &i, &kept);
                let [i, f] = [i, kept].map(|gate| {
                    let exponent = graph.two("Sub", &gate, &m);
                    graph.one("Exp", &exponent)
                });
                let (kept, new) = (graph.two("Mul", &f, c), graph.two("Mul", &i, &z));
                let c = graph.two("Add", &kept, &new);
                let kept = graph.two("Mul", &f, n);
                [m, c, graph.two("Add", &kept, &i)]
            }
        };
        let ratio = graph.two("Div", &c, &n);
        let h = graph.two("Mul", &o, &ratio);
        states.push(graph.unsqueeze(&h, &[0]));
        before = Some([h, m, c, n]);
    }
    let states: Vec<&str> = states.iter().map(String::as_str).collect();
    Ok(vec![graph.concat(&states, 0)])
}
