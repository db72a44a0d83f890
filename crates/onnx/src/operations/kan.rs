//! The layers of Kolmogorov-Arnold networks: splines and wavelets.

use std::f32::consts::{FRAC_PI_2, PI};

use crate::emitter::{Call, Row};
use crate::error::OnnxError;
use crate::graph::{Graph, Name};
use crate::proto::FLOAT;

pub(super) const TABLE: &[Row] = &[("spline_basis", spline_basis), ("wavelet_sums", wavelet_sums)];

/// The recursion of de Boor, over all functions at once.
fn spline_basis(call: &mut Call<'_, '_>) -> Result<Vec<Name>, OnnxError> {
    let (order, (dims, grid), result) = (call.size("order")?, call.constant(1)?, call.result(0).to_vec());
    let (features, knots) = (dims[0], dims[1]);
    let x = call.input(0)?;
    let graph = call.graph();
    let x = graph.unsqueeze(&x, &[2]);
    // A number of each feature and function, from its knots.
    let constant = |graph: &mut Graph, count: usize, value: &dyn Fn(&[f32], usize) -> f32| {
        let values: Vec<f32> =
            grid.chunks_exact(knots).flat_map(|knots| (0..count).map(move |i| value(knots, i))).collect();
        graph.floats(&[features, count], &values)
    };
    let from = constant(graph, knots - 1, &|t, i| t[i]);
    let to = constant(graph, knots - 1, &|t, i| t[i + 1]);
    let (after, before) = (graph.two("GreaterOrEqual", &x, &from), graph.two("Less", &x, &to));
    let within = graph.two("And", &after, &before);
    let mut basis = graph.cast(&within, FLOAT);
    for k in 1..=order {
        let count = knots - 1 - k;
        let from = constant(graph, count, &|t, i| t[i]);
        let rise = constant(graph, count, &|t, i| t[i + k] - t[i]);
        let end = constant(graph, count, &|t, i| t[i + k + 1]);
        let fall = constant(graph, count, &|t, i| t[i + k + 1] - t[i + 1]);
        let (up, down) = (graph.two("Sub", &x, &from), graph.two("Sub", &end, &x));
        let (up, down) = (graph.two("Div", &up, &rise), graph.two("Div", &down, &fall));
        let (left, right) =
            (graph.slice(&basis, 2, 0, count as i64, 1), graph.slice(&basis, 2, 1, count as i64 + 1, 1));
        let (left, right) = (graph.two("Mul", &up, &left), graph.two("Mul", &down, &right));
        basis = graph.two("Add", &left, &right);
    }
    Ok(vec![graph.reshape(&basis, &result)])
}

fn wavelet_sums(call: &mut Call<'_, '_>) -> Result<Vec<Name>, OnnxError> {
    let wavelet = call.word("wavelet");
    let [x, scale, translation, weights] = [call.input(0)?, call.input(1)?, call.input(2)?, call.input(3)?];
    let graph = call.graph();
    let x = graph.unsqueeze(&x, &[1]);
    let apart = graph.two("Sub", &x, &translation);
    let z = graph.two("Div", &apart, &scale);
    let values = match wavelet {
        "mexican_hat" => {
            let (square, bell) = bell(graph, &z);
            let y = graph.with_number("Add", &square, -1.0);
            let y = graph.two("Mul", &y, &bell);
            // 2 / (√3 π^¼).
            graph.with_number("Mul", &y, 0.867_325_07)
        }
        "morlet" => {
            let (_, bell) = bell(graph, &z);
            let turned = graph.with_number("Mul", &z, 5.0);
            let cos = graph.one("Cos", &turned);
            graph.two("Mul", &cos, &bell)
        }
        "dog" => {
            let (_, bell) = bell(graph, &z);
            let minus = graph.one("Neg", &z);
            graph.two("Mul", &minus, &bell)
        }
        "meyer" => meyer(graph, &z),
        "shannon" => {
            let [zero, one] = [0.0, 1.0].map(|number| graph.number(number));
            let alone = graph.two("Equal", &z, &zero);
            let divisor = graph.node("Where", &[&alone, &one, &z], &[]);
            let sin = graph.one("Sin", &z);
            let ratio = graph.two("Div", &sin, &divisor);
            graph.node("Where", &[&alone, &one, &ratio], &[])
        }
        other => return Err(call.refuse(other)),
    };
    let parts = graph.two("Mul", &values, &weights);
    Ok(vec![graph.sum(&parts, -1, false)])
}

/// `z²` and `e^(-z²/2)`.
fn bell(graph: &mut Graph, z: &str) -> (Name, Name) {
    let square = graph.two("Mul", z, z);
    let exponent = graph.with_number("Mul", &square, -0.5);
    let bell = graph.one("Exp", &exponent);
    (square, bell)
}

/// `sin(π v) m(v)` of v = |z|, where m is `cos(π/2 ν(2v - 1))` with ν(t) = t⁴ (35 - 84 t + 70 t² - 20 t³), 1 below 1/2, 0 beyond 1.
fn meyer(graph: &mut Graph, z: &str) -> Name {
    let v = graph.one("Abs", z);
    let [zero, one] = [0.0, 1.0].map(|number| graph.number(number));
    let t = graph.with_number("Mul", &v, 2.0);
    let t = graph.with_number("Add", &t, -1.0);
    let t = graph.node("Clip", &[&t, &zero, &one], &[]);
    let mut polynomial = graph.with_number("Mul", &t, -20.0);
    for coefficient in [70.0, -84.0] {
        let sum = graph.with_number("Add", &polynomial, coefficient);
        polynomial = graph.two("Mul", &sum, &t);
    }
    let sum = graph.with_number("Add", &polynomial, 35.0);
    let square = graph.two("Mul", &t, &t);
    let fourth = graph.two("Mul", &square, &square);
    let turned = graph.two("Mul", &sum, &fourth);
    let turned = graph.with_number("Mul", &turned, FRAC_PI_2);
    let m = graph.one("Cos", &turned);
    let angle = graph.with_number("Mul", &v, PI);
    let sin = graph.one("Sin", &angle);
    let y = graph.two("Mul", &sin, &m);
    let within = graph.two("Less", &v, &one);
    graph.node("Where", &[&within, &y, &zero], &[])
}
