//! Every model against neuralforecast: the same weights must give the same forecast, the same loss and
//! the same gradients, and ten steps of training the same losses. `tests/fixtures/` holds one file per model with
//! all its cases, written by `compare/models.py`.

mod dropout;
mod packed;

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use foretell_checkpoint::{TensorData, TensorFile, TensorValues};
use foretell_nn::{Dims, Forward, Key, Loss, Model, Params, Table, Targets, Tensor, Windows};
use foretell_optim::{AdamConfig, Optimizer, Rule};
use serde_json::{Map, Value};

use crate::{CategoricalColumn, CategoricalColumns, MODELS, ModelEntry, find, with_implicit_quantiles};

/// The seed that the models of the fixtures were initialised with.
const RANDOM_SEED: u64 = 1;

/// How the names of positional encodings end.
const POSITIONS: [&str; 2] = ["position_embedding.pe", "positional_embedding.position_embedding"];

/// How the names of fixed encodings of times end: sines and cosines, too.
const TIMES: &str = "_embed.emb.weight";

/// A gradient of more numbers stands in the files as the sums of every 17th: any number that is wrong shows in one of them.
const SUMS: usize = 17;

/// A gradient, or its sums, as `compare/models.py` has them.
fn folded(gradient: &[f32]) -> Cow<'_, [f32]> {
    if gradient.len() <= SUMS {
        return gradient.into();
    }
    let sum =
        |first: usize| gradient[first..].iter().step_by(SUMS).map(|&g| f64::from(g)).sum::<f64>() as f32;
    (0..SUMS).map(sum).collect()
}

/// A case: its hyper-parameters, the tensors of its file, and the differences found.
struct Case<'f> {
    name: &'f str,
    entry: &'static ModelEntry,
    hyper: &'f Map<String, Value>,
    tensors: &'f BTreeMap<String, TensorData>,
    faults: RefCell<Vec<String>>,
}

impl Case<'_> {
    fn get(&self, name: &str) -> Option<&TensorData> {
        self.tensors.get(&format!("{}/{name}", self.name))
    }

    /// A tensor of the case; complex numbers get one more dimension, of real and imaginary part.
    fn tensor(&self, name: &str) -> Tensor {
        let data = self.get(name).unwrap_or_else(|| panic!("no tensor {name}"));
        match data.values() {
            TensorValues::C64(numbers) => {
                Tensor::from_slice(numbers.as_flattened(), &[data.shape(), &[2]].concat()[..])
            }
            _ => Tensor::from_slice(data.as_f32().expect("f32"), data.shape()),
        }
    }

    /// A tensor `[batch, steps, 1]` without the last dimension.
    fn steps(&self, name: &str) -> Tensor {
        let tensor = self.tensor(name);
        tensor.reshape(&tensor.shape()[..2])
    }

    fn loss(&self) -> Loss {
        let Some(tagged) = self.hyper.get("loss") else { return Loss::mae() };
        let mut arguments = tagged["args"].as_object().expect("arguments").clone();
        if arguments.get("distribution").is_some_and(|name| name == "Tweedie") {
            arguments.insert("softplus".to_owned(), true.into());
        }
        Loss::new(tagged["cls"].as_str().expect("a class"), &arguments).expect("a loss")
    }

    fn dims(&self, loss: &Loss) -> Dims {
        let number = |key: &str| self.hyper[key].as_u64().expect("a number") as usize;
        let count = |key: &str| self.hyper.get(key).and_then(Value::as_array).map_or(0, Vec::len);
        Dims {
            input_size: number("input_size"),
            horizon: number("h"),
            hist_exog: count("hist_exog_list"),
            futr_exog: count("futr_exog_list"),
            stat_exog: count("stat_exog_list"),
            outputs: loss.outputs(),
            distribution: loss.is_distribution(),
            by_parameter: loss.is_read_by_parameter(),
            n_series: self.hyper.get("n_series").and_then(Value::as_u64).unwrap_or(1) as usize,
        }
    }

    fn categories(&self) -> CategoricalColumns {
        let names = |key: &str| -> Vec<&str> {
            let names = self.hyper.get(key).and_then(Value::as_array).into_iter().flatten();
            names.map(|name| name.as_str().expect("a name")).collect()
        };
        let all = names("cat_exog_list");
        let columns_of = |key: &str| {
            let columns = names(key);
            let place = |name: &&str| columns.iter().position(|column| column == name);
            let category = |name: &&str| {
                let cardinality = self.hyper["categorical_cardinalities"][name].as_u64()? as usize;
                let rule = self.hyper.get("cat_emb_dim").cloned().unwrap_or("fastai".into());
                let width = CategoricalColumn::width(&rule, cardinality).expect("a rule");
                Some(CategoricalColumn { column: place(name)?, cardinality, width })
            };
            all.iter().filter_map(category).collect()
        };
        CategoricalColumns {
            hist: columns_of("hist_exog_list"),
            futr: columns_of("futr_exog_list"),
            stat: columns_of("stat_exog_list"),
        }
    }

    fn windows(&self) -> Windows {
        let optional = |name: &str| self.get(name).is_some().then(|| self.tensor(name));
        Windows {
            insample_y: self.steps("inputs/insample_y"),
            insample_mask: self.steps("inputs/insample_mask"),
            hist_exog: optional("inputs/hist_exog"),
            futr_exog: optional("inputs/futr_exog"),
            stat_exog: optional("inputs/stat_exog"),
        }
    }

    /// The largest difference must be within `tolerance` of the largest value.
    fn expect_close(&self, what: &str, actual: &[f32], expected: &[f32], tolerance: f32) {
        if actual.len() != expected.len() {
            self.fault(format!("{what} has {} values, in neuralforecast {}", actual.len(), expected.len()));
            return;
        }
        let scale = expected.iter().fold(f32::MIN_POSITIVE, |scale, x| scale.max(x.abs()));
        let far = |&i: &usize| {
            let difference = (actual[i] - expected[i]).abs();
            difference.is_nan() || difference > tolerance * scale
        };
        let Some(first) = (0..actual.len()).find(far) else { return };
        let count = (first..actual.len()).filter(far).count();
        let (here, there) = (actual[first], expected[first]);
        self.fault(format!(
            "{what}[{first}] is {here}, in neuralforecast {there}; {count} of {} values differ by more than \
             {tolerance:e} of the largest, {scale}",
            actual.len(),
        ));
    }

    fn fault(&self, text: String) {
        self.faults.borrow_mut().push(text);
    }

    /// The case's model with its weights.
    fn network(&self, loss: &Loss) -> (Arc<dyn Model>, Params) {
        let own_names = self.entry.own_defaults();
        let own = self.hyper.iter().filter(|(name, _)| own_names.contains_key(*name));
        let upstream = self.entry.upstream.iter().map(|(name, value)| ((*name).to_owned(), (*value).into()));
        let own: Map<_, _> = upstream.chain(own.map(|(name, value)| (name.clone(), value.clone()))).collect();
        let mut table = Table::default();
        table.set_seed(RANDOM_SEED);
        let mut network = (self.entry)
            .build(&own, &self.dims(loss), &self.categories(), &mut table)
            .unwrap_or_else(|error| panic!("{error}"));
        if let Some(sizes) = loss.implicit() {
            network = with_implicit_quantiles(network, sizes, &mut table);
        }

        let mut expected: Vec<&str> = table.entries().iter().map(|entry| entry.name.as_str()).collect();
        expected.extend(table.aliases().iter().map(|alias| alias.name.as_str()));
        expected.sort_unstable();
        let weights = format!("{}/weights/", self.name);
        let names: Vec<&str> = (self.tensors.keys())
            .filter_map(|name| name.strip_prefix(&weights))
            .filter(|name| !name.starts_with("valid_loss."))
            .filter(|name| !name.starts_with("loss.") || name.contains("output_layer."))
            .collect();
        assert_eq!(expected, names, "names of the state dictionary");

        let mut params = table.initialise(0);
        for i in 0..params.table().entries().len() {
            let entry = params.table().entries()[i].clone();
            let name = format!("weights/{}", entry.name);
            if let Some(TensorValues::I64(count)) = self.get(&name).map(TensorData::values) {
                params.set_counter(i, count[0]);
                continue;
            }
            let weights = self.tensor(&name);
            // A file holds only the first positions of an encoding, whose angles are rounded to single precision.
            if entry.is_constant() && POSITIONS.iter().any(|end| entry.name.ends_with(end)) {
                let (shape, places) = (entry.shape, weights.shape()[1]);
                assert_eq!(*weights.shape(), [1, places, shape[2]], "shape of {}", entry.name);
                let positions = &params.values(&entry)[..weights.numel()];
                self.expect_close(&name, positions, weights.values(), 1e-6);
                continue;
            }
            assert_eq!(weights.shape(), entry.shape, "shape of {}", entry.name);
            if entry.is_constant() && entry.name.ends_with(TIMES) {
                self.expect_close(&name, params.values(&entry), weights.values(), 1e-6);
            } else if entry.is_constant() {
                assert_eq!(params.values(&entry), weights.values(), "the constant {}", entry.name);
            }
            params.set(i, weights.values());
        }
        (network.model, params)
    }

    fn check(&self) {
        let loss = self.loss();
        let (model, mut params) = self.network(&loss);
        let (windows, target, mut weights) = (self.windows(), self.steps("target"), self.steps("mask"));
        let horizon = target.shape()[1];
        loss.weigh(weights.values_mut(), horizon);
        let total: f64 = weights.values().iter().map(|&w| f64::from(w)).sum();
        let history = windows.insample_y.values().chunks_exact(windows.insample_y.shape()[1]);
        let error_scale: Vec<f32> =
            history.map(|history| loss.error_scale(history, &vec![1.0; history.len()])).collect();
        let values_or_none = |name: &str| self.get(name).map_or(&[][..], |data| data.as_f32().expect("f32"));
        let truth = Targets {
            error_scale: &error_scale,
            loc: values_or_none("loc"),
            scale: values_or_none("scale"),
            ..Targets::new(horizon, target.values(), weights.values())
        };
        // The forecast of inference, where it differs from that of training.
        if let Some(forecast) = self.get("forecast") {
            let cx = Forward::inference(&params).with_key(Key::new(1));
            let output = model.forward(&cx, &windows.inputs()).value().contiguous();
            self.expect_close("forecast", output.values(), forecast.as_f32().expect("f32"), 1e-5);
        }
        // The forecast, the loss and its gradient at these weights; then the running state is updated.
        let step = |params: &mut Params, gradients: &mut [f32]| {
            let cx = Forward::training(params, Key::new(1));
            let output = model.forward(&cx, &windows.inputs());
            let updates = cx.into_updates();
            let mean = loss.mean(&output, truth, total);
            let (value, slope) = loss.value_and_slope(loss.part(mean.value().item().into(), truth, total));
            gradients.fill(0.0);
            mean.backward(gradients);
            gradients.iter_mut().for_each(|gradient| *gradient *= slope as f32);
            params.apply(updates);
            (output.value().contiguous(), value as f32)
        };

        let mut gradients = vec![0.0; params.table().arena_len()];
        let (output, value) = step(&mut params, &mut gradients);
        assert_eq!(output.shape(), self.tensor("output").shape(), "shape of the output");
        self.expect_close("output", output.values(), self.tensor("output").values(), 1e-5);
        self.expect_close("loss", &[value], self.tensor("loss").values(), 1e-5);
        // Gradients that the file lacks are 0 up to rounding, in neuralforecast too; their parameters are not
        // trained.
        let mut residues = Vec::new();
        let largest = gradients.iter().fold(0.0_f32, |largest, g| largest.max(g.abs()));
        for entry in params.table().trained() {
            let name = format!("grads/{}", entry.name);
            let range = entry.offset..entry.offset + entry.shape.numel();
            match self.get(&name) {
                Some(_) => {
                    let expected = self.tensor(&name);
                    self.expect_close(&name, &folded(&gradients[range]), expected.values(), 1e-4);
                }
                None => {
                    let rounding = gradients[range.clone()].iter().all(|g| g.abs() <= 1e-5 * largest);
                    assert!(rounding, "{name}, 0 in neuralforecast, is {:?}", &gradients[range]);
                    residues.push(range);
                }
            }
        }

        let mut adam = Optimizer::new(gradients.len(), Rule::Adam(AdamConfig::default()), None);
        let losses: Vec<f32> = (0..10)
            .map(|_| {
                let (_, loss) = step(&mut params, &mut gradients);
                residues.iter().for_each(|range| gradients[range.clone()].fill(0.0));
                adam.step(params.arena_mut(), &[&gradients], 0.01);
                loss
            })
            .collect();
        self.expect_close("losses", &losses, self.tensor("losses").values(), 1e-3);
        for entry in params.table().entries() {
            let name = format!("state/{}", entry.name);
            match (self.get(&name).map(TensorData::values), params.counter(entry)) {
                (Some(TensorValues::F32(expected)), None) => {
                    self.expect_close(&name, params.values(entry), expected, 1e-4);
                }
                (Some(TensorValues::I64(expected)), Some(counter)) => {
                    assert_eq!([counter], expected[..], "{name}")
                }
                (None, None) => {}
                (expected, counter) => panic!("{name} is {counter:?}, in neuralforecast {expected:?}"),
            }
        }
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// Tests every case of a model against neuralforecast.
///
/// # Panics
/// If anything differs, with all differences of all cases.
pub(crate) fn check(model: &str) {
    let entry = find(model).expect("a registered model");
    let path = folder().join(format!("{}.safetensors", entry.name));
    let file = TensorFile::read(&path)
        .unwrap_or_else(|error| panic!("{error}; `python compare/models.py {}` writes it", entry.name));
    let cases: Map<String, Value> =
        serde_json::from_str(&file.metadata["cases"]).expect("an object of cases");
    assert!(cases.len() >= 5, "{} has {} cases; add some to compare/models.py", entry.name, cases.len());

    let tensors = packed::unpack(&file);
    let mut faults = Vec::new();
    for (name, hyper) in &cases {
        let hyper = hyper.as_object().expect("hyper-parameters");
        let case = Case { name, entry, hyper, tensors: &tensors, faults: RefCell::default() };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| case.check())) {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            case.fault(text.unwrap_or("a panic without a message").to_owned());
        }
        faults.extend(case.faults.take().into_iter().map(|fault| format!("{name}: {fault}")));
    }
    assert!(faults.is_empty(), "{} against neuralforecast:\n{}", entry.name, faults.join("\n"));
}

#[test]
fn every_file_of_cases_is_of_a_model() {
    let files = std::fs::read_dir(folder()).expect("the fixtures");
    let found: BTreeSet<String> =
        files.map(|file| file.expect("a file").file_name().to_string_lossy().into_owned()).collect();
    let expected = MODELS.iter().map(|entry| format!("{}.safetensors", entry.name)).collect();
    assert_eq!(found, expected, "compare/models.py writes one file a model");
}
