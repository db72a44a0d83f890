//! Results and gradients against PyTorch: each operation's own tests say how a case of
//! `tests/fixtures/ops/<operation>.json`, which `compare/ops.py` writes, is computed here.

use std::path::Path;

use foretell_tensor::{Indices, Tensor};
use serde::Deserialize;
use serde_json::Value;

use crate::{Activation, Var};

#[derive(Deserialize)]
struct Case {
    args: Value,
    inputs: Vec<Numbers>,
    output: Numbers,
    /// Further results of the operation, which get no gradient.
    #[serde(default)]
    extra_outputs: Vec<Numbers>,
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
    fn assert_close(&self, actual: &Tensor, what: &str) {
        assert_eq!(&*actual.shape(), &self.shape[..], "shape of {what}");
        let scale = self.data.iter().fold(1.0_f32, |scale, x| scale.max(x.abs()));
        for (i, (actual, expected)) in actual.to_vec().into_iter().zip(&self.data).enumerate() {
            assert!(
                (actual - expected).abs() <= 3e-6 * scale,
                "{what}[{i}]: {actual}, PyTorch has {expected}"
            );
        }
    }
}

/// The folder of fixtures, with a file for each operation.
fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/ops"))
}

/// Checks all cases of an operation against PyTorch; `apply` computes one from its inputs and arguments.
#[track_caller]
pub(crate) fn assert_matches_pytorch<R: Into<Outputs>>(
    name: &str,
    apply: impl Fn(&[Var], &Arguments<'_>) -> R,
) {
    let text = std::fs::read_to_string(folder().join(format!("{name}.json")));
    let text = text.unwrap_or_else(|error| panic!("the cases of {name}: {error}"));
    let cases: Vec<Case> = serde_json::from_str(&text).expect("the fixtures are valid");
    assert!(!cases.is_empty(), "{name} has no cases");
    for (i, case) in cases.iter().enumerate() {
        let what = format!("{name} case {i} {}", case.args);
        let inputs: Vec<Var> = case.inputs.iter().map(|input| Var::input(input.tensor())).collect();
        let Outputs { output, extra_outputs } = apply(&inputs, &Arguments(&case.args)).into();
        case.output.assert_close(output.value(), &what);
        assert_eq!(extra_outputs.len(), case.extra_outputs.len(), "further results of {what}");
        for (actual, expected) in extra_outputs.iter().zip(&case.extra_outputs) {
            expected.assert_close(actual, &format!("{what}: further result"));
        }
        output.backward_from(case.grad_output.tensor(), &mut []);
        for (j, (input, expected)) in inputs.iter().zip(&case.grads).enumerate() {
            let grad = input.grad().unwrap_or_else(|| panic!("{what}: no gradient for input {j}"));
            expected.as_ref().expect("a gradient").assert_close(&grad, &format!("{what}: gradient {j}"));
        }
    }
}

/// The results of an operation: the output, through which the gradient flows, and its further results.
pub(crate) struct Outputs {
    output: Var,
    extra_outputs: Vec<Tensor>,
}

impl From<Var> for Outputs {
    fn from(output: Var) -> Self {
        Self { output, extra_outputs: Vec::new() }
    }
}

impl<const N: usize> From<(Var, [Tensor; N])> for Outputs {
    fn from((output, extra_outputs): (Var, [Tensor; N])) -> Self {
        Self { output, extra_outputs: extra_outputs.into() }
    }
}

/// The arguments of a case.
pub(crate) struct Arguments<'a>(&'a Value);

impl Arguments<'_> {
    pub(crate) fn real(&self, key: &str) -> f32 {
        self.0[key].as_f64().unwrap_or_else(|| panic!("no number {key} in {}", self.0)) as f32
    }

    pub(crate) fn number(&self, key: &str) -> usize {
        self.0[key].as_u64().unwrap_or_else(|| panic!("no whole number {key} in {}", self.0)) as usize
    }

    pub(crate) fn text(&self, key: &str) -> &str {
        self.0[key].as_str().unwrap_or_else(|| panic!("no text {key} in {}", self.0))
    }

    pub(crate) fn list(&self, key: &str) -> Vec<usize> {
        let list = self.0[key].as_array().unwrap_or_else(|| panic!("no list {key} in {}", self.0));
        list.iter().map(|number| number.as_u64().expect("a size") as usize).collect()
    }

    /// The dimension `dim` of `x`, which counts from the back where it is negative.
    pub(crate) fn axis(&self, x: &Var) -> usize {
        let dim = self.0["dim"].as_i64().unwrap_or_else(|| panic!("no dimension in {}", self.0));
        if dim < 0 { x.shape().len() - dim.unsigned_abs() as usize } else { dim as usize }
    }

    /// A tensor written as lists of numbers.
    pub(crate) fn tensor(&self, key: &str) -> Tensor {
        let lists = &self.0[key];
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

    pub(crate) fn indices(&self, key: &str) -> Indices {
        let numbers = self.tensor(key);
        let places: Vec<u32> = numbers.to_vec().into_iter().map(|number| number as u32).collect();
        Indices::from_slice(&places, numbers.shape())
    }

    pub(crate) fn activation(&self, key: &str) -> Activation {
        match self.text(key) {
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
            "Softsign" => Activation::Softsign,
            "LogSigmoid" => Activation::LogSigmoid,
            "Hardshrink" => Activation::Hardshrink,
            "Softshrink" => Activation::Softshrink,
            "Hardtanh" => Activation::Hardtanh,
            "Hardswish" => Activation::Hardswish,
            other => panic!("unknown activation {other}"),
        }
    }
}

/// A case that no test computes would check nothing.
#[test]
fn each_operation_of_the_fixtures_is_tested() {
    let ops = concat!(env!("CARGO_MANIFEST_DIR"), "/src/ops");
    let mut sources = String::new();
    for entry in std::fs::read_dir(ops).expect("the operations' folder") {
        sources += &std::fs::read_to_string(entry.expect("an entry").path()).expect("a source file");
    }
    sources.retain(|c| !c.is_whitespace());
    let files = std::fs::read_dir(folder()).expect("the folder of fixtures");
    let paths: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    assert!(paths.len() >= 70, "{} operations have cases", paths.len());
    for path in paths {
        let name = path.file_stem().and_then(|name| name.to_str()).expect("the name of an operation");
        assert!(
            sources.contains(&format!("assert_matches_pytorch(\"{name}\"")),
            "no test computes the cases of {name}"
        );
    }
}
