//! The effect of dropout on the outputs of each model, against neuralforecast.
//!
//! neuralforecast draws from another generator, so distributions are compared: `tests/dropout.safetensors`, written by
//! `compare/dropout.py`, holds the mean and the standard deviation of each output of one window over ten thousand passes
//! in training mode, with every rate at 0.3. All other draws in training are included: the pooling of SOFTS
//! and SOFTSSharp, Informer's keys.

use super::*;

/// Copies of the window in a batch, each with draws of its own, and batches.
const COPIES: usize = 500;
const BATCHES: u64 = 20;
const DRAWS: u64 = COPIES as u64 * BATCHES;

/// How far means may differ, in standard errors of their difference: beyond what chance does to 130 outputs. The errors are those
/// of independent passes, which those of a batch are not in models that couple it.
const STANDARD_ERRORS: f64 = 5.0;

/// How far the standard deviation of an output may differ, and the root of the summed variances of all outputs of a model. Ten
/// thousand draws tell a deviation within about 1 %.
const DEVIATION: f64 = 0.12;
const ALL_DEVIATIONS: f64 = 0.03;

/// The rows of a tensor, all of them this many times.
fn copies(tensor: &Tensor, count: usize) -> Tensor {
    let mut shape = tensor.shape();
    shape[0] *= count;
    Tensor::from_slice(&tensor.contiguous().values().repeat(count), shape)
}

/// Mean and standard deviation of each output over all draws.
fn moments(case: &Case<'_>) -> Vec<(f64, f64)> {
    let (model, params) = case.network(&case.loss());
    let window = case.windows();
    let copies_if_any = |tensor: &Option<Tensor>| tensor.as_ref().map(|tensor| copies(tensor, COPIES));
    let windows = Windows {
        insample_y: copies(&window.insample_y, COPIES),
        insample_mask: copies(&window.insample_mask, COPIES),
        hist_exog: copies_if_any(&window.hist_exog),
        futr_exog: copies_if_any(&window.futr_exog),
        stat_exog: copies_if_any(&window.stat_exog),
    };
    let mut sums = Vec::new();
    for batch in 0..BATCHES {
        let cx = Forward::training(&params, Key::new(batch));
        let output = model.forward(&cx, &windows.inputs()).value().contiguous();
        let numbers = output.values();
        sums.resize(numbers.len() / COPIES, (0.0, 0.0));
        for copy in numbers.chunks_exact(sums.len()) {
            for ((sum, squares), &x) in sums.iter_mut().zip(copy) {
                *sum += f64::from(x);
                *squares += f64::from(x) * f64::from(x);
            }
        }
    }
    let draws = DRAWS as f64;
    let moments = |(sum, squares): (f64, f64)| {
        let mean = sum / draws;
        (mean, (squares / draws - mean * mean).max(0.0).sqrt())
    };
    sums.into_iter().map(moments).collect()
}

/// Whether a difference is within a bound; NaN is not.
fn near(difference: f64, bound: f64) -> bool {
    difference.abs() <= bound
}

fn check(case: &Case<'_>) {
    let moments = moments(case);
    let (mean, deviation) = (case.tensor("mean"), case.tensor("deviation"));
    let expected: Vec<(f64, f64)> =
        mean.values().iter().zip(deviation.values()).map(|(&m, &d)| (m.into(), d.into())).collect();
    assert_eq!(moments.len(), expected.len(), "outputs");
    assert!(expected.iter().all(|(_, d)| *d > 0.0), "{}: an output that no draw reaches", case.name);
    let root = |moments: &[(f64, f64)]| moments.iter().map(|(_, d)| d * d).sum::<f64>().sqrt();
    let (all, all_expected) = (root(&moments), root(&expected));
    if !near(all / all_expected - 1.0, ALL_DEVIATIONS) {
        case.fault(format!("the outputs' deviation is {all:.4}, in neuralforecast {all_expected:.4}"));
    }
    for (i, ((m, d), (mean, deviation))) in moments.into_iter().zip(expected).enumerate() {
        let error = ((d * d + deviation * deviation) / DRAWS as f64).sqrt();
        if !near(m - mean, STANDARD_ERRORS * error) {
            case.fault(format!("the mean of output {i} is {m:.4} ± {error:.4}, in neuralforecast {mean:.4}"));
        }
        if !near(d / deviation - 1.0, DEVIATION) {
            case.fault(format!("the deviation of output {i} is {d:.4}, in neuralforecast {deviation:.4}"));
        }
    }
}

/// Every second case, so that two tests run side by side.
fn check_half(first: usize) {
    let (file, cases) = file();
    let mut faults = Vec::new();
    for (name, hyper) in cases.iter().skip(first).step_by(2) {
        let (entry, hyper) =
            (find(name).expect("a registered model"), hyper.as_object().expect("hyper-parameters"));
        let case = Case { name, entry, hyper, tensors: &file.tensors, faults: RefCell::default() };
        check(&case);
        faults.extend(case.faults.take().into_iter().map(|fault| format!("{name}: {fault}")));
    }
    assert!(faults.is_empty(), "dropout against neuralforecast:\n{}", faults.join("\n"));
}

/// What neuralforecast gave, and its cases: hyper-parameters by model.
fn file() -> (TensorFile, Map<String, Value>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dropout.safetensors");
    let file = TensorFile::read(&path).unwrap_or_else(|error| panic!("{error}"));
    let cases = serde_json::from_str(&file.metadata["cases"]).expect("an object of cases");
    (file, cases)
}

#[test]
fn dropout_does_the_same_as_in_neuralforecast() {
    check_half(0);
}

#[test]
fn dropout_does_the_same_as_in_neuralforecast_in_the_other_half() {
    check_half(1);
}

#[test]
fn no_model_with_dropout_is_left_out() {
    let (file, cases) = file();
    assert_eq!(file.metadata["copies"], COPIES.to_string());
    assert_eq!(file.metadata["draws"], DRAWS.to_string());
    let with_dropout = |entry: &&ModelEntry| entry.own_defaults().keys().any(|key| key.contains("dropout"));
    let missing: Vec<&str> = (MODELS.iter().filter(with_dropout))
        .map(|entry| entry.name)
        .filter(|name| !cases.contains_key(*name) && !["NBEATS", "StemGNN"].contains(name))
        .collect();
    assert!(missing.is_empty(), "models with dropout that compare/dropout.py leaves out: {missing:?}");
}
