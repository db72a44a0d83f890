//! Values outside the intervals of their forecasts.

use foretell::{
    End, Ensemble, Error, Fitted, Forecaster, Frame, Freq, InsampleOptions, ModelSpec, Panel,
    PredictionIntervals, ValidationOptions,
};
use serde_json::{Value, json};

const H: usize = 6;
const ROWS: usize = 240;

/// A day's wave with noise of at most 0.2 in two series, the second with a value that is 3 too high in row 200 and one that is 3 too
/// low in row 220.
fn panel() -> Panel {
    let mut state = 7_u64;
    let mut noise = || {
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
        ((state >> 40) as f32 / 2.0_f32.powi(24) - 0.5) * 0.4
    };
    let series = ["a", "b"].map(|id| {
        let wave = (0..ROWS).map(|t| (t as f32 * std::f32::consts::TAU / 24.0).sin() * 2.0 + noise());
        let mut y: Vec<f32> = wave.collect();
        if id == "b" {
            y[200] += 3.0;
            y[220] -= 3.0;
        }
        (id, 0, y)
    });
    Panel::from_series(Freq::parse("h").unwrap(), series).unwrap()
}

fn nlinear(loss: Value) -> ModelSpec {
    let set = |spec: ModelSpec, name: &str, value: Value| spec.set(name, value).unwrap();
    let spec = set(ModelSpec::new("NLinear", H, 24).unwrap(), "loss", loss);
    let spec = set(spec, "max_steps", json!(150));
    set(set(spec, "learning_rate", json!(1e-2)), "windows_batch_size", json!(64))
}

/// The marked rows of a model: series and row within it.
fn outside(frame: &Frame, model: &str) -> Vec<(String, i64)> {
    let marks = frame.column(&format!("{model}-anomaly")).unwrap();
    let hour = 3_600_000_000;
    let rows = (0..frame.n_rows()).filter(|&row| marks[row] == 1.0);
    rows.map(|row| (frame.ids[row].to_string(), frame.times[row] / hour)).collect()
}

fn planted() -> Vec<(String, i64)> {
    vec![("b".to_owned(), 200), ("b".to_owned(), 220)]
}

#[test]
fn marks_beyond_the_limit_are_refused_before_a_training() {
    let forecaster = Forecaster::new([nlinear(json!("MAE"))]).unwrap().max_memory(20_000);
    let refused =
        forecaster.anomalies(&panel(), &ValidationOptions::new(10, H), 99.9).unwrap_err().to_string();
    assert!(refused.contains("marking values") && refused.contains("lower h or n_windows"), "{refused}");
}

#[test]
fn planted_anomalies_are_found_by_cross_validation_and_in_sample() {
    let panel = panel();
    let options = ValidationOptions::new(10, H);
    let (frame, fitted) =
        Forecaster::new([nlinear(json!("MAE"))]).unwrap().anomalies(&panel, &options, 99.9).unwrap();
    let names: Vec<&str> = frame.columns.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        ["y", "NLinear", "NLinear-lo", "NLinear-hi", "NLinear-anomaly", "NLinear-score", "NLinear-rank"]
    );
    assert_eq!(frame.n_rows(), 2 * 10 * H);
    let found = outside(&frame, "NLinear");
    assert!(planted().iter().all(|row| found.contains(row)), "{found:?}");
    // An anomaly is the history of the next horizons too, so a few rows after it may be marked.
    assert!(found.len() <= 12, "{found:?}");
    check_numbers(&frame, "NLinear");

    let in_sample = fitted.anomalies(&panel, 99.9).unwrap();
    let first_known = in_sample.column("NLinear").unwrap().iter().position(|forecast| !forecast.is_nan());
    assert_eq!(
        first_known,
        Some(18),
        "the first forecast of all is of row 6, that from 24 rows of history 18 rows later"
    );
    assert!(in_sample.n_rows() > frame.n_rows());
    let found = outside(&in_sample, "NLinear");
    assert!(planted().iter().all(|row| found.contains(row)) && found.len() <= 12, "{found:?}");
    check_numbers(&in_sample, "NLinear");
}

/// Scores, ranks and marks agree with the values and the intervals.
fn check_numbers(frame: &Frame, model: &str) {
    let column = |suffix: &str| frame.column(&format!("{model}{suffix}")).unwrap();
    let (y, lo, hi) = (frame.column("y").unwrap(), column("-lo"), column("-hi"));
    let (marks, scores, ranks) = (column("-anomaly"), column("-score"), column("-rank"));
    for row in (0..frame.n_rows()).filter(|&row| !marks[row].is_nan()) {
        let beyond = (y[row] - hi[row]).max(lo[row] - y[row]).max(0.0) / (hi[row] - lo[row]);
        assert!((scores[row] - beyond).abs() < 1e-4 * beyond.max(1.0), "row {row}: {} {beyond}", scores[row]);
        assert_eq!(marks[row] == 1.0, scores[row] > 0.0, "row {row}");
        assert!(ranks[row] > 0.0 && ranks[row] <= 1.0);
    }
    let of_b = (0..frame.n_rows()).filter(|&row| &*frame.ids[row] == "b" && !marks[row].is_nan());
    let farthest = of_b.clone().max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap();
    assert!(
        (ranks[farthest] - 1.0 / of_b.count() as f32).abs() < 1e-6,
        "the farthest is the only one as far"
    );
}

#[test]
fn a_model_of_quantiles_has_its_own_interval() {
    let panel = panel();
    let options = ValidationOptions::new(10, H);
    let spec = nlinear(json!({ "MQLoss": { "level": [90] } }));
    let validation =
        Forecaster::new([spec]).unwrap().cross_validate(&panel, &options.level(&[90.0])).unwrap();
    let frame = validation.anomalies(90.0).unwrap();
    assert_eq!(frame.column("NLinear-lo"), validation.frame.column("NLinear-lo-90"));
    assert_eq!(frame.column("NLinear-hi"), validation.frame.column("NLinear-hi-90"));
    let found = outside(&frame, "NLinear");
    assert!(planted().iter().all(|row| found.contains(row)), "{found:?}");
}

#[test]
fn trained_models_and_ensembles_have_the_intervals_that_predict_gives() {
    let panel = panel();
    let normal = nlinear(json!({ "DistributionLoss": { "distribution": "Normal" } }));
    let forecaster = Forecaster::new([nlinear(json!("MAE")), normal]).unwrap();
    let fitted = forecaster.ensemble(Ensemble::Mean).fit(&panel).unwrap();
    let intervals = PredictionIntervals { n_windows: 20, ..PredictionIntervals::default() };
    let fitted = fitted.calibrate(&panel, intervals).unwrap();
    let frame = fitted.anomalies(&panel, 90.0).unwrap();
    let insample = fitted.predict_insample_with(&panel, &InsampleOptions::new(H).level(&[90.0])).unwrap();
    for model in ["NLinear", "NLinear1", "EnsembleMean"] {
        for end in ["lo", "hi"] {
            let found = frame.column(&format!("{model}-{end}")).expect(model);
            let expected = insample.column(&format!("{model}-{end}-90")).expect(model);
            // The first forecasts, from less than the models read, are left out.
            let known = found.iter().zip(expected).filter(|(found, _)| !found.is_nan());
            assert!(known.clone().count() > found.len() / 2, "{model}-{end}");
            assert!(known.into_iter().all(|(found, expected)| found == expected), "{model}-{end}");
        }
        check_numbers(&frame, model);
    }
    let found = outside(&frame, "NLinear1");
    assert!(planted().iter().all(|row| found.contains(row)), "{found:?}");
}

/// Of five windows intervals hold 83 % at most: those of 99 % would mark a sixth of what is as usual.
#[test]
fn intervals_of_few_windows_mark_nothing() {
    let panel = panel();
    let heard = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let into = heard.clone();
    let forecaster = Forecaster::new([ModelSpec::new("SeasonalNaive", H, 1).unwrap()]).unwrap();
    let fitted = forecaster.fit(&panel).unwrap();
    let intervals = PredictionIntervals { n_windows: 5, ..PredictionIntervals::default() };
    let fitted = fitted.calibrate(&panel, intervals).unwrap();
    let fitted = fitted.on_warning(move |warning| into.lock().unwrap().push(warning.to_string()));
    let mut found = outside(&fitted.anomalies(&panel, 99.0).unwrap(), "SeasonalNaive");
    // Those of the first day are forecast by the last value.
    found.retain(|(_, row)| *row >= 24);
    assert!(planted().iter().all(|row| found.contains(row)) && found.len() <= 12, "{found:?}");
    assert!(heard.lock().unwrap().iter().any(|told| told.contains("5 windows hold about 83 %")), "{heard:?}");
}

#[test]
fn what_is_not_known_is_not_marked_and_levels_are_percentages() {
    let mut y: Vec<f32> = (0..60).map(|day| (day % 7) as f32).collect();
    y[33] = 100.0;
    // The second series ends earlier, and nothing is known of it then.
    let series = [("a", 0, y.clone()), ("b", 0, y[..50].to_vec())];
    let panel = Panel::from_series(Freq::parse("1").unwrap(), series).unwrap();
    let panel = panel.with_end(End::Masked, None).unwrap();
    let fitted: Fitted =
        Forecaster::new([ModelSpec::new("SeasonalNaive", 7, 1).unwrap().set("season_length", 7).unwrap()])
            .unwrap()
            .fit(&panel)
            .unwrap();
    let frame = fitted.anomalies(&panel, 95.0).unwrap();
    let marks = frame.column("SeasonalNaive-anomaly").unwrap();
    let mark = |day: i64| marks[frame.times.iter().position(|time| *time == day).unwrap()];
    assert_eq!((mark(33), mark(34)), (1.0, 0.0));
    let y = frame.column("y").unwrap();
    assert!(y.iter().any(|y| y.is_nan()));
    // Of two seasons nothing is known of errors, and then of all that is known.
    let known = y.iter().zip(marks).zip(&frame.times).filter(|(_, time)| **time >= 21);
    assert!(known.clone().count() > 60 && known.clone().all(|((y, mark), _)| y.is_nan() == mark.is_nan()));
    for level in [0.0, 100.0, f64::NAN, -3.0] {
        let error = fitted.anomalies(&panel, level).unwrap_err();
        assert!(matches!(error, Error::Usage(_)), "{error}");
    }
}
