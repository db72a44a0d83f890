use std::ops::Range;

use foretell_gemm::{Accum, Rounding};
use foretell_simd::{self as simd, Activation, Key, Level, Stream, with_level};

use super::layer::ROWS;
use super::operand::part;
use super::*;

#[path = "recurrent/one_sequence_tests.rs"]
mod one_sequence;

/// A layer with its numbers.
struct Case {
    layer: Layer,
    x: Vec<f32>,
    weights: [Vec<f32>; 5],
    /// The first h and c.
    start: [Vec<f32>; 2],
    /// The gradients of the last states.
    grad: Vec<f32>,
    biased: bool,
}

impl Case {
    fn new(layer: Layer, last: usize, biased: bool) -> Self {
        let mut stream = Stream::new(Key::new(7));
        let mut random =
            |len: usize| (0..len).map(|_| stream.uniform_f64() as f32 - 0.5).collect::<Vec<f32>>();
        let Layer { cell, steps, batch, inputs, hidden, .. } = layer;
        let rows = cell.gates() * hidden;
        Self {
            layer,
            x: random(steps * batch * inputs),
            weights: [
                random(rows * inputs),
                random(rows * layer.state()),
                random(rows),
                random(rows),
                random(layer.projection.unwrap_or(0) * hidden),
            ],
            start: [random(batch * layer.state()), random(batch * hidden)],
            grad: random(last * batch * layer.state()),
            biased,
        }
    }

    fn weights(&self) -> Weights<'_> {
        let [input, state, bias_input, bias_state, projection] = &self.weights;
        Weights {
            input,
            state,
            biases: self.biased.then_some([bias_input, bias_state]),
            projection: self.layer.projection.map(|_| &projection[..]),
            held: None,
        }
    }

    /// States, cells and tape of a run over the steps from `from` on, started from `start`.
    fn run(&self, layer: Layer, from: usize, start: &[Vec<f32>; 2], run: RunMode) -> [Vec<f32>; 3] {
        self.run_with(None, layer, from, start, run)
    }

    /// [`Case::run`] with weights as forecasts hold them.
    fn run_with(
        &self,
        held: Option<&HeldWeights>,
        layer: Layer,
        from: usize,
        start: &[Vec<f32>; 2],
        run: RunMode,
    ) -> [Vec<f32>; 3] {
        let per_step = layer.batch * layer.inputs;
        let x = &self.x[from * per_step..][..layer.steps * per_step];
        let mut states = vec![f32::NAN; layer.states_len()];
        let mut cells = vec![f32::NAN; layer.cells_len(run)];
        let mut tape = vec![f32::NAN; layer.tape_len(run)];
        states[..start[0].len()].copy_from_slice(&start[0]);
        if !cells.is_empty() {
            cells[..start[1].len()].copy_from_slice(&start[1]);
        }
        let weights = Weights { held, ..self.weights() };
        layer.forward(&weights, x, &mut states, &mut cells, &mut tape, run);
        [states, cells, tape]
    }

    /// Adds the gradients of the weights to `grads`, and puts those of the inputs where `dx` says.
    fn backward(
        &self,
        [states, cells, tape]: [&[f32]; 3],
        grads: &mut [Vec<f32>; 5],
        dx: (&mut [f32], Accum),
    ) {
        let [input, state, input_bias, state_bias, projection] =
            grads.each_mut().map(|values| &mut values[..]);
        let gradients = RecurrentGradients {
            input,
            state,
            biases: self.biased.then_some([input_bias, state_bias]),
            projection: self.layer.projection.map(|_| projection),
            x: Some(dx),
            start: None,
        };
        let run = RecurrentRun { x: &self.x, states, cells, tape };
        self.layer.backward(&self.weights(), run, [&self.grad, &[]], gradients);
    }

    /// Some of the sequences.
    fn sequences(&self, range: Range<usize>) -> Self {
        let Layer { batch, inputs, hidden, .. } = self.layer;
        Self {
            layer: Layer { batch: range.len(), ..self.layer },
            x: sequences(&self.x, batch, inputs, &range),
            weights: self.weights.clone(),
            start: [
                sequences(&self.start[0], batch, self.layer.state(), &range),
                sequences(&self.start[1], batch, hidden, &range),
            ],
            grad: sequences(&self.grad, batch, self.layer.state(), &range),
            biased: self.biased,
        }
    }

    /// All states after the first by the definition, in `f64`, where one of the numbers (0: x, then the
    /// weights) is moved by a step.
    fn naive(&self, moved: Option<(usize, usize, f64)>) -> Vec<f64> {
        let Layer { cell, steps, batch, inputs, hidden, .. } = self.layer;
        let size = self.layer.state();
        let get = |which: usize, at: usize| {
            let values = if which == 0 { &self.x } else { &self.weights[which - 1] };
            let by = moved.filter(|m| (m.0, m.1) == (which, at)).map_or(0.0, |m| m.2);
            f64::from(values[at]) + by
        };
        let bias = |which, at| if self.biased { get(which, at) } else { 0.0 };
        let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
        let wide = |values: &[f32]| values.iter().map(|&v| f64::from(v)).collect::<Vec<f64>>();
        let (mut h, mut c) = (wide(&self.start[0]), wide(&self.start[1]));
        let mut all = Vec::new();
        for t in 0..steps {
            let (old_h, old_c) = (h.clone(), c.clone());
            for b in 0..batch {
                // The sums of input and of state for a row of the weights.
                let sums = |row: usize| {
                    let x = (0..inputs)
                        .map(|k| get(1, row * inputs + k) * get(0, (t * batch + b) * inputs + k))
                        .sum::<f64>();
                    let s = (0..size).map(|k| get(2, row * size + k) * old_h[b * size + k]).sum::<f64>();
                    (x + bias(3, row), s + bias(4, row))
                };
                let m: Vec<f64> = (0..hidden)
                    .map(|u| {
                        let gate = |g: usize| sums(g * hidden + u);
                        let both = |g: usize| gate(g).0 + gate(g).1;
                        match cell {
                            Cell::Rnn(Activation::Relu) => both(0).max(0.0),
                            Cell::Rnn(_) => both(0).tanh(),
                            Cell::Lstm => {
                                let at = b * hidden + u;
                                let (i, f) = (sigmoid(both(0)), sigmoid(both(1)));
                                c[at] = f * old_c[at] + i * both(2).tanh();
                                sigmoid(both(3)) * c[at].tanh()
                            }
                            Cell::Gru => {
                                let (r, z) = (sigmoid(both(0)), sigmoid(both(1)));
                                let n = (gate(2).0 + r * gate(2).1).tanh();
                                (1.0 - z) * n + z * old_h[b * size + u]
                            }
                        }
                    })
                    .collect();
                for k in 0..size {
                    h[b * size + k] = match self.layer.projection {
                        None => m[k],
                        Some(_) => (0..hidden).map(|u| get(5, k * hidden + u) * m[u]).sum(),
                    };
                }
            }
            all.extend_from_slice(&h);
        }
        all
    }

    fn objective(&self, moved: Option<(usize, usize, f64)>) -> f64 {
        let states = self.naive(moved);
        let last = &states[states.len() - self.grad.len()..];
        last.iter().zip(&self.grad).map(|(&y, &g)| y * f64::from(g)).sum()
    }
}

/// Some of the sequences of `[steps, batch, columns]`.
fn sequences(all: &[f32], batch: usize, columns: usize, range: &Range<usize>) -> Vec<f32> {
    all.chunks_exact(batch * columns).flat_map(|step| part(step, range, columns).to_vec()).collect()
}

#[track_caller]
fn assert_close(found: f32, expected: f64, what: &str) {
    assert!(
        (f64::from(found) - expected).abs() <= 3e-5 * (1.0 + expected.abs()),
        "{what}: {found}, {expected}"
    );
}

fn cases() -> Vec<Case> {
    let cells = [
        (Cell::Rnn(Activation::Tanh), None),
        (Cell::Rnn(Activation::Relu), None),
        (Cell::Lstm, None),
        (Cell::Lstm, Some(2)),
        (Cell::Gru, None),
    ];
    let sizes = [(1, 1, 1, 1, 1), (5, 3, 2, 4, 2), (3, 2, 1, 17, 3), (4, 1, 3, 3, 1)];
    let mut all = Vec::new();
    for (cell, projection) in cells {
        for (steps, batch, inputs, hidden, last) in sizes {
            for biased in [true, false] {
                let layer = Layer {
                    cell,
                    steps,
                    batch,
                    inputs,
                    hidden,
                    projection,
                    rounding: Rounding::None,
                    keeping: Rounding::None,
                };
                all.push(Case::new(layer, last, biased));
            }
        }
    }
    all
}

#[test]
fn states_are_those_of_the_definition() {
    for case in cases() {
        let expected = case.naive(None);
        for run in [RunMode::Training, RunMode::Inference] {
            let [states, ..] = case.run(case.layer, 0, &case.start, run);
            let first = case.start[0].len();
            assert_eq!(states.len() - first, expected.len());
            for (i, (&found, &expected)) in states[first..].iter().zip(&expected).enumerate() {
                assert_close(found, expected, &format!("{:?}, {run:?}, state {i}", case.layer));
            }
        }
    }
}

#[test]
fn gradients_are_those_of_differences() {
    for case in cases() {
        let layer = case.layer;
        let [states, cells, tape] = case.run(layer, 0, &case.start, RunMode::Training);
        for accum in [Accum::Replace, Accum::Add] {
            // Old values are added to, or not even read.
            let old = if accum == Accum::Add { 2.0 } else { f32::NAN };
            let mut grads = case.weights.each_ref().map(|values| vec![2.0; values.len()]);
            let mut dx = vec![old; case.x.len()];
            case.backward([&states, &cells, &tape], &mut grads, (&mut dx, accum));
            let grads = [&dx].into_iter().chain(&grads);
            for (which, grads) in grads.enumerate() {
                if !case.biased && (which == 3 || which == 4) {
                    continue;
                }
                for (at, &found) in grads.iter().enumerate() {
                    const STEP: f64 = 1e-4;
                    let moved = |by| case.objective(Some((which, at, by)));
                    let expected = (moved(STEP) - moved(-STEP)) / (2.0 * STEP);
                    let expected = expected + if which > 0 || accum == Accum::Add { 2.0 } else { 0.0 };
                    assert_close(found, expected, &format!("{layer:?}, input {which}, gradient {at}"));
                }
            }
        }
    }
}

/// More sequences than go through the layer together, forwards and backwards; and this many that blocks differ in size.
#[test]
fn sequences_of_a_large_batch_know_nothing_of_each_other() {
    let cells =
        [(Cell::Rnn(Activation::Tanh), None), (Cell::Lstm, None), (Cell::Lstm, Some(2)), (Cell::Gru, None)];
    let batches = [129, 257, 2 * ROWS + 44];
    for ((cell, projection), batch) in cells.into_iter().flat_map(|cell| batches.map(|batch| (cell, batch))) {
        let layer = Layer {
            cell,
            steps: 5,
            batch,
            inputs: 3,
            hidden: 6,
            projection,
            rounding: Rounding::None,
            keeping: Rounding::None,
        };
        let whole = Case::new(layer, 3, true);
        let run = |case: &Case| {
            let [states, cells, tape] = case.run(case.layer, 0, &case.start, RunMode::Training);
            let mut grads = case.weights.each_ref().map(|values| vec![0.0; values.len()]);
            let mut dx = vec![f32::NAN; case.x.len()];
            case.backward([&states, &cells, &tape], &mut grads, (&mut dx, Accum::Replace));
            (states, dx, grads)
        };
        let (states, dx, grads) = run(&whole);
        let [inferred, ..] = whole.run(layer, 0, &whole.start, RunMode::Inference);
        // A forecast's gates are fractions that are divided later; an RNN has none.
        assert!(inferred == states || !matches!(cell, Cell::Rnn(_)), "{layer:?}, inference");
        for (found, expected) in inferred.iter().zip(&states) {
            assert_close(*found, f64::from(*expected), &format!("{layer:?}, inference"));
        }
        let mut sums = whole.weights.each_ref().map(|values| vec![0.0; values.len()]);
        for range in [0..7, 7..100, 100..batch] {
            let (found, found_dx, found_grads) = run(&whole.sequences(range.clone()));
            let pairs = [(found, &states, layer.state()), (found_dx, &dx, layer.inputs)];
            for (found, expected, columns) in pairs {
                let expected = sequences(expected, batch, columns, &range);
                assert_eq!(found.len(), expected.len());
                for (found, expected) in found.iter().zip(expected) {
                    assert_close(*found, f64::from(expected), &format!("{layer:?}, {range:?}"));
                }
            }
            for (sums, found) in sums.iter_mut().zip(found_grads) {
                simd::add_assign(sums, &found);
            }
        }
        for (found, expected) in grads.iter().flatten().zip(sums.iter().flatten()) {
            assert_close(*found, f64::from(*expected), &format!("{layer:?}, gradients of weights"));
        }
    }
}

#[test]
fn a_sequence_may_be_run_in_parts() {
    for case in cases().into_iter().filter(|case| case.layer.steps > 2) {
        let layer = case.layer;
        let [whole, ..] = case.run(layer, 0, &case.start, RunMode::Inference);
        let (first, rest) = (Layer { steps: 2, ..layer }, Layer { steps: layer.steps - 2, ..layer });
        let [states, cells, _] = case.run(first, 0, &case.start, RunMode::Inference);
        let size = case.start[0].len();
        let c = if cells.is_empty() { vec![] } else { cells[first.last_cell(RunMode::Inference)].to_vec() };
        let between = [states[states.len() - size..].to_vec(), c];
        let [states, ..] = case.run(rest, 2, &between, RunMode::Inference);
        assert_eq!(states[size..], whole[3 * size..], "{layer:?}");
    }
}

#[test]
fn inference_in_groups_of_steps_is_training() {
    // More rows than a group has: the products of inputs are taken several times.
    let layer = Layer {
        cell: Cell::Gru,
        steps: 5,
        batch: 2 * ROWS / 3,
        inputs: 2,
        hidden: 3,
        projection: None,
        rounding: Rounding::None,
        keeping: Rounding::None,
    };
    let case = Case::new(layer, 1, true);
    assert!(layer.steps_at_once() < layer.steps);
    let [a, ..] = case.run(layer, 0, &case.start, RunMode::Training);
    let [b, ..] = case.run(layer, 0, &case.start, RunMode::Inference);
    a.iter().zip(&b).for_each(|(&a, &b)| assert_close(a, f64::from(b), "state"));
}

#[test]
#[should_panic(expected = "only an LSTM projects")]
fn a_gru_does_not_project() {
    let layer = Layer {
        cell: Cell::Gru,
        steps: 1,
        batch: 1,
        inputs: 1,
        hidden: 2,
        projection: Some(1),
        rounding: Rounding::None,
        keeping: Rounding::None,
    };
    let case = Case::new(layer, 1, true);
    case.run(layer, 0, &case.start, RunMode::Inference);
}
