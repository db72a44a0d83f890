//! Forecasts do not depend on the unit that values are in.

use foretell_calendar::Freq;
use foretell_data::{Panel, Span, Vocabulary};
use foretell_estimator::{Asked, HeldOut, Run, Verdict, Workers};

use crate::ESTIMATORS;

const H: usize = 8;

/// Series of several kinds: growing seasons, a level with noise, demand that comes now and then.
fn series() -> Vec<(&'static str, Vec<f64>)> {
    let noise = |t: usize| f64::from((t as u32).wrapping_mul(2_654_435_761) >> 16) / 65_536.0;
    let season = |t: usize| (t as f64 * std::f64::consts::TAU / 7.0).sin();
    vec![
        ("seasonal", (0..56).map(|t| (60.0 + t as f64) * (1.0 + 0.3 * season(t)) + 5.0 * noise(t)).collect()),
        ("level", (0..40).map(|t| 2.0 + noise(t) - noise(t + 1)).collect()),
        ("rare", (0..42).map(|t| if t % 5 == 3 { 1.0 + (4.0 * noise(t)).floor() } else { 0.0 }).collect()),
    ]
}

/// The forecasts, with two quantiles where a method has any, of values times `factor`. Quantiles of demand are left out: those of whole
/// numbers are whole.
fn forecasts(name: &str, factor: f64) -> Vec<f32> {
    let entry = ESTIMATORS.iter().find(|entry| entry.name == name).unwrap();
    let mut estimator = (entry.new)(H);
    if estimator.meaning("season_length").is_some() {
        estimator.set("season_length", 7.into()).unwrap();
    }
    let scaled =
        |y: Vec<f64>| y.into_iter().map(|y| (f64::from(y as f32) * factor) as f32).collect::<Vec<_>>();
    let series = series().into_iter().map(|(id, y)| (id, 0, scaled(y)));
    let panel = Panel::from_series(Freq::parse("D").unwrap(), series).unwrap();
    let (workers, vocabulary) = (Workers::new(1).unwrap(), Vocabulary::new());
    let listen = &mut |_: &_| Verdict::Continue;
    let run = Run::alone(&workers, &vocabulary, listen);
    let trained = estimator.fit(&panel, HeldOut::default(), run).unwrap();
    let is_measured = !estimator.needs().is_never_negative;
    let quantiles = estimator.outputs_at(&[]).filter(|_| is_measured).map(|_| &[0.1, 0.9][..]);
    let asked = Asked { span: Span::Predict { future: None }, h: H, quantiles };
    trained.forecast(&panel, &asked, &workers).unwrap().values
}

#[test]
fn forecasts_of_values_in_other_units_are_those_in_these_units() {
    let mut failures = Vec::new();
    for entry in ESTIMATORS {
        let expected = forecasts(entry.name, 1.0);
        let size = expected.iter().fold(0.0_f32, |size, value| size.max(value.abs()));
        for exponent in [-20, -10, -3, 10] {
            let factor = f64::from(exponent).exp2();
            for (found, expected) in forecasts(entry.name, factor).iter().zip(&expected) {
                let found = (f64::from(*found) / factor) as f32;
                if (found - expected).abs() > 1e-5 * size {
                    failures.push(format!("{}: {found} at 2^{exponent}, {expected} at 1", entry.name));
                    break;
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
