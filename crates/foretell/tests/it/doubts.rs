//! Doubtful results are warned of, or refused, before anyone trusts them.

use std::sync::{Arc, Mutex};

use foretell::{
    DataError, End, Error, Fitted, Forecaster, Freq, KeptSettings, ModelSpec, Panel, Warning, WindowError,
};
use serde_json::{Value, json};

type Heard = Arc<Mutex<Vec<Warning>>>;

fn spec(model: &str, settings: &[(&str, Value)]) -> ModelSpec {
    let spec = ModelSpec::new(model, 4, 8).expect("a model").set("max_steps", 20).expect("steps");
    settings.iter().fold(spec, |spec, (name, value)| spec.set(name, value.clone()).expect("a value"))
}

fn forecaster(spec: ModelSpec) -> (Forecaster, Heard) {
    forecaster_of(vec![spec])
}

fn forecaster_of(specs: Vec<ModelSpec>) -> (Forecaster, Heard) {
    let heard = Heard::default();
    let into = heard.clone();
    let forecaster = Forecaster::new(specs).expect("models").threads(1);
    (forecaster.on_warning(move |warning| into.lock().expect("no panic").push(warning.clone())), heard)
}

fn all_taken(heard: &Heard) -> Vec<Warning> {
    std::mem::take(&mut heard.lock().expect("no panic"))
}

/// Without what is told of forecasts themselves: those of networks of a few steps may be anything.
fn taken(heard: &Heard) -> Vec<Warning> {
    all_taken(heard).into_iter().filter(|warning| !matches!(warning, Warning::BelowZero { .. })).collect()
}

fn wave(rows: usize, level: f32) -> Vec<f32> {
    (0..rows).map(|t| level + (t as f32 * 0.9).sin()).collect()
}

/// Two series from the same day on, of this many rows.
fn panel(rows: [usize; 2]) -> Panel {
    let [alive, dead] = rows.map(|rows| wave(rows, 3.0));
    Panel::from_series(Freq::parse("1").expect("steps"), [("alive", 0, alive), ("dead", 0, dead)])
        .expect("a panel")
}

#[test]
fn models_that_are_trained_twice_are_told() {
    let (same, other) = (spec("NLinear", &[]), spec("NLinear", &[("random_seed", json!(2))]));
    let (forecaster, heard) = forecaster_of(vec![same.clone(), other, same]);
    let panel = panel([60, 60]);
    let forecast =
        forecaster.fit(&panel).and_then(|fitted| fitted.predict(&panel, None)).expect("a forecast");
    assert_eq!(taken(&heard), [Warning::Twins { first: "NLinear".into(), second: "NLinear2".into() }]);
    let [first, other, second] = ["NLinear", "NLinear1", "NLinear2"].map(|name| forecast.column(name));
    assert_eq!(first, second);
    assert_ne!(first, other);
}

#[test]
fn series_that_end_earlier_are_told_and_treated_as_was_said() {
    let (forecaster, heard) = forecaster(spec("NLinear", &[]));
    let panel = panel([60, 40]);
    let fitted = forecaster
        .keep(KeptSettings { end: Some(End::Common), ..KeptSettings::default() })
        .fit(&panel)
        .expect("a fit");
    let warning = taken(&heard);
    let [Warning::EarlyEnds(ends)] = &warning[..] else { panic!("{warning:?}") };
    assert_eq!((ends.series.len(), ends.of, &*ends.last), (1, 2, "59"));
    fitted.predict(&panel, None).expect("a forecast");
    assert_eq!(taken(&heard), warning);
    let again = Fitted::from_bytes(&fitted.to_bytes().expect("bytes")).expect("the models");
    assert_eq!(again.kept_settings().end, Some(End::Common));
    let ended = panel.with_end(End::Common, None).expect("a panel");
    let forecast = fitted.predict(&ended, None).expect("a forecast");
    assert_eq!((forecast.times[0], forecast.times[4]), (60, 60));
    assert!(taken(&heard).is_empty());
    let (forecaster, heard) = self::forecaster(spec("NLinear", &[]));
    let fitted = forecaster
        .keep(KeptSettings { end: Some(End::Own), ..KeptSettings::default() })
        .fit(&panel)
        .expect("a fit");
    fitted.predict(&panel, None).expect("a forecast");
    assert!(taken(&heard).is_empty(), "that each series has its own end was said");
}

#[test]
fn models_of_all_series_are_not_trained_on_those_that_end_earlier() {
    let multivariate = spec("MLPMultivariate", &[("hidden_size", json!(4)), ("n_series", json!(2))]);
    let differing = panel([60, 40]);
    let error = forecaster(multivariate.clone()).0.fit(&differing).expect_err("it is refused");
    assert!(
        matches!(&error, Error::Data(DataError::Windows(WindowError::EndsDiffer(ends))) if ends.series[0].0 == "dead"),
        "{error}"
    );
    for end in [End::Common, End::Masked] {
        let ended = differing.with_end(end, None).expect("a panel");
        let (forecaster, heard) = forecaster(multivariate.clone());
        let fitted = forecaster.fit(&ended).expect("a fit");
        fitted.predict(&ended, None).expect("a forecast");
        // Of the masked rows nothing is known, which is told.
        let told = taken(&heard);
        assert!(told.iter().all(|warning| matches!(warning, Warning::NothingKnown { .. })), "{told:?}");
        // As in neuralforecast, whose models forecast such series, but not in silence.
        for insample in [false, true] {
            let forecast = match insample {
                true => fitted.predict_insample(&differing, 4),
                false => fitted.predict(&differing, None),
            };
            forecast.expect("a forecast");
            let told = taken(&heard);
            assert!(
                matches!(&told[..], [Warning::EndsDiffer(ends)] if ends.series[0].0 == "dead"),
                "{told:?}"
            );
        }
    }
}

#[test]
fn what_is_not_known_is_not_forecast_in_silence() {
    let (forecaster, heard) = forecaster(spec("NLinear", &[]));
    let fitted = forecaster.fit(&panel([60, 60])).expect("a fit");
    let masked = |known: usize| {
        let builder = Panel::builder(foretell::TimeKind::Integer).freq(Freq::parse("1").expect("steps"));
        let times: Vec<i64> = (0..60).collect();
        let builder = builder.series("a", &times, &wave(60, 3.0)).series("b", &times, &wave(60, 3.0));
        let mask: Vec<f32> = (0..120).map(|row| f32::from(row < 60 + known)).collect();
        builder.available_mask(&mask).build().expect("a panel")
    };
    fitted.predict(&masked(53), None).expect("a forecast");
    assert!(taken(&heard).is_empty());
    // The last 8 rows are what the model reads.
    for known in [52, 0] {
        fitted.predict(&masked(known), None).expect("a forecast");
        assert_eq!(taken(&heard), [Warning::NothingKnown { series: vec!["b".to_owned()] }]);
    }
}

#[test]
fn steps_that_single_precision_loses_are_told() {
    let meter = |level: f32, step: f32| (0..60).map(|t| level + step * t as f32).collect::<Vec<_>>();
    let series =
        [("large", 0, meter(1e9, 3.0)), ("ordinary", 0, meter(1e5, 3.0)), ("small", 0, meter(0.0, 1e-30))];
    let panel = Panel::from_series(Freq::parse("1").expect("steps"), series).expect("a panel");
    let (forecaster, heard) = forecaster(spec("NLinear", &[]));
    let fitted = forecaster.fit(&panel).expect("a fit");
    let expected = Warning::CoarseValues {
        series: vec!["large".to_owned(), "small".to_owned()],
        without_levels: Vec::new(),
    };
    assert!(taken(&heard).contains(&expected));
    fitted.predict(&panel, None).expect("a forecast");
    assert!(taken(&heard).contains(&expected));
}

#[test]
fn values_that_are_no_counts_are_told() {
    let counts: Vec<f32> = (0..60).map(|t| (t % 5) as f32).collect();
    let panel = |odd: f32| {
        let mut other = counts.clone();
        (other[10], other[12]) = (odd, odd);
        let series = [("a", 0, counts.clone()), ("b", 0, other)];
        Panel::from_series(Freq::parse("1").expect("steps"), series).expect("a panel")
    };
    let distribution = |name: &str| json!({ "DistributionLoss": { "distribution": name } });
    let losses = [distribution("Poisson"), distribution("NegativeBinomial"), json!("PMM"), json!("NBMM")];
    for loss in losses {
        for (odd, is_told) in [(0.5, true), (3.0, false)] {
            let (forecaster, heard) =
                forecaster(spec("MLP", &[("loss", loss.clone()), ("hidden_size", json!(4))]));
            forecaster.fit(&panel(odd)).expect("a fit");
            let expected = Warning::NotCounts {
                model: "MLP".to_owned(),
                series: "b".to_owned(),
                row: 11,
                found: 0.5,
                count: 2,
                of: 120,
            };
            assert_eq!(taken(&heard), if is_told { vec![expected] } else { Vec::new() }, "{loss}");
        }
    }
    let (forecaster, heard) =
        forecaster(spec("MLP", &[("loss", distribution("Normal")), ("hidden_size", json!(4))]));
    forecaster.fit(&panel(0.5)).expect("a fit");
    assert!(taken(&heard).is_empty());
}

#[test]
fn divergence_that_stays_finite_is_an_error() {
    let data = panel([60, 60]);
    for (model, own) in [("NLinear", None), ("MLP", Some(("hidden_size", json!(8))))] {
        let fit = |rate: f64| {
            let settings: Vec<_> = [("learning_rate", json!(rate))].into_iter().chain(own.clone()).collect();
            let (forecaster, heard) = forecaster(spec(model, &settings));
            (forecaster.fit(&data), heard)
        };
        let error = fit(1e10).0.expect_err("it diverged");
        // Some overflow on the way, which is an error of the training itself.
        let text = error.to_string();
        assert!(
            matches!(error, Error::Diverged { .. } | Error::Network(_)) && text.contains("learning_rate"),
            "{text}"
        );
        let (fitted, heard) = fit(1e-3);
        fitted.expect("a fit");
        assert!(taken(&heard).is_empty());
    }
    for steps in [20, 50, 120] {
        let settings = [("learning_rate", json!(1e10)), ("max_steps", json!(steps))];
        let error = forecaster(spec("NLinear", &settings)).0.fit(&data).expect_err("it diverged");
        let Error::Diverged { error, naive, first, last, .. } = error else { panic!("{error}") };
        assert!(error > 1e3 * naive && last > 1e3 * first);
    }
}

#[test]
fn forecasts_far_beyond_the_history_are_told() {
    let (forecaster, heard) =
        forecaster(spec("NLinear", &[("learning_rate", json!(1e10)), ("max_steps", json!(1))]));
    // Of a single step there is no second loss, which would show it.
    let fitted = forecaster.fit(&panel([60, 60])).expect("a fit");
    assert!(taken(&heard).is_empty());
    fitted.predict(&panel([60, 60]), None).expect("a forecast");
    let warnings = taken(&heard);
    let [Warning::FarBeyond { columns, of: 8, series, networks: true }] = &warnings[..] else {
        panic!("{warnings:?}")
    };
    assert_eq!((&*columns[0].0, series.len()), ("NLinear", 2));
    assert!(warnings[0].to_string().contains("(series alive, dead)"), "{}", warnings[0]);
}

#[test]
fn early_stopping_that_cannot_stop_is_told() {
    let data = panel([60, 60]);
    for (every, patience, checks) in [(1000, 3, Some(0)), (10, 2, Some(2)), (5, 3, None), (1000, -1, None)] {
        let settings = [("val_check_steps", json!(every)), ("early_stop_patience_steps", json!(patience))];
        let (forecaster, heard) = forecaster(spec("NLinear", &settings));
        forecaster.val_size(4).fit(&data).expect("a fit");
        let told = taken(&heard);
        match checks {
            Some(checks) => {
                let (model, patience) = ("NLinear".to_owned(), patience as u64);
                assert_eq!(told, [Warning::CannotStop { model, patience, checks }]);
            }
            None => assert!(told.is_empty(), "{told:?}"),
        }
    }
}

#[test]
fn a_tweedie_mean_can_be_below_1_and_that_of_neuralforecast_cannot() {
    let rare: Vec<f32> = (0..400).map(|t| f32::from(t % 5 == 0)).collect();
    let panel = Panel::from_series(Freq::parse("1").expect("steps"), [("a", 0, rare)]).expect("a panel");
    let mean = |softplus: Option<bool>| {
        let mut loss =
            json!({ "DistributionLoss": { "distribution": "Tweedie", "rho": 1.5, "num_samples": 10 } });
        if let Some(softplus) = softplus {
            loss["DistributionLoss"]["softplus"] = softplus.into();
        }
        let settings = [("loss", loss), ("hidden_size", json!(16)), ("max_steps", json!(150))];
        let fitted = forecaster(spec("MLP", &settings)).0.fit(&panel).expect("a fit");
        let again = Fitted::from_bytes(&fitted.to_bytes().expect("bytes")).expect("the models");
        let [before, after] =
            [&fitted, &again].map(|fitted| fitted.predict(&panel, None).expect("a forecast").columns);
        assert_eq!(before, after, "what is saved says which of them it is");
        let mean = before[0].1.iter().sum::<f32>() / 4.0;
        (mean, again.models()[0].spec().hyper_parameters()["loss"]["DistributionLoss"]["softplus"].clone())
    };
    for given in [None, Some(false)] {
        let (found, softplus) = mean(given);
        assert!((0.02..0.7).contains(&found) && softplus == false, "{found} {softplus}");
    }
    let (found, softplus) = mean(Some(true));
    assert!(found >= 1.0 && softplus == true, "{found} {softplus}");
}

#[test]
fn a_model_without_steps_is_told_unless_it_continues_from_a_trained_one() {
    let data = panel([60, 60]);
    let without_steps = || forecaster(spec("NLinear", &[("max_steps", json!(0))]));
    let (first, heard) = without_steps();
    let fitted = first.val_size(4).fit(&data).expect("a fit");
    assert_eq!(taken(&heard), [Warning::NoSteps { model: "NLinear".to_owned() }]);
    let outcome = fitted.models()[0].outcome().expect("an outcome");
    assert_eq!((outcome.steps, outcome.valid_loss), (0, None));

    let trained = forecaster(spec("NLinear", &[])).0.fit(&panel([80, 40])).expect("a fit");
    let (second, heard) = without_steps();
    let continued = second.start_from(&trained).fit(&data).expect("a fit");
    assert!(taken(&heard).is_empty());
    let forecast = |fitted: &Fitted| fitted.predict(&data, None).expect("a forecast");
    assert_eq!(forecast(&continued), forecast(&trained), "the weights are those of the trained model");
    assert_ne!(forecast(&continued), forecast(&fitted));
    // A series in which nothing could be learnt is enough.
    without_steps().0.fit(&panel([5, 3])).expect("a fit");
}

#[test]
fn forecasts_below_zero_and_values_of_another_size_are_told() {
    let freq = Freq::parse("1").expect("steps");
    let panel = |y: Vec<f32>| Panel::from_series(freq, [("a", 0, y)]).expect("a panel");
    let falling = panel((0..40).map(|t| 80.0 - 2.0 * t as f32).collect());
    let fit = |panel: &Panel| {
        let (forecaster, heard) = forecaster(ModelSpec::new("Holt", 4, 1).expect("a model"));
        (forecaster.fit(panel).expect("a fit"), heard)
    };
    let (fitted, heard) = fit(&falling);
    fitted.predict(&falling, None).expect("a forecast");
    assert_eq!(all_taken(&heard), [Warning::BelowZero { series: vec!["a".to_owned()], count: 1 }]);
    let bounded = fitted.clone().keep(KeptSettings { non_negative: true, ..KeptSettings::default() });
    bounded.predict(&falling, None).expect("a forecast");
    assert!(all_taken(&heard).is_empty());

    let tons =
        panel(wave(60, 3.0).iter().enumerate().map(|(t, y)| if t < 30 { 1000.0 * y } else { *y }).collect());
    let (_, heard) = fit(&tons);
    let told = all_taken(&heard);
    let [Warning::LevelBreaks { breaks }] = &told[..] else { panic!("{told:?}") };
    assert_eq!((&*breaks[0].series, &*breaks[0].time), ("a", "30"));
    assert!(
        told[0].to_string().contains("ReadOptions::since") || told[0].to_string().contains("between"),
        "{}",
        told[0]
    );

    let (fitted, heard) = fit(&panel(wave(60, 3.0)));
    assert!(all_taken(&heard).is_empty());
    let other = panel(wave(60, 3.0).iter().map(|y| 1000.0 * y).collect());
    fitted.predict(&other, None).expect("a forecast");
    let told = all_taken(&heard);
    assert!(
        matches!(told[..], [Warning::OtherSize { factor }] if (900.0..1100.0).contains(&factor)),
        "{told:?}"
    );
}

#[test]
fn features_are_doubted_of_the_rows_to_forecast_as_well() {
    let y: Vec<f32> = (0..30).map(|day| (day % 7) as f32).collect();
    let panel =
        Panel::from_series(Freq::parse("D").expect("days"), [("a", "2050-12-01", y)]).expect("a panel");
    // The last row is of 30 December.
    for (h, expected) in [(1, 0), (2, 1)] {
        let spec = ModelSpec::new("MLP", h, 7).expect("a model").set("max_steps", 1).expect("steps");
        let (forecaster, heard) = forecaster(spec.set("hidden_size", 8).expect("a size"));
        let features = "holidays:DE".parse().expect("a feature");
        forecaster.features(features).expect("features").fit(&panel).expect("a fit");
        let is_told = |warning: &&Warning| matches!(warning, Warning::Feature { told, .. } if told.contains("2051-01-01"));
        assert_eq!(taken(&heard).iter().filter(is_told).count(), expected, "h = {h}");
    }
}
