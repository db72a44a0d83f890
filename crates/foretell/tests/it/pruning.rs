//! Networks without weights or units that count little. Each pruning times the forecasts of each network before and after: that, and no
//! training, is what takes these tests more than 300 ms.

use std::sync::{Arc, Mutex};

use foretell::{
    Fitted, Forecaster, Freq, ModelSpec, Panel, PruneOptions, SparsityScope, Value, Verdict, Warning,
    WeightPrecision, json,
};

const H: usize = 3;

fn panel() -> Panel {
    let series = [("a", 0.0), ("b", 1.0)].map(|(id, phase)| {
        (id, 0, (0..90).map(|t| (t as f32 * 0.7 + phase).sin() * 3.0 + 10.0).collect::<Vec<f32>>())
    });
    Panel::from_series(Freq::parse("D").expect("a frequency"), series).expect("a panel")
}

fn spec(model: &str, settings: &[(&str, Value)]) -> ModelSpec {
    let all =
        [("max_steps", json!(8)), ("windows_batch_size", json!(32)), ("scaler_type", json!("standard"))];
    let spec = ModelSpec::new(model, H, 8).expect("a model");
    all.iter()
        .chain(settings)
        .fold(spec, |spec, (name, value)| spec.set(name, value.clone()).expect("a setting"))
}

fn nhits() -> ModelSpec {
    spec("NHITS", &[("mlp_units", json!([[32, 32], [32, 24]]))])
}

fn mlp() -> ModelSpec {
    spec("MLP", &[("hidden_size", json!(32))])
}

fn fit(specs: impl IntoIterator<Item = ModelSpec>) -> Fitted {
    Forecaster::new(specs).expect("models").threads(1).fit(&panel()).expect("a training")
}

fn weights(fitted: &Fitted, place: usize) -> Vec<u32> {
    fitted.models()[place].parameters_in_order().map(|weight| weight.to_bits()).collect()
}

fn zeros(values: &[f32]) -> usize {
    values.iter().filter(|value| **value == 0.0).count()
}

#[test]
fn the_share_of_zeros_is_reached_exactly_with_and_without_training() {
    let fitted = fit([nhits(), mlp()]);
    for (share, steps) in [(0.5, 0), (0.8, 20), (0.999, 20)] {
        let options = PruneOptions::new(share).steps(steps);
        let pruned = fitted.prune(&panel(), &options).expect("pruned");
        for model in pruned.fitted.models() {
            let network = model.network().expect("a network");
            for (name, values) in network.weights() {
                let expected = ((share * values.len() as f64).round() as usize).min(values.len() - 1);
                assert_eq!(zeros(values), expected, "{name}, {share} in {steps} steps");
            }
            assert_eq!(model.outcome().map(|outcome| outcome.steps), Some(steps));
            assert_eq!(model.spec().hyper_parameters()["max_steps"], 8, "as before");
        }
        let trained = weights(&pruned.fitted, 0).into_iter().zip(weights(&fitted, 0));
        let moved = trained.filter(|(is, was)| *is != 0 && is != was).count();
        assert_eq!(moved > 0, steps > 0, "what is left is trained");

        let options = options.by(SparsityScope::Network);
        let by_network = fitted.prune(&panel(), &options).expect("pruned").fitted;
        let network = by_network.models()[0].network().expect("a network");
        let all: usize = network.weights().map(|(_, values)| values.len()).sum();
        let zero: usize = network.weights().map(|(_, values)| zeros(values)).sum();
        assert_eq!(zero, (share * all as f64).round() as usize, "{share} of the network");
    }
}

#[test]
fn zeros_stay_when_more_are_asked_for_and_threads_change_no_bit() {
    let fitted = fit([nhits()]);
    let half = PruneOptions::new(0.5).steps(12);
    let once = fitted.prune(&panel(), &half).expect("pruned").fitted;
    let on_two = fitted.clone().threads(2).expect("threads").prune(&panel(), &half).expect("pruned").fitted;
    assert_eq!(weights(&once, 0), weights(&on_two, 0));
    let more = once.prune(&panel(), &PruneOptions::new(0.75).steps(12)).expect("pruned").fitted;
    for (was, is) in weights(&once, 0).iter().zip(weights(&more, 0)) {
        assert!(*was != 0 || is == 0, "a zero became {}", f32::from_bits(is));
    }
    // Less than there is already brings none back.
    let less = more.prune(&panel(), &PruneOptions::new(0.2).steps(12)).expect("pruned").fitted;
    let counts = [&more, &less].map(|fitted| fitted.models()[0].network().expect("one").nonzero_parameters());
    assert_eq!(counts[0], counts[1]);

    let structured = PruneOptions::new(0.5).structured(true).steps(6);
    let [one, two] = [1, 2].map(|threads| {
        let fitted = fitted.clone().threads(threads).expect("threads");
        fitted.prune(&panel(), &structured).expect("pruned").fitted
    });
    assert_eq!(weights(&one, 0), weights(&two, 0));
}

#[test]
fn removed_units_make_an_ordinary_network() {
    let fitted = fit([nhits(), mlp(), spec("NBEATS", &[("mlp_units", json!([[40, 16], [16, 40]]))])]);
    let options = PruneOptions::new(0.6).structured(true).steps(4);
    let pruned = fitted.prune(&panel(), &options).expect("pruned");
    let value =
        |place: usize, name: &str| pruned.fitted.models()[place].spec().hyper_parameters()[name].clone();
    assert_eq!(value(0, "mlp_units"), json!([[16, 16], [16, 16]]));
    assert_eq!(value(1, "hidden_size"), 16);
    assert_eq!(value(2, "mlp_units"), json!([[16, 8], [8, 16]]));
    for pair in pruned.scores.chunks(2) {
        let [before, after] = pair else { unreachable!("two of each") };
        assert_eq!((before.pruned, after.pruned), (false, true));
        assert_eq!(before.metrics.model, after.metrics.model);
        assert!(after.parameters < before.parameters && after.weight_bytes == 4 * after.parameters);
        assert_eq!(after.mae_change, 100.0 * (after.metrics.mae / before.metrics.mae - 1.0));
        assert_eq!(before.metrics.scored_windows, 6);
    }
    let dir = tempfile::tempdir().expect("a directory");
    pruned.fitted.save(dir.path().join("small"), false).expect("saved");
    let loaded = Fitted::load(dir.path().join("small")).expect("loaded");
    let forecast = |fitted: &Fitted| fitted.predict(&panel(), None).expect("a forecast").columns;
    assert_eq!(forecast(&loaded), forecast(&pruned.fitted));
    let again = loaded.prune(&panel(), &options).expect("pruned again").fitted;
    assert_eq!(again.models()[1].spec().hyper_parameters()["hidden_size"], 8);
}

#[test]
fn what_comes_with_the_models_is_as_in_further_training() {
    let naive = ModelSpec::new("SeasonalNaive", H, 8).expect("a model");
    let second = nhits().set("random_seed", 9).expect("a seed");
    let watched = mlp().set("lr_scheduler", "ReduceLROnPlateau").expect("a schedule");
    let watched = watched.set("early_stop_patience_steps", 2).expect("a number");
    let forecaster = Forecaster::new([nhits(), second, naive, watched]).expect("models");
    let fitted = forecaster
        .val_size(H)
        .ensemble(foretell::Ensemble::Mean)
        .intervals(foretell::PredictionIntervals { n_windows: 2, ..foretell::PredictionIntervals::default() })
        .fit(&panel())
        .expect("a training");
    let heard = Arc::new(Mutex::new(Vec::new()));
    let warnings = heard.clone();
    let fitted = fitted.on_warning(move |warning| warnings.lock().expect("no panic").push(warning.clone()));
    let fitted = fitted.weight_precision(WeightPrecision::F32).expect("f32");
    let pruned = fitted.prune(&panel(), &PruneOptions::new(0.5)).expect("pruned");
    assert_eq!(pruned.kept, ["SeasonalNaive"]);
    assert_eq!(pruned.fitted.column_names(), ["NHITS", "NHITS1", "SeasonalNaive", "MLP"]);
    let named: Vec<&str> = pruned.scores.iter().map(|score| &*score.metrics.model).collect();
    assert_eq!(named, ["NHITS", "NHITS", "NHITS1", "NHITS1", "MLP", "MLP"]);
    assert_ne!(weights(&pruned.fitted, 0), weights(&pruned.fitted, 1));
    assert_eq!(pruned.fitted.models()[0].outcome().map(|outcome| outcome.steps), Some(2), "a quarter");
    let own = pruned.fitted.models()[3].spec().hyper_parameters();
    assert_eq!(
        (&own["lr_scheduler"], &own["early_stop_patience_steps"]),
        (&json!("ReduceLROnPlateau"), &json!(2))
    );
    assert_eq!(pruned.fitted.ensembles().count(), 1);
    assert!(pruned.fitted.prediction_intervals().is_none());
    let heard = heard.lock().expect("no panic");
    assert!(matches!(&heard[..], [Warning::LeftIntervals { .. }]), "{heard:?}");
    let forecast = |fitted: &Fitted| fitted.predict(&panel(), None).expect("a forecast");
    let column = |fitted: &Fitted| {
        let frame = forecast(fitted);
        frame.columns.into_iter().find(|(column, _)| column == "SeasonalNaive").expect("there").1
    };
    assert_eq!(column(&pruned.fitted), column(&fitted));
}

#[test]
fn what_cannot_be_pruned_is_refused() {
    let message = |fitted: &Fitted, options: &PruneOptions| {
        fitted.prune(&panel(), options).expect_err("refused").to_string()
    };
    let dense = fit([mlp()]);
    for share in [1.0, -0.1, f64::NAN] {
        let found = message(&dense, &PruneOptions::new(share));
        assert!(found.contains("at least 0 and below 1"), "{found}");
    }
    assert!(message(&dense, &PruneOptions::new(0.5).n_windows(0)).contains("n_windows"));
    assert!(message(&dense, &PruneOptions::new(0.5).n_windows(40)).contains("rows"));

    let lstm = spec("LSTM", &[("encoder_hidden_size", json!(8)), ("decoder_hidden_size", json!(8))]);
    let recurrent = fit([lstm]);
    let found = message(&recurrent, &PruneOptions::new(0.5).structured(true));
    assert!(
        found.contains("LSTM has no hidden layers") && found.contains("MLP, NBEATS, NBEATSx, NHITS"),
        "{found}"
    );
    let pruned = recurrent.prune(&panel(), &PruneOptions::new(0.5).steps(2)).expect("single weights go");
    assert!(pruned.scores[1].nonzero_parameters < pruned.scores[0].nonzero_parameters);

    let naive = fit([ModelSpec::new("SeasonalNaive", H, 8).expect("a model")]);
    let found = message(&naive, &PruneOptions::new(0.5));
    assert!(found.contains("none of the models is one: SeasonalNaive"), "{found}");

    let stopped = dense.prune_with(&panel(), &PruneOptions::new(0.5).steps(5), |_, _| Verdict::Interrupt);
    assert!(matches!(stopped, Err(foretell::Error::NotWanted)));
}
