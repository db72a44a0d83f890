//! HINT: models that keep a hierarchy forecast coherently, and are saved with it.

use std::sync::{Arc, Mutex};

use foretell::hierarchy::{Hierarchy, Reconciliation};
use foretell::{
    ColumnNames, Ensemble, Error, Fitted, ForecastTable, Forecaster, Frame, Freq, KeptSettings, ModelSpec,
    Panel, PredictOptions, PredictionIntervals, ReadOptions, ReconcileOptions, SimulateOptions, Warning,
    reconcile, sum_series, with_sums,
};
use serde_json::json;

const H: usize = 4;

fn hierarchy() -> Hierarchy {
    Hierarchy::from_levels(&[("a", ["x"]), ("b", ["x"]), ("c", ["y"]), ("d", ["y"])]).expect("levels")
}

/// Four waves of different sizes.
fn bottom() -> Panel {
    let wave =
        |size: f32| (0..80).map(|t| size * (3.0 + (t as f32 * 0.7 + size).sin())).collect::<Vec<f32>>();
    let series = [("a", 1.0), ("b", 5.0), ("c", 20.0), ("d", 2.0)].map(|(id, size)| (id, 0, wave(size)));
    Panel::from_series(Freq::parse("1").expect("a frequency"), series).expect("a panel")
}

fn forecaster(model: &str, loss: serde_json::Value) -> Forecaster {
    let spec = ModelSpec::new(model, H, 12).and_then(|spec| spec.set("loss", loss));
    let spec =
        spec.and_then(|spec| spec.set("max_steps", 5)).and_then(|spec| spec.set("scaler_type", "standard"));
    Forecaster::new([spec.expect("valid hyper-parameters")]).expect("a model")
}

fn normal() -> serde_json::Value {
    json!({"DistributionLoss": {"distribution": "Normal", "level": [80]}})
}

/// By how much the sums of a column are off.
fn incoherence(frame: &Frame, column: &str) -> f64 {
    let values: Vec<f64> =
        frame.column(column).expect("a column").iter().map(|value| f64::from(*value)).collect();
    hierarchy().incoherence(&values, H)
}

fn names(frame: &Frame) -> Vec<&str> {
    frame.columns.iter().map(|(name, _)| name.as_str()).collect()
}

#[test]
fn forecasts_of_models_with_a_hierarchy_add_up() {
    let all = sum_series(&bottom(), &hierarchy()).expect("sums");
    let mixture = json!({"GMM": {"n_components": 2, "level": [80]}});
    for (loss, method) in [
        (normal(), Reconciliation::MinTraceOls),
        (mixture, Reconciliation::MinTraceWls),
        (json!({"MQLoss": {"level": [80]}}), Reconciliation::BottomUp),
    ] {
        let forecaster = forecaster("NLinear", loss).hierarchy(hierarchy(), method).expect("a method");
        let fitted = forecaster.fit(&all).expect("a training");
        let frame = fitted.predict(&all, None).expect("forecasts");
        let ids: Vec<String> = frame.ids.iter().step_by(H).map(ToString::to_string).collect();
        assert_eq!(ids, ["Total", "x", "y", "a", "b", "c", "d"], "{method}");
        // The mean adds up; a quantile of the total is nearer the median than the sum of quantiles.
        if frame.column("NLinear").is_some() {
            assert!(incoherence(&frame, "NLinear") < 1e-5, "{method}");
        }
        let [low, high] =
            ["NLinear-lo-80", "NLinear-hi-80"].map(|name| frame.column(name).expect("a column"));
        let width = |series: usize| f64::from(high[series * H] - low[series * H]);
        assert!(width(0) > 0.0 && width(0) < (3..7).map(width).sum::<f64>(), "{method}");
        let parameters =
            names(&frame).into_iter().filter(|name| name.contains("-loc") || name.contains("-mu"));
        assert_eq!(parameters.count(), 0, "{method}");
    }
}

#[test]
fn it_is_the_reconciliation_of_the_models_forecasts() {
    let all = sum_series(&bottom(), &hierarchy()).expect("sums");
    let fitted = forecaster("NHITS", json!("MAE")).fit(&all).expect("a training");
    let own = fitted.predict(&all, None).expect("forecasts");
    assert!(incoherence(&reordered(&own), "NHITS") > 1e-4, "these forecasts add up by themselves");
    let kept =
        fitted.clone().with_hierarchy(Some((hierarchy(), Reconciliation::MinTraceOls))).expect("a method");
    let coherent = kept.predict(&all, None).expect("forecasts");
    let (table, columns) = (ForecastTable::of_frame(own.clone()), ColumnNames::default());
    let options = ReconcileOptions::new(Reconciliation::MinTraceOls);
    let expected = reconcile(&table, &hierarchy(), &columns, &options).expect("a reconciliation");
    let expected = expected.into_frame(&ReadOptions::default(), own.freq).expect("a frame");
    assert_eq!(coherent.columns, expected.columns);
    assert!(incoherence(&coherent, "NHITS") < 1e-5);
    let without = kept.with_hierarchy(None).expect("no method").predict(&all, None).expect("forecasts");
    assert_eq!(without.columns, own.columns);
}

/// The same in the order of the hierarchy.
fn reordered(frame: &Frame) -> Frame {
    let table = ForecastTable::of_frame(frame.clone());
    let rows = hierarchy()
        .ids()
        .flat_map(|id| (0..table.ids.len()).filter(|row| table.ids[*row] == *id).collect::<Vec<_>>())
        .collect::<Vec<_>>();
    let columns = frame
        .columns
        .iter()
        .map(|(name, values)| (name.clone(), rows.iter().map(|row| values[*row]).collect()));
    Frame { columns: columns.collect(), ..frame.clone() }
}

#[test]
fn a_hierarchy_is_saved_with_its_models() {
    let home = tempfile::tempdir().expect("a directory");
    let all = sum_series(&bottom(), &hierarchy()).expect("sums");
    let fitted = forecaster("NLinear", normal())
        .hierarchy(hierarchy(), Reconciliation::MinTraceWls)
        .expect("a method");
    let fitted = fitted.fit(&all).expect("a training");
    let level = PredictOptions::new().level(&[50.0, 90.0]);
    let expected = fitted.predict_with(&all, &level).expect("forecasts");
    let dir = home.path().join("model");
    fitted.save(&dir, false).expect("a place");
    let bytes = fitted.to_bytes().expect("bytes");
    for again in [Fitted::load(&dir).expect("a model"), Fitted::from_bytes(&bytes).expect("a model")] {
        assert_eq!(again.hierarchy(), Some((&hierarchy(), Reconciliation::MinTraceWls)));
        assert_eq!(again.predict_with(&all, &level).expect("forecasts").columns, expected.columns);
    }
    let further = Forecaster::from_fitted(&fitted).expect("models").fit(&all).expect("a training");
    assert!(further.hierarchy().is_some());
}

#[test]
fn what_does_not_fit_a_hierarchy_is_said() {
    let forecaster = |method| forecaster("NLinear", json!("MAE")).hierarchy(hierarchy(), method);
    assert!(matches!(forecaster(Reconciliation::TopDown).err(), Some(Error::Hierarchy(_))));
    let all = with_sums(bottom(), &hierarchy()).expect("sums");
    assert_eq!(with_sums(all.clone(), &hierarchy()).expect("the same").n_series(), all.n_series());
    let fitted = forecaster(Reconciliation::MinTraceOls).expect("a method").fit(&all).expect("a training");
    let error = fitted.predict(&bottom(), None).expect_err("sums are missing").to_string();
    assert!(error.contains("no row of Total, a sum of series"), "{error}");
}

#[test]
fn bounded_forecasts_add_up() {
    let all = sum_series(&bottom(), &hierarchy()).expect("sums");
    for (loss, method) in [
        (json!("MAE"), Reconciliation::MinTraceOls),
        (normal(), Reconciliation::MinTraceWls),
        (json!("MAE"), Reconciliation::BottomUp),
    ] {
        let forecaster = forecaster("NHITS", loss).hierarchy(hierarchy(), method).expect("a method");
        let fitted = forecaster
            .keep(KeptSettings { integer: true, non_negative: true, ..KeptSettings::default() })
            .fit(&all)
            .expect("a training");
        let frame = fitted.predict(&all, None).expect("forecasts");
        let whole = |values: &[f32]| values.iter().all(|value| value.fract() == 0.0 && *value >= 0.0);
        assert!(frame.columns.iter().all(|(_, values)| whole(values)), "{method}");
        assert_eq!(incoherence(&frame, "NHITS"), 0.0, "{method}");
    }
}

#[test]
fn errors_that_weigh_nothing_are_refused_before_models_are_kept() {
    let series = ["a", "b", "c", "d"].map(|id| (id, 0, vec![7.0_f32; 80]));
    let constant = Panel::from_series(Freq::parse("1").expect("a frequency"), series).expect("a panel");
    let constant = sum_series(&constant, &hierarchy()).expect("sums");
    let naive = Forecaster::new([ModelSpec::new("Naive", H, 1).expect("a model")]).expect("a model");
    let forecaster = naive.hierarchy(hierarchy(), Reconciliation::MinTraceShrink).expect("a method");
    let error = forecaster.fit(&constant).expect_err("no errors").to_string();
    assert!(error.contains("errors of past forecasts are 0"), "{error}");
}

#[test]
fn sums_that_are_none_are_told() {
    let all = sum_series(&bottom(), &hierarchy()).expect("sums");
    let doubled = |id: &str, y: f32| if id == "Total" { 2.0 * y } else { y };
    let series = (0..all.n_series()).map(|series| {
        let id = all.id(series).to_string();
        let y: Vec<f32> = all.y(series).iter().map(|y| doubled(&id, *y)).collect();
        (id, 0, y)
    });
    let wrong = Panel::from_series(Freq::parse("1").expect("a frequency"), series).expect("a panel");
    let told = |panel: &Panel| {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let into = heard.clone();
        let forecaster = forecaster("NLinear", json!("MAE"));
        let forecaster = forecaster.hierarchy(hierarchy(), Reconciliation::MinTraceOls).expect("a method");
        let telling =
            forecaster.on_warning(move |warning| into.lock().expect("no panic").push(warning.clone()));
        telling.fit(panel).expect("a training");
        std::mem::take(&mut *heard.lock().expect("no panic"))
    };
    assert_eq!(told(&all), []);
    let [Warning::WrongSum { sum, time, .. }] = &told(&wrong)[..] else { panic!("no warning") };
    assert_eq!((&**sum, &**time), ("Total", "79"));
}

/// Of every number the paths of all series add up, at every step, and are no copies of each other.
#[test]
fn sample_paths_of_a_hierarchy_add_up() {
    const PATHS: usize = 5;
    let all = sum_series(&bottom(), &hierarchy()).expect("sums");
    for method in [Reconciliation::MinTraceOls, Reconciliation::BottomUp] {
        let forecaster = forecaster("NLinear", normal()).hierarchy(hierarchy(), method).expect("a method");
        let fitted = forecaster.fit(&all).expect("a training");
        let paths = fitted.simulate(&all, &SimulateOptions::new(PATHS).seed(3)).expect("paths");
        assert_eq!(names(&paths), ["sample_id", "NLinear"]);
        assert!(paths.cutoffs.is_none() && paths.is_integer("sample_id"));
        let numbers: Vec<f32> = (0..PATHS).flat_map(|path| [path as f32; H]).collect();
        assert_eq!(paths.column("sample_id").expect("numbers")[..PATHS * H], numbers);
        let values: Vec<f64> =
            paths.column("NLinear").expect("paths").iter().map(|value| f64::from(*value)).collect();
        assert!(hierarchy().incoherence(&values, PATHS * H) < 1e-5, "{method}");
        assert_ne!(values[..H], values[H..2 * H]);
    }
}

/// The errors that weigh the series of a weighted ensemble are its own: its past forecasts follow from the members' by its weights.
#[test]
fn the_past_of_a_weighted_ensemble_is_known() {
    let all = sum_series(&bottom(), &hierarchy()).expect("sums");
    let fit = |method| {
        let network = ModelSpec::new("NLinear", H, 12).and_then(|model| model.set("max_steps", 20));
        let models = [network, ModelSpec::new("SeasonalNaive", H, 1)].map(|model| model.expect("a model"));
        let forecaster = Forecaster::new(models).expect("models").hierarchy(hierarchy(), method);
        let ensembles = [Ensemble::Mean, Ensemble::Weighted { n_windows: 6 }];
        let forecaster =
            ensembles.into_iter().fold(forecaster.expect("a method"), |all, ensemble| all.ensemble(ensemble));
        forecaster.fit(&all).expect("a training")
    };
    let fitted = fit(Reconciliation::MinTraceShrink);
    let frame = fitted.predict(&all, None).expect("forecasts");
    assert_eq!(names(&frame), ["NLinear", "SeasonalNaive", "EnsembleMean", "EnsembleWeighted"]);
    for name in names(&frame) {
        assert!(incoherence(&frame, name) < 1e-5, "{name}");
    }
    let of_sizes = fit(Reconciliation::MinTraceWls).predict(&all, None).expect("forecasts");
    assert_ne!(
        frame.column("EnsembleWeighted"),
        of_sizes.column("EnsembleWeighted"),
        "the errors have a weight"
    );
    let loaded = Fitted::from_bytes(&fitted.to_bytes().expect("bytes")).expect("what was just written");
    assert_eq!(loaded.predict(&all, None).expect("forecasts").columns, frame.columns);
}

/// The errors of the forecasts that intervals are calibrated on weigh the series, in a saved model, too.
#[test]
fn errors_of_the_past_are_kept_with_the_models() {
    let all = sum_series(&bottom(), &hierarchy()).expect("sums");
    let forecaster = |method| {
        let forecaster = forecaster("NLinear", json!("MAE")).hierarchy(hierarchy(), method);
        forecaster.expect("a method")
    };
    let intervals = PredictionIntervals { n_windows: 6, ..PredictionIntervals::default() };
    let fit = |method| forecaster(method).intervals(intervals).fit(&all).expect("a training");
    let fitted = fit(Reconciliation::MinTraceShrink);
    let frame = fitted.predict(&all, None).expect("forecasts");
    assert!(incoherence(&frame, "NLinear") < 1e-5);
    let of_sizes = fit(Reconciliation::MinTraceWls).predict(&all, None).expect("forecasts");
    assert_ne!(frame.columns, of_sizes.columns, "the errors have a weight");
    let home = tempfile::tempdir().expect("a folder");
    fitted.save(home.path().join("model"), false).expect("a new directory");
    let loaded = Fitted::load(home.path().join("model")).expect("what was just written");
    assert_eq!(loaded.predict(&all, None).expect("forecasts").columns, frame.columns);
}

/// A distribution has no intervals to calibrate, so the errors are those of the last horizons.
#[test]
fn errors_of_the_past_weigh_distributions_too() {
    let all = sum_series(&bottom(), &hierarchy()).expect("sums");
    let fit = |method| {
        let normal = json!({"DistributionLoss": {"distribution": "Normal", "level": [80]}});
        let forecaster = forecaster("NLinear", normal).hierarchy(hierarchy(), method).expect("a method");
        forecaster.fit(&all).expect("a training")
    };
    let fitted = fit(Reconciliation::MinTraceShrink);
    let frame = fitted.predict(&all, None).expect("forecasts");
    assert!(incoherence(&frame, "NLinear") < 1e-5);
    let [low, high] = ["NLinear-lo-80", "NLinear-hi-80"].map(|name| frame.column(name).expect("an end"));
    assert!(low.iter().zip(high).all(|(low, high)| low < high));
    let of_sizes = fit(Reconciliation::MinTraceWls).predict(&all, None).expect("forecasts");
    assert_ne!(frame.column("NLinear"), of_sizes.column("NLinear"), "the errors have a weight");
    let loaded = Fitted::from_bytes(&fitted.to_bytes().expect("bytes")).expect("what was just written");
    assert_eq!(loaded.predict(&all, None).expect("forecasts").columns, frame.columns);
}

/// What is naive adds up already: by any method its errors are the last differences, as a share of the last values.
#[test]
fn what_reconciliation_gains_is_told() {
    let all = sum_series(&bottom(), &hierarchy()).expect("sums");
    let fitted = |model: &str| {
        let spec = ModelSpec::new(model, 1, 1).expect("a model");
        let forecaster = Forecaster::new([spec]).expect("models").hierarchy_by_default(hierarchy());
        forecaster.expect("a hierarchy").fit(&all).expect("a training")
    };
    let (mut missed, mut size) = (0.0, 0.0);
    for series in 0..all.n_series() {
        let y = all.y(series);
        for row in y.len() - 3..y.len() {
            missed += f64::from((y[row] - y[row - 1]).abs());
            size += f64::from(y[row].abs());
        }
    }
    let naive = fitted("Naive").sums_gain().expect("errors");
    assert_eq!((naive.len(), &*naive[0].model), (1, "Naive"));
    for found in [naive[0].alone, naive[0].bottom_up, naive[0].reconciled] {
        assert!((found - missed / size).abs() < 1e-6, "{found} and {}", missed / size);
    }
    let theta = fitted("Theta");
    let told = theta.sums_gain().expect("errors")[0].to_string();
    assert!(told.starts_with("Theta misses ") && told.contains(" % by BottomUp, "), "{told}");
    let again = Fitted::from_bytes(&theta.to_bytes().expect("bytes")).expect("models");
    assert_eq!(again.sums_gain().expect("errors"), theta.sums_gain().expect("errors"));
    let networks =
        forecaster("NLinear", json!("MAE")).hierarchy_by_default(hierarchy()).expect("a hierarchy");
    assert!(networks.fit(&all).expect("a training").sums_gain().expect("no errors").is_empty());
}
