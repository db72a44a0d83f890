//! Networks in folders of their weights, in the facade: forecast at once, scored, combined, calibrated, saved and loaded.

use std::path::{Path, PathBuf};

use foretell::{
    Attribution, Ensemble, ExplainOptions, Fitted, Forecaster, Freq, Future, MemoryLimit, ModelSpec, Panel,
    PredictOptions, PredictionIntervals, TimeKind, ValidationOptions, Verdict,
};

/// A small network of random weights.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../pretrained/tests/fixtures/fracast")
}

fn panel(freq: &str) -> Panel {
    let wave = |i: usize| (0..80 + i).map(|t| ((t * (i + 3)) % 12) as f32 + 5.0).collect::<Vec<f32>>();
    let all = (0..3).map(|i| (format!("s{i}"), 0, wave(i)));
    Panel::from_series(Freq::parse(freq).expect("a frequency"), all).expect("a panel")
}

#[test]
fn a_folder_is_a_directory_of_models_for_data_of_any_frequency() {
    let fitted = Fitted::load(folder()).expect("a network");
    assert_eq!(
        (fitted.h(), fitted.freq_of_data(), fitted.column_names()),
        (12, None, vec!["fracast".into()])
    );
    let [hours, months] = ["h", "MS"].map(|freq| {
        let panel = panel(freq);
        let options = PredictOptions::new().h(30).level(&[80.0]);
        let frame = fitted.predict_with(&panel, &options).expect("a forecast");
        assert_eq!(frame.freq, panel.freq());
        frame
    });
    let names: Vec<String> = hours.columns.iter().map(|(column, _)| column.clone()).collect();
    assert_eq!(names, ["fracast", "fracast-lo-80", "fracast-hi-80"]);
    assert_eq!(hours.columns, months.columns);
    assert_eq!(hours.columns[0].1.len(), 3 * 30);
    // It is saved and loaded as what it is: of any frequency.
    let home = tempfile::tempdir().expect("a directory");
    fitted.save(home.path().join("model"), false).expect("it is saved");
    let again = Fitted::load(home.path().join("model")).expect("it is loaded");
    let options = PredictOptions::new().h(30).level(&[80.0]);
    assert_eq!(again.predict_with(&panel("h"), &options).expect("a forecast").columns, hours.columns);
}

#[test]
fn a_folder_is_the_name_of_a_model_like_any() {
    let panel = panel("h");
    let name = folder();
    let spec = ModelSpec::new(name.to_str().expect("text"), 12, 1).expect("a model");
    assert_eq!((spec.name(), spec.alias(), spec.h()), ("Pretrained", "fracast", 12));
    let naive = ModelSpec::new("Naive", 12, 1).expect("a model");
    let forecaster = || Forecaster::new([spec.clone(), naive.clone()]).expect("models");
    let options = ValidationOptions::new(2, 12);
    let validation = forecaster().cross_validate(&panel, &options).expect("scores");
    assert!(validation.frame.column("fracast").is_some_and(|values| values.iter().all(|y| y.is_finite())));
    let fitted = forecaster()
        .ensemble(Ensemble::Mean)
        .intervals(PredictionIntervals { n_windows: 2, ..PredictionIntervals::default() })
        .fit(&panel)
        .expect("a fit");
    assert_eq!(fitted.freq_of_data(), Some(panel.freq()));
    let frame = fitted.predict_with(&panel, &PredictOptions::new().level(&[80.0])).expect("a forecast");
    let of = |name: &str| frame.column(name).expect("a column")[0];
    assert!((of("EnsembleMean") - (of("fracast") + of("Naive")) / 2.0).abs() < 1e-5);
    let home = tempfile::tempdir().expect("a directory");
    fitted.save(home.path().join("model"), false).expect("it is saved");
    let again = Fitted::load(home.path().join("model")).expect("it is loaded");
    let again = again.predict_with(&panel, &PredictOptions::new().level(&[80.0])).expect("a forecast");
    assert_eq!(again.columns, frame.columns);
}

#[test]
fn weights_that_were_exchanged_since_a_model_was_saved_are_told() {
    let home = tempfile::tempdir().expect("a directory");
    let copy = home.path().join("weights");
    std::fs::create_dir(&copy).expect("a folder");
    for file in ["config.json", "model.safetensors"] {
        std::fs::copy(folder().join(file), copy.join(file)).expect("a copy");
    }
    let fitted = Fitted::load(&copy).expect("a network");
    fitted.save(home.path().join("model"), false).expect("it is saved");
    let mut bytes = std::fs::read(copy.join("model.safetensors")).expect("a file");
    let end = bytes.len();
    bytes[end - 4..].copy_from_slice(&0.25_f32.to_le_bytes());
    std::fs::write(copy.join("model.safetensors"), bytes).expect("a file");
    let told = Fitted::load(home.path().join("model")).expect_err("other weights").to_string();
    assert!(told.contains("has other files than when the model was saved"), "{told}");
}

#[test]
fn steps_that_a_window_has_no_place_for_are_refused() {
    let folder = folder().with_file_name("tirex");
    let (panel, most) = (panel("D"), 512);
    let fit = |h: usize| {
        let spec = ModelSpec::new(folder.to_str().expect("text"), h, 1).expect("a model");
        Forecaster::new([spec]).expect("models").fit(&panel)
    };
    let fitted = fit(most).expect("as many as there are");
    let further = PredictOptions::new().h(most + 1);
    for error in
        [fit(most + 1).expect_err("too far"), fitted.predict_with(&panel, &further).expect_err("too far")]
    {
        let told = error.to_string();
        assert!(told.contains("at most 512 steps, as many as its window has; found h = 513"), "{told}");
    }
}

#[test]
fn columns_go_with_a_network_that_reads_them() {
    let name = folder().with_file_name("chronos2");
    let freq = Freq::parse("h").expect("hours");
    let times = freq.times(0, 70).expect("times");
    let y: Vec<f32> = (0..70).map(|t| ((t * 5) % 12) as f32).collect();
    let price: Vec<f32> = (0..70).map(|t| (t % 4) as f32).collect();
    let builder = Panel::builder(TimeKind::Timestamp).freq(freq).series("a", &times, &y);
    let panel = builder.column("price", &price).build().expect("a panel");
    let spec = ModelSpec::new(name.to_str().expect("text"), 6, 1).expect("a model");
    assert!(spec.exogenous().futr && spec.exogenous().hist && spec.exogenous().cat);
    let spec = spec.set("futr_exog_list", vec!["price"]).expect("columns that it reads");
    let forecaster = || Forecaster::new([spec.clone()]).expect("models");
    forecaster().cross_validate(&panel, &ValidationOptions::new(2, 6)).expect("windows beside their columns");
    let fitted = forecaster().fit(&panel).expect("a fit");
    let home = tempfile::tempdir().expect("a directory");
    fitted.save(home.path().join("model"), false).expect("it is saved");
    let again = Fitted::load(home.path().join("model")).expect("it is loaded");
    assert_eq!(again.future_columns(), ["price"]);
    let of = |ahead: f32| {
        let future = Future::new(&panel, 6, &[("price", &[ahead; 6])]).expect("a future");
        let options = PredictOptions::new().future(&future);
        again.predict_with(&panel, &options).expect("a forecast").columns[0].1.clone()
    };
    assert_ne!(of(0.0), of(3.0), "the price ahead has a part in the forecast");
    again.predict(&panel, None).expect_err("it needs the price ahead");
    // One that reads none refuses them before it is fitted.
    let fracast = ModelSpec::new(folder().to_str().expect("text"), 6, 1).expect("a model");
    assert!(!fracast.exogenous().futr);
    let fracast = fracast.set("futr_exog_list", vec!["price"]).expect("a list of names");
    let told =
        Forecaster::new([fracast]).and_then(|models| models.fit(&panel)).expect_err("none").to_string();
    assert!(told.contains("futr_exog_list must be an empty list"), "{told}");
}

/// Series in which nothing repeats, so that the program's own network forecasts them.
fn varied() -> Panel {
    let value = |i: usize, t: usize| (0.02 * (t * (t + i)) as f32).sin() * 3.0 + ((t * t * t) % 11) as f32;
    let all = (0..3).map(|i| (format!("s{i}"), 0, (0..80 + i).map(|t| value(i, t)).collect::<Vec<f32>>()));
    Panel::from_series(Freq::parse("h").expect("a frequency"), all).expect("a panel")
}

/// The program's own network, fine-tuned by this many steps at a rate that shows.
fn own(steps: u64) -> Forecaster {
    let spec = ModelSpec::new("Foretell0", 4, 1).expect("a model");
    let spec = spec.set("max_steps", steps).and_then(|spec| spec.set("learning_rate", 2e-3));
    Forecaster::new([spec.expect("settings")]).expect("models").threads(1)
}

#[test]
fn a_fine_tuned_network_is_saved_with_its_weights_and_trained_further() {
    let panel = varied();
    let of = |fitted: &Fitted| fitted.predict(&panel, None).expect("a forecast").columns;
    let [before, fitted] = [0, 2].map(|steps| own(steps).fit(&panel).expect("a fit"));
    assert_ne!(of(&fitted), of(&before));
    assert_eq!(fitted.models()[0].parameters(), 834_470);
    let home = tempfile::tempdir().expect("a directory");
    fitted.save(home.path().join("model"), false).expect("it is saved");
    let again = Fitted::load(home.path().join("model")).expect("it is loaded");
    assert_eq!(of(&again), of(&fitted));
    let further = again.fit_more(&panel).expect("a training");
    assert_ne!(of(&further), of(&fitted));
    // A training that is interrupted leaves a model that says how far it came.
    let interrupted = own(5).on_progress(|_, _| Verdict::Interrupt).fit(&panel).expect("a model");
    let told = interrupted.interruption().expect("it was interrupted");
    assert_eq!(told.to_string(), "step 1 of 5 of Foretell0");
    interrupted.save(home.path().join("half"), false).expect("it is saved");
    let half = Fitted::load(home.path().join("half")).expect("it is loaded");
    assert_eq!(of(&half), of(&interrupted));
    let refused = own(2).max_memory(8 << 20).fit(&panel).expect_err("more than the limit").to_string();
    assert!(refused.contains("the optimiser's state"), "{refused}");
}

#[test]
fn the_programs_own_network_is_loaded_by_its_name() {
    let panel = varied();
    let loaded = Fitted::load("Foretell0").expect("a network");
    assert_eq!((loaded.freq_of_data(), loaded.column_names()), (None, vec!["Foretell0".into()]));
    let options = PredictOptions::new().h(4);
    let forecast = |fitted: &Fitted| fitted.predict_with(&panel, &options).expect("a forecast").columns;
    assert_eq!(forecast(&loaded), forecast(&own(0).fit(&panel).expect("a fit")));
    let home = tempfile::tempdir().expect("a directory");
    loaded.save(home.path().join("model"), false).expect("it is saved");
    let again = Fitted::load(home.path().join("model")).expect("it is loaded");
    assert_eq!((again.freq_of_data(), forecast(&again)), (None, forecast(&loaded)));
    assert!(Fitted::load(home.path().join("Foretell0")).is_err(), "a directory that is not there");
}

/// Pickles and whatever else is in the folder take no memory.
#[test]
fn of_a_folder_the_weights_alone_count() {
    let home = tempfile::tempdir().expect("a directory");
    for file in ["config.json", "model.safetensors"] {
        std::fs::copy(folder().join(file), home.path().join(file)).expect("a copy");
    }
    let beside = std::fs::File::create(home.path().join("pytorch_model.bin")).expect("a file");
    beside.set_len(1 << 33).expect("a sparse file");
    let limit = MemoryLimit::of_bytes;
    assert!(Fitted::load_within(home.path(), limit(1 << 24)).is_ok());
    let told = Fitted::load_within(home.path(), limit(1 << 10)).expect_err("a limit").to_string();
    assert!(
        told.contains("needs about") && told.contains("(weights ") && told.contains("the largest tensor"),
        "{told}"
    );
}

#[test]
fn cross_validation_fine_tunes_again_where_it_is_to() {
    let panel = varied();
    let scored = |steps: u64, refits: bool| {
        let options = ValidationOptions::new(2, 4);
        let options = if refits { options.refit(1) } else { options };
        let validation = own(steps).cross_validate(&panel, &options).expect("scores");
        validation.frame.column("Foretell0").expect("a column").to_vec()
    };
    let [without, once, each] = [scored(0, false), scored(2, false), scored(2, true)];
    assert_eq!(scored(0, true), without);
    assert!(once != without && each != once);
    // The first windows are of the same training.
    assert_eq!(once[..4], each[..4]);
    assert_ne!(once[4..8], each[4..8]);
}

#[test]
fn the_contributions_of_past_values_add_up_to_the_forecast() {
    let panel = varied();
    let fitted = own(0).fit(&panel).expect("a fit");
    let forecast = fitted.predict(&panel, None).expect("a forecast").columns.remove(0).1;
    for (method, most) in [
        (Attribution::IntegratedGradients { points: 60 }, 0.02),
        (Attribution::ShapleySampling { permutations: 1, seed: 1 }, 1e-4),
    ] {
        let frame = fitted.explain(&panel, &ExplainOptions::new(method)).expect("contributions");
        let columns = &frame.columns;
        assert_eq!(columns.len(), 1 + 512);
        assert_eq!(
            [0, 1, 512].map(|place| columns[place].0.as_str()),
            ["Foretell0:baseline", "Foretell0:y@-511", "Foretell0:y@0"]
        );
        for (row, forecast) in forecast.iter().enumerate() {
            let values = || columns.iter().map(|(_, values)| values[row]);
            let sizes: f32 = values().skip(1).map(f32::abs).sum();
            let off = (values().sum::<f32>() - forecast).abs();
            assert!(sizes > 0.1 && off <= most * sizes, "row {row}: off by {off}, of {sizes}");
        }
        // What is before the first value has no part.
        assert!(columns[1].1.iter().all(|value| *value == 0.0));
    }
    let refused =
        fitted.explain(&panel, &ExplainOptions::default().output(1)).expect_err("it has one output");
    assert!(refused.to_string().contains("no output 1"), "{refused}");
}

/// Columns of categories and groups are kept with a saved model.
#[test]
fn categories_and_groups_are_saved() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pretrained/tests/fixtures/chronos2");
    let ids = ["a", "b", "c"];
    let rows = (0..3 * 40).map(|i| (ids[i / 40], (i % 40) as i64));
    let y: Vec<f32> = (0..3 * 40).map(|i| ((i * 7) % 12) as f32).collect();
    let (names, times): (Vec<&str>, Vec<i64>) = rows.unzip();
    let labels: Vec<&str> = (0..3 * 40).map(|i| ["wet", "dry"][i % 3 / 2]).collect();
    let panel = Panel::builder(TimeKind::Integer)
        .freq(Freq::parse("1").expect("numbers"))
        .rows(&names, &times, &y)
        .categories("weather", &labels)
        .build()
        .expect("a panel")
        .with_static_categories("city", &[("a", "Rome"), ("b", "Oslo"), ("c", "Rome")])
        .expect("a column");
    let spec = ModelSpec::new(folder.to_str().expect("a path"), 3, 1).expect("a folder of a network");
    let alone = spec.clone().set("hist_exog_list", vec!["weather".to_owned()]).expect("a column");
    let alone = alone.set("cat_exog_list", vec!["weather".to_owned()]).expect("a column");
    let together = alone.clone().set("stat_exog_list", vec!["city".to_owned()]).expect("a column");
    let together =
        together.set("cat_exog_list", vec!["weather".to_owned(), "city".to_owned()]).expect("columns");
    assert!(together.is_multivariate() && !alone.is_multivariate());
    let forecasts = [alone, together].map(|spec| {
        let fitted = Forecaster::new([spec]).expect("a model");
        let fitted = fitted.fit(&panel).expect("weights");
        let home = tempfile::tempdir().expect("a directory");
        fitted.save(home.path().join("model"), false).expect("it is saved");
        let loaded = Fitted::load(home.path().join("model")).expect("it is loaded");
        let [before, after] = [&fitted, &loaded].map(|fitted| {
            let frame = fitted.predict_with(&panel, &PredictOptions::new()).expect("a forecast");
            frame.column("chronos2").expect("a column").to_vec()
        });
        assert_eq!(before, after);
        before
    });
    // The one series of Oslo is alone.
    assert_eq!(forecasts[0][3..6], forecasts[1][3..6]);
    assert_ne!(forecasts[0][..3], forecasts[1][..3]);
}
