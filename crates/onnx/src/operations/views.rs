//! Views, and values moved from place to place.

use crate::emitter::{Call, Row};
use crate::error::OnnxError;
use crate::graph::Name;
use crate::proto::{Attribute, INT64};

pub(super) const TABLE: &[Row] = &[
    ("copy", |call| Ok(vec![call.input(0)?])),
    ("reshape", |call| {
        let (x, shape) = (call.input(0)?, call.result(0).to_vec());
        Ok(vec![call.graph().reshape(&x, &shape)])
    }),
    ("expand", |call| {
        let (x, shape) = (call.input(0)?, call.result(0).to_vec());
        Ok(vec![call.graph().expand(&x, &shape)])
    }),
    ("permute", |call| {
        let (x, order) = (call.input(0)?, call.sizes("order"));
        Ok(vec![call.graph().transpose(&x, &order)])
    }),
    ("narrow", narrow),
    ("every", |call| {
        let (x, axis, step) = (call.input(0)?, call.size("axis")?, call.size("step")?);
        Ok(vec![call.graph().slice(&x, axis as i64, 0, i64::MAX, step as i64)])
    }),
    ("concat", |call| {
        let axis = call.size("axis")?;
        let parts = (0..call.inputs()).map(|i| call.input(i)).collect::<Result<Vec<_>, _>>()?;
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        Ok(vec![call.graph().concat(&parts, axis as i64)])
    }),
    ("flip", |call| {
        let (x, axis) = (call.input(0)?, call.size("axis")?);
        Ok(vec![call.graph().slice(&x, axis as i64, -1, i64::MIN, -1)])
    }),
    ("pad", pad),
    ("unfold", unfold),
    ("gather", |call| {
        let (x, places, axis) = (call.input(0)?, call.input(1)?, call.size("axis")?);
        Ok(vec![call.graph().node(
            "GatherElements",
            &[&x, &places],
            &[("axis", Attribute::Int(axis as i64))],
        )])
    }),
    ("scatter", |call| scatter(call, "none")),
    ("scatter_add", |call| scatter(call, "add")),
    ("embedding", embedding),
];

fn narrow(call: &mut Call<'_, '_>) -> Result<Vec<Name>, OnnxError> {
    let (axis, start, len) = (call.size("axis")?, call.extent("start")?, call.extent("len")?);
    let (x, whole) = (call.input(0)?, call.shape(0)[axis]);
    if len == whole {
        return Ok(vec![x]);
    }
    let end = crate::extent::Extent { each: start.each + len.each, fixed: start.fixed + len.fixed };
    let graph = call.graph();
    let (start, end) = (graph.sizes(&[start]), graph.sizes(&[end]));
    let axis = graph.list(&[axis as i64]);
    Ok(vec![graph.node("Slice", &[&x, &start, &end, &axis], &[])])
}

fn pad(call: &mut Call<'_, '_>) -> Result<Vec<Name>, OnnxError> {
    let (x, axis, rank) = (call.input(0)?, call.size("axis")?, call.rank(0));
    let (before, after) = (call.size("before")?, call.size("after")?);
    let mode = match call.word("beyond") {
        "zeros" => "constant",
        _ => "edge",
    };
    let mut pads = vec![0; 2 * rank];
    pads[axis] = before as i64;
    pads[rank + axis] = after as i64;
    let pads = call.graph().list(&pads);
    Ok(vec![call.graph().node("Pad", &[&x, &pads], &[("mode", Attribute::Text(mode))])])
}

fn unfold(call: &mut Call<'_, '_>) -> Result<Vec<Name>, OnnxError> {
    let (x, len, stride, time) = (call.input(0)?, call.size("len")?, call.size("stride")?, call.dim(0, 1)?);
    let patches = (time - len) / stride + 1;
    let steps: Vec<i64> = (0..patches).flat_map(|i| (0..len).map(move |t| (i * stride + t) as i64)).collect();
    let steps = call.graph().whole(&[patches, len], &steps);
    Ok(vec![call.graph().node("Gather", &[&x, &steps], &[("axis", Attribute::Int(1))])])
}

fn scatter(call: &mut Call<'_, '_>, reduction: &'static str) -> Result<Vec<Name>, OnnxError> {
    let [x, places, values] = [call.input(0)?, call.input(1)?, call.input(2)?];
    let attributes =
        [("axis", Attribute::Int(call.size("axis")? as i64)), ("reduction", Attribute::Text(reduction))];
    Ok(vec![call.graph().node("ScatterElements", &[&x, &places, &values], &attributes)])
}

/// Row 0 stands for what is not known: it is the mean of all others.
fn embedding(call: &mut Call<'_, '_>) -> Result<Vec<Name>, OnnxError> {
    let (dims, mut table) = call.constant(0)?;
    let (rows, width) = (dims[0], dims[1]);
    for column in 0..width {
        let sum: f32 = (1..rows).map(|row| table[row * width + column]).sum();
        table[column] = sum / (rows - 1) as f32;
    }
    let ids = call.input(1)?;
    let graph = call.graph();
    let (table, ids) = (graph.floats(&dims, &table), graph.cast(&ids, INT64));
    Ok(vec![graph.node("Gather", &[&table, &ids], &[("axis", Attribute::Int(0))])])
}
