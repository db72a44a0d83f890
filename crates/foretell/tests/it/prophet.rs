//! Prophet in the facade: fitted beside others, forecast with intervals and columns, scored, saved and loaded.

use foretell::prophet::TrainedProphet;
use foretell::{
    Fitted, Forecaster, Freq, Future, LocalScaler, ModelSpec, Panel, PredictOptions, TimeKind,
    ValidationOptions,
};
use serde_json::json;

const DAYS: usize = 140;
const WEEK: [f32; 7] = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0];

/// Two series of days from 2024-01-01 on: a week on a line, and 6 more on days of promotion.
fn panel() -> (Panel, Vec<f32>) {
    let freq = Freq::parse("D").expect("days");
    let first = Panel::from_series(freq, [("a", "2024-01-01", [0.0])]).expect("a day").time(0, 0);
    let times = freq.times(first, DAYS).expect("days");
    let promotion: Vec<f32> = (0..DAYS + 7).map(|day| f32::from(u8::from(day % 11 == 3))).collect();
    let y = |rise: f32| -> Vec<f32> {
        (0..DAYS).map(|day| 50.0 + rise * day as f32 + WEEK[day % 7] + 6.0 * promotion[day]).collect()
    };
    let builder = Panel::builder(TimeKind::Timestamp).freq(freq);
    let builder = builder.series("flat", &times, &y(0.0)).series("rising", &times, &y(0.3));
    let both = [&promotion[..DAYS], &promotion[..DAYS]].concat();
    (builder.column("promotion", &both).build().expect("a panel"), promotion[DAYS..].to_vec())
}

#[test]
fn it_is_fitted_scored_saved_and_loaded_like_any_model() {
    let (panel, ahead) = panel();
    let prophet = ModelSpec::new("Prophet", 7, 1).expect("a model");
    let prophet = prophet.set("futr_exog_list", json!(["promotion"])).expect("a column");
    let prophet = prophet.set("country_holidays", "NZ").expect("a country");
    let naive = ModelSpec::new("SeasonalNaive", 7, 1).expect("a model");
    let models = || [prophet.clone(), naive.clone()];
    let fitted = Forecaster::new(models()).expect("models").fit(&panel).expect("a fit");
    let home = tempfile::tempdir().expect("a directory");
    fitted.save(home.path().join("model"), false).expect("it is saved");
    let loaded = Fitted::load(home.path().join("model")).expect("it is loaded");
    let future = Future::new(&panel, 7, &[("promotion", &[&ahead[..], &ahead].concat())]).expect("a column");
    let level = [80.0];
    let options = PredictOptions::new().level(&level).future(&future);
    let [before, after] =
        [&fitted, &loaded].map(|fitted| fitted.predict_with(&panel, &options).expect("a forecast"));
    assert_eq!(before.columns, after.columns);
    let [point, low, high] =
        ["Prophet", "Prophet-lo-80", "Prophet-hi-80"].map(|name| before.column(name).expect("a column"));
    for (step, promoted) in ahead.iter().enumerate() {
        let expected = 50.0 + 0.3 * (DAYS + step) as f32 + WEEK[(DAYS + step) % 7] + 6.0 * promoted;
        let row = 7 + step;
        assert!((point[row] - expected).abs() < 0.5, "{} is not {expected}", point[row]);
        assert!(low[row] <= point[row] && point[row] <= high[row]);
    }
    let options = ValidationOptions::new(2, 7);
    let validation =
        Forecaster::new(models()).expect("models").cross_validate(&panel, &options).expect("scores");
    let metrics = validation.metrics(&panel, 7);
    assert!(metrics[0].mae < metrics[1].mae, "{} {}", metrics[0].mae, metrics[1].mae);
    let trained: &dyn std::any::Any = loaded.models()[0].trained();
    let trained = trained.downcast_ref::<TrainedProphet>().expect("Prophet");
    let parts = trained.decompose(&panel, 1, DAYS..DAYS + 7, Some(&future)).expect("its parts");
    let names: Vec<&str> = parts.components.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(names, ["yearly", "weekly", "daily", "holidays", "promotion"]);
    assert!(parts.forecast().iter().zip(&point[7..]).all(|(sum, point)| (*sum as f32 - point).abs() < 1e-3));
}

#[test]
fn bounds_are_of_logistic_growth_and_no_scaler_changes_them() {
    let freq = Freq::parse("D").expect("a frequency");
    let y: Vec<f32> = (0..60).map(|t| 20.0 + (t % 7) as f32).collect();
    let first = foretell::jiff::civil::date(2024, 1, 1);
    let panel = Panel::from_series(freq, [("a", first, y)]).expect("a panel");
    let spec = |growth: &str| {
        let spec = ModelSpec::new("Prophet", 7, 1).expect("a model").set("growth", growth).expect("a growth");
        spec.set("cap", "most").and_then(|spec| spec.set("floor", "least")).expect("columns")
    };
    for growth in ["linear", "flat"] {
        let fitted =
            Forecaster::new([spec(growth)]).expect("a model").fit(&panel).expect("bounds are not read");
        assert!(fitted.columns_read().is_empty(), "{growth}");
        let forecast = fitted.predict(&panel, None).expect("a forecast");
        assert!(forecast.columns[0].1.iter().all(|y| (15.0..35.0).contains(y)), "{growth}");
    }
    let scaled = Forecaster::new([spec("logistic")]).expect("a model").local_scaler(LocalScaler::Standard);
    let error = scaled.fit(&panel).expect_err("a scaler of the capacity").to_string();
    assert!(error.contains("Prophet reads most, least unchanged"), "{error}");
}

#[test]
fn a_series_of_one_value_is_forecast_by_it_and_stops_no_other() {
    let freq = Freq::parse("D").expect("days");
    let first = Panel::from_series(freq, [("a", "2024-01-01", [0.0])]).expect("a day").time(0, 0);
    let times = freq.times(first, 60).expect("days");
    let y: Vec<f32> = (0..60).map(|day| 50.0 + 0.3 * day as f32 + WEEK[day % 7]).collect();
    let long = || Panel::builder(TimeKind::Timestamp).freq(freq).series("long", &times, &y);
    let alone = long().build().expect("a panel");
    let masked = long().series("new", &times[59..], &[7.0]).series("unknown", &times[58..], &[1.0, 2.0]);
    let mask: Vec<f32> = [vec![1.0; 61], vec![0.0; 2]].concat();
    let panel = masked.available_mask(&mask).build().expect("a panel");
    let forecaster = || Forecaster::new([ModelSpec::new("Prophet", 3, 1).expect("a model")]).expect("models");
    let named = forecaster().fallbacks(&panel);
    let named: Vec<_> = named.iter().map(|one| (&*one.series, &*one.reason, one.instead)).collect();
    assert_eq!(named, [("new", "fewer than 2 values", "its last value")]);
    let fitted = forecaster().fit(&panel).expect("a fit");
    let home = tempfile::tempdir().expect("a directory");
    fitted.save(home.path().join("model"), false).expect("it is saved");
    let loaded = Fitted::load(home.path().join("model")).expect("it is loaded");
    let options = PredictOptions::new().level(&[80.0]);
    let expected =
        forecaster().fit(&alone).expect("a fit").predict_with(&alone, &options).expect("a forecast");
    for fitted in [&fitted, &loaded] {
        let forecast = fitted.predict_with(&panel, &options).expect("a forecast");
        let column = |name| forecast.column(name).expect("a column");
        assert_eq!(column("Prophet")[..3], expected.column("Prophet").expect("a column")[..]);
        assert_eq!(column("Prophet")[3..], [7.0, 7.0, 7.0, 0.0, 0.0, 0.0], "of nothing known, 0");
        assert!(column("Prophet-lo-80")[..3].iter().all(|bound| bound.is_finite()));
        assert!(column("Prophet-lo-80")[3..].iter().all(|bound| bound.is_nan()), "one value shows no errors");
    }
    let described = loaded.models()[0].trained().described(1).expect("the second series");
    assert_eq!((&*described.series, &*described.form), ("new", "last value"));
}
