//! Products of matrices, and convolutions.

use super::activation::activated;
use crate::emitter::{Call, Row};
use crate::error::OnnxError;
use crate::graph::{Name, ints};
use crate::proto::Attribute;

pub(super) const TABLE: &[Row] = &[
    ("linear", linear),
    ("linear_columns", linear_columns),
    ("matmul", |call| {
        let (x, y) = (call.input(0)?, call.input(1)?);
        Ok(vec![call.graph().two("MatMul", &x, &y)])
    }),
    ("convolution", convolution),
    ("causal_convolution", causal_convolution),
];

/// A matrix `[outputs, inputs]` the other way round: computed here where it is a constant.
pub(super) fn turned(call: &mut Call<'_, '_>, i: usize) -> Result<Name, OnnxError> {
    let Ok((dims, values)) = call.constant(i) else {
        let w = call.input(i)?;
        return Ok(call.graph().transpose(&w, &[1, 0]));
    };
    let (rows, cols) = (dims[0], dims[1]);
    let values: Vec<f32> = (0..rows * cols).map(|at| values[at % rows * cols + at / rows]).collect();
    Ok(call.graph().floats(&[cols, rows], &values))
}

fn linear(call: &mut Call<'_, '_>) -> Result<Vec<Name>, OnnxError> {
    let x = call.input(0)?;
    let w = match call.word("rows") {
        "outputs" => turned(call, 1)?,
        _ => call.input(1)?,
    };
    let bias = call.optional(2)?;
    let mut y = call.graph().two("MatMul", &x, &w);
    if let Some(bias) = bias {
        y = call.graph().two("Add", &y, &bias);
    }
    Ok(vec![activated(call, y)?])
}

fn linear_columns(call: &mut Call<'_, '_>) -> Result<Vec<Name>, OnnxError> {
    let (samples, results) = (call.word("samples"), call.word("results"));
    let (x, bias) = (call.input(0)?, call.optional(2)?);
    let mut y = if (samples, results) == ("columns", "columns") {
        let w = call.input(1)?;
        let y = call.graph().two("MatMul", &w, &x);
        match bias {
            Some(bias) => {
                let bias = call.graph().unsqueeze(&bias, &[1]);
                call.graph().two("Add", &y, &bias)
            }
            None => y,
        }
    } else {
        let rows = if samples == "columns" { call.graph().transpose(&x, &[0, 2, 1]) } else { x };
        let w = turned(call, 1)?;
        let y = call.graph().two("MatMul", &rows, &w);
        let y = match bias {
            Some(bias) => call.graph().two("Add", &y, &bias),
            None => y,
        };
        if results == "columns" { call.graph().transpose(&y, &[0, 2, 1]) } else { y }
    };
    y = activated(call, y)?;
    Ok(vec![y])
}

/// Channels are last here and second in ONNX.
fn convolution(call: &mut Call<'_, '_>) -> Result<Vec<Name>, OnnxError> {
    let [stride, dilation, before, after] =
        ["stride", "dilation", "before", "after"].map(|name| call.sizes(name));
    let (groups, circular) = (call.size("groups")?, call.word("beyond") == "circular");
    let (mut x, w, bias) = (call.input(0)?, call.input(1)?, call.optional(2)?);
    let sides = stride.len();
    let mut pads = [before.clone(), after.clone()].concat();
    if circular {
        for (side, (&before, &after)) in before.iter().zip(&after).enumerate() {
            let axis = side + 1;
            let size = call.dim(0, axis)? as i64;
            if before as i64 > size || after as i64 > size {
                return Err(call.refuse("padding by more than a whole circle"));
            }
            let graph = call.graph();
            let front = graph.slice(&x, axis as i64, size - before as i64, size, 1);
            let back = graph.slice(&x, axis as i64, 0, after as i64, 1);
            let parts = [(before, &front), (1, &x), (after, &back)];
            let parts: Vec<&str> =
                parts.iter().filter(|(size, _)| *size > 0).map(|(_, part)| part.as_str()).collect();
            x = graph.concat(&parts, axis as i64);
        }
        pads.fill(0);
    }
    let last = sides + 1;
    let to_first: Vec<usize> = [0, last].into_iter().chain(1..last).collect();
    let to_last: Vec<usize> = [0].into_iter().chain(2..=last).chain([1]).collect();
    let x = call.graph().transpose(&x, &to_first);
    let inputs: Vec<&str> = [&x, &w].into_iter().chain(bias.as_ref()).map(String::as_str).collect();
    let attributes = [
        ("strides", ints(&stride)),
        ("dilations", ints(&dilation)),
        ("pads", ints(&pads)),
        ("group", Attribute::Int(groups as i64)),
    ];
    let y = call.graph().node("Conv", &inputs, &attributes);
    let y = call.graph().transpose(&y, &to_last);
    Ok(vec![activated(call, y)?])
}

fn causal_convolution(call: &mut Call<'_, '_>) -> Result<Vec<Name>, OnnxError> {
    let (dilation, kernel) = (call.size("dilation")?, call.dim(1, 2)?);
    let [x, w, bias] = [call.input(0)?, call.input(1)?, call.input(2)?];
    let x = call.graph().transpose(&x, &[1, 2, 0]);
    let attributes = [("dilations", ints(&[dilation])), ("pads", ints(&[(kernel - 1) * dilation, 0]))];
    let y = call.graph().node("Conv", &[&x, &w, &bias], &attributes);
    let y = call.graph().transpose(&y, &[2, 0, 1]);
    Ok(vec![activated(call, y)?])
}
