//! Operations whose products round to 16 bits, beside the same ones in `f32`.

use foretell_tensor::Tensor;

use super::check::random;
use super::convolution::{Conv1d, Conv2d};
use super::recurrent::RecurrentWeights;
use crate::{Activation, AttentionOptions, Cell, Rounding, Var};

/// The value of `f` and its gradients by all inputs, the last of which are marked with `rounding`.
fn run(inputs: &[Tensor], marked: usize, rounding: Rounding, f: &dyn Fn(&[Var]) -> Var) -> Vec<Vec<f32>> {
    let (output, results) = run_marked(inputs, marked, &|var| var.with_rounding(rounding), f);
    assert_eq!(output.rounding(), rounding, "the result of an operation is marked as its operand");
    results
}

fn run_marked(
    inputs: &[Tensor],
    marked: usize,
    mark: &dyn Fn(Var) -> Var,
    f: &dyn Fn(&[Var]) -> Var,
) -> (Var, Vec<Vec<f32>>) {
    let first = inputs.len() - marked;
    let variables: Vec<Var> = inputs
        .iter()
        .cloned()
        .enumerate()
        .map(|(i, value)| {
            let var = Var::input(value);
            if i < first { var } else { mark(var) }
        })
        .collect();
    let output = f(&variables);
    let mut results = vec![output.value().to_vec()];
    output.backward_from(random(output.shape(), 99), &mut []);
    results.extend(variables.iter().map(|variable| variable.grad().expect("a gradient").to_vec()));
    (output, results)
}

/// What is kept in bfloat16 while products round nothing: the same values, and gradients that differ by a few roundings.
#[test]
fn what_is_kept_in_16_bits_changes_gradients_alone() {
    let check = |name: &str, inputs: &[Tensor], f: &dyn Fn(&[Var]) -> Var| {
        let inputs: Vec<Tensor> = inputs.iter().map(|tensor| tensor.scale(0.5)).collect();
        let exact = run(&inputs, inputs.len() - 1, Rounding::None, f);
        let mark = |var: Var| var.with_keeping(Rounding::Bf16);
        let (output, kept) = run_marked(&inputs, inputs.len() - 1, &mark, f);
        assert_eq!((output.rounding(), output.keeping()), (Rounding::None, Rounding::Bf16), "{name}");
        assert_eq!(kept[0], exact[0], "{name}: the value is another");
        assert_ne!(kept, exact, "{name}: nothing is kept rounded");
        for (kept, exact) in kept.iter().zip(&exact) {
            let size = exact.iter().fold(0.0_f32, |size, x| size.max(x.abs()));
            let error = kept.iter().zip(exact).fold(0.0_f32, |error, (a, b)| error.max((a - b).abs()));
            assert!(error <= 16.0 / 256.0 * size, "{name}: {error} of {size}");
        }
    };
    let inputs = [random([40, 24], 1), random([28, 24], 2), random([28, 28], 3)];
    check("two layers", &inputs, &|v| {
        v[0].linear(&v[1], None, Activation::Tanh).linear(&v[2], None, Activation::Tanh)
    });
    for cell in [Cell::Lstm, Cell::Gru] {
        let rows = 7 * cell.gates();
        let inputs = [random([9, 40, 4], 1), random([rows, 4], 2), random([rows, 7], 3)];
        check(&format!("{cell:?}"), &inputs, &|v| {
            let weights =
                RecurrentWeights { input: &v[1], state: &v[2], biases: None, projection: None, held: None };
            v[0].recurrent(cell, &weights, 9, None)
        });
    }
}

/// Either kind of rounding, and what 16 of them change.
const BOUNDS: [(Rounding, f32); 2] = [(Rounding::Bf16, 16.0 / 256.0), (Rounding::F16, 16.0 / 2048.0)];

/// Checks that rounding changes value and gradients, and by no more than 16 roundings do, of the largest number.
fn check(name: &str, inputs: &[Tensor], marked: usize, f: &dyn Fn(&[Var]) -> Var) {
    check_with(&BOUNDS, name, inputs, marked, f);
}

fn check_with(
    bounds: &[(Rounding, f32)],
    name: &str,
    inputs: &[Tensor],
    marked: usize,
    f: &dyn Fn(&[Var]) -> Var,
) {
    // So that no activation is saturated.
    let inputs: Vec<Tensor> = inputs.iter().map(|tensor| tensor.scale(0.5)).collect();
    let inputs = &inputs[..];
    let exact = run(inputs, marked, Rounding::None, f);
    for &(rounding, bound) in bounds {
        let rounded = run(inputs, marked, rounding, f);
        assert_ne!(rounded[0], exact[0], "{name}: {rounding:?} rounds nothing");
        for (which, (rounded, exact)) in rounded.iter().zip(&exact).enumerate() {
            let size = exact.iter().fold(0.0_f32, |size, x| size.max(x.abs()));
            let error = rounded.iter().zip(exact).fold(0.0_f32, |error, (a, b)| error.max((a - b).abs()));
            assert!(error <= bound * size, "{name}, {rounding:?}, {which}: {error} of {size}");
        }
    }
}

/// Products of these sizes pay in bfloat16; smaller ones are not rounded to it.
#[test]
fn linear_layers_round() {
    let inputs = [random([40, 24], 1), random([28, 24], 2), random([28], 3)];
    for activation in [Activation::Identity, Activation::Tanh] {
        check("linear", &inputs, 2, &|v| v[0].linear(&v[1], Some(&v[2]), activation));
    }
    let inputs = [random([2, 24, 30], 1), random([28, 24], 2), random([28], 3)];
    check("columns", &inputs, 2, &|v| v[0].linear_of_columns(&v[1], Some(&v[2]), Activation::Tanh));
    let inputs = [random([2, 30, 24], 1), random([28, 24], 2), random([28], 3)];
    check("to columns", &inputs, 2, &|v| v[0].linear_to_columns(&v[1], Some(&v[2]), Activation::Tanh));
    let inputs = [random([2, 24, 30], 1), random([28, 24], 2), random([28], 3)];
    check("from columns", &inputs, 2, &|v| v[0].linear_from_columns(&v[1], Some(&v[2]), Activation::Tanh));
    let inputs = [random([40, 24], 1), random([64, 24], 2), random([64], 3)];
    check("gated", &inputs, 2, &|v| v[0].linear(&v[1], Some(&v[2]), Activation::Identity).gated(None));
    let inputs = [random([2, 30, 24], 1), random([2, 24, 28], 2)];
    check("product", &inputs, 1, &|v| v[0].matmul(&v[1]));
}

#[test]
fn convolutions_round() {
    let inputs = [random([2, 40, 16], 1), random([24, 16, 3], 2), random([24], 3)];
    check("conv1d", &inputs, 2, &|v| {
        v[0].conv1d(&v[1], Some(&v[2]), Activation::Tanh, Conv1d { padding: [1, 1], ..Conv1d::default() })
    });
    let inputs = [random([2, 6, 40, 16], 1), random([24, 16, 2, 3], 2), random([24], 3)];
    check("conv2d", &inputs, 2, &|v| v[0].conv2d(&v[1], Some(&v[2]), Activation::Tanh, Conv2d::default()));
    let inputs = [random([20, 4, 16], 1), random([24, 16, 3], 2), random([24], 3)];
    check("causal", &inputs, 2, &|v| v[0].causal_convolution(&v[1], &v[2], Activation::Tanh, 2));
}

#[test]
fn recurrent_layers_round() {
    for (cell, projection) in
        [(Cell::Rnn(Activation::Tanh), None), (Cell::Lstm, None), (Cell::Lstm, Some(5)), (Cell::Gru, None)]
    {
        // Enough sequences and steps for the f32 run to pack its weights.
        let (hidden, rows) = (7, 7 * cell.gates());
        let mut inputs = vec![random([9, 40, 4], 1), random([rows, 4], 2)];
        inputs.push(random([rows, projection.unwrap_or(hidden)], 3));
        inputs.extend([random([rows], 4), random([rows], 5)]);
        inputs.extend(projection.map(|size| random([size, hidden], 6)));
        let inputs: Vec<Tensor> = inputs.iter().map(|tensor| tensor.scale(0.3)).collect();
        check(&format!("{cell:?}"), &inputs, inputs.len() - 1, &|v| {
            let biases = Some([&v[3], &v[4]]);
            let weights =
                RecurrentWeights { input: &v[1], state: &v[2], biases, projection: v.get(5), held: None };
            v[0].recurrent(cell, &weights, 9, None)
        });
    }
}

#[test]
fn attention_rounds() {
    let inputs = [random([2, 30, 48], 1), random([2, 31, 48], 2), random([2, 31, 40], 3)];
    let options = AttentionOptions::new(2);
    check("attention", &inputs, 1, &|v| v[0].attention(&v[1], &v[2], &options));
}

#[test]
fn products_of_modes_round_to_half_precision_only() {
    let half = &BOUNDS[1..];
    let inputs = [random([2, 2, 5, 12], 1), random([3, 4, 4, 5, 2], 2)];
    check_with(half, "modes", &inputs, 1, &|v| v[0].mode_products(&v[1]));
    // Far from the poles of the complex tangent.
    let attended = [random([2, 2, 5, 12], 1), random([2, 2, 4, 12], 2)].map(|x| x.scale(0.4));
    check_with(half, "attention of modes", &attended, 1, &|v| v[0].mode_attention(&v[1], 3));
    let [exact, rounded] = [Rounding::None, Rounding::Bf16]
        .map(|rounding| run(&inputs, 1, rounding, &|v| v[0].mode_products(&v[1])));
    assert_eq!(exact[0], rounded[0]);
}

#[test]
fn what_multiplies_nothing_does_not_round() {
    let x = random([3, 4], 1);
    let marked = Var::constant(x.clone()).with_rounding(Rounding::Bf16);
    let plain = Var::constant(x);
    for f in [|v: &Var| v.mul(v), |v: &Var| v.softmax(1), |v: &Var| v.sum(1)] {
        assert_eq!(f(&marked).value(), f(&plain).value());
    }
}

#[test]
fn small_products_stay_as_they_are_in_bf16() {
    let inputs = [random([7, 64], 1), random([7, 64], 2)];
    let f = |v: &[Var]| v[0].matmul(&v[1].permute(&[1, 0]));
    let [exact, rounded] = [Rounding::None, Rounding::Bf16].map(|rounding| run(&inputs, 1, rounding, &f));
    // What is kept for the gradients takes 16 bits all the same.
    for (exact, rounded) in exact[0].iter().zip(&rounded[0]) {
        assert!((exact - rounded).abs() < 1e-4, "{exact} became {rounded}");
    }
}

/// Bytes that `f` keeps for the backward pass, all of them this thread's: other tests run beside.
fn kept_bytes(rounding: Rounding, inputs: &[Tensor], f: &dyn Fn(&[Var]) -> Var) -> usize {
    let before = foretell_pool::live_bytes_of_thread();
    let variables: Vec<Var> = inputs
        .iter()
        .enumerate()
        .map(|(i, value)| {
            // Weights are parameters; the input is the result of an operation.
            let var =
                if i == 0 { Var::input(value.clone()).scale(1.0) } else { Var::parameter(value.clone(), 0) };
            var.with_rounding(rounding)
        })
        .collect();
    let output = f(&variables).sum(0);
    drop(variables);
    let after = foretell_pool::live_bytes_of_thread();
    drop(output);
    usize::try_from(after - before).expect("what is kept")
}

#[test]
fn what_is_kept_takes_half_the_bytes() {
    let (steps, batch, size) = (24, 256, 64);
    let mut lstm = vec![random([steps, batch, size], 1)];
    for seed in [2, 4] {
        lstm.extend([random([4 * size, size], seed), random([4 * size, size], seed + 1)]);
    }
    let two_layers = |v: &[Var]| {
        let layer = |x: &Var, input: &Var, state: &Var| {
            let weights = RecurrentWeights { input, state, biases: None, projection: None, held: None };
            x.recurrent(Cell::Lstm, &weights, steps, None)
        };
        layer(&layer(&v[0], &v[1], &v[2]), &v[3], &v[4])
    };
    let mut transformer = vec![random([batch, steps, size], 1)];
    transformer.extend((2..8).map(|seed| random([size, size], seed)));
    let encoder = |v: &[Var]| {
        let linear = |x: &Var, w: &Var, activation| x.linear(w, None, activation);
        let [q, k, values] = [&v[1], &v[2], &v[3]].map(|w| linear(&v[0], w, Activation::Identity));
        let attended = q.attention(&k, &values, &AttentionOptions::new(8));
        let x = v[0].add(&linear(&attended, &v[4], Activation::Identity)).layer_norm(None, 1e-5);
        let hidden = linear(&x, &v[5], Activation::Gelu);
        x.add(&linear(&hidden, &v[6], Activation::Identity)).layer_norm(None, 1e-5)
    };
    type Network<'a> = &'a dyn Fn(&[Var]) -> Var;
    let cases: [(&str, &[Tensor], Network<'_>); 2] =
        [("LSTM", &lstm, &two_layers), ("transformer", &transformer, &encoder)];
    for (name, inputs, f) in cases {
        let [whole, half] = [Rounding::None, Rounding::Bf16].map(|rounding| kept_bytes(rounding, inputs, f));
        println!("{name}: {half} bytes of {whole}");
        assert!(whole > 10 << 20 && 100 * half <= 55 * whole, "{name}: {half} bytes of {whole}");
    }
    // Nothing is kept of a slice of the weights.
    let inputs = [random([32, 512], 1), random([8192, 512], 2)];
    let slice = |v: &[Var]| v[0].linear(&v[1].narrow(0, 4096, 32), None, Activation::Identity);
    let kept = kept_bytes(Rounding::Bf16, &inputs, &slice);
    assert!(kept < 1 << 20, "{kept} bytes beside 16 MB of weights");
}

#[test]
fn large_scores_too_few_to_be_rounded_are_recomputed_backwards() {
    // Seven steps of three heads of eight: scores of ten thousands, which roundings by 1/256 move by tens.
    let inputs = [(100.0, 1), (100.0, 2), (1.0, 3)].map(|(size, seed)| random([2, 7, 24], seed).scale(size));
    let attend = |x: &[Var]| {
        // The result of an operation is kept in 16 bits.
        let [q, k, v] = [&x[0], &x[1], &x[2]].map(|x| x.scale(1.0));
        q.attention(&k, &v, &AttentionOptions::new(3))
    };
    for gradients in run(&inputs, 3, Rounding::Bf16, &attend) {
        let size = gradients.iter().fold(0.0_f32, |size, x| size.max(x.abs()));
        assert!(size < 1e6, "{size}");
    }
}
