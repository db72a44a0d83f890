//! A checkpoint put together by hand, and the losses it and the fixtures have.

use serde_json::{Value, json};

use crate::{
    Checkpoint, Column, Configuration, Dataset, FittedScaler, Frequency, LossSpec, ModelFile, TensorData,
};

const H: usize = 3;
const L: usize = 4;
const ROWS: [usize; 2] = [12, 14];

/// Two models of a panel of two series with future, historic and static columns, scaled by series;
/// times are days from 1970-01-01, or integers.
pub(crate) fn checkpoint(integer_times: bool) -> Checkpoint {
    let freq = if integer_times { Frequency::Step(1) } else { Frequency::Alias("D".into()) };
    let mut configuration = Configuration::new(H, freq);
    let times = |days: Vec<i64>| match integer_times {
        true => Column::Integers(days),
        false => Column::microseconds(days.into_iter().map(|day| day * 86_400_000_000).collect()),
    };
    configuration.uids = Some(match integer_times {
        true => Column::Integers(vec![4, 9]),
        false => Column::Text(vec!["north".into(), "süd".into()]),
    });
    configuration.last_dates = Some(times(ROWS.map(|n| n as i64 - 1).to_vec()));
    configuration.ds = Some(times(ROWS.iter().flat_map(|&n| 0..n as i64).collect()));
    configuration.local_scaler_type = Some("standard".into());
    // Offset 10 and scale 2 for both series: the models see (value - 10) / 2.
    for column in ["y", "f", "h"] {
        let stats = Some(TensorData::f32([2, 2], vec![10.0, 2.0, 10.0, 2.0]));
        let scaler = FittedScaler { kind: "standard".into(), stats };
        configuration.scalers.insert(column.into(), scaler);
    }
    Checkpoint {
        configuration,
        models: vec![multi_quantile(), nlinear()],
        plain_models: Vec::new(),
        dataset: Some(dataset()),
    }
}

/// A point loss with one argument.
pub(crate) fn with_arg(class: &str, name: &str, value: impl Into<Value>) -> LossSpec {
    let mut loss = LossSpec::point(class);
    loss.args.insert(name.into(), value.into());
    loss
}

/// The loss that `MQLoss(level=[80, 90])` is stored as.
pub(crate) fn levels_80_and_90() -> LossSpec {
    LossSpec {
        output_names: ["-median", "-lo-90", "-lo-80", "-hi-80", "-hi-90"].map(String::from).to_vec(),
        quantiles: Some(vec![0.5, 0.05, 0.1, 0.9, 0.95]),
        ..with_arg("MQLoss", "level", vec![80, 90])
    }
}

/// Forecasts each step as the last value plus half of the last rise.
fn nlinear() -> ModelFile {
    let mut model = ModelFile::new("last_rise", "NLinear");
    let hyper_parameters = json!({"h": H, "input_size": L, "accelerator": "cpu", "logger": false});
    model.hyper_parameters = hyper_parameters.as_object().unwrap().clone();
    let horizon_weight = Some(vec![1.0, 2.0, 3.0]);
    model.set_losses(&LossSpec { horizon_weight, ..with_arg("HuberLoss", "delta", 0.5) }, None);
    let weight = [0.0, 0.0, -0.5, 0.0].repeat(H);
    model.tensors.insert("linear.weight".into(), TensorData::f32([H, L], weight));
    model.tensors.insert("linear.bias".into(), TensorData::f32([H], vec![0.0; H]));
    model
}

fn multi_quantile() -> ModelFile {
    let (inputs, hidden, outputs) = (L + L + (L + H) + 1, 2, H * 5);
    let mut model = ModelFile::new("MLP", "MLP");
    let hyper_parameters = json!({
        "h": H, "input_size": L, "num_layers": 1, "hidden_size": hidden, "scaler_type": "standard",
        "futr_exog_list": ["f"], "hist_exog_list": ["h"], "stat_exog_list": ["s"],
        "accelerator": "cpu", "logger": false,
    });
    model.hyper_parameters = hyper_parameters.as_object().unwrap().clone();
    model.set_losses(&levels_80_and_90(), None);
    for (name, rows, columns) in [("mlp.0", hidden, inputs), ("out", outputs, hidden)] {
        let weight = (0..rows * columns).map(|i| (i as f32).sin() / 4.0).collect();
        let bias = (0..rows).map(|i| i as f32 / 16.0).collect();
        model.tensors.insert(format!("{name}.weight"), TensorData::f32([rows, columns], weight));
        model.tensors.insert(format!("{name}.bias"), TensorData::f32([rows], bias));
    }
    model
}

/// `y` rises by its row's number, `f` and `h` are waves; all as they are after scaling.
fn dataset() -> Dataset {
    let row = |t: usize| {
        let t = t as f32;
        [t * (t + 1.0) / 2.0, (t / 2.0).sin(), (t / 3.0).cos(), 1.0]
    };
    Dataset {
        columns: ["y", "f", "h", "available_mask"].map(String::from).to_vec(),
        temporal: ROWS.iter().flat_map(|&n| (0..n).flat_map(row)).collect(),
        indptr: vec![0, ROWS[0], ROWS[0] + ROWS[1]],
        target: 0,
        static_columns: vec!["s".into()],
        static_values: vec![0.25, 0.75],
        updated: false,
    }
}
