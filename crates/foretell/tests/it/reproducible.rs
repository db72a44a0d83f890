//! The same seed and the same data give the same weights to the last bit, at any number of threads; a series has the
//! same forecast but for rounding, whatever is forecast beside it.

use foretell::{End, Fitted, Forecaster, Freq, ModelSpec, Panel, PredictOptions};
use serde_json::json;

fn panel() -> Panel {
    panel_of(0..5)
}

fn panel_of(series: std::ops::Range<usize>) -> Panel {
    let series = series.map(|s| {
        let y =
            (0..300 + 7 * s).map(|t| (t as f32 * 0.26 + s as f32).sin() * (1.0 + s as f32) + t as f32 * 0.01);
        (format!("series {s}"), 0, y.collect::<Vec<f32>>())
    });
    Panel::from_series(Freq::parse("h").expect("a frequency"), series).expect("a panel")
}

fn specs() -> Vec<ModelSpec> {
    let common = |name: &str| {
        ModelSpec::new(name, 48, 144)
            .and_then(|spec| spec.set("max_steps", 12))
            .and_then(|spec| spec.set("val_check_steps", 5))
            .and_then(|spec| spec.set("scaler_type", "robust"))
            .and_then(|spec| spec.set("windows_batch_size", 333))
            .expect("valid hyper-parameters")
    };
    let nhits = common("NHITS")
        .set("mlp_units", json!([[40, 40], [40, 40]]))
        .and_then(|spec| spec.set("dropout_prob_theta", 0.3))
        .and_then(|spec| spec.set("loss", "MQLoss"))
        .expect("valid hyper-parameters");
    // All are large enough for their shards to be spread over threads, the MLP for the optimiser's pass too.
    let mlp = common("MLP").set("hidden_size", 300).expect("valid hyper-parameters");
    let lstm = common("LSTM")
        .set("encoder_hidden_size", 24)
        .and_then(|spec| spec.set("input_size", 24))
        .and_then(|spec| spec.set("decoder_hidden_size", 16))
        .expect("valid hyper-parameters");
    let gru = common("GRU")
        .set("encoder_hidden_size", 32)
        .and_then(|spec| spec.set("input_size", 24))
        .and_then(|spec| spec.set("recurrent", true))
        .and_then(|spec| spec.set("encoder_dropout", 0.2))
        .expect("valid hyper-parameters");
    vec![nhits, mlp, common("NLinear"), common("DLinear"), lstm, gru]
}

fn fit(threads: usize, seed: u64) -> Fitted {
    let specs = specs().into_iter().map(|spec| spec.set("random_seed", seed).expect("a seed"));
    Forecaster::new(specs).expect("models").threads(threads).val_size(48).fit(&panel()).expect("a fit")
}

/// All weights and forecasts, as bits.
fn bits(fitted: &Fitted) -> Vec<u32> {
    let weights = fitted.models().iter().flat_map(|model| model.parameters_in_order());
    let forecast = fitted.predict(&panel(), None).expect("a forecast");
    let forecast: Vec<f32> = forecast.columns.iter().flat_map(|(_, values)| values.clone()).collect();
    weights.copied().chain(forecast).map(f32::to_bits).collect()
}

#[test]
fn threads_change_no_bit() {
    let one = fit(1, 1);
    for threads in [2, 3] {
        let other = fit(threads, 1);
        assert_eq!(bits(&one), bits(&other), "{threads} threads");
        for (a, b) in one.models().iter().zip(other.models()) {
            let (a, b) = (a.outcome().expect("trained"), b.outcome().expect("trained"));
            assert_eq!((a.train_loss.to_bits(), a.valid_loss), (b.train_loss.to_bits(), b.valid_loss));
        }
    }
}

#[test]
fn the_seed_matters() {
    assert_ne!(bits(&fit(2, 1)), bits(&fit(2, 2)));
}

/// The promise of docs/differences.md: products of few rows are summed in another order than those of many.
#[test]
fn other_series_change_a_forecast_by_no_more_than_rounding() {
    let fitted = fit(1, 1);
    let together = fitted.predict(&panel_of(0..150), None).expect("a forecast");
    let h = fitted.h();
    for series in [0, 1, 77, 127, 128, 149] {
        let panel = panel_of(series..series + 1);
        let alone = fitted.predict(&panel, None).expect("a forecast");
        let scale = panel.y(0).iter().fold(0.0, |scale: f32, y| scale.max(y.abs()));
        let first = together.ids.iter().position(|id| id == panel.id(0)).expect("it is there, too");
        for ((name, beside), (_, alone)) in together.columns.iter().zip(&alone.columns) {
            for (beside, alone) in beside[first..first + h].iter().zip(alone) {
                let difference = (beside - alone).abs() / scale;
                assert!(
                    difference <= 2e-6,
                    "{name}, series {series}: {beside}, alone {alone}: {difference:e}"
                );
            }
        }
    }
}

#[test]
fn parts_of_so_many_series_have_the_forecasts_of_all_to_the_last_bit() {
    let (fitted, all) = (fit(2, 1), panel_of(0..300));
    let each = fitted.series_per_part().expect("networks that forecast each series by itself");
    let whole = fitted.predict(&all, None).expect("a forecast");
    let names: Vec<String> = whole.columns.iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(fitted.forecast_columns(&PredictOptions::new()).expect("names"), names);
    assert!(2 * each < all.n_series(), "{each}");
    for part in [0..each, each..2 * each, 2 * each..all.n_series(), each..all.n_series()] {
        let rows = part.start * fitted.h()..part.end * fitted.h();
        let found = fitted.predict(&all.of_series(part.clone()), None).expect("a forecast");
        for ((name, found), (_, whole)) in found.columns.iter().zip(&whole.columns) {
            assert_eq!(found, &whole[rows.clone()], "{name} of {part:?}");
        }
    }
    let joint = ModelSpec::new("TSMixer", 4, 8).and_then(|spec| spec.set("n_series", 5)).expect("a model");
    let joint = Forecaster::new([joint.set("max_steps", 1).expect("steps")]).expect("a forecaster");
    let side_by_side = panel().with_end(End::Common, None).expect("series of one end");
    let joint = joint.fit(&side_by_side).expect("a fit");
    assert_eq!(joint.series_per_part(), None);
}
