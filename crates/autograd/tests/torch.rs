//! Every operation against PyTorch: results and gradients of `fixtures/ops.json`, which
//! `compare/ops.py` writes.

use std::collections::BTreeMap;
use std::sync::Arc;

use foretell_autograd::{
    Activation, Cell, Interpolation, Padding, Pooling, RecurrentWeights, Resampler, Tensor, Var,
};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Case {
    args: Value,
    inputs: Vec<Numbers>,
    output: Numbers,
    grad_output: Numbers,
    grads: Vec<Option<Numbers>>,
}

#[derive(Deserialize)]
struct Numbers {
    shape: Vec<usize>,
    data: Vec<f32>,
}

impl Numbers {
    fn tensor(&self) -> Tensor {
        Tensor::from_slice(&self.data, &self.shape[..])
    }

    #[track_caller]
    fn assert_close(&self, found: &Tensor, what: &str) {
        assert_eq!(&*found.shape(), &self.shape[..], "shape of {what}");
        let scale = self.data.iter().fold(1.0_f32, |scale, x| scale.max(x.abs()));
        for (i, (found, expected)) in found.to_vec().into_iter().zip(&self.data).enumerate() {
            assert!((found - expected).abs() <= 3e-6 * scale, "{what}[{i}]: {found}, PyTorch has {expected}");
        }
    }
}

#[test]
fn operations_agree_with_pytorch() {
    let fixtures: BTreeMap<String, Vec<Case>> =
        serde_json::from_str(include_str!("fixtures/ops.json")).expect("the fixtures are valid");
    assert_eq!(fixtures.len(), 23, "operations in the fixtures");
    for (name, cases) in &fixtures {
        for (i, case) in cases.iter().enumerate() {
            let what = format!("{name} case {i} {}", case.args);
            let inputs: Vec<Var> = case.inputs.iter().map(|input| Var::input(input.tensor())).collect();
            let output = apply(name, &inputs, &case.args);
            case.output.assert_close(output.value(), &what);
            output.backward_from(case.grad_output.tensor(), &mut []);
            for (j, (input, expected)) in inputs.iter().zip(&case.grads).enumerate() {
                let grad = input.grad().unwrap_or_else(|| panic!("{what}: no gradient for input {j}"));
                expected.as_ref().expect("a gradient").assert_close(&grad, &format!("{what}: gradient {j}"));
            }
        }
    }
}

fn apply(name: &str, x: &[Var], args: &Value) -> Var {
    let number = |key: &str| args[key].as_u64().unwrap_or_else(|| panic!("{name}: no {key}")) as usize;
    let text = |key: &str| args[key].as_str().unwrap_or_else(|| panic!("{name}: no {key}"));
    let list = |key: &str| -> Vec<usize> {
        args[key].as_array().into_iter().flatten().map(|n| n.as_u64().expect("a size") as usize).collect()
    };
    let axis = || {
        let axis = args["dim"].as_i64().expect("a dimension");
        if axis < 0 { x[0].shape().len() - axis.unsigned_abs() as usize } else { axis as usize }
    };
    match name {
        "add" => x[0].add(&x[1]),
        "sub" => x[0].sub(&x[1]),
        "mul" => x[0].mul(&x[1]),
        "scale" => x[0].scale(args["factor"].as_f64().expect("a factor") as f32),
        "linear" => x[0].linear(&x[1], x.get(2), activation(text("activation"))),
        "matmul" => x[0].matmul(&x[1]),
        "activation" => x[0].activation(activation(text("kind"))),
        "prelu" => x[0].prelu(&x[1]),
        "concat" => Var::concat(&x.iter().collect::<Vec<_>>(), axis()),
        "narrow" => x[0].narrow(axis(), number("start"), number("len")),
        "pad" => {
            let padding = if text("mode") == "zeros" { Padding::Zeros } else { Padding::Replicate };
            x[0].pad(axis(), number("before"), number("after"), padding)
        }
        "embedding" => x[0].embedding(&numbers(&args["ids"])),
        "repeat" => x[0].repeat(axis(), number("times")),
        "flip" => x[0].flip(axis()),
        "reshape" => x[0].reshape(&list("shape")[..]),
        "permute" => x[0].permute(&list("dims")),
        "max_pool" => x[0].pool(Pooling::Max, number("kernel")),
        "avg_pool" => x[0].pool(Pooling::Average, number("kernel")),
        "interpolate" => {
            let kind = match text("mode") {
                "nearest" => Interpolation::Nearest,
                "linear" => Interpolation::Linear,
                _ => Interpolation::Cubic,
            };
            let knots = *x[0].shape().last().expect("knots");
            x[0].interpolate(&Arc::new(Resampler::new(kind, knots, number("size"))))
        }
        "moving_average" => x[0].moving_average(number("kernel")),
        "recurrent" => recurrent(text("cell"), x, number("last")),
        "sum" => x[0].sum(axis()),
        "mean" => x[0].mean(axis()),
        other => panic!("the fixtures hold an operation that this test does not know: {other}"),
    }
}

/// A tensor of lists of numbers.
fn numbers(lists: &Value) -> Tensor {
    let (mut shape, mut first) = (Vec::new(), lists);
    while let Some(list) = first.as_array() {
        shape.push(list.len());
        first = &list[0];
    }
    let mut flat = vec![lists];
    for _ in &shape {
        flat = flat.into_iter().flat_map(|list| list.as_array().expect("a list")).collect();
    }
    let flat: Vec<f32> = flat.iter().map(|number| number.as_f64().expect("a number") as f32).collect();
    Tensor::from_slice(&flat, &shape[..])
}

/// x, weight_ih, weight_hh, then the biases and weight_hr where there are any.
fn recurrent(name: &str, x: &[Var], last: usize) -> Var {
    let cell = match name {
        "RNN" => Cell::Rnn(Activation::Tanh),
        "LSTM" => Cell::Lstm,
        _ => Cell::Gru,
    };
    let biases = (x.len() >= 5).then(|| [&x[3], &x[4]]);
    let projection = x.len().is_multiple_of(2).then(|| x.last().expect("an input"));
    let weights = RecurrentWeights { input: &x[1], state: &x[2], biases, projection };
    x[0].recurrent(cell, &weights, last, None)
}

fn activation(name: &str) -> Activation {
    match name {
        "none" => Activation::Identity,
        "ReLU" => Activation::Relu,
        "LeakyReLU" => Activation::LeakyRelu { slope: 0.01 },
        "ELU" => Activation::Elu { alpha: 1.0 },
        "SELU" => Activation::Selu,
        "GELU" => Activation::Gelu,
        "SiLU" => Activation::Silu,
        "Mish" => Activation::Mish,
        "Softplus" => Activation::Softplus,
        "Sigmoid" => Activation::Sigmoid,
        "Tanh" => Activation::Tanh,
        other => panic!("unknown activation {other}"),
    }
}
