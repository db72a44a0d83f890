//! Directories that neuralforecast wrote are read completely and written again without loss.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::support;
use crate::{
    Checkpoint, CheckpointError, Column, Configuration, Frequency, LossSpec, ModelFile, TensorFile,
    TensorValues, check_names, torch_class_name,
};

const DAY: i64 = 86_400_000_000;
const DAYS_TO_2020: i64 = 18_262;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn load(name: &str) -> Checkpoint {
    Checkpoint::load(fixtures().join(name)).unwrap()
}

fn names(checkpoint: &Checkpoint) -> Vec<(&str, &str)> {
    checkpoint.models.iter().map(|m| (m.alias.as_str(), m.class.as_str())).collect()
}

fn quantile_loss(q: f64) -> LossSpec {
    let output_names = vec![format!("_ql{q}")];
    LossSpec { output_names, ..support::with_arg("QuantileLoss", "q", q) }
}

fn sum(values: &TensorValues) -> f64 {
    match values {
        TensorValues::F32(v) => v.iter().map(|&x| f64::from(x)).sum(),
        TensorValues::F64(v) => v.iter().sum(),
        TensorValues::I32(v) => v.iter().map(|&x| f64::from(x)).sum(),
        TensorValues::I64(v) => v.iter().map(|&x| x as f64).sum(),
        TensorValues::C64(v) => v.iter().flatten().map(|&x| f64::from(x)).sum(),
        other => panic!("no fixture holds {other:?}"),
    }
}

/// Names, shapes and sums of all tensors of all fixtures, as safetensors' own Python reader has them.
#[test]
fn every_tensor_is_read_as_python_reads_it() {
    let expected: Value =
        serde_json::from_slice(&fs::read(fixtures().join("expected.json")).unwrap()).unwrap();
    let mut tensors = 0;
    for (file, expected) in expected.as_object().unwrap() {
        let tensors_read = TensorFile::read(fixtures().join(file)).unwrap().tensors;
        let expected = expected.as_object().unwrap();
        assert!(expected.keys().eq(tensors_read.keys()), "{file}");
        for (name, tensor) in &tensors_read {
            assert_eq!(json!(tensor.shape()), expected[name][0], "{file} {name}");
            let (ours, theirs) = (sum(tensor.values()), expected[name][1].as_f64().unwrap());
            assert!((ours - theirs).abs() <= 1e-9 * theirs.abs().max(1.0), "{file} {name}: {ours} {theirs}");
            tensors += 1;
        }
    }
    assert!(tensors > 100, "only {tensors} tensors");
}

#[test]
fn models_come_in_the_order_of_the_list() {
    let plain = load("plain");
    assert_eq!(names(&plain), [("my_model", "DLinear"), ("my_model", "DLinear"), ("NLinear", "NLinear")]);
    let losses: Vec<_> = plain.models.iter().map(|model| model.loss().unwrap()).collect();
    assert_eq!(
        losses,
        [LossSpec::point("MSE"), support::with_arg("HuberLoss", "delta", 0.5), LossSpec::point("MAE")]
    );
    assert!(plain.models.iter().all(|model| model.valid_loss().unwrap().is_none()));
}

#[test]
fn the_panel_is_read() {
    let plain = load("plain");
    let Configuration { h, freq, fitted, uids, last_dates, ds, .. } = &plain.configuration;
    assert_eq!((*h, freq, *fitted), (3, &Frequency::Alias("D".into()), true));
    assert_eq!(uids, &Some(Column::Text(["a", "b", "c"].map(String::from).to_vec())));
    let last = [13, 14, 15].map(|day| (DAYS_TO_2020 + day) * DAY);
    assert_eq!(last_dates, &Some(Column::microseconds(last.to_vec())));
    let days = ds.as_ref().unwrap().to_microseconds().unwrap();
    assert_eq!((days.len(), days[13], days[14]), (45, last[0], DAYS_TO_2020 * DAY));

    let dataset = plain.dataset.unwrap();
    assert_eq!(dataset.columns, ["y", "available_mask"]);
    assert_eq!(dataset.indptr, [0, 14, 29, 45]);
    assert_eq!(dataset.temporal[..4], [0.0, 1.0, (1.0_f64 / 3.0).sin() as f32, 1.0]);
    assert!(dataset.static_columns.is_empty());
}

#[test]
fn scalers_exogenous_columns_and_quantiles_are_read() {
    let exogenous = load("exogenous");
    let configuration = &exogenous.configuration;
    assert_eq!(configuration.local_scaler_type.as_deref(), Some("standard"));
    let scalers: Vec<_> = configuration.scalers.iter().map(|(k, s)| (k.as_str(), s.kind.as_str())).collect();
    assert_eq!(scalers, [("f1", "standard"), ("h1", "standard"), ("y", "standard")]);
    let s1 = configuration.static_scalers["s1"].stats.as_ref().unwrap();
    assert_eq!((s1.shape(), s1.as_f32().unwrap()), (&[1, 2][..], &[0.0, 2.0][..]));
    let dataset = exogenous.dataset.as_ref().unwrap();
    assert_eq!(dataset.columns, ["y", "f1", "h1", "available_mask"]);
    assert_eq!((&dataset.static_columns[0][..], &dataset.static_values[..]), ("s1", &[0.0, 0.5, 1.0][..]));

    let nhits = &exogenous.models[0];
    let mut spec_there = support::levels_80_and_90();
    spec_there.args.insert("quantiles".into(), Value::Null);
    assert_eq!(nhits.loss().unwrap(), spec_there);
    assert_eq!(nhits.valid_loss().unwrap(), Some(spec_there));
    let arguments = nhits.arguments().unwrap();
    assert_eq!(arguments["mlp_units"], json!([[2, 2], [2, 2], [2, 2]]));
    assert_eq!(arguments["hist_exog_list"], json!(["h1"]));
    let weights = nhits.weights();
    assert_eq!(weights["blocks.0.layers.0.weight"].shape(), [2, 12]);
    assert!(weights.keys().all(|name| name.starts_with("blocks.")));
    assert_eq!(exogenous.models[1].loss().unwrap(), quantile_loss(0.9));
}

#[test]
fn horizon_weights_and_torch_classes_are_read() {
    let integers = load("integers");
    assert_eq!(integers.configuration.freq, Frequency::Step(1));
    assert_eq!((&integers.dataset, &integers.configuration.uids), (&None, &None));
    let model = &integers.models[0];
    assert_eq!(
        model.loss().unwrap(),
        LossSpec { horizon_weight: Some(vec![1.0, 2.0, 3.0]), ..LossSpec::point("MAE") }
    );
    let valid = LossSpec { horizon_weight: Some(vec![3.0, 2.0, 1.0]), ..quantile_loss(0.2) };
    assert_eq!(model.valid_loss().unwrap(), Some(valid));
    let arguments = model.arguments().unwrap();
    assert_eq!(torch_class_name(&arguments["optimizer"]), Some("AdamW"));
    assert_eq!(torch_class_name(&arguments["lr_scheduler"]), Some("StepLR"));
    assert_eq!(arguments["learning_rate"].as_f64(), Some(0.1 / 3.0));
    assert_eq!(arguments["lr_scheduler_kwargs"], json!({"step_size": 3}));
}

#[test]
fn conformal_calibration_and_zones_are_read() {
    let configuration = load("conformal").configuration;
    let intervals = configuration.prediction_intervals.unwrap();
    assert_eq!((intervals.n_windows, intervals.method.as_str()), (2, "conformal_distribution"));
    let scores = configuration.conformity_scores.unwrap();
    let columns: Vec<_> = scores.iter().map(|(name, column)| (name.as_str(), column.len())).collect();
    assert_eq!(columns, [("unique_id", 18), ("ds", 18), ("cutoff", 18), ("NLinear", 18)]);
    assert!(matches!(&scores[3].1, Column::Floats(_)));
    assert_eq!(configuration.uids, Some(Column::Integers(vec![5, 6, 7])));
    let Some(Column::Times { zone, values, .. }) = configuration.last_dates else {
        panic!("no times");
    };
    assert_eq!(zone.as_deref(), Some("Europe/Paris"));
    assert_eq!(values[0], (DAYS_TO_2020 + 13) * DAY - DAY / 24);
}

#[test]
fn shared_and_complex_and_integer_tensors_are_read() {
    let read = |name: &str| ModelFile::read(fixtures().join("single").join(name)).unwrap();
    let tcn = read("TCN_0.safetensors");
    let weights = tcn.weights();
    let (kept, other) = ("hist_encoder.tcn.0.causalconv.0.weight", "hist_encoder.tcn.0.conv.weight");
    assert!(std::ptr::eq(weights[kept], weights[other]));
    assert!(!tcn.tensors.contains_key(other));

    let fedformer = read("FEDformer_0.safetensors");
    let complex = |values: &TensorValues| matches!(values, TensorValues::C64(_));
    assert!(fedformer.weights().values().any(|tensor| complex(tensor.values())));

    let patch = read("PatchTST_0.safetensors");
    let tracked = patch.weights().into_iter().find(|(name, _)| name.ends_with("num_batches_tracked"));
    assert!(matches!(tracked.unwrap().1.values(), TensorValues::I64(_)));
    assert_eq!(tracked.unwrap().1.shape(), [0; 0]);

    let distribution = read("d_n_0.safetensors");
    assert_eq!(distribution.alias, "d_n");
    let loss = distribution.loss().unwrap();
    assert_eq!((loss.class.as_str(), &loss.args["distribution"]), ("DistributionLoss", &json!("Normal")));
    assert_eq!(loss.quantiles.unwrap().len(), 3);
}

#[test]
fn names_and_shapes_are_checked() {
    let model = load("plain").models.remove(2);
    let shapes = || model.weights().into_iter().map(|(name, tensor)| (name, tensor.shape()));
    let right: [(&str, &[usize]); 2] = [("linear.bias", &[3]), ("linear.weight", &[3, 6])];
    check_names("model", right, shapes()).unwrap();
    let wrong: [(&str, &[usize]); 2] = [("linear.bias", &[3]), ("linear.weight", &[3, 7])];
    assert!(matches!(check_names("model", wrong, shapes()), Err(CheckpointError::Names { .. })));
}

#[test]
fn a_written_checkpoint_is_read_back_equal() {
    let home = tempfile::tempdir().unwrap();
    let mut checkpoints: Vec<_> =
        ["plain", "exogenous", "integers", "conformal"].into_iter().map(load).collect();
    checkpoints.extend([support::checkpoint(true), support::checkpoint(false)]);
    for (i, checkpoint) in checkpoints.into_iter().enumerate() {
        let (first, second) = (home.path().join(format!("{i}")), home.path().join(format!("{i}_again")));
        checkpoint.save(&first, false).unwrap();
        let mut loaded = Checkpoint::load(&first).unwrap();
        loaded.save(&second, false).unwrap();
        for entry in fs::read_dir(&first).unwrap() {
            let path = entry.unwrap().path();
            let again = second.join(path.file_name().unwrap());
            assert_eq!(fs::read(&path).unwrap(), fs::read(again).unwrap(), "{}", path.display());
        }
        // Saving fills in the classes of the aliases.
        if checkpoint.configuration.alias_to_model.is_empty() {
            loaded.configuration.alias_to_model.clear();
        }
        assert_eq!(loaded, checkpoint);
    }
}

#[test]
fn files_have_the_names_python_gives_them() {
    let home = tempfile::tempdir().unwrap();
    for name in ["plain", "exogenous", "integers", "conformal"] {
        let (theirs, ours) = (fixtures().join(name), home.path().join(name));
        load(name).save(&ours, false).unwrap();
        let listing = |dir: &Path| {
            let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name());
            names.collect::<std::collections::BTreeSet<_>>()
        };
        assert_eq!(listing(&ours), listing(&theirs));
    }
}

#[test]
fn contradictions_are_refused_before_anything_is_written() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("model");
    let refuse = |change: &dyn Fn(&mut Checkpoint), part: &str| {
        let mut checkpoint = support::checkpoint(false);
        change(&mut checkpoint);
        let text = checkpoint.save(&dir, false).unwrap_err().to_string();
        assert!(text.contains(part), "{text}");
    };
    refuse(&|c| c.models.clear(), "at least one");
    refuse(&|c| c.models[0].alias = "a/b".into(), "fit for a file");
    refuse(&|c| c.models[1].alias = "MLP".into(), "`model MLP` should be of one class");
    refuse(&|c| c.configuration.h = 4, "of horizon 4");
    refuse(&|c| c.configuration.uids = None, "`configuration.uids` should be 2 values");
    refuse(
        &|c| c.configuration.ds = Some(Column::Integers(vec![1])),
        "`configuration.ds` should be 26 values",
    );
    refuse(&|c| c.dataset.as_mut().unwrap().indptr[1] = 99, "`fields.indptr`");
    refuse(&|c| drop(c.models[0].shared.insert("absent".into(), vec![])), "shared.absent");
    assert!(!dir.exists());
}

#[test]
fn an_existing_directory_needs_permission() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("model");
    load("plain").save(&dir, false).unwrap();
    let refused = load("integers").save(&dir, false).unwrap_err();
    assert!(matches!(refused, CheckpointError::Exists { .. }));
    assert_eq!(Checkpoint::load(&dir).unwrap(), load("plain"));
    load("integers").save(&dir, true).unwrap();
    assert_eq!(Checkpoint::load(&dir).unwrap(), load("integers"));
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
}

#[test]
fn missing_parts_are_named() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("model");
    let error = || Checkpoint::load(&dir).unwrap_err();
    assert!(matches!(error(), CheckpointError::Missing { .. }));

    let without = |name: &str| {
        load("plain").save(&dir, true).unwrap();
        fs::remove_file(dir.join(name)).unwrap();
        error()
    };
    let missing = without("my_model_0.safetensors");
    assert!(matches!(missing, CheckpointError::Missing { .. }), "{missing}");
    fs::remove_dir_all(&dir).unwrap();
    let missing = without("dataset.safetensors");
    assert!(missing.to_string().contains("dataset.safetensors is missing"), "{missing}");
    assert!(without("configuration.safetensors").to_string().contains("__hparams__."));
    assert!(matches!(without("configuration.json"), CheckpointError::Missing { .. }));

    fs::write(dir.join("alias_to_model.pkl"), "").unwrap();
    let legacy = error().to_string();
    assert!(legacy.contains(&format!("python -m neuralforecast.migrate {}", dir.display())), "{legacy}");

    fs::write(dir.join("configuration.json"), r#"{"nf_format": "3", "configuration": {}}"#).unwrap();
    assert!(error().to_string().contains("nf_format \"3\", expected \"2\""));
    fs::write(dir.join("configuration.json"), r#"{"configuration": {}}"#).unwrap();
    assert!(error().to_string().contains("nf_format none"));
    fs::write(dir.join("configuration.json"), r#"{"nf_format": 2, "configuration": {}}"#).unwrap();
    assert!(error().to_string().contains("nf_format 2, expected \"2\""));
    fs::write(dir.join("configuration.json"), "{").unwrap();
    assert!(matches!(error(), CheckpointError::Json { .. }));
}
