//! Forecasts of several models combined into one: columns like a model's, saved, with intervals, scored.

use std::sync::{Arc, Mutex};

use foretell::{
    Ensemble, Fitted, Forecaster, Freq, Intervals, KeptSettings, ModelSpec, Panel, PredictOptions,
    PredictionIntervals, ValidationOptions, Verdict, Warning, json,
};

const H: usize = 4;

fn panel() -> Panel {
    let series = ["a", "b", "c"].map(|id| {
        let phase = f32::from(id.as_bytes()[0]);
        let y =
            (0..90).map(|t| (t as f32 * 0.9 + phase).sin() * phase + t as f32 * 0.1).collect::<Vec<f32>>();
        (id, 0, y)
    });
    Panel::from_series(Freq::parse("D").expect("a frequency"), series).expect("a panel")
}

fn specs() -> Vec<ModelSpec> {
    let network = ModelSpec::new("NLinear", H, 8).unwrap().set("max_steps", 30).unwrap();
    vec![network, ModelSpec::new("Naive", H, 1).unwrap(), ModelSpec::new("SeasonalNaive", H, 1).unwrap()]
}

fn forecaster(ensembles: &[Ensemble]) -> Forecaster {
    ensembles
        .iter()
        .fold(Forecaster::new(specs()).unwrap(), |forecaster, ensemble| forecaster.ensemble(*ensemble))
}

const ALL: [Ensemble; 3] = [Ensemble::Mean, Ensemble::Median, Ensemble::Weighted { n_windows: 4 }];

fn weights(fitted: &Fitted) -> Vec<f64> {
    fitted.ensembles().find_map(|(_, weights)| weights).expect("weights").to_vec()
}

#[test]
fn an_ensemble_is_a_column_like_a_model_and_saved() {
    let fitted = forecaster(&ALL).fit(&panel()).unwrap();
    let forecast = fitted.predict(&panel(), None).unwrap();
    let names: Vec<&str> = forecast.columns.iter().map(|(name, _)| &**name).collect();
    let models = ["NLinear", "Naive", "SeasonalNaive"];
    assert_eq!(names, [&models[..], &["EnsembleMean", "EnsembleMedian", "EnsembleWeighted"]].concat());
    let weights = weights(&fitted);
    assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9 && weights.iter().all(|weight| *weight >= 0.0));
    for row in 0..forecast.n_rows() {
        let value = |name: &str| f64::from(forecast.column(name).unwrap()[row]);
        let mut members = models.map(value);
        let near = |found: f64, expected: f64| {
            assert!((found - expected).abs() < 1e-4, "{found}, expected {expected}")
        };
        near(value("EnsembleMean"), members.iter().sum::<f64>() / 3.0);
        near(
            value("EnsembleWeighted"),
            members.iter().zip(&weights).map(|(value, weight)| value * weight).sum(),
        );
        members.sort_by(f64::total_cmp);
        near(value("EnsembleMedian"), members[1]);
    }
    let loaded = Fitted::from_bytes(&fitted.to_bytes().unwrap()).unwrap();
    assert_eq!(loaded.predict(&panel(), None).unwrap().columns, forecast.columns);
    // The forecasts of a series alone, further ahead, and of the history have the columns, too.
    let further = loaded.predict_with(&panel(), &PredictOptions::new().h(2 * H)).unwrap();
    assert_eq!(further.columns.len(), 6);
    assert_eq!(loaded.predict_insample(&panel(), H).unwrap().columns.len(), 1 + 6);
}

#[test]
fn weights_are_those_of_the_best_combination_of_held_out_forecasts() {
    let fitted = forecaster(&ALL).fit(&panel()).unwrap();
    // The same forecasts by hand: trained without the last four horizons, each forecast from its cutoff.
    let options = ValidationOptions::new(4, H);
    let beside = forecaster(&[]).cross_validate(&panel(), &options).unwrap();
    let frame = &beside.frame;
    let loss = |weights: &[f64]| -> f64 {
        let (mut total, mut start) = (0.0, 0);
        for rows in frame.ids.chunk_by(|one, other| one == other) {
            let errors: Vec<Vec<f64>> = (start..start + rows.len())
                .map(|row| {
                    let column = |i: usize| f64::from(frame.columns[i].1[row]);
                    (1..4).map(|i| column(i) - column(0)).collect()
                })
                .collect();
            start += rows.len();
            let scale = errors.iter().flatten().map(|error| error.abs()).sum::<f64>();
            let combined =
                |errors: &Vec<f64>| errors.iter().zip(weights).map(|(e, w)| e * w).sum::<f64>() / scale;
            total += errors.iter().map(|errors| combined(errors).powi(2)).sum::<f64>();
        }
        total
    };
    let best = weights(&fitted);
    for i in 0..=20 {
        for j in 0..=20 - i {
            let other = [f64::from(i) / 20.0, f64::from(j) / 20.0, f64::from(20 - i - j) / 20.0];
            assert!(loss(&best) <= loss(&other) * (1.0 + 1e-6), "{other:?} is better than {best:?}");
        }
    }
}

#[test]
fn ensembles_have_the_intervals_that_all_members_have_and_are_scored() {
    let intervals = PredictionIntervals { n_windows: 5, ..PredictionIntervals::default() };
    let forecaster = forecaster(&ALL).intervals(intervals);
    let options = ValidationOptions::new(2, H).level(&[80.0]);
    let validation = forecaster.cross_validate(&panel(), &options).unwrap();
    let names: Vec<&str> = validation.frame.columns.iter().map(|(name, _)| &**name).collect();
    for name in ["EnsembleMean", "EnsembleMean-lo-80", "EnsembleWeighted-hi-80"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let metrics = validation.metrics(&panel(), 7);
    assert_eq!(metrics.len(), 6);
    let ensemble = metrics.iter().find(|metrics| metrics.model == "EnsembleMedian").unwrap();
    assert_eq!(ensemble.coverage.len(), 1);
    // Without calibration the network has no intervals, so no ensemble has them.
    let fitted = self::forecaster(&ALL).fit(&panel()).unwrap();
    let forecast = fitted.predict_with(&panel(), &PredictOptions::new().level(&[80.0])).unwrap();
    assert!(forecast.column("Naive-lo-80").is_some() && forecast.column("EnsembleMean-lo-80").is_none());
    assert!(forecast.column("EnsembleMean").is_some());
}

#[test]
fn refitting_learns_the_weights_anew() {
    let options = ValidationOptions::new(3, H).refit(1);
    let validation = forecaster(&ALL).cross_validate(&panel(), &options).unwrap();
    assert_eq!(validation.frame.columns.len(), 1 + 6);
    // The last training is that of a fit before the last horizon.
    let fitted = forecaster(&ALL).fit(&panel().without_last(H)).unwrap();
    assert_eq!(weights(&validation.fitted), weights(&fitted));
}

#[test]
fn what_makes_no_ensemble_is_told() {
    let one = Forecaster::new([specs().remove(0)]).unwrap().ensemble(Ensemble::Mean);
    assert!(one.fit(&panel()).unwrap_err().to_string().contains("several models"));
    let alias = ModelSpec::new("Naive", H, 1).unwrap().set("alias", json!("EnsembleMean")).unwrap();
    let named = Forecaster::new([specs().remove(0), alias]).unwrap().ensemble(Ensemble::Mean);
    assert!(named.fit(&panel()).unwrap_err().to_string().contains("would be called EnsembleMean"));
    let many = Ensemble::Weighted { n_windows: 40 };
    assert!(forecaster(&[many]).fit(&panel()).unwrap_err().to_string().contains("weights of an ensemble"));
}

#[test]
fn some_of_the_models_forecast_as_among_all() {
    let fitted = forecaster(&[Ensemble::Mean]).fit(&panel()).expect("a fit");
    let all = fitted.predict(&panel(), None).expect("a forecast");
    let last = fitted.models().len() - 1;
    let some = fitted.only(&[last, 0]).expect("two models").predict(&panel(), None).expect("a forecast");
    assert_eq!(some.columns, [all.columns[last].clone(), all.columns[0].clone()]);
    for wrong in [&[][..], &[0, 0], &[last + 1]] {
        let error = fitted.only(wrong).expect_err("no models").to_string();
        assert!(error.contains(&format!("from 0 to {last}, found {wrong:?}")), "{error}");
    }
}

#[test]
fn ensembles_and_calibrations_belong_to_the_trained_models() {
    let both = [Ensemble::Mean, Ensemble::Weighted { n_windows: 3 }];
    let intervals = PredictionIntervals { n_windows: 5, ..PredictionIntervals::default() };
    let first = forecaster(&both).intervals(intervals).fit(&panel()).expect("a fit");

    // Unchanged, beside a baseline that is no member.
    let baseline = ModelSpec::new("Naive", H, 1).unwrap().set("alias", "Baseline").unwrap();
    let beside =
        Forecaster::new(specs().into_iter().chain([baseline])).unwrap().start_from(&first).baselines(1);
    let options = ValidationOptions::new(2, H).level(&[80.0]);
    let scored = beside.untrained().cross_validate(&panel(), &options).expect("scores");
    let own = first.validate(&panel(), 2, H).expect("scores");
    for name in ["NLinear", "EnsembleMean", "EnsembleWeighted"] {
        assert_eq!(scored.frame.column(name), Some(own.frame.column(name).expect(name)), "{name}");
        assert!(scored.frame.column(&format!("{name}-hi-80")).is_some(), "{name}");
    }

    // Trained further they are combined as before, but intervals are those of the models as they were.
    let heard = Arc::new(Mutex::new(Vec::new()));
    let into = heard.clone();
    let further = || Forecaster::from_fitted(&first).unwrap();
    let telling = further().on_warning(move |warning| into.lock().expect("no panic").push(warning.clone()));
    let combined = telling.fit(&panel()).expect("a fit");
    assert_eq!(weights(&combined), weights(&first));
    assert!(combined.prediction_intervals().is_none());
    let intervals = intervals.to_string();
    assert!(heard.lock().expect("no panic").contains(&Warning::LeftIntervals { intervals }));
    // What is asked for holds in their place.
    let median = further().ensemble(Ensemble::Median).fit(&panel()).expect("a fit");
    assert_eq!(median.ensembles().collect::<Vec<_>>(), [("EnsembleMedian", None)]);
    assert_eq!(further().without_settings().fit(&panel()).expect("a fit").ensembles().count(), 0);
    // Of other models they are none.
    let fewer = Forecaster::new(specs().into_iter().take(2)).unwrap().start_from(&first);
    assert_eq!(fewer.fit(&panel()).expect("a fit").ensembles().count(), 0);
}

#[test]
fn settings_that_are_kept_leave_baselines_and_intervals() {
    let asked = KeptSettings { non_negative: true, ..KeptSettings::default() };
    let training = forecaster(&[Ensemble::Mean]).baselines(1).intervals(Intervals::Spread);
    let plain = training.fit(&panel()).expect("a fit");
    let options = PredictOptions::new().level(&[80.0]);
    let forecast = |fitted: &Fitted| fitted.predict_with(&panel(), &options).expect("a forecast");
    let all = forecast(&plain);
    assert!(all.column("EnsembleMean-lo-80").is_some());
    assert!(all.columns.iter().any(|(_, values)| values.iter().any(|value| *value < 0.0)));
    let training = forecaster(&[Ensemble::Mean]).baselines(1).intervals(Intervals::Spread).keep(asked);
    for fitted in [training.fit(&panel()).expect("a fit"), plain.clone().keep(asked)] {
        let (kept, found) = (fitted.kept_settings(), forecast(&fitted));
        assert!(kept.non_negative && kept.spread && kept.baselines == 1, "{kept:?}");
        // SeasonalNaive is no member still, and the intervals are there.
        for ((name, bounded), (_, values)) in found.columns.iter().zip(&all.columns) {
            assert!(
                bounded.iter().zip(values).all(|(found, value)| (found - value.max(0.0)).abs() < 1e-3),
                "{name}"
            );
        }
        assert_eq!(found.columns.len(), all.columns.len());
    }
    let dropout = Forecaster::new(specs()).unwrap().intervals(Intervals::Dropout { samples: 7 }).keep(asked);
    assert_eq!(dropout.kept_settings().dropout, Some(7));
}

#[test]
fn the_spread_of_an_ensemble_is_that_of_models_that_are_trained_further() {
    let first = forecaster(&ALL).intervals(Intervals::Spread).fit(&panel()).expect("a fit");
    let further = Forecaster::from_fitted(&first).unwrap().fit(&panel()).expect("a fit");
    let forecast = further.predict_with(&panel(), &PredictOptions::new().level(&[80.0])).expect("a forecast");
    assert!(forecast.column("EnsembleMean-lo-80").is_some());
}

#[test]
fn models_of_a_training_that_was_interrupted_have_no_weights_of_missing_ones() {
    let home = tempfile::tempdir().expect("a folder");
    let first = forecaster(&[Ensemble::Weighted { n_windows: 3 }]).fit(&panel()).expect("a fit");
    let further = Forecaster::from_fitted(&first).unwrap().threads(1);
    let stopped = further.on_progress(|_, _| Verdict::Interrupt).fit(&panel()).expect("what was trained");
    assert!(stopped.interrupted() && stopped.models().len() < first.models().len());
    stopped.save(home.path().join("models"), false).expect("a place");
    Fitted::load(home.path().join("models")).expect("the models that were trained");
}
