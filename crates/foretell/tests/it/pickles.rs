//! Files that PyTorch and neuralforecast 3.2 wrote must predict here as they do in neuralforecast. `fixtures/pickles` holds the
//! files with the forecasts, written by `compare/pickles.py`.

use std::fs;
use std::path::{Path, PathBuf};

use foretell::{Error, Fitted, Freq, ImportOptions, Imported, Panel, ReadOptions, UsageError};
use serde_json::{Map, Value, json};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/pickles").join(name)
}

fn daily() -> ImportOptions {
    ImportOptions::new().freq(Freq::parse("D").expect("a frequency"))
}

fn settings(name: &str) -> Map<String, Value> {
    let text = fs::read_to_string(fixture("weights/settings.json")).expect("settings");
    let all: Value = serde_json::from_str(&text).expect("JSON");
    all[name].as_object().expect("an object").clone()
}

/// Forecasts of the fixtures' panel, and fails unless they are those of the file in all columns that `compared` names: to 1e-5
/// of the scale. Saved and loaded, the models forecast the same.
fn assert_forecasts(fitted: Fitted, expected: &str, compared: impl Fn(&str) -> bool) {
    let panel = Panel::from_csv(fixture("panel.csv"), &ReadOptions::default()).expect("a panel");
    let text = fs::read_to_string(fixture(expected)).expect("a forecast");
    let mut rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let (header, rows) = (rows.next().expect("a header"), rows.collect::<Vec<_>>());
    let fitted = fitted.raw_quantiles(true);
    let forecast = fitted.predict(&panel, None).expect("a forecast");
    let mut count = 0;
    for (place, name) in header.iter().enumerate().skip(2).filter(|(_, name)| compared(name)) {
        let found = forecast.column(name).unwrap_or_else(|| panic!("{expected}: no column {name}"));
        let numbers: Vec<f32> = rows.iter().map(|row| row[place].parse().expect("a number")).collect();
        assert_eq!(found.len(), numbers.len(), "{expected}: rows");
        let scale = numbers.iter().fold(0.0f32, |scale, x| scale.max(x.abs()));
        for (row, (found, expected_number)) in found.iter().zip(&numbers).enumerate() {
            let close = (found - expected_number).abs() <= 1e-5 * scale;
            assert!(close, "{expected}: {name}, row {row}: {found}, expected {expected_number}");
        }
        count += 1;
    }
    assert!(count > 0, "{expected}: nothing was compared");

    let home = tempfile::tempdir().expect("a folder");
    let dir = home.path().join("model");
    fitted.save(&dir, false).expect("a directory");
    let again = Fitted::load(&dir).expect("what was just written").raw_quantiles(true);
    let again = again.predict(&panel, None).expect("a forecast");
    assert_eq!(again.columns, forecast.columns);
}

#[test]
fn a_directory_of_neuralforecast_3_2_predicts_the_same() {
    let Imported { fitted, left_out } =
        Fitted::import(fixture("directory/model"), &ImportOptions::default()).expect("a directory");
    assert!(left_out.iter().any(|what| what.contains("dataset.pkl")), "{left_out:?}");
    let nhits = fitted.models().iter().find(|model| model.spec().name() == "NHITS").expect("NHITS");
    assert_eq!(nhits.spec().hyper_parameters()["loss"], json!({ "MQLoss": { "level": [80, 90] } }));
    let memory = fitted.models().iter().find(|model| model.spec().alias() == "memory").expect("an alias");
    assert_eq!(memory.spec().hyper_parameters()["optimizer"], "AdamW");
    assert_forecasts(fitted, "directory/expected.csv", |_| true);
}

#[test]
fn checkpoints_of_lightning_predict_the_same() {
    for name in ["MLP", "LSTM"] {
        let path = fixture(&format!("lightning/{name}.ckpt"));
        let Imported { fitted, .. } = Fitted::import(path, &daily()).expect("a checkpoint");
        assert_forecasts(fitted, &format!("lightning/{name}.csv"), |_| true);
    }
    // The name of the file says nothing; quantiles are of samples, the parameters of the distribution are not.
    let options = daily().class("NLinear");
    let Imported { fitted, .. } =
        Fitted::import(fixture("lightning/Normal.ckpt"), &options).expect("a checkpoint");
    let of_distribution = |name: &str| name.ends_with("-loc") || name.ends_with("-scale");
    assert_forecasts(fitted, "lightning/Normal.csv", of_distribution);
}

#[test]
fn state_dictionaries_predict_the_same() {
    for name in ["MLP", "LSTM"] {
        let path = fixture(&format!("weights/{name}.pt"));
        let options = daily().settings(settings(name));
        let Imported { fitted, left_out } = Fitted::import(path, &options).expect("weights");
        assert_eq!(left_out, [""; 0]);
        assert_forecasts(fitted, &format!("weights/{name}.csv"), |_| true);
    }
}

#[test]
fn settings_win_over_the_file() {
    let settings = Map::from_iter([("alias".to_owned(), json!("mine"))]);
    let options = daily().settings(settings);
    let Imported { fitted, .. } =
        Fitted::import(fixture("lightning/MLP.ckpt"), &options).expect("a checkpoint");
    assert_eq!(fitted.models()[0].spec().alias(), "mine");
    let options = ImportOptions::new().freq(Freq::parse("h").expect("a frequency"));
    let Imported { fitted, .. } = Fitted::import(fixture("directory/model"), &options).expect("a directory");
    assert_eq!(fitted.freq().to_string(), "h");
}

#[test]
fn what_is_missing_or_wrong_is_told() {
    let fails = |path: PathBuf, options: &ImportOptions, parts: &[&str]| {
        let error = Fitted::import(path, options).unwrap_err();
        let text = error.to_string();
        for part in parts {
            assert!(text.contains(part), "{text}: no {part}");
        }
        error
    };
    let home = tempfile::tempdir().expect("a folder");
    let put = |name: &str, bytes: &[u8]| {
        let path = home.path().join(name);
        fs::write(&path, bytes).expect("a file");
        path
    };
    let weights = fixture("weights/MLP.pt");
    let with = |changes: &[(&str, Value)]| {
        let mut settings = settings("MLP");
        settings.extend(changes.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        daily().settings(settings)
    };
    let error = fails(weights.clone(), &ImportOptions::default(), &["MLP.pt", "`ImportOptions::freq = D`"]);
    assert!(matches!(error, Error::Usage(UsageError::NoFreq { .. })));
    let error =
        fails(fixture("lightning/Normal.ckpt"), &daily(), &["Normal.ckpt", "`ImportOptions::class = NHITS`"]);
    assert!(matches!(error, Error::Usage(UsageError::NoClass { .. })));
    fails(weights.clone(), &daily(), &["weights alone", "`ImportOptions::settings = h=12`"]);
    fails(
        weights.clone(),
        &with(&[("hidden_size", json!(7))]),
        &["mlp.0.weight expected [7, 12] found [6, 12]", "wrong shape"],
    );
    fails(weights.clone(), &with(&[("num_layers", json!(4))]), &["missing: mlp.3.weight, mlp.3.bias"]);
    fails(weights.clone(), &with(&[("num_layers", json!(2))]), &["unexpected: mlp.2.bias, mlp.2.weight"]);
    fails(weights, &with(&[("hidden_sizes", json!(2))]), &["did you mean hidden_size?"]);

    let way_out = "torch.save(model.state_dict()";
    fails(put("MLP.txt", b"unique_id,ds,y\n"), &daily(), &["MLP.txt", way_out]);
    fails(put("MLP.pt", b"PK\x03\x04"), &daily(), &["no whole zip archive", way_out]);
    // What `pickle.dumps(3)` and `pickle.dumps(os.system)` are.
    fails(put("MLP.pkl", b"\x80\x04K\x03."), &with(&[]), &["holds a number", way_out]);
    let system = b"\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x02id\x85R.";
    fails(put("MLP_1.pkl", system), &with(&[]), &["an object of posix.system", way_out]);
    let empty = home.path().join("empty");
    fs::create_dir(&empty).expect("a folder");
    fails(empty, &daily(), &["configuration.pkl is missing"]);
}
