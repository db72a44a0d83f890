//! Accuracy on a real panel: ETTh1 (Zhou et al. 2021), seven hourly series of a transformer station.
//!
//! Runs where the environment variable `FORETELL_DATA` names a folder that holds `ETTh1.csv`; skips with
//! a message elsewhere.

use foretell::{Forecaster, ModelSpec, Panel, ReadOptions, ValidationOptions};

use crate::accuracy::{panels, spec};

/// A model, and neuralforecast's MAE with the same settings, by `compare/measure.py`: the mean over the seeds 1, 2 and 3.
type Reference = (&'static str, f64);

/// Without further columns NBEATSx is NBEATS, with the same error to four digits, and is not trained again.
#[test]
fn direct_models_beat_the_seasonal_naive_forecast_and_match_neuralforecast() {
    check(
        [("NLinear", 1.1509), ("DLinear", 1.1272), ("MLP", 1.1662), ("NBEATS", 1.1457), ("NHITS", 1.1706)],
        true,
    );
}

/// After so few steps recurrent models are hardly better than seasonal naive, in neuralforecast as well.
#[test]
fn rnn_matches_neuralforecast() {
    check([("RNN", 1.3084)], false);
}

#[test]
#[ignore = "trains LSTM and GRU for minutes, which `-- --ignored` runs; the same check of RNN, of the same code, runs wherever the panel is"]
fn lstm_and_gru_match_neuralforecast() {
    check([("LSTM", 1.3198), ("GRU", 1.3097)], false);
}

#[test]
fn mixing_and_encoding_models_beat_the_seasonal_naive_forecast_and_match_neuralforecast() {
    check([("TSMixer", 1.1525), ("TSMixerx", 1.1508), ("TiDE", 1.1452)], true);
}

/// With these settings their errors are near seasonal naive's in neuralforecast too.
#[test]
fn deep_npts_and_mlp_multivariate_match_neuralforecast() {
    check([("DeepNPTS", 1.2706), ("MLPMultivariate", 1.3836)], false);
}

#[test]
#[ignore = "trains TCN, DilatedRNN and DeepAR for minutes, which `-- --ignored` runs; their parity and conformance run always"]
fn tcn_dilated_rnn_and_deepar_match_neuralforecast() {
    check([("TCN", 1.1479), ("DilatedRNN", 1.1324), ("DeepAR", 1.9125)], false);
}

#[cfg(feature = "amp")]
#[test]
fn training_in_bf16_is_as_accurate_as_in_f32() {
    check_bf16(["MLP", "NHITS"], 6);
}

#[cfg(feature = "amp")]
#[test]
#[ignore = "trains four models twice for minutes, which `-- --ignored` runs; MLP and NHITS are checked wherever the panel is"]
fn training_of_recurrent_models_and_transformers_in_bf16_is_as_accurate_as_in_f32() {
    check_bf16(["LSTM", "GRU", "VanillaTransformer", "iTransformer"], 3);
}

/// The mean errors over these seeds are within 1 %. Three are too few for models whose seeds differ by 12 %: on a Zen 5 the first
/// three of MLP are 1.003 % apart after 300 steps, six 0.2 %, twelve 0.3 %.
#[cfg(feature = "amp")]
fn check_bf16<const N: usize>(models: [&str; N], seeds: u64) {
    use foretell::Precision;

    const STEPS: usize = 150;
    let Some(panel) = panel() else { return };
    let (mut means, count) = ([[0.0; N]; 2], seeds as f64);
    for (precision, means) in [Precision::F32, Precision::Bf16].into_iter().zip(&mut means) {
        for seed in 1..=seeds {
            // Without bf16 instructions a step takes several times as long as in f32.
            let steps = |spec: ModelSpec| spec.set("max_steps", STEPS).expect("a number of steps");
            let specs = models.iter().map(|name| steps(spec(name, 24, seed)));
            let forecaster = Forecaster::new(specs).expect("models").precision(precision);
            let checked = forecaster.cross_validate(&panel, &ValidationOptions::new(10, 24));
            let metrics = checked.expect("a validation").metrics(&panel, 24);
            for (metrics, mean) in metrics.iter().zip(&mut *means) {
                println!("{}, {precision}, seed {seed}: MAE {:.4}", metrics.model, metrics.mae);
                *mean += metrics.mae / count;
            }
        }
    }
    let [exact, rounded] = means;
    for ((name, exact), rounded) in models.into_iter().zip(exact).zip(rounded) {
        println!("{name}: mean MAE {exact:.4} in f32, {rounded:.4} in bf16");
        assert!(rounded != exact && rounded < 1.01 * exact, "{name}: {rounded} against {exact}");
    }
}

fn panel() -> Option<Panel> {
    let [path] = panels(["ETTh1.csv"])?;
    let panel = Panel::from_csv(path, &ReadOptions::new().wide()).expect("a panel");
    Some(panel.without_last(panel.max_len() - 8640))
}

/// iTransformer is not among them: 1.2554 beside 1.2020 with these three seeds, from 1.16 to 1.35 with seven (docs/accuracy.md).
#[test]
#[ignore = "trains models of attention for minutes, which `-- --ignored` runs; their parity and conformance run always"]
fn models_of_attention_match_neuralforecast() {
    check([("PatchTST", 1.2280), ("SOFTS", 1.1891), ("SOFTSSharp", 1.2031)], true);
}

fn check<const N: usize>(references: [Reference; N], beats_naive: bool) {
    let Some(panel) = panel() else { return };
    let mut means = [0.0; N];
    for seed in 1..=3 {
        let specs = references.iter().map(|(name, _)| spec(name, 24, seed));
        // The season of hours is a day.
        let naive = ModelSpec::new("SeasonalNaive", 24, 1).expect("a model");
        let checked = Forecaster::new(specs.chain([naive]))
            .expect("models")
            .cross_validate(&panel, &ValidationOptions::new(10, 24))
            .expect("a validation");
        let metrics = checked.metrics(&panel, 24);
        let (naive, models) = metrics.split_last().expect("metrics");
        for (metrics, ((name, _), mean)) in models.iter().zip(references.iter().zip(&mut means)) {
            println!("{name}, seed {seed}: MAE {:.4}, seasonal naive {:.4}", metrics.mae, naive.mae);
            assert_eq!(metrics.model, *name);
            let better = metrics.mae < naive.mae && metrics.rmse < naive.rmse && metrics.mase < naive.mase;
            assert!(better || !beats_naive, "{name} is no better than seasonal naive");
            *mean += metrics.mae / 3.0;
        }
    }
    for ((name, reference), mean) in references.into_iter().zip(means) {
        println!("{name}: mean MAE {mean:.4}, neuralforecast {reference:.4}");
        assert!(mean < 1.03 * reference, "{name}: {mean} against {reference}");
    }
}
