//! Prediction intervals: honest, free of charge for the weights, kept with the models, and asked for by level.

use foretell::{
    ConformalMethod, Error, Fitted, Forecaster, Frame, Freq, InsampleOptions, ModelSpec, Panel,
    PredictOptions, PredictionIntervals, ValidationOptions,
};
use serde_json::{Value, json};

const H: usize = 6;

/// Series of a day's wave with noise as large, which no one can forecast.
fn panel(ids: &[&str], rows: usize) -> Panel {
    let noise = |seed: usize| {
        // A sum of uniform draws, of a multiplicative congruential generator.
        let mut state = (seed as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        move || {
            (0..4).fold(-2.0, |sum, _| {
                state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
                sum + (state >> 40) as f32 / 2.0_f32.powi(24)
            })
        }
    };
    let series = ids.iter().enumerate().map(|(i, id)| {
        let mut noise = noise(i);
        let y = (0..rows).map(|t| (t as f32 * std::f32::consts::TAU / 24.0).sin() + noise() + i as f32);
        (*id, 0, y.collect::<Vec<_>>())
    });
    Panel::from_series(Freq::parse("h").expect("a frequency"), series).expect("a panel")
}

fn spec(loss: Value) -> ModelSpec {
    let spec = ModelSpec::new("NLinear", H, 24).and_then(|spec| spec.set("loss", loss));
    let spec =
        spec.and_then(|spec| spec.set("max_steps", 80)).and_then(|spec| spec.set("learning_rate", 1e-2));
    spec.and_then(|spec| spec.set("windows_batch_size", 64)).expect("valid hyper-parameters")
}

fn intervals(n_windows: usize, method: ConformalMethod) -> PredictionIntervals {
    PredictionIntervals { n_windows, method, step_size: 1 }
}

fn at(fitted: &Fitted, panel: &Panel, level: &[f64]) -> Result<Frame, Error> {
    fitted.predict_with(panel, &PredictOptions::new().level(level))
}

fn names(frame: &Frame) -> Vec<&str> {
    frame.columns.iter().map(|(name, _)| name.as_str()).collect()
}

#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    let panel = panel(&["a", "b", "c", "d"], 700);
    for method in [ConformalMethod::Distribution, ConformalMethod::Error] {
        for refit in [0, 20] {
            let forecaster = Forecaster::new([spec(json!("MAE"))]).expect("a model");
            let forecaster = forecaster.intervals(intervals(80, method));
            let options = ValidationOptions::new(40, H).refit(refit).level(&[80.0, 50.0]);
            let checked = forecaster.cross_validate(&panel, &options).expect("a validation");
            assert_eq!(
                names(&checked.frame),
                ["y", "NLinear", "NLinear-lo-80", "NLinear-lo-50", "NLinear-hi-50", "NLinear-hi-80"]
            );
            let coverage = &checked.metrics(&panel, 24)[0].coverage;
            // Errors themselves are below a quantile more often than errors of both signs.
            let expected = match method {
                ConformalMethod::Distribution => [0.5, 0.8],
                ConformalMethod::Error => [0.75, 0.9],
            };
            for (found, expected) in coverage.iter().zip(expected) {
                assert!((found.coverage - expected).abs() < 0.05, "{method:?}, {refit}: {coverage:?}");
            }
        }
    }
}

#[test]
fn weights_are_those_of_a_training_without_intervals() {
    let panel = panel(&["a", "b"], 200);
    let fit = |intervals: Option<PredictionIntervals>| {
        let forecaster = Forecaster::new([spec(json!("MAE"))]).expect("a model").val_size(H);
        let forecaster = intervals.into_iter().fold(forecaster, Forecaster::intervals);
        forecaster.fit(&panel).expect("a fit")
    };
    let (plain, with) = (fit(None), fit(Some(PredictionIntervals::default())));
    let bits = |fitted: &Fitted| -> Vec<u32> {
        fitted.models()[0].parameters_in_order().map(|weight| weight.to_bits()).collect()
    };
    assert_eq!(bits(&plain), bits(&with));
    assert_eq!(plain.prediction_intervals(), None);
    assert_eq!(with.prediction_intervals(), Some(PredictionIntervals::default()));
    assert_eq!(
        plain.predict(&panel, None).expect("a forecast").columns,
        with.predict(&panel, None).expect("a forecast").columns,
        "without levels there are no intervals"
    );
}

#[test]
fn intervals_are_saved_and_loaded() {
    let panel = panel(&["a", "b"], 200);
    // The second has quantiles of its own, the third the name of the first.
    let specs = [spec(json!("MAE")), spec(json!({"MQLoss": {"level": [80, 95]}})), spec(json!("MSE"))];
    let specs =
        specs.into_iter().zip(["x", "q", "x"]).map(|(spec, alias)| spec.set("alias", alias).expect("a name"));
    let fitted = Forecaster::new(specs)
        .expect("models")
        .intervals(intervals(4, ConformalMethod::Error))
        .fit(&panel)
        .expect("a fit");
    let home = tempfile::tempdir().expect("a folder");
    fitted.save(home.path().join("model"), false).expect("it is new");
    let loaded = Fitted::load(home.path().join("model")).expect("what was just written");
    assert_eq!(loaded.prediction_intervals(), fitted.prediction_intervals());
    let (first, second) = (at(&fitted, &panel, &[80.0]), at(&loaded, &panel, &[80.0]));
    let (first, mut second) = (first.expect("intervals"), second.expect("intervals"));
    assert_eq!(
        names(&first),
        ["x", "x-lo-80", "x-hi-80", "q-median", "q-lo-80", "q-hi-80", "x1", "x1-lo-80", "x1-hi-80"]
    );
    // A directory keeps models of one alias together.
    second.columns.sort_by_key(|(name, _)| names(&first).iter().position(|first| first == name));
    assert_eq!(first.columns, second.columns);
}

#[test]
fn quantiles_are_named_as_neuralforecast_names_them() {
    let panel = panel(&["a", "b"], 300);
    let losses = [
        ("point", json!("MAE")),
        ("many", three_quantiles()),
        ("normal", json!({"DistributionLoss": {"distribution": "Normal"}})),
    ];
    let specs = losses.map(|(alias, loss)| spec(loss).set("alias", alias).expect("a name"));
    let forecaster = Forecaster::new(specs).expect("models").ensemble(foretell::Ensemble::Mean);
    let fitted = forecaster.intervals(intervals(20, ConformalMethod::Distribution));
    let fitted = fitted.fit(&panel).expect("a fit");
    let asked = |quantiles: &[f64]| fitted.predict_with(&panel, &PredictOptions::new().quantiles(quantiles));
    let frame = asked(&[0.9, 0.1]).expect("quantiles");
    assert_eq!(
        names(&frame),
        [
            "point", "point-ql0.1", "point-ql0.9", "many-median", "many_ql0.1", "many_ql0.9", "normal",
            "normal_ql0.1", "normal_ql0.9", "EnsembleMean", "EnsembleMean-ql0.1", "EnsembleMean-ql0.9"
        ]
    );
    // They are the ends of the interval of 80 %.
    let level = at(&fitted, &panel, &[80.0]).expect("intervals");
    for (quantile, end) in
        [("point-ql0.1", "point-lo-80"), ("many_ql0.9", "many-hi-80"), ("normal_ql0.1", "normal-lo-80")]
    {
        assert_eq!(frame.column(quantile), level.column(end), "{quantile}");
    }
    let [point, many, normal, mean] = ["point-ql0.9", "many_ql0.9", "normal_ql0.9", "EnsembleMean-ql0.9"]
        .map(|name| frame.column(name).expect("a column")[3]);
    assert!(((point + many + normal) / 3.0 - mean).abs() < 1e-5);

    // The median that is asked for is the forecast of a single number.
    let frame = asked(&[0.5]).expect("the median");
    assert_eq!(names(&frame)[2..3], ["many_ql0.5"]);
    let options = ValidationOptions::new(2, H).quantiles(&[0.1, 0.9]);
    let forecaster = Forecaster::new([spec(three_quantiles())]).expect("a model");
    let validation = forecaster.cross_validate(&panel, &options).expect("a validation");
    assert_eq!(validation.metrics(&panel, 24)[0].coverage.len(), 1);

    let message = |frame: Result<Frame, Error>| frame.expect_err("refused").to_string();
    assert!(message(asked(&[1.0])).contains("above 0 and below 1, found 1"));
    let both = PredictOptions::new().quantiles(&[0.1]).level(&[80.0]);
    assert!(message(fitted.predict_with(&panel, &both)).contains("found both"));
    let alone = Forecaster::new([spec(three_quantiles())]).expect("a model").fit(&panel).expect("a fit");
    let other = alone.predict_with(&panel, &PredictOptions::new().quantiles(&[0.2]));
    assert!(message(other).contains("the quantiles of its loss, 0.1, 0.5, 0.9;"));
}

fn three_quantiles() -> Value {
    json!({"MQLoss": {"quantiles": [0.1, 0.5, 0.9]}})
}

#[test]
fn trained_models_are_calibrated_without_training() {
    let panel = panel(&["a", "b"], 300);
    let fitted =
        Forecaster::new([spec(json!("MAE"))]).expect("a model").fit(&panel.without_last(50)).expect("a fit");
    let before: Vec<f32> = fitted.models()[0].parameters_in_order().copied().collect();
    let fitted =
        fitted.calibrate(&panel, intervals(30, ConformalMethod::Distribution)).expect("a calibration");
    assert!(fitted.models()[0].parameters_in_order().eq(&before));
    let frame = at(&fitted, &panel, &[90.0]).expect("intervals");
    let (low, middle, high) = (&frame.columns[1].1, &frame.columns[0].1, &frame.columns[2].1);
    for row in 0..frame.n_rows() {
        assert!(low[row] < middle[row] && middle[row] < high[row] && high[row] - low[row] < 6.0, "row {row}");
    }
    let message = |result: Result<Frame, Error>| result.expect_err("no errors are known").to_string();
    // A series that was not calibrated on has no interval, and all of those are refused.
    let other = self::panel(&["a", "z"], 300);
    let frame = at(&fitted, &other, &[90.0]).expect("intervals of a");
    let known: Vec<bool> = frame.columns[1].1.iter().map(|low| low.is_finite()).collect();
    assert_eq!(known, frame.ids.iter().map(|id| **id == *"a").collect::<Vec<_>>());
    let strange = self::panel(&["z"], 300);
    assert!(message(at(&fitted, &strange, &[90.0])).contains("calibrated on other series than z"));
    // Without intervals, of course, any series will do.
    fitted.predict(&other, None).expect("a forecast");
}

#[test]
fn values_that_are_not_known_do_not_count() {
    let y: Vec<f32> = (0..100).map(|t| f32::from(u8::from(t % 2 == 0))).collect();
    let mask: Vec<f32> = (0..100).map(|t| f32::from(u8::from(t < 95))).collect();
    let freq = Freq::parse("1").expect("a frequency");
    let times: Vec<i64> = (0..100).collect();
    let panel = Panel::builder(freq.kind()).freq(freq).series("s", &times, &y).available_mask(&mask).build();
    let panel = panel.expect("a panel");
    let fitted = Forecaster::new([spec(json!("MAE"))])
        .and_then(|forecaster| forecaster.intervals(intervals(3, ConformalMethod::Error)).fit(&panel));
    let frame = at(&fitted.expect("a fit"), &panel, &[80.0]).expect("intervals");
    // The windows begin with rows 92, 93 and 94: of the first step all errors are known, of the fourth none.
    let known: Vec<bool> = frame.columns[1].1.iter().map(|low| low.is_finite()).collect();
    assert_eq!(known, [true, true, true, false, false, false]);
}

#[test]
fn each_model_has_the_levels_that_it_can_have() {
    let panel = panel(&["a"], 120);
    let normal =
        json!({"DistributionLoss": {"distribution": "Normal", "level": [50], "return_params": true}});
    let fit = |loss: Value| Forecaster::new([spec(loss)]).expect("a model").fit(&panel).expect("a fit");
    let fitted = fit(normal);
    let frame = at(&fitted, &panel, &[97.5, 80.0, 80.0]).expect("any level");
    let ends =
        ["", "-lo-97.5", "-lo-80", "-hi-80", "-hi-97.5", "-loc", "-scale"].map(|end| format!("NLinear{end}"));
    assert_eq!(names(&frame), ends);
    let row: Vec<f32> = frame.columns[..5].iter().map(|(_, values)| values[0]).collect();
    assert!(row[1] < row[2] && row[2] < row[0] && row[0] < row[3] && row[3] < row[4], "{row:?}");

    let quantiles = fit(json!({"MQLoss": {"quantiles": [0.9, 0.5, 0.1, 0.3]}}));
    let frame = at(&quantiles, &panel, &[80.0]).expect("it was trained for that");
    let own = quantiles.predict(&panel, None).expect("a forecast");
    assert_eq!(names(&frame), ["NLinear-median", "NLinear-lo-80", "NLinear-hi-80"]);
    assert_eq!(frame.columns[1].1, own.column("NLinear-lo-80.0").expect("a column"));

    let message =
        |fitted: &Fitted, level: &[f64]| at(fitted, &panel, level).expect_err("no such level").to_string();
    assert!(message(&quantiles, &[90.0]).contains("the intervals among them are: 80 %"));
    assert!(message(&fit(json!({"QuantileLoss": {"q": 0.9}})), &[80.0]).contains("among them are: none"));
    assert!(message(&fit(json!("MAE")), &[80.0]).contains("calibrate them, with the training"));
    for level in [0.0, 0.8, 100.0, -5.0, f64::NAN] {
        assert!(message(&fitted, &[level]).contains("1 or more and below 100"), "{level}");
    }
}

#[test]
fn what_cannot_be_calibrated_is_said_before_training() {
    let fit = |loss: Value, rows: usize, intervals: PredictionIntervals| {
        let forecaster = Forecaster::new([spec(loss)]).expect("a model").val_size(H).intervals(intervals);
        forecaster.fit(&panel(&["a"], rows)).expect_err("no intervals").to_string()
    };
    let ten = intervals(10, ConformalMethod::Error);
    assert!(fit(json!("MAE"), 21, ten).contains("need 22 rows of each series, and series a has 21"));
    assert!(fit(json!("MQLoss"), 100, ten).contains("nothing to calibrate"));
    let message = fit(json!("MQLoss"), 100, ten);
    assert!(
        message.starts_with("NLinear forecasts quantiles, which are its intervals, so there is"),
        "{message}"
    );
    let naive = || Forecaster::new([ModelSpec::new("Naive", H, 1).expect("a model")]).expect("a forecaster");
    // Calibrated ones take the place of a model's own.
    assert!(naive().intervals(ten).fit(&panel(&["a"], 100)).is_ok());
    let fitted = naive().fit(&panel(&["a"], 100)).expect("a fit");
    assert!(names(&at(&fitted, &panel(&["a"], 100), &[80.0]).expect("a forecast")).contains(&"Naive-lo-80"));
    let absurd = PredictionIntervals { step_size: usize::MAX, ..ten };
    assert!(fit(json!("MAE"), 100, absurd).contains("rows of each series"));
    assert!(fit(json!("MAE"), 100, PredictionIntervals { n_windows: 1, ..ten }).contains("at least 2"));

    let untrained = |loss: Value, level: f64| {
        let forecaster = Forecaster::new([spec(loss)]).expect("a model");
        let level = [level];
        let options = ValidationOptions::new(2, H).level(&level);
        let forecaster = forecaster.on_progress(|_, _| panic!("no step is taken"));
        forecaster.cross_validate(&panel(&["a"], 100), &options).expect_err("no such level").to_string()
    };
    assert!(untrained(json!("MAE"), 80.0).contains("calibrate them"));
    assert!(untrained(json!("MQLoss"), 70.0).contains("80 % and 90 %"));
    assert!(untrained(json!("MQLoss"), 700.0).contains("below 100"));
}

#[test]
fn forecasts_of_the_history_have_the_levels_of_forecasts_ahead() {
    let panel = panel(&["a", "b"], 200);
    let loss = json!({"DistributionLoss": {"distribution": "Normal"}});
    let forecaster = Forecaster::new([spec(json!("MAE")), spec(loss).set("alias", "Bands").expect("a name")]);
    let forecaster = forecaster.expect("models").intervals(intervals(10, ConformalMethod::Error));
    let fitted = forecaster.fit(&panel).expect("a fit");
    let ahead = at(&fitted, &panel.without_last(H), &[80.0]).expect("a forecast");
    let options = InsampleOptions::new(H).level(&[80.0]);
    let history = fitted.predict_insample_with(&panel, &options).expect("forecasts");
    assert_eq!(names(&history)[1..], names(&ahead), "the truth stands before them");
    let each = history.n_rows() / 2;
    for ((name, values), (_, last)) in history.columns[1..].iter().zip(&ahead.columns) {
        assert_eq!(values[each - H..each], last[..H], "{name}");
        assert_eq!(values[2 * each - H..], last[H..], "{name}");
    }
    let wrong = fitted.predict_insample_with(&panel, &options.quantiles(&[0.1])).expect_err("both");
    assert!(wrong.to_string().contains("either"), "{wrong}");
}
