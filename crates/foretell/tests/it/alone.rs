//! A series that is forecast alone, and within its panel.
//!
//! Products of few rows are computed by other kernels than those of many, which add in another order. So the two forecasts agree
//! to rounding, and not to the last bit.

use foretell::{Forecaster, Freq, MODELS, Map, ModelSpec, Panel, json};

const H: usize = 6;
const INPUT_SIZE: usize = 24;

/// The bound that `Fitted::predict` promises, as a share of the largest value that a model sees.
const BOUND: f32 = 1e-5;

/// As many as products of few rows and of many are told apart by.
const SERIES: usize = 40;

fn series(number: usize) -> Vec<f32> {
    let level = 10.0 * number as f32;
    (0..90).map(|t| level + (t as f32 * 0.9 + number as f32).sin() * 3.0 + (t * t % 7) as f32 * 0.2).collect()
}

fn panel(numbers: &[usize]) -> Panel {
    let named = numbers.iter().map(|&number| (format!("s{number:02}"), 0, series(number)));
    Panel::from_series(Freq::parse("1").expect("a frequency"), named).expect("a panel")
}

#[test]
fn a_series_alone_is_forecast_as_within_its_panel_up_to_rounding() {
    let all: Vec<usize> = (0..SERIES).collect();
    let whole = panel(&all);
    for entry in MODELS {
        let spec = ModelSpec::new(entry.name, H, INPUT_SIZE).expect("a model");
        let own = spec.hyper_parameters();
        // Of a model of several series the others are part of the input.
        if own.contains_key("n_series") {
            continue;
        }
        let settings = [("max_steps", json!(2)), ("windows_batch_size", json!(16)), ("step_size", json!(8))];
        let settings = settings.into_iter().map(|(name, value)| (name.to_owned(), value));
        // A language model has a folder; here it is the small one of the tests.
        let small = if own.contains_key("llm") { entry.small().swap_remove(0) } else { Map::new() };
        let settings = settings.filter(|(name, _)| own.contains_key(name)).chain(small);
        let spec =
            settings.fold(spec.clone(), |spec, (name, value)| spec.set(&name, value).expect("a setting"));
        let fitted = Forecaster::new([spec]).expect("a model").fit(&panel(&[3, 4])).expect("a training");
        let together = fitted.predict(&whole, None).expect("a forecast");
        for some in [vec![7], vec![7, 30], (5..18).collect()] {
            let alone = fitted.predict(&panel(&some), None).expect("a forecast");
            for ((name, alone), (_, together)) in alone.columns.iter().zip(&together.columns) {
                for (place, number) in some.iter().enumerate() {
                    let largest = series(*number).iter().fold(0.0_f32, |most, y| most.max(y.abs()));
                    let one = &alone[place * H..(place + 1) * H];
                    let other = &together[number * H..(number + 1) * H];
                    let off = one.iter().zip(other).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                    assert!(
                        off <= BOUND * largest,
                        "{name}, series {number} of {}: off by {off}, of values up to {largest}",
                        some.len()
                    );
                }
            }
        }
    }
}
