//! What every model of the zoo must do, whatever it computes.

use foretell_nn::{
    Coupling, Dims, Forward, Inputs, Key, Loss, Model, Network, Params, SeriesPerWindow, Table, Tensor,
    Truth, Windows,
};
use serde_json::{Map, Value, json};

use crate::{Categories, Category, find};

const BATCH: usize = 6;

fn dims(name: &str, outputs: usize, exogenous: bool) -> Dims {
    let reads = find(name).expect("a registered model").exogenous;
    let columns = |reads: bool, count| if reads && exogenous { count } else { 0 };
    Dims {
        hist_exog: columns(reads.hist, 2),
        futr_exog: columns(reads.futr, 1),
        stat_exog: columns(reads.stat, 3),
        outputs,
        n_series: if is_multivariate(name) { 3 } else { 1 },
        ..Dims::new(13, 5)
    }
}

fn is_multivariate(name: &str) -> bool {
    let needs = find(name).expect("a registered model").needs(&Map::new(), &Dims::new(1, 1));
    needs.expect("the defaults are valid").series == SeriesPerWindow::All
}

/// One column of each kind, the last, may be one of categories.
fn categories(dims: &Dims) -> Categories {
    let last = |columns: usize, cardinality, width| {
        columns.checked_sub(1).map(|column| Category { column, cardinality, width }).into_iter().collect()
    };
    Categories {
        hist: last(dims.hist_exog, 3, 2),
        futr: last(dims.futr_exog, 2, 3),
        stat: last(dims.stat_exog, 1, 1),
    }
}

fn build(name: &str, dims: &Dims, categories: &Categories) -> (Network, Params) {
    let mut table = Table::default();
    let model = find(name)
        .expect("a registered model")
        .build(&Map::new(), dims, categories, &mut table)
        .expect("the defaults are valid");
    (model, table.initialise(7))
}

fn random(seed: u64, shape: &[usize]) -> Tensor {
    Tensor::build(shape, |out| {
        foretell_nn::Init::Uniform { bound: 2.0 }.fill(Key::new(seed), out);
    })
}

fn windows(dims: &Dims, batch: usize) -> Windows {
    let exogenous =
        |seed, steps: usize, columns: usize| (columns > 0).then(|| random(seed, &[batch, steps, columns]));
    Windows {
        insample_y: random(1, &[batch, dims.input_size]),
        insample_mask: Tensor::full([batch, dims.input_size], 1.0),
        hist_exog: exogenous(2, dims.input_size, dims.hist_exog),
        futr_exog: exogenous(3, dims.input_size + dims.horizon, dims.futr_exog),
        stat_exog: (dims.stat_exog > 0).then(|| random(4, &[batch, dims.stat_exog])),
    }
}

/// The windows with numbers of categories in the columns that hold them.
fn numbered(mut windows: Windows, categories: &Categories) -> Windows {
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
    let embeds = find(name).expect("a registered model").exogenous.cat;
    for (exogenous, categorical) in [(false, false), (true, false), (true, embeds)] {
        for outputs in [1, 3] {
            let dims = dims(name, outputs, exogenous);
            let categories = if categorical { categories(&dims) } else { Categories::default() };
            let (Network { model, needs }, params) = build(name, &dims, &categories);
            let windows = numbered(windows(&dims, BATCH * dims.n_series), &categories);
            let forecast = model.forward(&Forward::inference(&params), &windows.inputs());
            let rows = BATCH * dims.n_series;
            assert_eq!(&*forecast.shape(), [rows, dims.horizon, outputs], "{name}: shape of the forecast");
            assert!(
                forecast.value().to_vec().iter().all(|y| y.is_finite()),
                "{name}: the forecast is finite"
            );
            every_parameter_learns(name, model.as_ref(), &params, &windows, &dims);
            if needs.coupling == Coupling::Independent {
                windows_do_not_mix(name, model.as_ref(), &params, &windows, dims.n_series);
            }
            inference_records_nothing(name, model.as_ref(), &params, &windows.inputs());
        }
    }
    unknown_hyper_parameters_are_errors(name);
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
    let truth = Truth::new(dims.horizon, target.values(), weights.values());
    loss.mean(&output, truth, target.numel() as f64).backward(&mut gradients);
    for entry in params.table().trained() {
        let own = &gradients[entry.offset..entry.offset + entry.shape.numel()];
        assert!(own.iter().any(|&g| g != 0.0), "{name}: {} gets no gradient", entry.name);
        assert!(own.iter().all(|g| g.is_finite()), "{name}: the gradient of {} is not finite", entry.name);
    }
}

fn windows_do_not_mix(name: &str, model: &dyn Model, params: &Params, windows: &Windows, rows: usize) {
    let cx = Forward::inference(params);
    let together = model.forward(&cx, &windows.inputs()).value().narrow(0, 0, rows).to_vec();
    let alone = model.forward(&cx, &windows.rows(0..rows).inputs()).value().to_vec();
    for (a, b) in alone.iter().zip(&together) {
        assert!((a - b).abs() < 1e-4, "{name}: a window's forecast is {a} alone and {b} among others");
    }
}

fn inference_records_nothing(name: &str, model: &dyn Model, params: &Params, windows: &Inputs) {
    let forecast = model.forward(&Forward::inference(params), windows);
    assert!(!forecast.edge().is_wanted(), "{name}: inference recorded a graph");
}

fn unknown_hyper_parameters_are_errors(name: &str) {
    let given = Map::from_iter([("no_such_thing".to_owned(), Value::Null)]);
    let dims = dims(name, 1, false);
    let entry = find(name).expect("a registered model");
    let error = entry.build(&given, &dims, &Categories::default(), &mut Table::default()).err();
    assert!(error.is_some_and(|error| error.to_string().contains("no_such_thing")), "{name}");
}
