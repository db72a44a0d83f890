//! Forecasts over the history, further ahead than the models' horizon, and by models that are trained anew.

use foretell::{
    Error, Fitted, Forecaster, Freq, Future, InsampleOptions, ModelSpec, Panel, PredictOptions, TimeKind,
    ValidationOptions,
};
use serde_json::{Value, json};

const H: usize = 4;

/// Two series of 60 and 47 hours, with a column.
fn panel() -> Panel {
    let freq = Freq::parse("1").expect("a frequency");
    let mut builder = Panel::builder(TimeKind::Integer).freq(freq);
    let mut column = Vec::new();
    for (id, rows, phase) in [("long", 60, 0.0), ("short", 47, 1.0)] {
        let y: Vec<f32> = (0..rows).map(|t| (t as f32 * 0.7 + phase).sin() + 0.01 * t as f32).collect();
        column.extend((0..rows).map(|t| (t as f32 * 0.3).cos()));
        builder = builder.series(id, &(0..rows).collect::<Vec<i64>>(), &y);
    }
    builder.column("x", &column).build().expect("a panel")
}

fn spec(name: &str, settings: &[(&str, Value)]) -> ModelSpec {
    let common = [("max_steps", json!(5)), ("windows_batch_size", json!(32))];
    let spec = ModelSpec::new(name, H, 12).expect("a model");
    common
        .iter()
        .chain(settings)
        .cloned()
        .fold(spec, |spec, (name, value)| spec.set(name, value).expect("a value"))
}

fn linear() -> ModelSpec {
    spec("NLinear", &[("scaler_type", json!("standard"))])
}

fn with_column() -> ModelSpec {
    spec("MLP", &[("hidden_size", json!(8)), ("futr_exog_list", json!(["x"]))])
}

fn recurrent() -> ModelSpec {
    spec("GRU", &[("recurrent", json!(true)), ("encoder_hidden_size", json!(6))])
}

fn fit(specs: impl IntoIterator<Item = ModelSpec>, panel: &Panel) -> Fitted {
    Forecaster::new(specs).expect("models").fit(panel).expect("a fit")
}

fn values(frame: foretell::Frame) -> Vec<Vec<f32>> {
    frame.columns.into_iter().map(|(_, values)| values).collect()
}

#[test]
fn the_history_is_covered_from_its_end() {
    let fitted = fit([linear(), recurrent()], &panel());
    let frame = fitted.predict_insample(&panel(), 5).expect("a forecast");
    // Of 60 rows whole steps cover 4 + 11 * 5 = 59, of 47 rows 4 + 8 * 5 = 44.
    let rows = |id: &str| frame.ids.iter().filter(|found| &***found == id).count();
    assert_eq!((rows("long"), rows("short")), (12 * H, 9 * H));
    let cutoffs = frame.cutoffs.as_ref().expect("cutoffs");
    assert_eq!((cutoffs[0], frame.times[0], cutoffs[H], frame.times[H + 1]), (0, 1, 5, 7));
    assert_eq!((cutoffs[12 * H], frame.times[12 * H]), (2, 3));
    assert_eq!(frame.columns[0].1[..2], panel().y(0)[1..3], "the truth stands beside");

    // The last of them is the forecast of who stops before.
    let last = values(fitted.predict(&panel().without_last(H), None).expect("a forecast"));
    for (column, last) in frame.columns[1..].iter().zip(&last) {
        assert_eq!(column.1[11 * H..12 * H], last[..H]);
        assert_eq!(column.1[20 * H..], last[H..]);
    }

    let first = |frame: foretell::Frame| frame.cutoffs.expect("cutoffs")[0];
    let from_padding = InsampleOptions::new(1).from_padding();
    let padded = fitted.predict_insample_with(&panel(), &from_padding).expect("a forecast");
    let known = fitted.predict_insample(&panel(), 1).expect("a forecast");
    assert_eq!(padded.n_rows(), known.n_rows() + 2 * H, "one forecast of each series is from padding alone");
    assert_eq!(padded.columns[1].1[H..2 * H], known.columns[1].1[..H]);
    assert_eq!((first(padded), first(known)), (-1, 0));
    let tiny = panel().last(3);
    let error = fitted.predict_insample(&tiny, 1).expect_err("too short").to_string();
    assert!(error.contains("series long, which has 3 rows"), "{error}");
    assert!(fitted.predict_insample(&panel(), 0).is_err());
}

#[test]
fn models_are_trained_anew_every_so_many_windows() {
    let (windows, step) = (5, 3);
    let specs = || [linear(), with_column()];
    let validate = |refit: usize| {
        let forecaster = Forecaster::new(specs()).expect("models");
        let options = ValidationOptions::new(windows, step).refit(refit);
        forecaster.cross_validate(&panel(), &options).expect("a validation").frame
    };
    let once = validate(0);
    for every in [1, 2, 9] {
        let anew = validate(every);
        assert_eq!((&once.ids, &once.times, &once.cutoffs), (&anew.ids, &anew.times, &anew.cutoffs));
        assert_eq!(once.columns[0], anew.columns[0]);
        for window in 0..windows {
            let cut = |window: usize| panel().without_last(H + (windows - 1 - window) * step);
            let fitted = fit(specs(), &cut(window - window % every));
            let future = Future::within(&panel(), &cut(window), H);
            let expected = values(fitted.predict(&cut(window), Some(&future)).expect("a forecast"));
            for (found, expected) in anew.columns[1..].iter().zip(&expected) {
                for series in 0..2 {
                    let row = (series * windows + window) * H;
                    assert_eq!(
                        found.1[row..row + H],
                        expected[series * H..][..H],
                        "{every}, window {window}"
                    );
                }
            }
        }
    }
    // The first of the windows is no one's second.
    assert_eq!(once.columns[1].1[..H], validate(1).columns[1].1[..H]);
    assert_ne!(once.columns[1], validate(1).columns[1]);
}

#[test]
fn forecasts_continue_from_forecasts() {
    let fitted = fit([linear(), with_column(), recurrent()], &panel());
    let ahead = |h: usize| {
        let x: Vec<f32> = [60, 47].iter().flat_map(|&t| (t..t + h).map(|t| (t as f32 * 0.3).cos())).collect();
        let future = Future::new(&panel(), h, &[("x", &x)]).expect("a table");
        let options = PredictOptions::new().future(&future).h(h);
        (fitted.predict_with(&panel(), &options).expect("a forecast"), future)
    };
    let (own, future) = ahead(H);
    assert_eq!(values(own.clone()), values(fitted.predict(&panel(), Some(&future)).expect("a forecast")));
    let (ten, _) = ahead(10);
    assert_eq!((ten.n_rows(), ten.times[9], ten.times[10]), (20, 69, 47));
    for (own, ten) in own.columns.iter().zip(&ten.columns) {
        assert_eq!((&own.1[..H], &own.1[H..]), (&ten.1[..H], &ten.1[10..10 + H]), "{}", own.0);
    }
    // The second round begins after the fourth step, the third, whose end is the last step, after the sixth.
    let linear = |known: usize| {
        let series = [("long", 0, 0), ("short", 1, 10)].map(|(id, series, row)| {
            let y = [panel().y(series), &ten.columns[0].1[row..row + known]].concat();
            (id, 0, y)
        });
        let panel = Panel::from_series(Freq::parse("1").expect("a frequency"), series).expect("a panel");
        let fitted = fit([self::linear()], &self::panel());
        values(fitted.predict(&panel, None).expect("a forecast")).remove(0)
    };
    assert_eq!(ten.columns[0].1[4..8], linear(4)[..H]);
    assert_eq!(ten.columns[0].1[8..10], linear(6)[2..H]);
    assert_eq!(ten.columns[0].1[18..], linear(6)[H + 2..]);
}

#[test]
fn fewer_steps_are_the_first_ones_of_the_horizon() {
    let fitted = fit([linear(), with_column(), recurrent()], &panel());
    let x: Vec<f32> = [60, 47].iter().flat_map(|&t| (t..t + H).map(|t| (t as f32 * 0.3).cos())).collect();
    let future = Future::new(&panel(), H, &[("x", &x)]).expect("a table");
    let ahead = |h: usize| {
        let options = PredictOptions::new().future(&future).h(h);
        fitted.predict_with(&panel(), &options).expect("a forecast")
    };
    let (own, three) = (ahead(H), ahead(3));
    assert_eq!(three.times, [60, 61, 62, 47, 48, 49]);
    for (own, three) in own.columns.iter().zip(&three.columns) {
        assert_eq!([&own.1[..3], &own.1[H..H + 3]].concat(), three.1, "{}", own.0);
    }
    // A model that reads columns ahead reads them over its own horizon.
    let short = Future::new(&panel(), 3, &[("x", &[0.0; 6])]).expect("a table");
    let options = PredictOptions::new().future(&short).h(3);
    assert!(fitted.predict_with(&panel(), &options).expect_err("too few").to_string().contains('8'));
}

#[test]
fn windows_of_a_validation_that_no_series_reaches_are_left_out() {
    let validate = |name: &str, h: usize, windows: usize| {
        let spec = ModelSpec::new(name, h, 1).expect("a model");
        let options = ValidationOptions::new(windows, h);
        Forecaster::new([spec]).expect("models").cross_validate(&panel(), &options)
    };
    for (name, windows) in [("AutoETS", 3), ("AutoETS", 9), ("Naive", 9)] {
        // Two windows of 20 steps in 60 and in 47 rows.
        assert_eq!(validate(name, 20, windows).expect("a validation").frame.n_rows(), 4 * 20, "{name}");
    }
    for name in ["AutoETS", "Naive"] {
        let error = validate(name, 60, 2).expect_err("too few rows").to_string();
        assert!(error.contains("h = 60 steps needs 61 rows"), "{error}");
    }
}

#[test]
fn cross_validation_forecasts_fewer_or_more_steps_than_the_horizon() {
    let validate = |specs: Vec<ModelSpec>, h: usize, refit: usize| {
        let options = ValidationOptions::new(3, 2).h(h).refit(refit);
        Forecaster::new(specs).expect("models").cross_validate(&panel(), &options)
    };
    for h in [3, 7] {
        let validation = validate(vec![linear(), recurrent()], h, 0).expect("a validation");
        let (frame, fitted) = (&validation.frame, &validation.fitted);
        assert_eq!(frame.n_rows(), 2 * 3 * h);
        for window in 0..3 {
            let known = panel().without_last(h + (2 - window) * 2);
            let options = PredictOptions::new().h(h);
            let expected = values(fitted.predict_with(&known, &options).expect("a forecast"));
            for (found, expected) in frame.columns[1..].iter().zip(&expected) {
                for series in 0..2 {
                    let row = (series * 3 + window) * h;
                    assert_eq!(found.1[row..row + h], expected[series * h..][..h], "{h}, window {window}");
                }
            }
        }
        let metrics = validation.metrics(&panel(), 1);
        assert_eq!((metrics.len(), metrics[0].scored_windows), (2, 6));
        let anew = validate(vec![linear(), recurrent()], h, 1).expect("a validation").frame;
        assert_eq!((&frame.times, &frame.cutoffs), (&anew.times, &anew.cutoffs));
    }
    let message = |spec: ModelSpec, h: usize| validate(vec![spec], h, 0).expect_err("refused").to_string();
    assert!(message(with_column(), 3).contains("reads the columns x over all of its horizon"));
    let historic = spec("MLP", &[("hidden_size", json!(8)), ("hist_exog_list", json!(["x"]))]);
    assert!(message(historic, 7).contains("reads the historic columns x"));
}

#[test]
fn horizons_without_columns_or_a_median_are_refused() {
    let message = |spec: ModelSpec, h: usize, future: Option<&Future>| {
        let options = PredictOptions::new().h(h).future(future);
        fit([spec], &panel()).predict_with(&panel(), &options).expect_err("an error").to_string()
    };
    let historic = spec("MLP", &[("hidden_size", json!(8)), ("hist_exog_list", json!(["x"]))]);
    assert!(message(historic, 5, None).contains("reads the historic columns x"));
    let quantiles = spec("NLinear", &[("loss", json!({"MQLoss": {"quantiles": [0.1, 0.9]}}))]);
    assert!(message(quantiles, 5, None).contains("from its own median"));
    assert!(message(with_column(), 8, None).contains('x'));
    let short = Future::new(&panel(), H, &[("x", &[0.0; 2 * H])]).expect("a table");
    assert!(message(with_column(), 8, Some(&short)).contains("16"));

    let intervals = foretell::PredictionIntervals::default();
    let fitted = fit([linear()], &panel()).calibrate(&panel(), intervals).expect("a calibration");
    let further =
        |level: &[f64]| fitted.predict_with(&panel(), &PredictOptions::new().h(8).level(level)).map(|_| ());
    assert!(further(&[80.0]).expect_err("not that far").to_string().contains("calibrated for h = 4"));
    further(&[]).expect("no intervals are asked for");
}

#[test]
fn a_history_that_is_too_short_is_an_error_where_it_is_asked_to_be() {
    let freq = Freq::parse("1").expect("a frequency");
    let series = |rows: usize| (0..rows).map(|row| row as f32).collect::<Vec<f32>>();
    let panel = |rows: [usize; 2]| {
        Panel::from_series(freq, [("a", 0, series(rows[0])), ("b", 0, series(rows[1]))]).expect("a panel")
    };
    let spec = ModelSpec::new("NLinear", 2, 8).and_then(|spec| spec.set("max_steps", 1)).expect("a model");
    let fitted = Forecaster::new([spec]).expect("models").fit(&panel([30, 30])).expect("a fit");
    let strict = PredictOptions::new().strict();
    fitted.predict_with(&panel([8, 8]), &strict).expect("enough rows");
    fitted.predict(&panel([8, 7]), None).expect("zeros before them");
    let error = fitted.predict_with(&panel([8, 7]), &strict).expect_err("too few rows");
    let Error::ShortHistory { count: 1, series: 2, ref id, rows: 7, input_size: 8, .. } = error else {
        panic!("{error}")
    };
    assert!(id == "b" && error.to_string().contains("the 8 that NLinear reads"), "{error}");
}
