//! Steps in parts: the gradients of several batches are averaged, one after the other.

use foretell::{Fitted, Forecaster, Freq, ModelSpec, Panel, Value, json};

/// Five series, whose last windows are masked.
fn panel() -> Panel {
    let series = ["a", "b", "c", "d", "e"].map(|id| {
        let phase = f32::from(id.as_bytes()[0]);
        (id, 0, (0..90).map(|t| (t as f32 * 0.5 + phase).sin() + 0.01 * t as f32).collect::<Vec<f32>>())
    });
    Panel::from_series(Freq::parse("D").expect("a frequency"), series).expect("a panel")
}

/// Steps of `parts` batches of this many series and windows.
fn fit(model: &str, settings: &Value, [parts, series, windows]: [u32; 3], threads: usize) -> Fitted {
    let common = json!({
        "max_steps": 15, "learning_rate": 0.01, "batch_size": series, "windows_batch_size": windows,
        "accumulate_grad_batches": parts,
    });
    let all = [&common, settings];
    let all = all.into_iter().flat_map(|settings| settings.as_object().expect("an object"));
    let spec = ModelSpec::new(model, 6, 18).expect("a model");
    let spec = all.fold(spec, |spec, (name, value)| spec.set(name, value.clone()).expect("a value"));
    Forecaster::new([spec]).expect("a model").threads(threads).fit(&panel()).expect("a training")
}

fn weights(fitted: &Fitted) -> Vec<f32> {
    fitted.models()[0].parameters_in_order().copied().collect()
}

#[test]
fn four_batches_of_32_windows_are_one_of_128() {
    for (model, settings) in [
        ("MLP", json!({"hidden_size": 16, "loss": "MSE"})),
        ("NHITS", json!({"mlp_units": [[8, 8], [8, 8], [8, 8]], "loss": "MQLoss", "gradient_clip_val": 0.1})),
        ("LSTM", json!({"encoder_hidden_size": 8, "optimizer": "SGD"})),
    ] {
        let [parts, whole] = [[4, 1, 32], [1, 4, 128]].map(|sizes| fit(model, &settings, sizes, 1));
        let off = weights(&parts).iter().zip(weights(&whole)).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(off <= 1e-6, "{model}: weights differ by {off}");
        let losses = [&parts, &whole].map(|fitted| fitted.models()[0].outcome().expect("trained").train_loss);
        assert!((losses[0] / losses[1] - 1.0).abs() < 1e-5, "{model}: {losses:?}");
        assert_ne!(weights(&parts), weights(&fit(model, &settings, [1, 1, 32], 1)), "one part alone");
    }
}

#[test]
fn threads_change_no_bit_of_steps_in_parts() {
    // Batch normalisation keeps statistics of each part.
    for (model, settings) in
        [("MLP", json!({"hidden_size": 64, "windows_batch_size": null})), ("TSMixer", json!({"ff_dim": 8}))]
    {
        let of = |threads| weights(&fit(model, &settings, [3, 2, 40], threads));
        assert_eq!(of(1), of(3), "{model}");
    }
}
