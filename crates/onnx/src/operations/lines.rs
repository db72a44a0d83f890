//! What is a product with a matrix that the sizes decide: Fourier transforms, interpolation, moving averages; and pooling.

use std::f64::consts::TAU;

use crate::emitter::{Call, Row};
use crate::error::OnnxError;
use crate::extent::Extent;
use crate::graph::{Name, ints};
use crate::proto::Attribute;

pub(super) const TABLE: &[Row] = &[
    ("rfft", |call| {
        let len = call.dim(0, call.rank(0) - 1)?;
        let count = len / 2 + 1;
        let matrix = matrix(len, 2 * count, |t, i| {
            let angle = TAU * (t * (i / 2) % len) as f64 / len as f64;
            if i % 2 == 0 { angle.cos() } else { -angle.sin() }
        });
        let y = product(call, &matrix, [len, 2 * count])?;
        let shape = call.result(0).to_vec();
        Ok(vec![call.graph().reshape(&y, &shape)])
    }),
    ("irfft", |call| {
        let rank = call.rank(0);
        let (count, len) = (call.dim(0, rank - 2)?, call.result(0)[rank - 2].fixed);
        let matrix = matrix(2 * count, len, |i, t| {
            let (k, angle) = (i / 2, TAU * (t * (i / 2) % len) as f64 / len as f64);
            // Frequencies between the first and the last of an even number stand for two.
            let weight = if k == 0 || 2 * k == len { 1.0 } else { 2.0 } / len as f64;
            let alone = k == 0 || 2 * k == len;
            match i % 2 {
                0 => weight * angle.cos(),
                _ if alone => 0.0,
                _ => -weight * angle.sin(),
            }
        });
        let x = call.input(0)?;
        let mut flat: Vec<Extent> = call.shape(0)[..rank - 1].to_vec();
        flat[rank - 2] = Extent::fixed(2 * count);
        let graph = call.graph();
        let x = graph.reshape(&x, &flat);
        let matrix = graph.floats(&[2 * count, len], &matrix);
        Ok(vec![graph.two("MatMul", &x, &matrix)])
    }),
    ("interpolate", |call| {
        let (x, matrix) = (call.input(0)?, call.input(1)?);
        Ok(vec![call.graph().two("MatMul", &x, &matrix)])
    }),
    ("moving_average", |call| {
        let (len, kernel) = (call.dim(0, call.rank(0) - 1)?, call.size("kernel")?);
        let averages = averages(len, kernel);
        let turned: Vec<f32> = (0..len * len).map(|at| averages[at % len * len + at / len]).collect();
        Ok(vec![product(call, &turned, [len, len])?])
    }),
    ("season", |call| {
        let (len, kernel) = (call.dim(0, 1)?, call.size("kernel")?);
        let x = call.input(0)?;
        let graph = call.graph();
        let averages = graph.floats(&[len, len], &averages(len, kernel));
        let trend = graph.two("MatMul", &averages, &x);
        Ok(vec![graph.two("Sub", &x, &trend)])
    }),
    ("pool", pool),
    ("max_of_steps", |call| {
        let [kernel, stride, padding] = [call.size("kernel")?, call.size("stride")?, call.size("padding")?];
        let x = call.input(0)?;
        let graph = call.graph();
        let x = graph.transpose(&x, &[0, 2, 1]);
        let attributes = [
            ("kernel_shape", ints(&[kernel])),
            ("strides", ints(&[stride])),
            ("pads", ints(&[padding, padding])),
        ];
        let y = graph.node("MaxPool", &[&x], &attributes);
        Ok(vec![graph.transpose(&y, &[0, 2, 1])])
    }),
];

fn matrix(rows: usize, cols: usize, value: impl Fn(usize, usize) -> f64) -> Vec<f32> {
    (0..rows * cols).map(|at| value(at / cols, at % cols) as f32).collect()
}

/// The first input times a matrix.
fn product(call: &mut Call<'_, '_>, matrix: &[f32], sizes: [usize; 2]) -> Result<Name, OnnxError> {
    let x = call.input(0)?;
    let matrix = call.graph().floats(&sizes, matrix);
    Ok(call.graph().two("MatMul", &x, &matrix))
}

/// Row t has the weights of the mean over `kernel` steps around step t, the ends being repeated.
fn averages(len: usize, kernel: usize) -> Vec<f32> {
    let mut counts = vec![0.0; len * len];
    for t in 0..len {
        for i in 0..kernel {
            let step = (t + i).saturating_sub(kernel / 2).min(len - 1);
            counts[t * len + step] += 1.0;
        }
    }
    counts.into_iter().map(|count: f32| count / kernel as f32).collect()
}

fn pool(call: &mut Call<'_, '_>) -> Result<Vec<Name>, OnnxError> {
    let rank = call.rank(0);
    let (len, kernel) = (call.dim(0, rank - 1)?, call.size("kernel")?);
    let pooled = len.div_ceil(kernel);
    if call.word("kind") == "average" {
        let matrix = matrix(len, pooled, |t, i| {
            let end = ((i + 1) * kernel).min(len);
            if (i * kernel..end).contains(&t) { 1.0 / (end - i * kernel) as f64 } else { 0.0 }
        });
        return Ok(vec![product(call, &matrix, [len, pooled])?]);
    }
    let mut x = call.input(0)?;
    let mut cut = call.shape(0)[..rank - 1].to_vec();
    cut.extend([Extent::fixed(pooled), Extent::fixed(kernel)]);
    let graph = call.graph();
    if pooled * kernel > len {
        let mut pads = vec![0; 2 * rank];
        pads[2 * rank - 1] = (pooled * kernel - len) as i64;
        let (pads, least) = (graph.list(&pads), graph.number(f32::NEG_INFINITY));
        x = graph.node("Pad", &[&x, &pads, &least], &[("mode", Attribute::Text("constant"))]);
    }
    let x = graph.reshape(&x, &cut);
    Ok(vec![graph.reduce("ReduceMax", &x, -1, false)])
}
