//! Tests that every model of the zoo must pass, in each of its small configurations, with and without the exogenous
//! columns that it reads, and with the properties that it declares. Whole training runs are tested by
//! `tests/it/conformance.rs` of the facade.

use foretell_nn::{
    Coupling, Decoding, Dims, Explanation, Forward, Inputs, Key, Loss, Model, Needs, Network, Params,
    SeriesPerWindow, StepState, Table, Targets, Tensor, Var, Variable, VariableWeights, Windows,
};
use serde_json::{Map, Value, json};

use crate::{CategoricalColumn, CategoricalColumns, ModelEntry, find};

const BATCH: usize = 6;

fn dims(entry: &ModelEntry, own: &Map<String, Value>, outputs: usize, exogenous: bool) -> Dims {
    let reads = entry.exogenous;
    let columns = |reads: bool, count| if reads && exogenous { count } else { 0 };
    let dims = Dims {
        hist_exog: columns(reads.hist, 2),
        futr_exog: columns(reads.futr, 1),
        stat_exog: columns(reads.stat, 3),
        outputs,
        ..Dims::new(13, 5)
    };
    let needs = entry.needs(own, &dims).expect("small sizes are valid");
    Dims { n_series: if needs.series == SeriesPerWindow::All { 3 } else { 1 }, ..dims }
}

/// The last column of each kind, where there is one, as a categorical column.
fn categories(dims: &Dims) -> CategoricalColumns {
    let last = |columns: usize, cardinality, width| {
        columns
            .checked_sub(1)
            .map(|column| CategoricalColumn { column, cardinality, width })
            .into_iter()
            .collect()
    };
    CategoricalColumns {
        hist: last(dims.hist_exog, 3, 2),
        futr: last(dims.futr_exog, 2, 3),
        stat: last(dims.stat_exog, 1, 1),
    }
}

fn build(
    entry: &ModelEntry,
    own: &Map<String, Value>,
    dims: &Dims,
    categories: &CategoricalColumns,
) -> (Network, Params) {
    let mut table = Table::default();
    let network = entry.build(own, dims, categories, &mut table).expect("small sizes are valid");
    (network, table.initialise(7))
}

fn random(seed: u64, shape: &[usize]) -> Tensor {
    Tensor::build(shape, |out| {
        foretell_nn::Init::Uniform { bound: 2.0 }.fill(Key::new(seed), out);
    })
}

/// Windows as training gives them to a model with these needs.
fn windows(dims: &Dims, needs: &Needs) -> Windows {
    let batch = BATCH * dims.n_series;
    let future = dims.input_size + dims.horizon;
    // Step-by-step models see a target that is shifted by one step and reaches over the horizon.
    let seen = if needs.decoding.is_step_by_step() { future } else { dims.input_size };
    let exogenous =
        |seed, steps: usize, columns: usize| (columns > 0).then(|| random(seed, &[batch, steps, columns]));
    Windows {
        insample_y: random(1, &[batch, seen]),
        insample_mask: Tensor::full([batch, seen], 1.0),
        hist_exog: exogenous(2, seen, dims.hist_exog),
        futr_exog: exogenous(3, future, dims.futr_exog),
        stat_exog: (dims.stat_exog > 0).then(|| random(4, &[batch, dims.stat_exog])),
    }
}

/// The windows with category ids in their categorical columns.
fn encode_categories(mut windows: Windows, categories: &CategoricalColumns) -> Windows {
    let streams = [
        (&mut windows.hist_exog, &categories.hist),
        (&mut windows.futr_exog, &categories.futr),
        (&mut windows.stat_exog, &categories.stat),
    ];
    for (columns, categories) in streams {
        let Some(columns) = columns else { continue };
        let count = columns.shape()[columns.rank() - 1];
        for category in categories {
            let cells = columns.values_mut().iter_mut().skip(category.column).step_by(count);
            cells.enumerate().for_each(|(i, cell)| *cell = (i % (category.cardinality + 1)) as f32);
        }
    }
    windows
}

pub(crate) fn check(name: &str) {
    let entry = find(name).expect("a registered model");
    for own in entry.small() {
        for (exogenous, categorical) in [(false, false), (true, false), (true, entry.exogenous.cat)] {
            for outputs in [1, 3] {
                let dims = dims(entry, &own, outputs, exogenous);
                if outputs > 1 && entry.one_output {
                    several_outputs_are_an_error(entry, &dims);
                    continue;
                }
                let categories = if categorical { categories(&dims) } else { CategoricalColumns::default() };
                let (Network { model, needs }, params) = build(entry, &own, &dims, &categories);
                let windows = encode_categories(windows(&dims, &needs), &categories);
                let forecast = model.forward(&Forward::inference(&params), &windows.inputs());
                let rows = BATCH * dims.n_series;
                assert_eq!(
                    &*forecast.shape(),
                    [rows, dims.horizon, outputs],
                    "{name}: shape of the forecast"
                );
                assert!(
                    forecast.value().to_vec().iter().all(|y| y.is_finite()),
                    "{name}: the forecast is finite"
                );
                every_parameter_learns(name, model.as_ref(), &params, &windows, &dims);
                if needs.coupling == Coupling::Independent {
                    windows_do_not_mix(name, model.as_ref(), &params, &windows, dims.n_series);
                }
                if let Decoding::StepByStep { .. } = needs.decoding {
                    steps_are_the_whole_window(name, model.as_ref(), &params, &windows, &dims);
                }
                inference_records_nothing(name, model.as_ref(), &params, &windows.inputs());
                if !categorical {
                    // What a language model is told of a window changes with every digit of it.
                    if !own.contains_key("llm") {
                        gradients_are_slopes(name, model.as_ref(), &params, &windows);
                    }
                    explanations_are_weights(entry, model.as_ref(), &params, &windows, &dims);
                }
            }
        }
    }
    unknown_hyper_parameters_are_errors(name, entry);
}

fn several_outputs_are_an_error(entry: &ModelEntry, dims: &Dims) {
    let error = entry.build(&Map::new(), dims, &CategoricalColumns::default(), &mut Table::default()).err();
    assert!(error.is_some_and(|error| error.name == "loss"), "{entry:?}");
}

fn every_parameter_learns(name: &str, model: &dyn Model, params: &Params, windows: &Windows, dims: &Dims) {
    let output = model.forward(&Forward::training(params, Key::new(5)), &windows.inputs());
    let loss = match dims.outputs {
        1 => Loss::parse(&json!("MSE")).expect("a loss"),
        _ => Loss::multi_quantile(&[80]),
    };
    let target = random(9, &[windows.batch(), dims.horizon]);
    let weights = Tensor::full([windows.batch(), dims.horizon], 1.0);
    let mut gradients = vec![0.0; params.table().arena_len()];
    let truth = Targets::new(dims.horizon, target.values(), weights.values());
    loss.mean(&output, truth, target.numel() as f64).backward(&mut gradients);
    for entry in params.table().trained() {
        let own = &gradients[entry.offset..entry.offset + entry.shape.numel()];
        assert!(own.iter().any(|&g| g != 0.0), "{name}: {} gets no gradient", entry.name);
        assert!(own.iter().all(|g| g.is_finite()), "{name}: the gradient of {} is not finite", entry.name);
    }
}

fn windows_do_not_mix(name: &str, model: &dyn Model, params: &Params, windows: &Windows, rows: usize) {
    // Each has a run of its own, so that a model which draws random numbers draws the same in both.
    let forecast = |windows: &Windows| {
        model.forward(&Forward::inference(params), &windows.inputs()).value().narrow(0, 0, rows).to_vec()
    };
    let (together, alone) = (forecast(windows), forecast(&windows.rows(0..rows)));
    for (a, b) in alone.iter().zip(&together) {
        assert!((a - b).abs() < 1e-4, "{name}: a window's forecast is {a} alone and {b} among others");
    }
}

/// Reading a window step by step gives the forecast of the whole window at once.
fn steps_are_the_whole_window(
    name: &str,
    model: &dyn Model,
    params: &Params,
    windows: &Windows,
    dims: &Dims,
) {
    let cx = Forward::inference(params);
    let whole = model.forward(&cx, &windows.inputs()).value().clone();
    let mut state = StepState::default();
    let mut read = 0..dims.input_size + 1;
    for step in 0..dims.horizon {
        let output = model.step(&cx, &windows.steps(read.clone()).inputs(), &mut state).value().to_vec();
        let expected = whole.narrow(1, step, 1).to_vec();
        assert_eq!(output.len(), expected.len(), "{name}: numbers of one step");
        for (output, expected) in output.iter().zip(&expected) {
            let close = (output - expected).abs() < 1e-4;
            assert!(close, "{name}: step {step} is {output} by itself, {expected} among all");
        }
        read = read.end..read.end + 1;
    }
}

fn inference_records_nothing(name: &str, model: &dyn Model, params: &Params, windows: &Inputs) {
    let forecast = model.forward(&Forward::inference(params), windows);
    assert!(!forecast.edge().is_wanted(), "{name}: inference recorded a graph");
}

/// The gradient of a forecast by all inputs of a window is its slope along some direction. Models that choose (periods, delays,
/// queries) jump where the choice changes: of several pieces of the line at the window, one without a jump is enough.
fn gradients_are_slopes(name: &str, model: &dyn Model, params: &Params, windows: &Windows) {
    const PIECES: [[f32; 2]; 5] = [[-2e-3, 2e-3], [-5e-4, 5e-4], [0.0, 5e-4], [-5e-4, 0.0], [-2e-4, 2e-4]];
    let columns = [&windows.hist_exog, &windows.futr_exog, &windows.stat_exog];
    let tensors: Vec<&Tensor> =
        [&windows.insample_y].into_iter().chain(columns.into_iter().flatten()).collect();
    let randoms = |seed: u64| tensors.iter().map(move |x| random(seed, &x.shape()));
    // Equal steps of padding would tie where a model chooses.
    let x: Vec<Tensor> = tensors.iter().zip(randoms(30)).map(|(x, noise)| x.add(&noise.scale(0.1))).collect();
    let directions: Vec<Tensor> = randoms(31).collect();
    let forecast = |x: &[Var]| {
        let mut x = x.iter().cloned();
        let mut next = |like: bool| if like { x.next() } else { None };
        let inputs = Inputs {
            insample_y: next(true).expect("a target"),
            hist_exog: next(windows.hist_exog.is_some()),
            futr_exog: next(windows.futr_exog.is_some()),
            stat_exog: next(windows.stat_exog.is_some()),
            insample_mask: windows.insample_mask.clone(),
        };
        model.forward(&Forward::inference(params), &inputs)
    };
    let inputs: Vec<Var> = x.iter().cloned().map(Var::input).collect();
    let output = forecast(&inputs);
    let seed = random(32, &output.shape());
    output.backward_from(seed.clone(), &mut []);
    assert!(inputs[0].grad().is_some(), "{name}: no gradient reaches the target");
    let dot = |a: &Tensor, b: &Tensor| -> f64 {
        let (a, b) = (a.contiguous(), b.contiguous());
        a.values().iter().zip(b.values()).map(|(a, b)| f64::from(a * b)).sum()
    };
    let (mut found, mut squares) = (0.0, 0.0);
    for (input, direction) in inputs.iter().zip(&directions) {
        // Some columns a model does not read.
        let Some(gradient) = input.grad() else { continue };
        found += dot(&gradient, direction);
        squares += dot(&gradient, &gradient);
    }
    let at = |step: f32| {
        let moved = x.iter().zip(&directions).map(|(x, direction)| x.add(&direction.scale(step)));
        dot(forecast(&moved.map(Var::constant).collect::<Vec<_>>()).value(), &seed)
    };
    let slopes = PIECES.map(|[from, to]| (at(to) - at(from)) / f64::from(to - from));
    let most = 0.02 * squares.sqrt() + 0.005;
    assert!(
        slopes.iter().any(|slope| (slope - found).abs() < most),
        "{name}: gradient {found}, slopes {slopes:?}, difference of at most {most}"
    );
}

/// A model explains its forecasts exactly if its entry says so; the weights are of columns that it reads and add up
/// to 1.
fn explanations_are_weights(
    entry: &ModelEntry,
    model: &dyn Model,
    params: &Params,
    windows: &Windows,
    dims: &Dims,
) {
    let (name, rows) = (entry.name, windows.batch());
    let explanation = model.explain(&Forward::inference(params), &windows.inputs());
    assert_eq!(explanation.is_some(), entry.explains, "{name}: an explanation");
    let Some(Explanation { past, future, fixed, attention }) = explanation else { return };
    let &Dims { input_size, horizon, hist_exog, futr_exog, stat_exog, .. } = dims;
    let parts = [(past, vec![rows, input_size]), (future, vec![rows, horizon]), (fixed, vec![rows])];
    let steps = input_size + horizon;
    let attention = attention.map(|attention| (attention, vec![rows, steps, steps]));
    let weights = parts.into_iter().filter_map(|(part, places)| {
        let VariableWeights { variables, weights } = part?;
        for variable in &variables {
            let known = match *variable {
                Variable::Hist(i) => i < hist_exog,
                Variable::Futr(i) => i < futr_exog,
                Variable::Stat(i) => i < stat_exog,
                Variable::Target(_) => true,
                Variable::LastTarget => futr_exog == 0,
            };
            assert!(known, "{name}: {variable:?} of {dims:?}");
        }
        Some((weights, [places, vec![variables.len()]].concat()))
    });
    for (weights, shape) in weights.chain(attention) {
        assert_eq!(*weights.shape(), shape, "{name}: shape of weights");
        let sums = weights.sum(shape.len() - 1).to_vec();
        assert!(sums.iter().all(|sum| (sum - 1.0).abs() < 1e-5), "{name}: sums of weights {sums:?}");
    }
}

fn unknown_hyper_parameters_are_errors(name: &str, entry: &ModelEntry) {
    let unknown = Map::from_iter([("no_such_thing".to_owned(), Value::Null)]);
    let dims = dims(entry, &Map::new(), 1, false);
    let error = entry.build(&unknown, &dims, &CategoricalColumns::default(), &mut Table::default()).err();
    assert!(error.is_some_and(|error| error.to_string().contains("no_such_thing")), "{name}");
}
