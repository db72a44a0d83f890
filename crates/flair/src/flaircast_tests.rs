//! Forecasts are those of the package `flaircast`; `compare/flair.py` wrote them.

use crate::{Flair, FlairSettings};
use foretell_calendar::{Freq, TimeKind};
use foretell_data::{Future, Panel, Span, Vocabulary};
use foretell_estimator::{Asked, Estimator as _, HeldOut, Run, Verdict, Workers};
use serde_json::Value;

const QUANTILES: [f64; 9] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

fn numbers(values: &Value) -> Vec<f64> {
    values.as_array().into_iter().flatten().map(|value| value.as_f64().unwrap_or(f64::NAN)).collect()
}

/// The quantiles of each step, `[h, quantiles]`.
fn quantiles(case: &Value) -> Vec<f64> {
    let as_held = |values: &[f64]| values.iter().map(|&y| y as f32).collect::<Vec<f32>>();
    let (mut y, h) = (as_held(&numbers(&case["y"])), case["actual"].as_array().expect("values").len());
    let known: Vec<f32> = y.iter().map(|y| f32::from(u8::from(y.is_finite()))).collect();
    y.iter_mut().filter(|y| y.is_nan()).for_each(|y| *y = 0.0);
    let freq = Freq::parse(case["freq"].as_str().expect("a frequency")).expect("a frequency");
    let times = freq.times(0, y.len()).expect("times");
    let builder = Panel::builder(TimeKind::Timestamp).freq(freq).series("a", &times, &y);
    let (column, ahead) = (as_held(&numbers(&case["column"])), as_held(&numbers(&case["column_ahead"])));
    let builder = if column.is_empty() { builder } else { builder.column("x", &column) };
    let builder = if known.contains(&0.0) { builder.available_mask(&known) } else { builder };
    let panel = builder.build().expect("a panel");
    let names: &[(&str, &[f32])] = &[("x", &ahead)];
    let future = (!ahead.is_empty()).then(|| Future::new(&panel, h, names).expect("a column"));
    let mut flair = Flair::new(FlairSettings { h, ..FlairSettings::default() });
    if future.is_some() {
        flair.set("futr_exog_list", vec!["x"].into()).expect("columns");
    }
    let (workers, vocabulary) = (Workers::new(1).expect("a thread"), Vocabulary::new());
    let listen = &mut |_: &_| Verdict::Continue;
    let trained =
        flair.fit(&panel, HeldOut::default(), Run::alone(&workers, &vocabulary, listen)).expect("a fit");
    let asked = Asked { span: Span::Predict { future: future.as_ref() }, h, quantiles: Some(&QUANTILES) };
    let values = trained.forecast(&panel, &asked, &workers).expect("a forecast").values;
    values.chunks_exact(10).flat_map(|row| row[1..].iter().map(|&y| f64::from(y))).collect()
}

/// The mean pinball loss.
fn pinball(quantiles: &[f64], actual: &[f64]) -> f64 {
    let of = |(i, q): (usize, &f64)| {
        let (level, off) = (QUANTILES[i % 9], actual[i / 9] - q);
        (level * off).max((level - 1.0) * off)
    };
    quantiles.iter().enumerate().map(of).sum::<f64>() / quantiles.len() as f64
}

#[test]
fn medians_and_quantiles_are_those_of_flaircast() {
    let fixture: Value =
        serde_json::from_str(include_str!("../tests/fixtures/flaircast.json")).expect("JSON");
    let cases = fixture["cases"].as_array().expect("cases");
    assert!(cases.len() >= 50, "{} cases", cases.len());
    let (mut failures, mut ratios) = (Vec::new(), Vec::new());
    for case in cases {
        let (name, actual) = (case["name"].as_str().expect("a name"), numbers(&case["actual"]));
        let (theirs, ours) = (numbers(&case["quantiles"]), quantiles(case));
        // The mean distance of the medians by the size of the values, and of all quantiles by the distance of the outer ones.
        let size = actual.iter().map(|y| y.abs()).sum::<f64>() / actual.len() as f64;
        let distance = |of: &dyn Fn(usize) -> bool| {
            let chosen = (0..ours.len()).filter(|i| of(i % 9));
            let sum: f64 = chosen.clone().map(|i| (ours[i] - theirs[i]).abs()).sum();
            sum / chosen.count() as f64
        };
        let spread = theirs.chunks_exact(9).map(|row| row[8] - row[0]).sum::<f64>() / actual.len() as f64;
        let (median, all) = (distance(&|i| i == 4) / size, distance(&|_| true) / spread.max(1e-3 * size));
        let ratio = pinball(&ours, &actual) / pinball(&theirs, &actual);
        ratios.push(ratio);
        // A median between small counts is any of them, as 0 or the sizes of a rare demand.
        let are_small_counts = size < 10.0 && numbers(&case["y"]).iter().all(|y| y.fract() == 0.0);
        let is_near = median <= 0.02 || are_small_counts;
        if !is_near || all > 0.03 {
            failures.push(format!("{name}: median {median:.4} quantiles {all:.4} pinball {ratio:.4}"));
        }
    }
    let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
    if (mean - 1.0).abs() > 0.02 {
        failures.push(format!("pinball in the mean {mean:.4}"));
    }
    assert!(failures.is_empty(), "{} differ:\n{}", failures.len(), failures.join("\n"));
}
