//! Arithmetic of elements, sums and selections along a dimension.

use crate::emitter::{Call, Row};
use crate::error::OnnxError;
use crate::extent::Extent;
use crate::graph::Name;
use crate::proto::{Attribute, BOOL};

pub(super) const TABLE: &[Row] = &[
    ("add", |call| two(call, "Add")),
    ("sub", |call| two(call, "Sub")),
    ("mul", |call| two(call, "Mul")),
    ("div", |call| two(call, "Div")),
    ("exp", |call| one(call, "Exp")),
    ("ln", |call| one(call, "Log")),
    ("sqrt", |call| one(call, "Sqrt")),
    ("square", |call| {
        let x = call.input(0)?;
        Ok(vec![call.graph().two("Mul", &x, &x)])
    }),
    ("scale", |call| {
        let (x, factor) = (call.input(0)?, call.number("factor"));
        Ok(vec![call.graph().with_number("Mul", &x, factor)])
    }),
    ("sum", |call| {
        let (x, axis) = (call.input(0)?, call.size("axis")?);
        Ok(vec![call.graph().sum(&x, axis as i64, false)])
    }),
    ("mean", |call| {
        let (x, axis) = (call.input(0)?, call.size("axis")?);
        Ok(vec![call.graph().reduce("ReduceMean", &x, axis as i64, false)])
    }),
    ("cumulative_sum", |call| {
        let (x, axis) = (call.input(0)?, call.size("axis")? as i64);
        let axis = call.graph().whole(&[], &[axis]);
        Ok(vec![call.graph().two("CumSum", &x, &axis)])
    }),
    ("modulus", |call| {
        let x = call.input(0)?;
        Ok(vec![call.graph().reduce("ReduceL2", &x, -1, false)])
    }),
    ("max", |call| {
        let (x, axis) = (call.input(0)?, call.size("axis")? as i64);
        let value = call.graph().reduce("ReduceMax", &x, axis, false);
        let attributes = [("axis", Attribute::Int(axis)), ("keepdims", Attribute::Int(0))];
        Ok(vec![value, call.graph().node("ArgMax", &[&x], &attributes)])
    }),
    ("top_k", |call| {
        let (x, axis, k) = (call.input(0)?, call.size("axis")? as i64, call.size("k")? as i64);
        let k = call.graph().list(&[k]);
        let [values, places] = call.graph().nodes_of("TopK", &[&x, &k], &[("axis", Attribute::Int(axis))]);
        Ok(vec![values, places])
    }),
    ("softmax", |call| along(call, "Softmax")),
    ("log_softmax", |call| along(call, "LogSoftmax")),
    ("softmax_mean", |call| {
        let (x, values) = (call.input(0)?, call.input(1)?);
        let graph = call.graph();
        let weights = graph.node("Softmax", &[&x], &[("axis", Attribute::Int(1))]);
        let values = graph.unsqueeze(&values, &[2]);
        let parts = graph.two("Mul", &weights, &values);
        Ok(vec![graph.sum(&parts, 1, false)])
    }),
    ("masked_fill", |call| {
        let (x, mask, value) = (call.input(0)?, call.input(1)?, call.number("value"));
        let graph = call.graph();
        let (mask, value) = (graph.cast(&mask, BOOL), graph.number(value));
        Ok(vec![graph.node("Where", &[&mask, &value, &x], &[])])
    }),
    ("affine_rows", affine_rows),
    ("weighted_sum", weighted_sum),
    ("gated", gated),
];

fn one(call: &mut Call<'_, '_>, operation: &str) -> Result<Vec<Name>, OnnxError> {
    let x = call.input(0)?;
    Ok(vec![call.graph().one(operation, &x)])
}

fn two(call: &mut Call<'_, '_>, operation: &str) -> Result<Vec<Name>, OnnxError> {
    let (x, y) = (call.input(0)?, call.input(1)?);
    Ok(vec![call.graph().two(operation, &x, &y)])
}

fn along(call: &mut Call<'_, '_>, operation: &str) -> Result<Vec<Name>, OnnxError> {
    let (x, axis) = (call.input(0)?, call.size("axis")? as i64);
    Ok(vec![call.graph().node(operation, &[&x], &[("axis", Attribute::Int(axis))])])
}

fn affine_rows(call: &mut Call<'_, '_>) -> Result<Vec<Name>, OnnxError> {
    let shape = call.shape(0);
    let column: Vec<Extent> =
        (0..shape.len()).map(|axis| if axis == 0 { shape[0] } else { Extent::fixed(1) }).collect();
    let [x, factor, offset] = [call.input(0)?, call.input(1)?, call.input(2)?];
    let graph = call.graph();
    let [factor, offset] = [factor, offset].map(|rows| graph.reshape(&rows, &column));
    let product = graph.two("Mul", &x, &factor);
    Ok(vec![graph.two("Add", &product, &offset)])
}

fn weighted_sum(call: &mut Call<'_, '_>) -> Result<Vec<Name>, OnnxError> {
    let weights = call.input(0)?;
    let mut sum: Option<Name> = None;
    for i in 1..call.inputs() {
        let part = call.input(i)?;
        let graph = call.graph();
        let weight = graph.slice(&weights, -1, i as i64 - 1, i as i64, 1);
        let product = graph.two("Mul", &part, &weight);
        sum = Some(match sum {
            Some(sum) => graph.two("Add", &sum, &product),
            None => product,
        });
    }
    Ok(sum.into_iter().collect())
}

fn gated(call: &mut Call<'_, '_>) -> Result<Vec<Name>, OnnxError> {
    let twice = call.dim(0, call.rank(0) - 1)? as i64;
    let (x, skip) = (call.input(0)?, call.optional(1)?);
    let graph = call.graph();
    let [a, b] = [0, twice / 2].map(|start| graph.slice(&x, -1, start, start + twice / 2, 1));
    let gate = graph.one("Sigmoid", &b);
    let product = graph.two("Mul", &a, &gate);
    Ok(vec![match skip {
        Some(skip) => graph.two("Add", &product, &skip),
        None => product,
    }])
}
