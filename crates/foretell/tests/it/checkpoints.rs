//! Directories that neuralforecast wrote must predict here what they predict there. `fixtures/checkpoints`
//! holds a directory per case, with the panel and the forecast, written by `compare/checkpoints.py`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use foretell::{
    Fitted, Forecaster, Frame, Freq, Future, InsampleOptions, ModelSpec, Panel, PredictOptions, ReadOptions,
};
use foretell_checkpoint::{ModelFile, optimizer_class};
use serde_json::{Value, json};

fn cases() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/checkpoints");
    let mut cases: Vec<_> =
        std::fs::read_dir(root).expect("fixtures").map(|case| case.expect("a case").path()).collect();
    cases.sort();
    assert!(cases.len() >= 20, "{} cases", cases.len());
    cases
}

/// A request to the models of a case, for which neuralforecast's answer is in a file.
enum Asked {
    Predict,
    Level(Vec<f64>),
    Ahead(usize),
    Insample(usize),
}

fn asked(case: &Path) -> Vec<(Asked, PathBuf)> {
    let files = std::fs::read_dir(case).expect("a case").map(|file| file.expect("a file").path());
    let mut found: Vec<(Asked, PathBuf)> = files
        .filter_map(|path| {
            let word = path.file_name()?.to_str()?.strip_prefix("expected")?.strip_suffix(".csv")?.to_owned();
            let number = || word.rsplit('-').next().and_then(|number| number.parse().ok());
            let asked = match word.as_str() {
                "" => Asked::Predict,
                "-level" => Asked::Level(levels(&std::fs::read_to_string(&path).expect("a forecast"))),
                _ if word.starts_with("-ahead") => Asked::Ahead(number()?),
                _ => Asked::Insample(number()?),
            };
            Some((asked, path))
        })
        .collect();
    found.sort_by(|a, b| a.1.cmp(&b.1));
    found
}

/// The levels in the names of columns.
fn levels(csv: &str) -> Vec<f64> {
    let names = csv.lines().next().expect("a header").split(',');
    names.filter_map(|name| name.split_once("-lo-")?.1.parse().ok()).collect()
}

fn ask(case: &Path, fitted: &Fitted, asked: &Asked) -> Frame {
    let columns = fitted.columns().clone();
    let options = ReadOptions::new()
        .id_col(columns.id)
        .time_col(columns.time)
        .target_col(columns.target)
        .freq(fitted.freq())
        .categories(fitted.categories());
    let mut panel = Panel::from_csv(case.join("panel.csv"), &options).expect("a panel");
    let statics = case.join("static.csv");
    if statics.exists() {
        panel = panel.with_static_file(statics, &options).expect("static columns");
    }
    let (h, file) = match asked {
        Asked::Ahead(h) => (*h, "futr-ahead.csv"),
        _ => (fitted.h(), "futr.csv"),
    };
    let futr = Some(case.join(file)).filter(|path| path.exists());
    let future = futr.map(|path| Future::from_file(path, &options, &panel, h).expect("future columns"));
    let level: &[f64] = if let Asked::Level(level) = asked { level } else { &[] };
    let options = PredictOptions::new().future(future.as_ref()).h(h).level(level);
    let answer = match asked {
        Asked::Insample(step_size) => {
            fitted.predict_insample_with(&panel, &InsampleOptions::new(*step_size).from_padding())
        }
        _ => fitted.predict_with(&panel, &options),
    };
    answer.unwrap_or_else(|error| panic!("{}: {error}", case.display()))
}

/// The columns of a distribution that neuralforecast samples, each with those of its quantiles: of samples only
/// the distribution is the same.
fn sampled(fitted: &Fitted, header: &[&str]) -> BTreeMap<String, Vec<String>> {
    let mut found = BTreeMap::new();
    for (model, name) in fitted.models().iter().zip(fitted.column_names()) {
        if model.spec().network().expect("a network").loss().is_distribution() {
            let of_quantile =
                |suffix: &str| ["-median", "-lo-", "-hi-"].iter().any(|q| suffix.starts_with(q));
            let is_quantile = |column: &&&str| column.strip_prefix(&*name).is_some_and(of_quantile);
            let quantiles: Vec<String> = header.iter().filter(is_quantile).map(ToString::to_string).collect();
            let all = quantiles.iter().cloned().chain([name]);
            found.extend(all.map(|column| (column, quantiles.clone())));
        }
    }
    found
}

fn rows(csv: &str) -> Vec<Vec<&str>> {
    csv.lines().map(|line| line.split(',').collect()).collect()
}

#[test]
fn directories_of_neuralforecast_predict_the_same() {
    for case in cases() {
        let fitted =
            Fitted::load(case.join("model")).unwrap_or_else(|error| panic!("{error}")).raw_quantiles(true);
        for (asked, expected) in asked(&case) {
            let mut found = Vec::new();
            ask(&case, &fitted, &asked).write_csv(&mut found).expect("CSV");
            let found = String::from_utf8(found).expect("text");
            compare(&fitted, &found, &expected);
        }
    }
}

fn compare(fitted: &Fitted, found: &str, path: &Path) {
    let expected = std::fs::read_to_string(path).expect("a forecast");
    let (found, expected) = (rows(found), rows(&expected));
    let name = path.display();
    assert_eq!(found.len(), expected.len(), "{name}: rows");
    let sampled = sampled(fitted, &expected[0]);

    // neuralforecast's order of models is that of file names; ours is the order they were given in.
    let (mut ours, mut theirs) = (found[0].clone(), expected[0].clone());
    ours.sort_unstable();
    theirs.sort_unstable();
    assert_eq!(ours, theirs, "{name}: columns");
    let place = |column: &str| found[0].iter().position(|found| *found == column).expect("compared above");
    for (column, header) in expected[0].iter().enumerate() {
        let number = |row: &[&str], place: usize| row[place].parse::<f64>().expect("a number");
        let own = place(header);
        if column < 2 || *header == "cutoff" {
            (1..found.len())
                .for_each(|row| assert_eq!(found[row][own], expected[row][column], "{name}: row {row}"));
            continue;
        }
        let scale = expected[1..].iter().fold(0.0_f64, |scale, row| scale.max(number(row, column).abs()));
        for row in 1..found.len() {
            let tolerance = match sampled.get(*header) {
                None => 1e-5 * scale,
                Some(quantiles) => {
                    let quantiles = quantiles.iter().map(|column| number(&found[row], place(column)));
                    let (low, high) =
                        quantiles.fold((f64::MAX, f64::MIN), |(low, high), q| (low.min(q), high.max(q)));
                    // Of counts a quantile may be the next one, of most distributions not of 20,000 samples.
                    let step =
                        f64::from(u8::from(name.to_string().contains("counts") && header.contains('-')));
                    (0.03 * (high - low)).max(step).max(0.02 * f64::from(u8::from(high - low <= 1.0)))
                }
            };
            let (found, expected) = (number(&found[row], own), number(&expected[row], column));
            assert!(
                (found - expected).abs() <= tolerance,
                "{name}: {header}, row {row}: {found}, there {expected}"
            );
        }
    }
}

#[test]
fn what_is_written_again_predicts_the_same_to_the_last_bit() {
    let home = tempfile::tempdir().expect("a folder");
    for case in cases() {
        let fitted = Fitted::load(case.join("model")).expect("a model directory");
        let dir = home.path().join(case.file_name().expect("a name"));
        fitted.save(&dir, false).expect("the directory is new");
        let again = Fitted::load(&dir).expect("what was just written");
        for (asked, _) in asked(&case) {
            let (first, second) = (ask(&case, &fitted, &asked), ask(&case, &again, &asked));
            assert_eq!(first.columns, second.columns, "{}", case.display());
        }
        assert!(fitted.save(&dir, false).is_err(), "an existing directory is not replaced unasked");
        fitted.save(&dir, true).expect("but replaced when asked");
    }
}

#[test]
fn settings_of_training_come_back_and_unknown_ones_are_passed_over() {
    let freq = Freq::parse("D").expect("a frequency");
    let panel =
        Panel::from_series(freq, [("a", 0, (0..60).map(|t| t as f32).collect::<Vec<_>>())]).expect("a panel");
    let home = tempfile::tempdir().expect("a folder");
    for (scheduler, kwargs) in
        [("CosineWarmup", json!({ "warmup_steps": 1 })), ("OneCycleLR", json!({ "pct_start": 0.5 }))]
    {
        let spec = ModelSpec::new("NLinear", 2, 4)
            .and_then(|spec| spec.set("max_steps", 3))
            .and_then(|spec| spec.set("optimizer", "SGD"))
            .and_then(|spec| spec.set("optimizer_kwargs", json!({ "momentum": 0.9 })))
            .and_then(|spec| spec.set("lr_scheduler", scheduler))
            .and_then(|spec| spec.set("lr_scheduler_kwargs", kwargs.clone()))
            .and_then(|spec| spec.set("gradient_clip_val", 1.0))
            .expect("valid hyper-parameters");
        let dir = home.path().join(scheduler);
        let fitted = Forecaster::new([spec]).and_then(|forecaster| forecaster.fit(&panel)).expect("a fit");
        fitted.save(&dir, false).expect("the directory is new");
        let loaded = Fitted::load(&dir).expect("what was just written");
        let found = loaded.models()[0].spec().hyper_parameters();
        assert_eq!((&found["optimizer"], &found["lr_scheduler"]), (&json!("SGD"), &json!(scheduler)));
        assert_eq!(found["optimizer_kwargs"], json!({ "momentum": 0.9 }));
        for (name, value) in kwargs.as_object().expect("an object") {
            assert_eq!(found["lr_scheduler_kwargs"][name], *value);
        }
        assert_eq!(found["gradient_clip_val"], json!(1.0));

        // A class that is not here, with arguments of its own.
        let path = dir.join("NLinear_0.safetensors");
        let mut file = ModelFile::read(&path).expect("a model file");
        file.hyper_parameters.insert("optimizer".to_owned(), optimizer_class("Adamax"));
        file.write(&path).expect("it is written again");
        let loaded = Fitted::load(&dir).expect("it can be predicted from");
        assert_eq!(loaded.models()[0].spec().hyper_parameters()["optimizer"], Value::Null);
        let forecast = |fitted: &Fitted| fitted.predict(&panel, None).expect("a forecast").columns;
        assert_eq!(forecast(&loaded), forecast(&fitted));
    }
}
