//! Models whose windows hold all series of a panel: what is theirs alone.

use foretell::{
    Error, EstimatorError, Fitted, Forecaster, Freq, MemoryLimit, ModelSpec, NetworkError, Panel,
    StepSettings, ValidationOptions, bench,
};

/// Series of these lengths that end at the same time.
fn panel(lens: &[usize]) -> Panel {
    let series = lens.iter().enumerate().map(|(s, &len)| {
        let y = (0..len).map(|t| ((len - t) as f32 * 0.5).sin() * (2.0 - s as f32 * 0.5) + s as f32);
        (format!("series {s}"), 1000 - len as i64, y.collect::<Vec<f32>>())
    });
    Panel::from_series(Freq::parse("1").expect("a frequency"), series).expect("a panel")
}

fn spec() -> ModelSpec {
    ModelSpec::new("MLPMultivariate", 6, 12)
        .and_then(|spec| spec.set("hidden_size", 16))
        .and_then(|spec| spec.set("max_steps", 30))
        .and_then(|spec| spec.set("windows_batch_size", 300))
        .and_then(|spec| spec.set("scaler_type", "standard"))
        .and_then(|spec| spec.set("start_padding_enabled", true))
        .expect("valid hyper-parameters")
}

fn fit(threads: usize, panel: &Panel) -> Fitted {
    Forecaster::new([spec()]).expect("a model").threads(threads).val_size(6).fit(panel).expect("a fit")
}

#[test]
fn all_series_are_forecast_together() {
    let panel = panel(&[120, 90, 20]);
    let fitted = fit(1, &panel);
    let forecast = fitted.predict(&panel, None).expect("a forecast");
    assert_eq!(forecast.n_rows(), 3 * 6);
    let ids: Vec<&str> = forecast.ids.iter().map(|id| &**id).collect();
    assert_eq!((ids[0], ids[6], ids[17]), ("series 0", "series 1", "series 2"), "in the order of the panel");
    assert!(forecast.columns[0].1.iter().all(|value| value.is_finite()));
    assert_eq!(fitted.models()[0].spec().hyper_parameters()["n_series"], 3);

    // A series is seen by the others' forecasts: that is what such a model is for.
    let other = self::panel(&[120, 80, 20]);
    let first = |frame: &foretell::Frame| frame.columns[0].1[..6].to_vec();
    let alone = fitted.predict(&other, None).expect("a forecast");
    assert_eq!(first(&alone), first(&forecast), "what the windows do not hold does not matter");
}

#[test]
fn threads_change_no_bit_and_a_directory_predicts_the_same() {
    let panel = panel(&[150, 150, 70]);
    let bits = |fitted: &Fitted| -> Vec<u32> {
        let forecast = fitted.predict(&panel, None).expect("a forecast");
        let weights = fitted.models()[0].parameters_in_order().copied();
        weights.chain(forecast.columns[0].1.clone()).map(f32::to_bits).collect()
    };
    let one = fit(1, &panel);
    for threads in [2, 3] {
        assert_eq!(bits(&one), bits(&fit(threads, &panel)), "{threads} threads");
    }
    let home = tempfile::tempdir().expect("a directory");
    one.save(home.path().join("model"), false).expect("saved");
    let loaded = Fitted::load(home.path().join("model")).expect("loaded");
    assert_eq!(bits(&one), bits(&loaded));
}

#[test]
fn windows_that_are_normalised_together_are_at_least_two() {
    let spec = ModelSpec::new("TSMixer", 6, 12).and_then(|spec| spec.set("windows_batch_size", 1));
    let spec = spec.expect("valid hyper-parameters");
    let error =
        Forecaster::new([spec.clone()]).expect("a model").fit(&panel(&[60, 60])).expect_err("one window");
    let message = error.to_string();
    assert!(
        message.starts_with("TSMixer: the model normalises the windows of a batch together"),
        "{message}"
    );
    assert!(
        message.ends_with("the batch of step 1 has one; set windows_batch_size to 2 or more"),
        "{message}"
    );
    let limit = MemoryLimit::of_bytes(1_000_000_000);
    assert!(matches!(
        bench(&spec, 1, 1, StepSettings::default(), &limit),
        Err(Error::Network(NetworkError::Train { .. }))
    ));
    assert!(bench(&spec, 2, 1, StepSettings::default(), &limit).is_ok());
}

#[test]
fn cross_validation_shows_the_windows_that_each_series_has() {
    let panel = panel(&[120, 90, 20]);
    let validated = Forecaster::new([spec()])
        .expect("a model")
        .cross_validate(&panel, &ValidationOptions::new(4, 6))
        .expect("forecasts");
    // The first cutoff is 24 rows before the end: the last series has no row there.
    let rows = |id: &str| validated.frame.ids.iter().filter(|known| &***known == id).count();
    assert_eq!([rows("series 0"), rows("series 1"), rows("series 2")], [24, 24, 18]);
    let order: Vec<(&str, i64)> =
        validated.frame.ids.iter().map(|id| &**id).zip(validated.frame.times.iter().copied()).collect();
    assert!(order.is_sorted(), "by series, then time");
}

#[test]
fn the_number_of_series_must_fit() {
    let three = panel(&[60, 60, 60]);
    let set = spec().set("n_series", 2).expect("a number");
    let error = Forecaster::new([set]).expect("a model").fit(&three).expect_err("three series");
    assert!(
        matches!(&error, Error::Estimator(EstimatorError::SeriesCount { expected: 2, found: 3, .. })),
        "{error}"
    );
    assert!(error.to_string().contains("n_series is 2, the data have 3 series"), "{error}");
    let fitted = fit(1, &three);
    let error = fitted.predict(&panel(&[60, 60]), None).expect_err("two series");
    assert!(
        matches!(&error, Error::Estimator(EstimatorError::SeriesCount { expected: 3, found: 2, .. })),
        "{error}"
    );
    let error =
        ModelSpec::new("MLP", 6, 12).and_then(|spec| spec.set("n_series", 3)).expect_err("univariate");
    assert!(error.to_string().contains("a window of the model holds one series"), "{error}");
}
